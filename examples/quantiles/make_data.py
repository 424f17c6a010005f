"""Write models/: five quantiles of the progression of diabetes for 221 patients, from three fits to the other 221.

The data are scikit-learn's diabetes (Efron et al. 2004). `boosting` fits a gradient-boosted tree ensemble for each
quantile, `linear` a linear quantile regression, `constant` gives everyone the quantiles of the training patients.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import QuantileRegressor

FOLDER = Path(__file__).parent / "models"
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def main() -> None:
    """Write models/NAME.csv for each fit; crossing quantiles are put in order, as a forecaster would."""
    data = load_diabetes()
    shuffled = np.random.default_rng(20261128).permutation(len(data.target))
    train, test = np.sort(shuffled[:221]), np.sort(shuffled[221:])
    x, y = data.data[train], data.target[train]
    found = {name: [] for name in ("boosting", "linear", "constant")}
    for q in QUANTILES:
        trees = GradientBoostingRegressor(
            loss="quantile", alpha=q, n_estimators=100, max_depth=2, random_state=0
        )
        found["boosting"].append(trees.fit(x, y).predict(data.data[test]))
        line = QuantileRegressor(quantile=q, alpha=0.0, solver="highs")
        found["linear"].append(line.fit(x, y).predict(data.data[test]))
        found["constant"].append(np.full(len(test), np.quantile(y, q)))
    FOLDER.mkdir(exist_ok=True)
    for name, columns in found.items():
        table = pd.DataFrame(np.sort(np.column_stack(columns), axis=1), columns=[f"q_{q}" for q in QUANTILES])
        table.insert(0, "y_true", data.target[test])
        table.insert(0, "id", [f"patient-{k:03d}" for k in test])
        table["sex"] = np.where(data.data[test, 1] > 0, "1", "2")
        table.round(2).to_csv(FOLDER / f"{name}.csv", index=False)


if __name__ == "__main__":
    main()
