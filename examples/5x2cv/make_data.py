"""Write data.csv: the breast cancer data that scikit-learn ships, with an id and names for the classes."""

from pathlib import Path

from sklearn.datasets import load_breast_cancer

data = load_breast_cancer()
names = [name.replace(" ", "_") for name in data.feature_names]
lines = [",".join(["id", *names, "diagnosis"])]
for number, (row, target) in enumerate(zip(data.data.tolist(), data.target, strict=True)):
    lines.append(",".join([f"bc{number}", *map(repr, row), str(data.target_names[target])]))
(Path(__file__).parent / "data.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
