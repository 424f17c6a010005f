"""Write the logs of docs/tutorial-language-models.md as Inspect AI itself writes them, of two scripted models.

Run in an environment with ``pip install inspect_ai==0.3.285``. Twenty passages with five questions each, three epochs;
a digest decides whether an answer is right, so that the answers are the same every time.
"""

from __future__ import annotations

import hashlib
import math
import os
import tempfile
from pathlib import Path

from inspect_ai import Epochs, Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import match
from inspect_ai.solver import generate

OUTPUT = Path(__file__).resolve().parent
STRENGTH = {"large": 1.4, "small": 0.6}
SAMPLES = [
    Sample(
        id=f"p{passage:02d}-{number}",
        input=f"Passage {passage}, question {number}?",
        target="yes",
        metadata={"passage": f"p{passage:02d}"},
    )
    for passage in range(1, 21)
    for number in range(1, 6)
]


def draw(*what: object) -> float:
    """Return a number in [0, 1) that depends on nothing else."""
    return int(hashlib.sha256(" ".join(map(str, what)).encode()).hexdigest()[:8], 16) / 16**8


def model(name: str):
    """Return a model that is right more often the easier the passage and the question are."""
    asked: dict[str, int] = {}

    def answer(messages, _tools, _choice, _config) -> ModelOutput:
        question = messages[-1].text
        asked[question] = asked.get(question, 0) + 1
        ease = (
            2 * (draw(question.split(",")[0]) - 0.5)
            + 4 * (draw(question) - 0.5)
            + 2 * (draw(name, question) - 0.5)
        )
        chance = 1 / (1 + math.exp(-STRENGTH[name] - ease))
        right = draw(name, question, asked[question]) < chance
        output = ModelOutput.from_content(model=f"mockllm/{name}", content="yes" if right else "no")
        # Without a usage Inspect counts tokens, with a table that it fetches.
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    return get_model(f"mockllm/{name}", custom_outputs=answer)


def main() -> None:
    """Write a log for each model."""
    task = Task(
        name="reading",
        dataset=MemoryDataset(SAMPLES, name="reading"),
        solver=[generate()],
        scorer=[match()],
        epochs=Epochs(3, "mean"),
    )
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name in STRENGTH:
            (log,) = evaluate(task, model=model(name), log_dir="logs", display="none", max_samples=1)
            log = read_eval_log(log.location)
            for sample in log.samples:
                sample.events = []  # long, and they name folders of the machine
            write_eval_log(log, str(OUTPUT / f"{name}.eval"))


if __name__ == "__main__":
    main()
