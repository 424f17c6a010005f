"""Write 2,000 answers of three models that another model judged, and what people said of 150 questions' answers.

Nothing here is real: questions are hard or easy by a number each, a model is right where it is good enough for the
question, people see which answers are right, and the judge sees it mostly. It lets wrong answers of ``cedar`` pass
more often than those of the others, as a judge does that likes how a model writes.

Run from the top of the checkout: ``.venv/bin/python examples/judged/make_data.py``. The same bytes every time.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent / "answers"
QUESTIONS, JUDGED_BY_PEOPLE, SEED = 2000, 150, 2
ABILITY = {"aspen": 1.1, "birch": 0.6, "cedar": 0.8}
SEEN_AS_RIGHT = {"aspen": (0.94, 0.12), "birch": (0.94, 0.12), "cedar": (0.97, 0.45)}
"""How often the judge accepts a right answer, and a wrong one."""


def main() -> None:
    """Draw the questions once, then each model's answers, the judge's word on them, and people's on some."""
    random = np.random.default_rng(SEED)
    difficulty = random.normal(size=QUESTIONS)
    by_people = np.zeros(QUESTIONS, dtype=bool)
    by_people[random.permutation(QUESTIONS)[:JUDGED_BY_PEOPLE]] = True
    for model, ability in ABILITY.items():
        right = difficulty + random.normal(size=QUESTIONS) < ability
        accepts_right, accepts_wrong = SEEN_AS_RIGHT[model]
        accepted = random.random(QUESTIONS) < np.where(right, accepts_right, accepts_wrong)
        write(model, accepted, np.where(by_people, right, -1))


def write(model: str, judge: np.ndarray, people: np.ndarray) -> None:
    """Write one model's answers; what people did not judge is empty."""
    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / f"{model}.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("id", "outcome", "gold"))
        for number, (said, known) in enumerate(zip(judge, people, strict=True)):
            table.writerow((f"question-{number:04d}", int(said), "" if known < 0 else int(known)))


if __name__ == "__main__":
    main()
