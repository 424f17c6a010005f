"""Write by_hand/: the layouts of ML.NET and SAS, which run on no machine of ours, with values by scikit-learn.

The layouts are those of ML.NET's IDataView saved as text (Label, PredictedLabel, Score, Probability; a regression's
prediction is Score) and of SAS Enterprise Miner's score data (F_BAD, I_BAD, P_BAD1, P_BAD0).
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from sklearn.metrics import accuracy_score, f1_score, mean_absolute_error, roc_auc_score

HERE = Path(__file__).resolve().parent
N = 40
AT = 0.4
"""The threshold of the labels: made anew at 0.5 they would be others."""


def main() -> None:
    """Write the files, and their values into expected.json."""
    generator = np.random.default_rng(59)
    true = (generator.random(N) < 0.4).astype(int)
    p = np.clip(generator.normal(0.3, 0.2, N) + 0.3 * true, 0.01, 0.99).round(6)
    label, logit = (p >= AT).astype(int), np.log(p / (1 - p)).round(6)
    price = generator.normal(100, 20, N).round(2)
    near = (price + generator.normal(0, 5, N)).round(3)
    words = np.array(["False", "True"])
    tables = {
        "mlnet_binary.tsv": (
            "\t",
            ("id", "Label", "PredictedLabel", "Score", "Probability"),
            (range(N), words[true], words[label], logit, p),
        ),
        "mlnet_regression.csv": (",", ("id", "Label", "Score"), (range(N), price, near)),
        "sas.csv": (
            ",",
            ("id", "F_BAD", "I_BAD", "P_BAD1", "P_BAD0"),
            (range(N), true, label, p, (1 - p).round(6)),
        ),
    }
    folder = HERE / "by_hand"
    folder.mkdir(exist_ok=True)
    for name, (mark, header, columns) in tables.items():
        lines = [mark.join(map(str, row)) for row in (header, *zip(*columns, strict=True))]
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    values = {
        "accuracy": accuracy_score(true, label),
        "f1": f1_score(true, label),
        "roc_auc": roc_auc_score(true, p),
    }
    path = HERE / "expected.json"
    expected = json.loads(path.read_text(encoding="utf-8"))
    expected |= {"by_hand/mlnet_binary.tsv": values, "by_hand/sas.csv": values}
    expected["by_hand/mlnet_regression.csv"] = {"mae": mean_absolute_error(price, near)}
    path.write_text(json.dumps(expected, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
