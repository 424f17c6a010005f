"""Promises that are no rates: each is tried once, through the public API."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import evalreport as er
from evalreport.errors import InputError

Source = dict[str, dict[str, Any]]


def odd_scores(generator: np.random.Generator) -> str | None:
    """Scores of any offset and scale are reported: 1e9 + N(0, 1) and 0.5 + 1e-7 N(0, 1)."""
    true = generator.integers(0, 2, 300)
    base = generator.normal(size=300) + true
    areas = [_area(true, offset + scale * base) for offset, scale in ((0.0, 1.0), (1e9, 1.0), (0.5, 1e-7))]
    return None if np.ptp(areas) < 0.01 else f"areas {areas}"


def _area(true: np.ndarray[Any, Any], score: np.ndarray[Any, Any]) -> float:
    source: Source = {"a": {"id": _ids(len(true)), "y_true": true.tolist(), "score": score.tolist()}}
    value = er.evaluate(source, metrics=["roc_auc"], resamples=50).metrics[0].value
    assert value is not None
    return value


def four_differences(_: np.random.Generator) -> str | None:
    """Four equal differences give Wilcoxon's p = 0.125, and no verdict."""
    marks = {"a": [0.6, 0.7, 0.8, 0.9], "b": [0.5, 0.6, 0.7, 0.8]}
    source = {model: {"dataset": list("wxyz"), "value": values} for model, values in marks.items()}
    results = er.evaluate(source, tests=["wilcoxon"], resamples=50)
    found = results.comparisons[0].p_value, results.verdicts[0].verdict
    return None if found == (0.125, "undecided") else str(found)


def folds_and_seeds(generator: np.random.Generator) -> str | None:
    """Ten folds with three seeds each are analysed."""
    fold = generator.integers(0, 10, 200)
    rows = [(i, k) for i in range(200) for k in range(3)]
    source = {
        model: {
            "id": [str(i) for i, _ in rows], "seed": [k for _, k in rows], "fold": [int(fold[i]) for i, _ in rows],
            "outcome": (generator.random(len(rows)) < 0.8).astype(int).tolist(),
        }
        for model in "ab"
    }  # fmt: skip
    results = er.evaluate(source, task="outcome", resamples=50)
    return None if results.design == "cross-validation" else results.design


def id_in_two_folds(generator: np.random.Generator) -> str | None:
    """An id in two folds is refused by its name."""
    true = generator.integers(0, 2, 100).tolist()
    again = {"id": [*_ids(100), "0007"], "fold": [i % 10 for i in range(100)] + [3]}
    try:
        er.evaluate({"a": {**again, "y_true": [*true, true[7]], "y_pred": [*true, true[7]]}}, resamples=50)
    except InputError as error:
        return None if "0007" in str(error) else str(error)
    return "accepted"


def unequal_halves(generator: np.random.Generator) -> str | None:
    """Five repeats of 270 and 30 examples are not taken for 5x2cv."""
    order = [generator.permutation(300) for _ in range(5)]
    ids = [str(i) for part in order for i in part]
    true = [int(i) % 2 for i in ids]
    layout = {
        "id": ids, "repeat": [r for r in range(5) for _ in range(300)], "y_true": true,
        "fold": [int(k < 30) for _ in range(5) for k in range(300)],
    }  # fmt: skip
    right = generator.random((2, 1500)) < 0.8
    said = {
        m: [t if r else 1 - t for t, r in zip(true, row, strict=True)]
        for m, row in zip("ab", right, strict=True)
    }
    try:
        results = er.evaluate({m: {**layout, "y_pred": y} for m, y in said.items()}, resamples=50)
    except InputError:
        return None
    return results.design if results.design == "5x2cv" else None


def missing_slices(generator: np.random.Generator) -> str | None:
    """``nan`` and an empty cell of a slice column are one slice, ``(missing)``."""
    outcome = (generator.random(160) < 0.8).astype(int).tolist()
    groups = ["f"] * 60 + ["m"] * 60 + ["nan"] * 20 + [""] * 20
    results = er.evaluate(
        {"a": {"id": _ids(160), "outcome": outcome, "group": groups}}, task="outcome", slices=["group"], resamples=50
    )  # fmt: skip
    found = {row.slice.value for row in results.metrics if row.slice is not None}
    return None if found == {"f", "m", "(missing)"} else str(sorted(found))


def one_interval(generator: np.random.Generator) -> str | None:
    """The one interval of a verdict leaves 0 out exactly where the pair is decided, at any number of examples."""
    for number in range(30):
        true = generator.integers(0, 2, 60)
        chances = dict(zip("abc", (0.9, 0.75, 0.7), strict=True))
        source: Source = {
            m: {
                "id": _ids(60),
                "y_true": true.tolist(),
                "y_pred": ((generator.random(60) < p) == true).astype(int).tolist(),
            }
            for m, p in chances.items()
        }
        results = er.evaluate(source, metrics=["f1"], tests=["permutation"], resamples=399, seed=number)
        decided = {
            (row.a, row.b): row.p_adjusted is not None and row.p_adjusted <= 0.05
            for row in results.comparisons
            if row.recommended
        }
        for verdict in results.verdicts:
            if verdict.low is None or verdict.high is None:
                continue
            outside = verdict.low > 0 or verdict.high < 0 or "cut at 0" in (verdict.method or "")
            if outside != decided[verdict.about] or "borderline" in verdict.text:
                return str(verdict.text)
    return None


def same_digits(generator: np.random.Generator) -> str | None:
    """A metric's digits do not depend on what else is asked for, nor on the processor's kernels."""
    return _differing(int(generator.integers(2**31)))


_PROGRAM = """
import sys
import tempfile
import numpy as np, evalreport as er
random = np.random.default_rng(int(sys.argv[1]))
n = 257
true = random.integers(0, 2, n)
source = {
    m: {
        "id": [str(i) for i in range(n)],
        "y_true": true.tolist(),
        "p_1": random.beta(1 + 2 * true, 3 - 2 * true).tolist(),
    }
    for m in "ab"
}
for asked in (["log_loss"], ["log_loss", "brier"], None):
    results = er.evaluate(source, resamples=200, **({"metrics": asked} if asked else {}))
    for row in results.metrics:
        if row.metric == "log_loss":
            print(row.model, repr(row.value), [(i.method, i.low, i.high) for i in row.intervals if i.method != "t"][:1])
"""


def _differing(seed: int) -> str | None:
    """Run in processes of their own, since a processor's kernels are chosen when numpy is loaded."""
    said = set()
    for kernel in ("", "Haswell", "Nehalem"):
        kept = {**os.environ, **({"OPENBLAS_CORETYPE": kernel} if kernel else {})}
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM, str(seed)], capture_output=True, text=True, env=kept, check=False
        )
        if done.returncode:
            return done.stderr[-300:]
        lines = done.stdout.splitlines()
        # Three runs of two models: each pair of lines is one run.
        said |= {tuple(lines[i : i + 2]) for i in range(0, len(lines), 2)}
    return None if len(said) == 1 else f"{len(said)} versions of the same figures"


def tied_labels(_: np.random.Generator) -> str | None:
    """A model that gives every label the same probability has the top-2 accuracy 2/3 of three classes."""
    same = {f"p_{label}": [1 / 3] * 90 for label in "abc"}
    source: Source = {"a": {"id": _ids(90), "y_true": list("abc") * 30, **same}}
    value = er.evaluate(source, metrics=["top_2_accuracy"], resamples=50).metrics[0].value
    return None if value is not None and abs(value - 2 / 3) < 1e-12 else str(value)


def one_seed(generator: np.random.Generator) -> str | None:
    """With one seed of a model the verdict is said to be about these trained models."""
    rows = {"a": 3, "b": 1}
    source: Source = {
        model: {
            "id": [f"{i:03d}" for i in range(200) for _ in range(seeds)],
            "seed": [f"{model}{k}" for _ in range(200) for k in range(seeds)],
            "outcome": (generator.random(200 * seeds) < 0.8).astype(int).tolist(),
        }
        for model, seeds in rows.items()
    }
    results = er.evaluate(source, task="outcome", resamples=50)
    said = [row.caution or "" for row in results.comparisons if row.recommended]
    said += [warning.text for warning in results.warnings if warning.code == "one_seed"]
    said += [verdict.text for verdict in results.verdicts]
    return (
        None
        if any("these trained models" in str(text).lower() for text in said)
        else "; ".join(map(str, said))
    )


def none_differs(generator: np.random.Generator) -> str | None:
    """The run says how many slices were tested and, where none is flagged, that none differs."""
    outcome = (generator.random(1200) < 0.8).astype(int).tolist()
    groups = [f"g{k}" for k in range(6) for _ in range(200)]
    results = er.evaluate(
        {"a": {"id": _ids(1200), "outcome": outcome, "group": groups}}, task="outcome", slices=["group"], resamples=50
    )  # fmt: skip
    if any(row.flagged for row in results.disparities):
        return "a slice is flagged: take another seed"
    with tempfile.TemporaryDirectory() as folder:
        er.render(results, folder, formats=["md"])
        page = (Path(folder) / "summary.md").read_text(encoding="utf-8")
    return (
        None
        if "none is shown to differ from the other examples (6 tests)" in page
        else "the report does not say so"
    )


def _ids(n: int) -> list[str]:
    return [f"{i:04d}" for i in range(n)]


Check = Callable[[np.random.Generator], str | None]

CHECKS: Mapping[str, Check] = {
    "odd scores": odd_scores,
    "four equal differences": four_differences,
    "folds with seeds": folds_and_seeds,
    "an id in two folds": id_in_two_folds,
    "unequal halves": unequal_halves,
    "missing slices": missing_slices,
    "one interval": one_interval,
    "same digits": same_digits,
    "tied labels": tied_labels,
    "one seed": one_seed,
    "slices tested": none_differs,
}
"""Each returns None where the promise holds, else what was found instead."""
