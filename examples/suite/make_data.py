"""Write models/: what four language models answered to a suite of six tasks, made up with a seed.

    python examples/suite/make_data.py [ATTEMPTS]

The files here hold three. Attempt 1 is the same whatever their number. Questions of one passage are alike, for every
model and for each by itself: that is what --cluster passage is for.
"""

import sys
from pathlib import Path

import numpy as np

SEED = 20261122
PASSAGES = {"arithmetic": 10, "code": 8, "history": 9, "law": 11, "reading": 12, "science": 10}
ABILITY = {  # on the logit scale, by task in the order above
    "base": (-0.3, -0.9, 1.1, 0.4, 1.4, 0.8),
    "distilled": (-1.0, -1.6, 0.2, -0.3, 0.6, -0.1),
    "large": (0.4, -0.3, 1.5, 0.8, 1.8, 1.1),
    "tuned": (2.4, 1.4, 0.3, 0.2, 0.1, 0.8),
}


def rows(model: str, attempts: int) -> list[str]:
    """Return a model's lines: task, id, passage, attempt and whether the answer was right."""
    suite = np.random.default_rng([SEED, 0])  # the questions: the same for every model
    number = sorted(ABILITY).index(model) + 1
    own = np.random.default_rng([SEED, 1, number])
    answers = [np.random.default_rng([SEED, 2, number, attempt]) for attempt in range(attempts)]
    lines = ["task,id,passage,attempt,outcome"]
    for task, ability in zip(PASSAGES, ABILITY[model], strict=True):
        for passage in range(1, PASSAGES[task] + 1):
            level = suite.normal(0, 0.6) + own.normal(0, 0.25)
            for question in range(1, int(suite.integers(5, 14)) + 1):
                logit = ability + level + suite.normal(0, 1.0) + own.normal(0, 0.6)
                for attempt, generator in enumerate(answers, 1):
                    right = int(generator.random() < 1 / (1 + np.exp(-logit)))
                    lines.append(f"{task},{passage}.{question},{task} {passage},{attempt},{right}")
    return lines


if __name__ == "__main__":
    folder = Path(__file__).parent / "models"
    folder.mkdir(exist_ok=True)
    attempts = int(sys.argv[1]) if sys.argv[1:] else 1
    for model in ABILITY:
        text = "\n".join(rows(model, attempts)) + "\n"
        (folder / f"{model}.csv").write_text(text, encoding="utf-8", newline="\n")
