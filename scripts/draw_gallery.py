"""Draw the pictures of docs/charts.md, one for each chart of ``evalreport.plots``; the same bytes every time.

Run without arguments from anywhere; writes docs/gallery/*.svg.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import evalreport
from evalreport import plots
from evalreport.plots.pictures import Figure, panels
from evalreport.plots.style import to_svg
from evalreport.schema.results import Results

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "gallery"
RESAMPLES = 500
NAMES = ("boosting", "forest", "logreg", "neighbours", "tree")

Draw = Callable[[Any], Any]


def ids(n: int) -> list[str]:
    """Name n examples."""
    return [f"{i:05d}" for i in range(n)]


def binary(models: int = 4, n: int = 1200, column: str = "channel") -> Results:
    """Evaluate models that rank better and better, with two groups, or nine months, to slice by."""
    random = np.random.default_rng(1)
    truth = (random.random(n) < 0.3).astype(int)
    group = np.where(random.random(n) < 0.25, "branch", "online")
    shared = random.normal(size=n)
    rows: dict[str, Any] = {}
    for i in range(models):
        signal = np.where(group == "branch", 0.7, 1.0) * (2.6 - 0.25 * i)
        logit = truth * signal - 1.6 + 0.5 * shared + random.normal(size=n)
        rows[NAMES[i] if models <= len(NAMES) else f"candidate {i + 1:02d}"] = {
            "id": ids(n), "y_true": truth.astype(str).tolist(), "channel": group.tolist(),
            "month": [f"2026-{1 + 9 * k // n:02d}" for k in range(n)],
            "p_1": (1 / (1 + np.exp(-1.1 * logit))).round(6).tolist(),
        }  # fmt: skip
    given: dict[str, Any] = {"slices": [column]} if models <= len(NAMES) else {}
    return evalreport.evaluate(rows, resamples=RESAMPLES, **given)


def several_classes(n: int = 900) -> Results:
    """Evaluate one model of four classes, two of which it mistakes for each other."""
    random = np.random.default_rng(2)
    truth = random.integers(0, 4, n)
    said = np.where(random.random(n) < 0.75, truth, random.integers(0, 4, n))
    said = np.where((truth == 3) & (random.random(n) < 0.3), 2, said)
    classes = np.array(["cat", "dog", "fox", "wolf"])
    rows = {"forest": {"id": ids(n), "y_true": classes[truth].tolist(), "y_pred": classes[said].tolist()}}
    return evalreport.evaluate(rows, resamples=RESAMPLES)


def regression(n: int = 800) -> Results:
    """Evaluate a model whose errors grow with the values, and one that shrinks them to the mean."""
    random = np.random.default_rng(3)
    truth = random.gamma(4, 25, size=n)
    rows = {
        "boosting": truth + random.normal(size=n) * (4 + 0.08 * truth),
        "ridge": 60 + 0.55 * truth - 15 + random.normal(size=n) * 14,
    }
    return evalreport.evaluate(
        {m: {"id": ids(n), "y_true": truth.tolist(), "y_pred": y.tolist()} for m, y in rows.items()},
        task="regression", resamples=RESAMPLES,
    )  # fmt: skip


def by_data_sets(sets: int = 14) -> Results:
    """Evaluate scores of five algorithms on data sets."""
    random = np.random.default_rng(4)
    difficulty = random.normal(size=sets) * 0.05
    rows = {
        name: {
            "dataset": [f"set {k:02d}" for k in range(sets)],
            "value": (0.86 - 0.015 * i + difficulty + random.normal(size=sets) * 0.012).round(4).tolist(),
        }
        for i, name in enumerate(NAMES)
    }
    return evalreport.evaluate(rows, resamples=RESAMPLES)


def learning(n: int = 300) -> Results:
    """Evaluate two models trained on more and more examples: outcomes by training size."""
    random = np.random.default_rng(5)
    truth = (random.random(n) < 0.5).astype(int)
    rows: dict[str, Any] = {}
    for name, floor, gain in (("boosting", 0.06, 3.0), ("logreg", 0.14, 1.2)):
        own: dict[str, list[Any]] = {key: [] for key in ("id", "y_true", "y_pred", "train_size")}
        for size in (50, 100, 200, 400, 800, 1600):
            wrong = random.random(n) < floor + gain * size**-0.55
            own["id"] += ids(n)
            own["y_true"] += truth.astype(str).tolist()
            own["y_pred"] += np.where(wrong, 1 - truth, truth).astype(str).tolist()
            own["train_size"] += [size] * n
        rows[name] = own
    return evalreport.evaluate(rows, task="binary", resamples=RESAMPLES)


EXAMPLES: dict[str, Callable[[], Results]] = {
    "four-models": binary,
    "twelve-models": lambda: binary(12),
    "by-month": lambda: binary(2, column="month"),
    "four-classes": several_classes,
    "regression": regression,
    "data-sets": by_data_sets,
    "training-sizes": learning,
    "5x2cv": lambda: evalreport.evaluate(ROOT / "examples" / "5x2cv" / "predictions", resamples=RESAMPLES),
    "bias-variance": lambda: evalreport.evaluate(
        ROOT / "examples" / "bias-variance" / "predictions", resamples=RESAMPLES
    ),
}
"""The results that pictures are drawn from, by the name of the report that the site links to."""

DRAWN_FROM = {
    "four-models": (
        "values", "forest", "roc", "precision_recall", "error_rates", "threshold_sweep", "score_histogram",
        "reliability", "accuracy_rejection", "gain", "lift", "by_slice", "count_sets",
    ),
    "twelve-models": ("roc_of_many",),
    "by-month": ("over_time",),
    "four-classes": ("confusion",),
    "regression": ("predicted_true", "residuals"),
    "data-sets": ("critical_differences",),
    "training-sizes": ("learning_curves",),
    "5x2cv": ("fold_differences",),
    "bias-variance": ("error_estimates", "bias_variance", "bias_variance_course"),
}  # fmt: skip
"""The pictures of each example. One picture, the curves of equal F1, shows no results."""


def pictures() -> dict[str, tuple[Draw, float, float, str]]:
    """Give for each picture the function that draws it, its size in inches and what it shows."""
    made = {name: make() for name, make in EXAMPLES.items()}
    two, many, classes, numbers = (
        made[name] for name in ("four-models", "twelve-models", "four-classes", "regression")
    )
    sets, sizes, folds, parts = (
        made[name] for name in ("data-sets", "training-sizes", "5x2cv", "bias-variance")
    )
    of_parts, first, monthly = parts.models[0], two.models[0], made["by-month"]
    return {
        "values": (lambda ax: plots.values(two, ax), 5.2, 1.9, "Accuracy of four models with intervals"),
        "forest": (lambda ax: plots.forest(two, ax, margin=0.01), 5.2, 2.3, "Paired differences in accuracy"),
        "fold_differences": (lambda ax: plots.fold_differences(folds, ax), 5.2, 2.2, "Differences on folds"),
        "critical_differences": (
            lambda ax: plots.critical_differences(sets, ax), 5.2, 2.0, "Average ranks over data sets",
        ),
        "roc": (lambda ax: plots.roc(two, ax, annotated=first), 4.4, 4.2, "ROC curves of four models"),
        "roc_of_many": (lambda ax: plots.roc(many, ax), 4.4, 4.2, "ROC curves of twelve models, four in colour"),
        "precision_recall": (lambda ax: plots.precision_recall(two, ax), 4.4, 4.2, "Precision-recall curves"),
        "error_rates": (lambda ax: plots.error_rates(two, first, ax), 4.4, 3.4, "Error rates by threshold"),
        "threshold_sweep": (lambda ax: plots.threshold_sweep(two, ax), 4.4, 3.4, "F1 by threshold"),
        "score_histogram": (lambda ax: plots.score_histogram(two, first, ax), 4.4, 3.2, "Scores by class"),
        "reliability": (lambda ax: plots.reliability(two, ax), 4.4, 3.6, "Reliability diagram"),
        "accuracy_rejection": (lambda ax: plots.accuracy_rejection(two, ax), 4.4, 3.4, "Accuracy and rejection"),
        "gain": (lambda ax: plots.gain(two, ax), 4.4, 3.4, "Cumulative gain"),
        "lift": (lambda ax: plots.lift(two, ax), 4.4, 3.4, "Lift"),
        "confusion": (lambda ax: plots.confusion(classes, "forest", ax), 3.4, 3.4, "Confusion matrix"),
        "predicted_true": (lambda ax: plots.predicted_true(numbers, "boosting", ax), 4.4, 3.6, "Predicted and true"),
        "residuals": (lambda ax: plots.residuals(numbers, "boosting", ax), 4.4, 3.4, "Residuals"),
        "by_slice": (lambda ax: plots.by_slice(two, first, ax), 4.6, 1.7, "Accuracy by channel"),
        "over_time": (lambda ax: plots.over_time(monthly, ax), 5.2, 2.2, "Accuracy by month"),
        "error_estimates": (lambda ax: plots.error_estimates(parts, ax), 5.6, 2.6, "Error estimates"),
        "learning_curves": (lambda ax: plots.learning_curves(sizes, ax), 4.6, 3.4, "Learning curves"),
        "bias_variance": (lambda ax: plots.bias_variance(parts, ax), 5.2, 4.6, "Bias and variance"),
        "bias_variance_course": (
            lambda ax: plots.bias_variance_course(parts, of_parts, ax), 4.4, 3.4, "Bias and variance by complexity",
        ),
        "f1_at_recall": (plots.f1_at_recall, 4.2, 3.2, "F1 against precision at fixed recall"),
        "count_sets": (lambda ax: plots.count_sets(two, first, ax), 6.0, 2.2, "True and predicted positives"),
    }  # fmt: skip


def main() -> int:
    """Draw every picture and say where they are."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    drawn = pictures()
    for name, (draw, width, height, title) in drawn.items():
        with plots.report_style():
            figure = panels(
                Figure(
                    name=name, title="", description="", caption="", draw=(draw,), width=width, height=height
                )
            )
            svg = to_svg(figure, name=name.replace("_", "-"), title=title, description=title)
        (FOLDER / f"{name}.svg").write_text(svg, encoding="utf-8")
    print(f"{len(drawn)} pictures in {FOLDER.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
