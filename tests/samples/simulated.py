"""Results as a run would give them, built from simulated predictions by plain numpy: no engine needed."""

from __future__ import annotations

from itertools import combinations
from math import erf, sqrt

import numpy as np

from evalreport.questions.thresholds.records import CurveRecord
from evalreport.schema.comparisons import ComparisonRecord, RankingRecord
from evalreport.schema.decisions import GateRecord, VerdictRecord
from evalreport.schema.inputs import FoundRecord, InputRecord
from evalreport.schema.metrics import ConfusionRecord, Interval, MetricRecord
from evalreport.schema.results import Results
from evalreport.schema.warnings import WarningRecord
from evalreport.texts import Message

SIGNALS = {"boosting": 1.9, "forest": 1.85, "knn": 1.0, "logreg": 1.45, "tree": 0.6}
Z = 1.959963984540054
EXPLORATORY = Message("caution.exploratory")


def simulated(names: dict[str, float] | None = None, *, n: int = 1200, **changes: object) -> Results:
    """Simulate a binary task: ``names`` gives each model's signal-to-noise ratio; ``changes`` replace fields."""
    signals = dict(sorted((SIGNALS if names is None else names).items()))
    rng = np.random.default_rng(7)
    truth = (rng.random(n) < 0.35).astype(int)
    shared = rng.normal(size=n)
    scores = {m: truth * s + 0.6 * shared + 0.8 * rng.normal(size=n) for m, s in signals.items()}
    right = {m: ((scores[m] > signals[m] / 2) == truth).astype(float) for m in signals}
    order = sorted(signals, key=lambda m: (-right[m].mean(), m))
    comparisons, verdicts = _pairs(list(signals), right)
    fields: dict[str, object] = {
        "signature": f"evalreport 0.1.0 · binary · test-set · n={n} · {len(signals)} models · B=2000 · seed 0",
        "options": {"confidence": 0.95, "correction": "holm", "margin": None, "resamples": 2000, "seed": 0},
        "task": "binary", "design": "test-set", "n": n, "classes": ("No", "Yes"), "positive": "Yes",
        "models": tuple(signals), "primary_metric": "accuracy", "baseline": None,
        "inputs": tuple(
            InputRecord(path=f"{i}.csv", sha256=f"{i:064x}", rows=n, model=m) for i, m in enumerate(signals)
        ),
        "found": (FoundRecord(what="task", value="binary", why="two classes in y_true"),),
        "metrics": tuple(r for m in signals for r in _metrics(m, truth, scores[m], right[m], signals[m])),
        "confusion": tuple(c for m in signals for c in _confusion(m, truth, scores[m] > signals[m] / 2)),
        "curves": tuple(c for m in signals for c in _curves(m, truth, scores[m])),
        "comparisons": comparisons, "verdicts": verdicts,
        "ranking": tuple(
            RankingRecord(
                model=m, metric="accuracy", value=float(right[m].mean()), rank=i + 1, letters="abcdefgh"[min(i, 7)]
            )
            for i, m in enumerate(order)
        ),
        "warnings": (WarningRecord(code="majority_share", text="The larger class holds 65 % of the examples."),),
        "environment": {"evalreport": "0.1.0", "numpy": "2.4.0", "python": "3.11.2"},
    }  # fmt: skip
    return Results(**(fields | changes))  # type: ignore[arg-type]


def _metric(model: str, metric: str, value: float, error: float, first: str, n: int) -> MetricRecord:
    low, high = value - Z * error, value + Z * error
    intervals = tuple(
        Interval(method=name, level=0.95, low=low + shift, high=high + shift)
        for name, shift in (
            (first, 0.0),
            ("normal", 1e-4),
            ("bootstrap_percentile", -1e-4),
            ("bootstrap_bca", 2e-4),
        )
    )
    return MetricRecord(
        model=model,
        metric=metric,
        average=None,
        label=None,
        slice=None,
        value=value,
        standard_error=error,
        n=n,
        intervals=intervals,
        reason=None,
    )


def _metrics(
    model: str, truth: np.ndarray, score: np.ndarray, right: np.ndarray, signal: float
) -> list[MetricRecord]:
    n, accuracy, auc = len(truth), float(right.mean()), _auc(truth, score)
    predicted = score > signal / 2
    hits = float((predicted & (truth == 1)).sum())
    f1 = 2 * hits / (predicted.sum() + truth.sum())
    loss = float(np.log1p(np.exp(-np.abs(score))).mean())
    return [
        _metric(model, "accuracy", accuracy, sqrt(accuracy * (1 - accuracy) / n), "wilson", n),
        _metric(model, "f1", float(f1), 0.013, "plus_four", n),
        _metric(model, "log_loss", loss, 0.009, "normal", n),
        _metric(model, "roc_auc", auc, 0.007, "delong", n),
    ]


def _auc(truth: np.ndarray, score: np.ndarray) -> float:
    return float((score[truth == 1][:, None] > score[truth == 0][None, :]).mean())


def _confusion(model: str, truth: np.ndarray, predicted: np.ndarray) -> list[ConfusionRecord]:
    return [
        ConfusionRecord(
            model=model,
            true=("No", "Yes")[t],
            predicted=("No", "Yes")[p],
            count=float(((truth == t) & (predicted == p)).sum()),
        )
        for t in (0, 1)
        for p in (0, 1)
    ]


def _curves(model: str, truth: np.ndarray, score: np.ndarray) -> list[CurveRecord]:
    ranked = truth[np.argsort(-score)]
    tp, fp = np.cumsum(ranked), np.cumsum(1 - ranked)
    keep = np.unique(np.linspace(0, len(ranked) - 1, 200).astype(int))
    fpr, tpr, precision = fp / fp[-1], tp / tp[-1], tp / (tp + fp)
    return [
        CurveRecord(
            model=model,
            curve="roc",
            label=None,
            x=(0.0, *map(float, fpr[keep])),
            y=(0.0, *map(float, tpr[keep])),
        ),
        CurveRecord(
            model=model,
            curve="pr",
            label=None,
            x=tuple(map(float, tpr[keep])),
            y=tuple(map(float, precision[keep])),
        ),
    ]


def _pairs(
    models: list[str], right: dict[str, np.ndarray]
) -> tuple[tuple[ComparisonRecord, ...], tuple[VerdictRecord, ...]]:
    comparisons, verdicts = [], []
    n_pairs = len(models) * (len(models) - 1) // 2
    for a, b in combinations(models, 2):
        difference = right[a] - right[b]
        d, error = float(difference.mean()), float(difference.std() / sqrt(len(difference)))
        p = 1 - erf(abs(d) / error / sqrt(2)) if error else 1.0
        adjusted = min(1.0, n_pairs * p)
        for test, is_recommended in (("mcnemar_midp", True), ("mcnemar_exact", False)):
            comparisons.append(
                ComparisonRecord(
                    a=a, b=b, metric="accuracy", average=None, label=None, slice=None, test=test, p_value=p,
                    p_adjusted=adjusted if is_recommended else None,
                    correction="holm" if is_recommended else None, difference=d, level=0.95,
                    low=d - Z * error, high=d + Z * error, interval_method="newcombe_paired",
                    effect="discordant pairs", recommended=is_recommended,
                    caution=None if is_recommended else EXPLORATORY, statistic=None, df=None,
                    effect_size=None, reason=None,
                )
            )  # fmt: skip
        kind = "undecided" if adjusted > 0.05 else "better" if d > 0 else "worse"
        text = f"{a} and {b}: not settled." if kind == "undecided" else f"{a} is {kind} than {b} on accuracy."
        verdicts.append(
            VerdictRecord(
                about=(a, b),
                metric="accuracy",
                verdict=kind,
                level=0.995,
                low=d - 2.8 * error,
                high=d + 2.8 * error,
                text=text,
            )
        )
    return tuple(comparisons), tuple(verdicts)


GATE = GateRecord(
    gate="forest.accuracy >= 0.7",
    outcome="pass",
    value=0.8,
    low=0.78,
    high=0.82,
    text="0.80 [0.78, 0.82] lies wholly above 0.7.",
)
