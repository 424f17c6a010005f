"""Write data.csv: the diabetes data that scikit-learn ships, with an id for each patient."""

from pathlib import Path

from sklearn.datasets import load_diabetes

data = load_diabetes(scaled=False)
lines = [",".join(["id", *data.feature_names, "progression"])]
for number, (row, target) in enumerate(zip(data.data.tolist(), data.target.tolist(), strict=True)):
    lines.append(",".join([f"patient{number}", *map(repr, row), repr(target)]))
(Path(__file__).parent / "data.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
