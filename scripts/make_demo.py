"""Make the prediction files that ``evalreport demo`` brings: one archive a task, in ``evalreport/cli/demonstrations``.

The models are fitted with the scikit-learn of this environment, so another version may make other files: the archives
are committed, and this script shows their origin. ``python scripts/make_demo.py``
"""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_digits
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

ROOT = Path(__file__).resolve().parent.parent
ARCHIVES = ROOT / "evalreport" / "cli" / "demonstrations"
EXAMPLES = ROOT / "examples"

CREDIT = """Three models on 1,000 clients of the simulated data set "Default" (a part of examples/credit-default).
Each file has the true label and the model's probability of a default. The data set's licence is in DATA-LICENSE.txt.
"""
DIABETES = """Three models on 221 patients: a measure of the progression of diabetes after one year.
The data set is scikit-learn's load_diabetes (Efron, Hastie, Johnstone and Tibshirani, Least Angle Regression, 2004).
Half of its 442 patients trained the models, the other half is here.
"""
DIGITS = """Three models on 600 handwritten digits, with their probabilities of the ten classes.
The data set is scikit-learn's load_digits (E. Alpaydin and C. Kaynak, Optical Recognition of Handwritten Digits,
UCI Machine Learning Repository, 1998, CC BY 4.0). The other 1,197 digits trained the models.
"""
QUESTIONS = """Four language models on 564 questions about 60 passages in six tasks, three attempts at each.
The answers are made up, by examples/suite/make_data.py with a seed: they say nothing about any real model.
"""
Rows = Iterable[Sequence[object]]


def main() -> None:
    """Write the four archives."""
    ARCHIVES.mkdir(exist_ok=True)
    write("binary", CREDIT, credit(), title="Credit default: three models", margin="0.01")
    write("regression", DIABETES, diabetes(), title="Diabetes: three models of its progression", margin="2")
    write("multiclass", DIGITS, digits(), title="Handwritten digits: three models", margin="0.01")
    more = '\n# Questions about one passage are alike, so whole passages are drawn.\ncluster = "passage"\n'
    write(
        "language-models",
        QUESTIONS,
        questions(),
        title="Four language models, made up",
        margin="0.02",
        more=more,
    )


def credit() -> dict[str, Rows]:
    """Return the first 1,000 ids of three models of the example."""
    tables: dict[str, Rows] = {}
    for model in ("logreg", "random_forest", "knn15"):
        with (EXAMPLES / "credit-default/models" / f"{model}.csv").open(encoding="utf-8") as file:
            rows = sorted(csv.DictReader(file), key=lambda row: int(row["id"]))[:1000]
        cells = [(row["id"], row["y_true"], f"{float(row['p_Yes']):.4f}") for row in rows]
        tables[model] = [("id", "y_true", "p_Yes"), *cells]
    return tables


def diabetes() -> dict[str, Rows]:
    """Return three regressions on one half of the patients."""
    x, y = load_diabetes(return_X_y=True)
    train, test = train_test_split(np.arange(len(y)), test_size=0.5, random_state=0)
    models = {
        "linear": LinearRegression(),
        "forest": RandomForestRegressor(200, min_samples_leaf=3, random_state=0),
        "nearest": KNeighborsRegressor(3),
    }
    return {
        name: [("id", "y_true", "y_pred"), *(
            (int(i), int(y[i]), f"{p:.1f}")
            for i, p in zip(test, clone(model).fit(x[train], y[train]).predict(x[test]), strict=True)
        )]
        for name, model in models.items()
    }  # fmt: skip


def digits() -> dict[str, Rows]:
    """Return three classifiers on 600 digits."""
    x, y = load_digits(return_X_y=True)
    train, test = train_test_split(np.arange(len(y)), test_size=600, random_state=0, stratify=y)
    models = {
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(C=0.05, max_iter=1000)),
        "forest": RandomForestClassifier(100, min_samples_leaf=2, random_state=0),
        "nearest": KNeighborsClassifier(9),
    }
    tables: dict[str, Rows] = {}
    for name, model in models.items():
        thousandths = rounded(clone(model).fit(x[train], y[train]).predict_proba(x[test]))
        cells = [(int(i), f"digit {y[i]}", *(f"{p / 1000:g}" for p in row))
                 for i, row in zip(test, thousandths, strict=True)]  # fmt: skip
        tables[name] = [("id", "y_true", *(f"p_digit {k}" for k in range(10))), *cells]
    return tables


def rounded(probabilities: NDArray[np.float64]) -> NDArray[np.int64]:
    """Round to thousandths that add up to one: the largest remainders are rounded up."""
    whole = np.floor(1000 * probabilities + 1e-9).astype(np.int64)
    order = np.argsort(np.argsort(whole - 1000 * probabilities, axis=1, kind="stable"), axis=1)
    up: NDArray[np.bool_] = order < 1000 - whole.sum(axis=1, keepdims=True)
    return np.asarray(whole + up, np.int64)


def questions() -> dict[str, Rows]:
    """Return the files of the example as they are."""
    return {
        path.stem: list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))
        for path in sorted((EXAMPLES / "suite/models").glob("*.csv"))
    }


def write(
    task: str, about: str, tables: Mapping[str, Rows], *, title: str, margin: str, more: str = ""
) -> None:
    """Write an archive whose bytes depend on its content alone."""
    settings = (
        "# The options of this demo. `evalreport run` finds this file, because it lies beside the folder of models.\n"
        "# `evalreport init` writes a file like this one with every key.\n\n[evalreport]\n"
        f'title = "{title}"\n\n'
        "# The smallest difference of the primary metric that would matter, chosen before looking at the results.\n"
        f"margin = {margin}\n{more}"
    )
    files = {"ABOUT.txt": about, "evalreport.toml": settings}
    if task == "binary":
        files["DATA-LICENSE.txt"] = (EXAMPLES / "credit-default/DATA-LICENSE.txt").read_text(encoding="utf-8")
    for name, rows in tables.items():
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(rows)
        files[f"models/{name}.csv"] = text.getvalue()
    path = ARCHIVES / f"{task}.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED, 9)
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
