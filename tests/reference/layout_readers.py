"""Reading our numbers for the reference records of folds, data sets and independent test sets."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from evalreport.comparisons.adjustment import adjust
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.schema.results import Results

from . import lookup
from .records import Record

Numbers = dict[str, float | None]
Reader = Callable[[Results, Record, re.Match[str]], Numbers]

# The file, its positive class, and the column of values where it holds scores.
LAYOUTS: Mapping[str, tuple[str, str | None, str | None]] = {
    "breast_cancer_cv10": ("breast_cancer_cv10.csv", "malignant", None),
    "breast_cancer_cv10x10": ("breast_cancer_cv10x10.csv.gz", "malignant", None),
    "breast_cancer_5x2cv": ("breast_cancer_5x2cv.csv.gz", "malignant", None),
    "default_5x2cv": ("default_5x2cv.csv.gz", "Yes", None),
    "default_cv10": ("default_cv10.csv.gz", "Yes", None),
    "diabetes_cv10": ("diabetes_cv10.csv", None, None),
    "diabetes_5x2cv": ("diabetes_5x2cv.csv.gz", None, None),
    "iris_loocv": ("iris_loocv.csv", None, None),
    "ext_demsar2006": ("ext_demsar2006.csv", None, "auc"),
}

GREATER = ("accuracy", "f1", "mean_value")


def row_of(results: Results, record: Record, metric: str, test: str) -> tuple[ComparisonRecord, int]:
    """Return a pair's row of a test on a metric (macro-averaged nowhere here) and the sign of its direction."""
    models = tuple(record["models"])
    return lookup.comparison(results, models, metric, chosen=lambda row: row.test == test)


def name_of(match: re.Match[str]) -> str:
    """Return our metric's name: the AUCs of the published table are values that were computed elsewhere."""
    return "mean_value" if match["metric"] == "auc" else match["metric"]


def t_test(test: str) -> Reader:
    """Read a t test of paired differences: mean difference, statistic, degrees of freedom, p, limits."""

    def read(results: Results, record: Record, match: re.Match[str]) -> Numbers:
        row, sign = row_of(results, record, name_of(match), test)
        assert row.statistic is not None
        assert row.difference is not None
        ours: Numbers = {
            "mean_diff": row.difference * sign,
            "statistic": row.statistic * sign,
            "df": row.df,
            "p_value": row.p_value,
        }
        if "lower" in record["value"]:
            low, high = lookup.signed_limits(row, sign)
            ours |= {"lower": low, "upper": high}
        return ours

    return read


def wilcoxon(test: str) -> Reader:
    """Read a signed-rank test: p, and the sum of the positive ranks."""

    def read(results: Results, record: Record, match: re.Match[str]) -> Numbers:
        row, sign = row_of(results, record, name_of(match), test)
        assert row.statistic is not None
        ours: Numbers = {"p_value": row.p_value}
        if "v_plus" in record["value"]:
            n = row.details["n"]
            ours["v_plus"] = row.statistic if sign > 0 else n * (n + 1) / 2 - row.statistic
        return ours

    return read


def sign_test(results: Results, record: Record, match: re.Match[str]) -> Numbers:
    """Read the sign test: how many differences are positive, of how many, and p."""
    row, sign = row_of(results, record, name_of(match), "sign")
    assert row.statistic is not None
    n = row.details["n"]
    return {"positive": row.statistic if sign > 0 else n - row.statistic, "n": n, "p_value": row.p_value}


def bayes(results: Results, record: Record, match: re.Match[str]) -> Numbers:
    """Read the three posterior probabilities, by the sign of the difference as the source has them."""
    row, sign = row_of(results, record, name_of(match), "bayes_correlated_t")
    first, second = row.details["a_better"], row.details["b_better"]
    if (sign > 0) == (name_of(match) in GREATER):
        first, second = second, first
    return {"below": first, "rope": row.details["within_margin"], "above": second}


def five_by_two(test: str) -> Reader:
    """Read a 5x2cv test: its statistic, degrees of freedom and p."""

    def read(results: Results, record: Record, match: re.Match[str]) -> Numbers:
        row, sign = row_of(results, record, name_of(match), test)
        assert row.statistic is not None
        if test == "5x2cv_f":
            return {
                "statistic": row.statistic,
                "df1": row.df,
                "df2": row.details["df2"],
                "p_value": row.p_value,
            }
        return {"statistic": row.statistic * sign, "df": row.df, "p_value": row.p_value}

    return read


def per_fold(results: Results, record: Record, match: re.Match[str]) -> Numbers:
    """Read a metric's value on every fold of every model."""
    return {
        f"{fold.model} r{fold.repeat or 1}f{fold.fold}": fold.value
        for fold in results.folds
        if fold.metric == name_of(match) and fold.average is None and fold.model in record["models"]
    }


def pooled(results: Results, record: Record, _match: re.Match[str]) -> Numbers:
    """Read metrics over the predictions of all folds."""
    return {name: lookup.metric(results, record["models"][0], name).value for name in record["value"]}


def omnibus(test: str) -> Reader:
    """Read a test of all models at once; of several metrics with the same ranks, the first."""

    def read(results: Results, record: Record, _match: re.Match[str]) -> Numbers:
        row = next(r for r in results.omnibus if r.test == test and r.metric in ("mean_value", "mae"))
        if "df2" in record["value"]:
            return {"statistic": row.statistic, "df1": row.df, "df2": row.df2, "p_value": row.p_value}
        return {"statistic": row.statistic, "df": row.df, "p_value": row.p_value}

    return read


def average_ranks(results: Results, _record: Record, _match: re.Match[str]) -> Numbers:
    """Read the average ranks."""
    return {r.model: r.average_rank for r in results.average_ranks if r.metric in ("mean_value", "mae")}


def critical_difference(results: Results, _record: Record, _match: re.Match[str]) -> Numbers:
    """Read Nemenyi's critical difference."""
    record = next(r for r in results.average_ranks if r.metric in ("mean_value", "mae"))
    return {"cd": record.critical_difference}


def posthoc(test: str, correction: str = "none") -> Reader:
    """Read the p values of all pairs after Friedman's test, adjusted among themselves."""

    def read(results: Results, record: Record, _match: re.Match[str]) -> Numbers:
        rows = {
            frozenset((r.a, r.b)): r.p_value
            for r in results.comparisons
            if r.test == test and r.metric in ("mean_value", "mae")
        }
        found = [rows[frozenset(key.split(" | "))] for key in record["value"]]
        adjusted = adjust([p for p in found if p is not None], correction)  # type: ignore[arg-type]
        return dict(zip(record["value"], adjusted, strict=True))

    return read


def adjusted_family(results: Results, record: Record, _match: re.Match[str]) -> Numbers:
    """Read the adjusted p values of the recommended tests; the results must be about that metric first."""
    rows = {frozenset((r.a, r.b)): r.p_adjusted for r in results.comparisons if r.recommended}
    return {key: rows[frozenset(key.split(" | "))] for key in record["value"]}


METRIC = r"(?P<metric>accuracy|f1|rmse|mae|mse|auc)"

READERS: tuple[tuple[str, Reader], ...] = (
    (rf"corrected resampled t test on fold {METRIC}", t_test("corrected_resampled_t")),
    (rf"paired t test on fold_{METRIC}", t_test("cv_paired_t")),
    (r"paired t test on (?P<metric>auc)", t_test("paired_t")),
    (rf"Wilcoxon signed rank on (fold_)?{METRIC}, (?P<kind>exact).*", wilcoxon("wilcoxon")),
    (rf"Wilcoxon signed rank on (fold_)?{METRIC}, (?P<kind>normal) approximation", wilcoxon("wilcoxon")),
    (rf"Wilcoxon signed rank on (fold_)?{METRIC}, Pratt zeros, asymptotic", wilcoxon("wilcoxon_pratt")),
    (rf"sign test on (fold_)?{METRIC} \(zeros dropped\)", sign_test),
    (rf"Bayesian correlated t test on fold {METRIC}", bayes),
    (rf"Dietterich 5x2cv paired t test on {METRIC}", five_by_two("5x2cv_t")),
    (rf"Alpaydin combined 5x2cv F test on {METRIC}", five_by_two("5x2cv_f")),
    (rf"per-fold {METRIC}", per_fold),
    (r"metrics over the pooled fold predictions", pooled),
    (r"friedman", omnibus("friedman")),
    (r"iman_davenport", omnibus("iman_davenport")),
    (r"average_ranks", average_ranks),
    (r"nemenyi_cd_(?P<alpha>0\.05|0\.1)", critical_difference),
    (r"nemenyi_p", posthoc("nemenyi")),
    (r"conover_p_raw", posthoc("conover")),
    (r"conover_p_holm", posthoc("conover", "holm")),
    (
        rf"(?P<correction>bonferroni|holm|BH)-adjusted p values of the corrected resampled t tests on fold {METRIC}",
        adjusted_family,
    ),
)


def reader_of(record: Record) -> tuple[Reader, re.Match[str]] | None:
    """Return how to read our numbers for a record; None where it is not about a layout."""
    for pattern, reader in READERS:
        match = re.fullmatch(pattern, record["quantity"])
        if match is not None:
            return reader, match
    return None


def expected_numbers(record: Record) -> dict[str, object]:
    """Return a record's value as named numbers, fold by fold where it holds several models."""
    value = record["value"]
    if not isinstance(value, dict):
        return {"value": value}
    if all(isinstance(part, dict) for part in value.values()):
        return {f"{model} {fold}": number for model, folds in value.items() for fold, number in folds.items()}
    return value
