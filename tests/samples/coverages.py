"""Prediction intervals of two models, for the tests of coverage."""

from __future__ import annotations

import numpy as np
import pandas as pd


def series(n: int = 400) -> pd.DataFrame:
    """Two models' 90 % intervals, one of them too narrow, of unlike widths, in order of time."""
    rng = np.random.default_rng(12)
    spread = rng.uniform(0.5, 2, n)
    y = rng.normal(0, spread)
    frames = [
        pd.DataFrame(
            {
                "id": [f"e{k:03d}" for k in range(n)],
                "model": model,
                "y_true": y,
                "y_low@90": -1.645 * width * spread,
                "y_high@90": 1.645 * width * spread,
                "time": np.arange(n),
            }
        )
        for model, width in (("narrow", 0.7), ("right", 1.0))
    ]
    return pd.concat(frames)
