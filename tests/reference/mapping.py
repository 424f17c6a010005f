"""Which of our numbers answers which reference quantity: one reader for each."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from statistics import NormalDist

from evalreport.comparisons.adjustment import adjust
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.schema.results import Results

from . import lookup
from .records import Record

Numbers = dict[str, float | None]
Reader = Callable[[Results, Record], Numbers]


def value_of(name: str, average: str | None = None, key: str = "value") -> Reader:
    """Read a metric's value."""

    def read(results: Results, record: Record) -> Numbers:
        return {key: lookup.metric(results, record["models"][0], name, average=average).value}

    return read


def hits(name: str) -> Reader:
    """Read a top-k accuracy, except of three neighbours, whose classes tie: the source counts every tie as a hit."""

    def read(results: Results, record: Record) -> Numbers:
        return {} if record["models"] == ["knn3"] else value_of(name)(results, record)

    return read


def averages_of(average: str) -> Reader:
    """Read precision, recall and F1 averaged over the classes."""

    def read(results: Results, record: Record) -> Numbers:
        model = record["models"][0]
        return {
            name: lookup.metric(results, model, name, average=average).value
            for name in ("precision", "recall", "f1")
        }

    return read


def classes_of(name: str) -> Reader:
    """Read a metric's value for every single class."""

    def read(results: Results, record: Record) -> Numbers:
        model = record["models"][0]
        return {label: lookup.metric(results, model, name, label=label).value for label in results.classes}

    return read


def limits_of(name: str, method: str) -> Reader:
    """Read an interval's limits."""

    def read(results: Results, record: Record) -> Numbers:
        one = lookup.interval(lookup.metric(results, record["models"][0], name), method)
        return {"lower": one.low, "upper": one.high}

    return read


def limits_and_value(name: str, method: str, key: str) -> Reader:
    """Read an interval's limits and the value between them."""

    def read(results: Results, record: Record) -> Numbers:
        return limits_of(name, method)(results, record) | value_of(name, key=key)(results, record)

    return read


def kappa_interval(results: Results, record: Record) -> Numbers:
    """Read kappa, its error and normal interval: Fleiss, Cohen and Everitt (1969) is the delta method."""
    kappa = lookup.metric(results, record["models"][0], "cohen_kappa")
    one = lookup.interval(kappa, "normal")
    return {"kappa": kappa.value, "ase": kappa.standard_error, "lower": one.low, "upper": one.high}


def delong_error(results: Results, record: Record) -> Numbers:
    """Read DeLong's standard error from the lower limit, which is nowhere cut in these files."""
    auc = lookup.metric(results, record["models"][0], "roc_auc")
    one = lookup.interval(auc, "delong")
    assert auc.value is not None
    assert one.low is not None
    return {"value": (auc.value - one.low) / NormalDist().inv_cdf(0.5 + one.level / 2)}


def confusion(results: Results, record: Record) -> Numbers:
    """Read TP, FP, FN, TN from the confusion matrix."""
    model, positive = record["models"][0], record["params"]["positive"]
    counts: Numbers = {"TP": 0.0, "FP": 0.0, "FN": 0.0, "TN": 0.0}
    for cell in results.confusion:
        if cell.model == model:
            right = "T" if cell.true == cell.predicted else "F"
            name = right + ("P" if cell.predicted == positive else "N")
            counts[name] = (counts[name] or 0.0) + cell.count
    return counts | {"n": float(results.n)}


def auc_all_against_rest(results: Results, record: Record) -> Numbers:
    """Read the one-vs-rest AUC of several classes, macro and weighted."""
    model = record["models"][0]
    return {
        average: lookup.metric(results, model, "roc_auc_ovr", average=average).value
        for average in ("macro", "weighted")
    }


def curve_number(curve: str, quantity: str, at: float | None = None, key: str = "value") -> Reader:
    """Read a single number of a curve."""

    def read(results: Results, record: Record) -> Numbers:
        wanted = (record["models"][0], curve, quantity, at)
        (found,) = (s for s in results.curve_summaries if (s.model, s.curve, s.quantity, s.at) == wanted)
        return {key: found.value}

    return read


def partial_area(side: str, at: float) -> Reader:
    """Read a partial area under the ROC curve, plain and on McClish's scale."""

    def read(results: Results, record: Record) -> Numbers:
        plain = curve_number("roc", f"partial_area_{side}", at, "raw")(results, record)
        return plain | curve_number("roc", f"partial_auc_{side}", at, "mcclish")(results, record)

    return read


def leading_partial_area(results: Results, record: Record) -> Numbers:
    """Read the partial area that is a metric of its own, and its plain size from the curve."""
    plain = curve_number("roc", "partial_area_specificity", 0.9, "raw")(results, record)
    return plain | value_of("partial_auc", key="mcclish")(results, record)


def best_value(criterion: str, metric: str) -> Reader:
    """Read the best value that some threshold reaches."""

    def read(results: Results, record: Record) -> Numbers:
        return {"value": lookup.operating_point(results, record["models"][0], criterion, metric).value}

    return read


def best_point(criterion: str) -> Reader:
    """Read sensitivity and specificity at a chosen threshold."""

    def read(results: Results, record: Record) -> Numbers:
        point = lookup.operating_point(results, record["models"][0], criterion)
        return {
            "sensitivity": point.tp / (point.tp + point.fn),
            "specificity": point.tn / (point.tn + point.fp),
        }

    return read


def _named(test: str) -> Callable[[ComparisonRecord], bool]:
    return lambda record: record.test == test


def _by_interval(method: str) -> Callable[[ComparisonRecord], bool]:
    return lambda record: record.interval_method == method


def paired(name: str, test: str, *, statistic: str | None = None, signed: bool = False) -> Reader:
    """Read a paired test's p value, and its statistic under the name that the source gives it."""

    def read(results: Results, record: Record) -> Numbers:
        row, sign = lookup.comparison(results, tuple(record["models"]), name, chosen=_named(test))
        ours: Numbers = {"p_value": row.p_value}
        if statistic is not None:
            assert row.statistic is not None
            ours[statistic] = row.statistic * (sign if signed else 1)
        return ours

    return read


def paired_t(name: str, *, difference: str | None = None) -> Reader:
    """Read the paired t test of a mean loss, beside its own limits: statistic, degrees of freedom, p, limits."""

    def read(results: Results, record: Record) -> Numbers:
        row, sign = lookup.comparison(
            results,
            tuple(record["models"]),
            name,
            chosen=lambda r: (r.test, r.interval_method) == ("paired_t", "t"),
        )
        low, high = lookup.signed_limits(row, sign)
        assert row.statistic is not None
        assert row.difference is not None
        ours: Numbers = {
            "statistic": row.statistic * sign,
            "df": row.df,
            "p_value": row.p_value,
            "lower": low,
            "upper": high,
        }
        return ours | ({difference: row.difference * sign} if difference else {})

    return read


def delong_test(results: Results, record: Record) -> Numbers:
    """Read DeLong's paired test: both AUCs, difference, z, p, limits of the difference."""
    a, b = record["models"]
    row, sign = lookup.comparison(results, (a, b), "roc_auc", chosen=_named("delong"))
    low, high = lookup.signed_limits(row, sign)
    assert row.statistic is not None
    assert row.difference is not None
    return {
        "auc_a": lookup.metric(results, a, "roc_auc").value,
        "auc_b": lookup.metric(results, b, "roc_auc").value,
        "diff": row.difference * sign,
        "z": row.statistic * sign,
        "p_value": row.p_value,
        "lower": low,
        "upper": high,
    }


def difference_limits(name: str, method: str) -> Reader:
    """Read the limits of a paired difference by the method of the interval."""

    def read(results: Results, record: Record) -> Numbers:
        row, sign = lookup.comparison(results, tuple(record["models"]), name, chosen=_by_interval(method))
        low, high = lookup.signed_limits(row, sign)
        return {"lower": low, "upper": high}

    return read


def accuracies(results: Results, record: Record) -> Numbers:
    """Read both accuracies and their difference."""
    a, b = record["models"]
    row, sign = lookup.comparison(results, (a, b), "accuracy", chosen=lambda _: True)
    assert row.difference is not None
    return {
        "acc_a": lookup.metric(results, a, "accuracy").value,
        "acc_b": lookup.metric(results, b, "accuracy").value,
        "diff": row.difference * sign,
    }


def differences(results: Results, record: Record) -> Numbers:
    """Read the differences of RMSE, MAE and R2."""
    ours: Numbers = {}
    for name in ("rmse", "mae", "r2"):
        row, sign = lookup.comparison(results, tuple(record["models"]), name, chosen=lambda _: True)
        assert row.difference is not None
        ours[name] = row.difference * sign
    return ours


def adjusted_delong(results: Results, record: Record) -> Numbers:
    """Adjust the p values of the DeLong tests, which stand beside the interval that leads, as a family of their own."""
    pairs = [key.split(" | ") for key in record["value"]]
    rows = (lookup.comparison(results, (a, b), "roc_auc", chosen=_named("delong"))[0] for a, b in pairs)
    p_values = [row.p_value for row in rows]
    correction = next(c.correction for c in results.comparisons if c.recommended and c.correction)
    adjusted = adjust([p for p in p_values if p is not None], correction)  # type: ignore[arg-type]
    return dict(zip(record["value"], adjusted, strict=True))


def nir_test(results: Results, record: Record) -> Numbers:
    """Read the one-sided exact test of accuracy against the no-information rate."""
    for row in results.comparisons:
        if (row.a, row.b, row.test) == (record["models"][0], None, "binomial_exact"):
            return {"value": row.p_value}
    raise lookup.Missing("no binomial_exact row")


def cochran(results: Results, record: Record) -> Numbers:
    """Read Cochran's Q of right and wrong; on other metrics it is refused."""
    for row in results.omnibus:
        if row.test == "cochran_q" and row.p_value is not None:
            return {"statistic": row.statistic, "df": row.df, "p_value": row.p_value}
    raise lookup.Missing("no cochran_q row")


# quantity -> our metric
VALUES: Mapping[str, str] = {
    "accuracy": "accuracy",
    "error_rate": "error_rate",
    "kappa": "cohen_kappa",
    "sensitivity": "recall",
    "specificity": "specificity",
    "false_positive_rate": "fpr",
    "false_negative_rate": "fnr",
    "precision": "precision",
    "npv": "npv",
    "f1": "f1",
    "f0.5": "f0_5",
    "f2": "f2",
    "balanced_accuracy": "balanced_accuracy",
    "youden_j": "informedness",
    "mean_per_class_error": "mean_per_class_error",
    "mpce_slovak_literal": "mean_per_class_error",
    "mcc": "mcc",
    "prevalence": "prevalence",
    "jaccard": "jaccard",
    "scott_pi": "scott_pi",
    "auc": "roc_auc",
    "max_accuracy": "max_accuracy",
    "eer": "eer",
    "average_precision": "average_precision",
    "pr_auc_trapezoid": "pr_auc",
    "brier": "brier",
    "brier_multiclass": "brier",
    "macro_accuracy": "macro_accuracy",
    "log_loss": "log_loss",
    "mse_slovak": "complement_mse",
    "auc_ovo_macro": "roc_auc_ovo",
    "rmse": "rmse",
    "mse": "mse",
    "mae": "mae",
    "mape": "mape",
    "r2": "r2",
    "r2_squared_correlation": "r2_correlation",
    "rae": "rae",
    "rrse": "rrse",
    "mdae": "medae",
    "bias_mean_error": "bias_error",
    "max_error": "max_error",
}

PROPORTIONS: Mapping[str, str] = {
    "accuracy": "accuracy",
    "sensitivity": "recall",
    "specificity": "specificity",
    "precision": "precision",
    "error_rate": "error_rate",
}

BINOMIAL_INTERVALS: Mapping[str, str] = {
    "Wald interval": "normal",
    "Wilson interval": "wilson",
    "Agresti-Coull interval (adds z^2/2)": "agresti_coull",
    "Clopper-Pearson interval": "clopper_pearson",
    "Jeffreys interval (equal tails)": "jeffreys",
}

MCNEMAR: Mapping[str, tuple[str, str | None]] = {
    "McNemar chi-squared, no continuity correction": ("mcnemar", "statistic"),
    "McNemar chi-squared with continuity correction": ("mcnemar_corrected", "statistic"),
    "exact McNemar (two-sided binomial)": ("mcnemar_exact", None),
    "mid-p McNemar": ("mcnemar_midp", None),
}

LOSSES: Mapping[str, str] = {"squared_error": "mse", "absolute_error": "mae"}


@functools.cache
def readers() -> Mapping[str, Reader]:
    """Return the reader of every reference quantity that we answer, by the quantity's name."""
    found: dict[str, Reader] = {quantity: value_of(name) for quantity, name in VALUES.items()}
    for quantity, name in PROPORTIONS.items():
        for title, method in BINOMIAL_INTERVALS.items():
            found[f"{quantity} {title}"] = limits_of(name, method)
    for quantity, (test, statistic) in MCNEMAR.items():
        found[quantity] = paired("accuracy", test, statistic=statistic)
    for loss, name in LOSSES.items():
        found[f"paired t test on {loss}"] = paired_t(name, difference="mean_diff")
        found[f"Wilcoxon signed rank on {loss}, normal approximation"] = paired(name, "wilcoxon")
        found[f"sign test on {loss} (zeros dropped)"] = paired(name, "sign")
    for level in (0.9, 0.95, 0.99):
        found[f"auc_ci_delong.{level}"] = limits_and_value("roc_auc", "delong", "auc")
    for kind in ("bonferroni", "holm", "BH"):
        found[f"{kind}-adjusted p values of the paired DeLong tests"] = adjusted_delong
    return found | {
        "confusion matrix": confusion,
        "kappa_ci": kappa_interval,
        "auc_se_delong": delong_error,
        "DeLong test for two paired AUCs": delong_test,
        "macro": averages_of("macro"),
        "micro": averages_of("micro"),
        "weighted": averages_of("weighted"),
        "precision_per_class": classes_of("precision"),
        "recall_per_class": classes_of("recall"),
        "specificity_per_class": classes_of("specificity"),
        "f1_per_class": classes_of("f1"),
        "auc_ovr": auc_all_against_rest,
        "auc_ovr_per_class": classes_of("roc_auc_ovr"),
        "pauc_specificity_0.9": leading_partial_area,
        "pauc_specificity_0.8": partial_area("specificity", 0.8),
        "pauc_sensitivity_0.9": partial_area("sensitivity", 0.9),
        "pauc_sensitivity_0.8": partial_area("sensitivity", 0.8),
        "max_youden": best_value("youden", "informedness"),
        "max_f1": best_value("best", "f1"),
        "best_youden_point": best_point("youden"),
        "closest_topleft_point": best_point("closest_topleft"),
        "pr_auc_interpolated": curve_number("pr", "area_interpolated", key="integral"),
        "ece_10": lambda results, record: (
            value_of("ece", key="ece")(results, record) | value_of("mce", key="mce")(results, record)
        ),
        "top2_accuracy": hits("top_2_accuracy"),
        "top3_accuracy": hits("top_3_accuracy"),
        "top_label_ece_10": value_of("ece", key="left_closed"),
        "calibration_slope_intercept": lambda results, record: (
            value_of("calibration_slope", key="slope")(results, record)
            | value_of("calibration_intercept", key="intercept")(results, record)
        ),
        "mae_t_ci": limits_and_value("mae", "t", "mae"),
        "mse_t_ci": limits_and_value("mse", "t", "mse"),
        "difference of accuracies (first minus second)": accuracies,
        "paired difference, Newcombe square-and-add (method 10: continuity-corrected phi)": difference_limits(
            "accuracy", "newcombe_paired"
        ),
        "paired difference, Tango score interval": difference_limits("accuracy", "tango"),
        "paired t test on 0/1 correctness": paired_t("accuracy"),
        "differences of RMSE, MAE, R2 (first minus second)": differences,
        "accuracy_vs_nir_p": nir_test,
        "Cochran's Q on right/wrong of all models": cochran,
    }


def clipped_to_range(quantity: str, expected: float) -> float:
    """Cut an uncut reference limit to the parameter space, as every interval of ours is."""
    if not math.isfinite(expected):
        return expected
    if "paired difference" in quantity or quantity == "kappa_ci":
        return min(1.0, max(-1.0, expected))
    if quantity.endswith("interval") or "interval (" in quantity:
        return min(1.0, max(0.0, expected))
    return expected
