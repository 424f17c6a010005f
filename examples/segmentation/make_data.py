"""Segment the ink of 300 scanned digits after noise, by three filters, and write what each got right by image.

The images are scikit-learn's digits (UCI optical digits, 8 x 8, CC BY 4.0); ink is a pixel of 8 or more of 16.
Noise is made with a seed. A row is an image: pixels of ink that were found (tp), falsely found (fp), missed (fn), and
rightly left (tn).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from scipy import ndimage
from sklearn.datasets import load_digits

FOLDER = Path(__file__).parent / "models"
FILTERS = {
    "threshold": lambda image: image,
    "gaussian": lambda image: ndimage.gaussian_filter(image, 0.45),
    "median": lambda image: ndimage.median_filter(image, 3),
}


def main() -> None:
    """Write models/NAME.csv for each filter."""
    digits = load_digits()
    rng = np.random.default_rng(20261128)
    chosen = np.sort(rng.choice(len(digits.images), 300, replace=False))
    noisy = {k: digits.images[k] + rng.normal(0, 4, (8, 8)) for k in chosen}
    FOLDER.mkdir(exist_ok=True)
    for name, smooth in FILTERS.items():
        rows = []
        for k in chosen:
            ink, found = digits.images[k] >= 8, smooth(noisy[k]) >= 8
            rows.append(
                {
                    "id": f"digit-{k:04d}",
                    "tp": (ink & found).sum(),
                    "fp": (~ink & found).sum(),
                    "fn": (ink & ~found).sum(),
                    "tn": (~ink & ~found).sum(),
                    "digit": digits.target[k],
                }
            )
        pd.DataFrame(rows).to_csv(FOLDER / f"{name}.csv", index=False)


if __name__ == "__main__":
    main()
