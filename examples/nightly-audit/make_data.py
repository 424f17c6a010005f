"""Write twelve weeks of one model's predictions: scanned digits, of which one of two scanners fails in week nine.

The images are scikit-learn's ``load_digits``; each is predicted once, by a model that was fitted on others. From week
nine on the sensor of scanner B gives nothing in three of its eight columns, as dead pixels do: the images are real, the
fault is applied to them before the model sees them. Nothing about the model changes.

Run from the top of the checkout: ``.venv/bin/python examples/nightly-audit/make_data.py``. The same bytes every time.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

FOLDER = Path(__file__).resolve().parent / "predictions"
TRAINING, RELEASE, WEEKS, WEEKLY = 747, 150, 12, 75
FAULT_FROM, DEAD_COLUMNS = 9, (3, 4, 5)


def main() -> None:
    """Fit once, then let the model predict the release test and week after week."""
    images, truth = load_digits(return_X_y=True)
    # The data set's order follows its writers: shuffled, every week sees all of them.
    order = np.random.default_rng(9).permutation(len(truth))
    images, truth = images[order], truth[order]
    model = make_pipeline(MinMaxScaler(), LogisticRegression(max_iter=1000))
    model.fit(images[:TRAINING], truth[:TRAINING])
    place = TRAINING
    for week in range(WEEKS + 1):
        rows = np.arange(place, place + (WEEKLY if week else RELEASE))
        place = int(rows[-1]) + 1
        scanner = np.where(rows % 2 == 0, "A", "B")
        seen = images[rows].reshape(-1, 8, 8).copy()
        if week >= FAULT_FROM:
            broken = np.flatnonzero(scanner == "B")
            seen[np.ix_(broken, np.arange(8), np.array(DEAD_COLUMNS))] = 0.0
        predicted = model.predict(seen.reshape(-1, 64))
        write(week, order[rows], truth[rows], predicted, scanner)


def write(week: int, ids: np.ndarray, truth: np.ndarray, predicted: np.ndarray, scanner: np.ndarray) -> None:
    """Write one week's predictions; a digit is a class, so it is written as a name."""
    folder = FOLDER / f"week-{week:02d}"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "digits.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("id", "y_true", "y_pred", "scanner"))
        for row in zip(ids, truth, predicted, scanner, strict=True):
            table.writerow((f"digit-{row[0]:04d}", f"d{row[1]}", f"d{row[2]}", row[3]))


if __name__ == "__main__":
    main()
