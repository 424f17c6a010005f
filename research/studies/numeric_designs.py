"""Populations of scores, probabilities and real values whose true metrics follow from one integral each."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt
from scipy import integrate, special, stats

from evalreport.engine.ranks import RankedWeights
from evalreport.metrics.ranking import MOST_FALSE_POSITIVES, average_precision, partial_auc, pr_auc
from evalreport.metrics.registry import METRICS, Quantity
from evalreport.predictions.table import ModelOutputs, Predictions
from evalreport.samplings import Sampling, sampling_by
from research.studies.designs import SIZES, Design, Truth, predictions_on

Floats = npt.NDArray[np.float64]

CORRELATION = 0.5
"""Of the two models' scores within a class."""
OVERCONFIDENT = 2.0
"""The second model's logits are this many times too large, so that its losses have a heavy tail."""


RATINGS = "ratings"
RATED = (-1.2, 2.6)
"""The lowest and the highest cut of ratings: the best level holds few examples."""


def separation(area: float) -> float:
    """Return the distance d of two unit normals whose ROC curve has the area: Phi(d / sqrt 2)."""
    return float(np.sqrt(2) * stats.norm.ppf(area))


def _scores(
    generator: np.random.Generator, true: npt.NDArray[np.bool_], d: Mapping[str, float]
) -> dict[str, Floats]:
    shared = generator.normal(size=len(true))
    mix, rest = np.sqrt(CORRELATION), np.sqrt(1 - CORRELATION)
    return {name: d[name] * true + mix * shared + rest * generator.normal(size=len(true)) for name in d}


def fixed_count_design(positives: int, negatives: int, area: float) -> Design:
    """Return binormal scores with fixed class counts, for the area under the ROC curve alone."""
    d = {"a": separation(area), "b": separation(area - 0.05)}
    true = np.repeat([True, False], [positives, negatives])

    def draw(generator: np.random.Generator, n: int) -> tuple[Predictions, Sampling]:
        scores = _scores(generator, true, d)
        models = tuple(ModelOutputs(name, score=score) for name, score in scores.items())
        return predictions_on("binary", true.astype(np.int32), models, 2), sampling_by(n)

    auc = Quantity("roc_auc")
    truths: dict[Truth, float] = {("value", "a", auc): area, ("difference", "a", auc): 0.05}
    name = f"({positives}, {negatives}), AUC {area:g}"
    text = f"{positives} positives, {negatives} negatives, binormal, AUC {area:g} (b: {area - 0.05:g})"
    return Design(name, text, (positives + negatives,), draw, truths)


def probability_design(
    prevalence: float, area: float, sizes: tuple[int, ...], *, overconfident: float = OVERCONFIDENT
) -> Design:
    """Return binormal scores with random class counts: a calibrated model and an overconfident one.

    With unit variances the probability of the positive class given a score s of separation d is
    logistic(d s - d^2 / 2 + logit(prevalence)).
    """
    d = {"a": separation(area), "b": separation(area - 0.05)}
    slope = {"a": 1.0, "b": overconfident}

    def logits(model: str, score: Floats) -> Floats:
        offset = np.log(prevalence / (1 - prevalence)) - d[model] ** 2 / 2
        return np.asarray(slope[model] * (d[model] * score + offset))

    def draw(generator: np.random.Generator, n: int) -> tuple[Predictions, Sampling]:
        true = generator.random(n) < prevalence
        models = []
        for name, score in _scores(generator, true, d).items():
            p = 1 / (1 + np.exp(-logits(name, score)))
            models.append(ModelOutputs(name, score=score, proba=np.column_stack([1 - p, p])))
        return predictions_on("binary", true.astype(np.int32), tuple(models), 2), sampling_by(n)

    truths: dict[Truth, float] = {}
    areas = {"a": area, "b": area - 0.05}
    for metric in ("roc_auc", "average_precision", "pr_auc", "partial_auc", "log_loss", "brier"):
        quantity = Quantity(metric)
        if metric == "roc_auc":
            values = areas
        elif metric == "partial_auc":
            values = {m: _partial_auc(d[m]) for m in d}
        else:
            values = {m: _population(metric, prevalence, d[m], m, logits) for m in d}
        truths |= {("value", model, quantity): values[model] for model in ("a", "b")}
        truths["difference", "a", quantity] = values["a"] - values["b"]
    text = (
        f"binormal scores, prevalence {prevalence:g}; a: AUC {area:g}, calibrated; b: AUC {area - 0.05:g},"
        f" logits {overconfident:g} times too large"
    )
    name = f"prevalence {prevalence:g}, AUC {area:g}"
    if overconfident != OVERCONFIDENT:
        name += f", b's logits {overconfident:g} times"
    return Design(name, text, sizes, draw, truths)


def levels_design(levels: int, prevalence: float, area: float, n: int) -> Design:
    """Return binormal scores that are told apart at a few evenly spaced cuts alone, as of a rating."""
    d = {"a": separation(area), "b": separation(area - 0.05)}
    cuts = np.linspace(*RATED, levels - 1)

    def draw(generator: np.random.Generator, n: int) -> tuple[Predictions, Sampling]:
        true = generator.random(n) < prevalence
        models = tuple(
            ModelOutputs(name, score=np.searchsorted(cuts, score).astype(np.float64))
            for name, score in _scores(generator, true, d).items()
        )
        return predictions_on("binary", true.astype(np.int32), models, 2), sampling_by(n)

    edges = np.concatenate([[np.inf], cuts[::-1], [-np.inf]])
    truths: dict[Truth, float] = {}
    for quantity, function in (
        (Quantity("average_precision"), average_precision), (Quantity("pr_auc"), pr_auc),
        (Quantity("partial_auc"), partial_auc),
    ):  # fmt: skip
        values = {
            model: float(
                function(
                    RankedWeights(
                        prevalence * np.diff(special.ndtr(apart - edges)),
                        (1 - prevalence) * np.diff(special.ndtr(-edges)),
                    )
                )
            )
            for model, apart in d.items()
        }
        truths |= {("value", model, quantity): values[model] for model in ("a", "b")}
        truths["difference", "a", quantity] = values["a"] - values["b"]
    text = f"the scores of AUC {area:g} (b: {area - 0.05:g}) rounded to {levels} levels, prevalence {prevalence:g}"
    return Design(f"{RATINGS} of {levels} levels, prevalence {prevalence:g}", text, (n,), draw, truths)


def _population(
    metric: str, prevalence: float, d: float, model: str, logits: Callable[[str, Floats], Floats]
) -> float:
    """Return a metric's value in the population by quadrature over the score."""

    def integrand(s: float) -> float:
        plus, minus = prevalence * _density(s - d), (1 - prevalence) * _density(s)
        if metric in ("average_precision", "pr_auc"):
            above = prevalence * special.ndtr(d - s)
            return float(_density(s - d) * above / (above + (1 - prevalence) * special.ndtr(-s)))
        x = float(logits(model, np.asarray(s)))
        if metric == "log_loss":
            return float(plus * np.logaddexp(0, -x) + minus * np.logaddexp(0, x))
        p = 1 / (1 + np.exp(-x))
        return float(plus * (1 - p) ** 2 + minus * p**2)

    return float(integrate.quad(integrand, -12, 12 + d, epsabs=1e-12, limit=500)[0])


def _partial_auc(d: float) -> float:
    """Return the standardised area under the ROC curve of two unit normals up to a false positive rate of 0.1."""
    least, most = METRICS["partial_auc"].scale.range
    start = float(stats.norm.isf(MOST_FALSE_POSITIVES))
    area = integrate.quad(lambda s: _density(s) * special.ndtr(d - s), start, 12, epsabs=1e-12, limit=500)[0]
    return float(least + (most - least) * area / MOST_FALSE_POSITIVES)


def _density(z: float) -> float:
    """Return the density of the standard normal distribution."""
    return math.exp(-z * z / 2) / math.sqrt(2 * math.pi)


def score_designs() -> list[Design]:
    """Return the designs of rank metrics and probability losses."""
    counts = (
        (10, 10, 0.9), (15, 15, 0.8), (10, 90, 0.97), (30, 30, 0.9), (100, 100, 0.9), (50, 450, 0.97), (500, 500, 0.9),
    )  # fmt: skip
    return [
        *(fixed_count_design(*design) for design in counts),
        probability_design(0.5, 0.85, SIZES),
        probability_design(0.5, 0.85, (100,), overconfident=4.0),
        probability_design(0.1, 0.85, (100, 1000)),
        probability_design(0.02, 0.85, (1000,)),
    ]


def rating_designs() -> list[Design]:
    """Return the designs of scores of few levels."""
    return [levels_design(6, 0.02, 0.85, 1000)]


# --- real values ----------------------------------------------------------------------------------------------------

NOISE = 0.5
"""Standard deviation of the first model's errors; the target's explained part has the variance 1."""
WORSE = 1.2
"""The second model's errors are this many times as large, and half of them are the first model's."""


def regression_designs() -> list[Design]:
    """Return real values with normal errors, with skewed ones, with heavy tails and with log-normal losses."""
    return [
        regression_design("normal errors", "errors normal", _normal_errors, _mean_absolute(stats.norm(0, NOISE))),
        regression_design("log-normal losses", "absolute errors log-normal with shape 0.5, so squares with shape 1",
                          _errors_of_log_normal_size, NOISE * math.exp(-_SHAPE**2 / 2), (30, 100)),
        regression_design("t3 errors", "errors by Student's t with 3 degrees of freedom: squares without variance",
                          _t3_errors, _mean_absolute(stats.t(3, scale=NOISE / math.sqrt(3)))),
        regression_design("skewed errors", "errors log-normal with shape 1, centred (skewness 6.2)", _skewed_errors,
                          _mean_absolute(stats.lognorm(1.0, loc=-np.exp(0.5) * _SCALE, scale=_SCALE))),
    ]  # fmt: skip


# A log-normal variable of shape 1 has the mean e^(1/2) and the variance (e - 1) e.
_SCALE = NOISE / float(np.sqrt((math.e - 1) * math.e))
_SHAPE = 0.5
"""Of log-normal absolute errors: squared they have the shape 1 and the mean scale^2 exp(2 shape^2)."""


def _normal_errors(generator: np.random.Generator, n: int) -> Floats:
    return NOISE * generator.normal(size=n)


def _t3_errors(generator: np.random.Generator, n: int) -> Floats:
    return np.asarray(NOISE / math.sqrt(3) * generator.standard_t(3, size=n))


def _errors_of_log_normal_size(generator: np.random.Generator, n: int) -> Floats:
    sign = np.where(generator.random(n) < 0.5, -1, 1)
    return np.asarray(sign * NOISE * np.exp(_SHAPE * generator.normal(size=n) - _SHAPE**2))


def _skewed_errors(generator: np.random.Generator, n: int) -> Floats:
    return np.asarray(_SCALE * (np.exp(generator.normal(size=n)) - np.exp(0.5)))


ERRORS: Mapping[str, Callable[[np.random.Generator, int], Floats]] = {
    "normal errors": _normal_errors,
    "log-normal losses": _errors_of_log_normal_size,
    "t3 errors": _t3_errors,
    "skewed errors": _skewed_errors,
}
"""How errors with the standard deviation ``NOISE`` are drawn, by the name of the design."""


def _mean_absolute(law: stats.rv_continuous) -> float:
    """Return the mean of |x| by quadrature."""
    return sum(
        float(integrate.quad(lambda x: abs(x) * law.pdf(x), *ends, epsabs=1e-12, limit=500)[0])
        for ends in ((-np.inf, 0), (0, np.inf))
    )


def regression_design(
    name: str,
    text: str,
    errors: Callable[[np.random.Generator, int], Floats],
    absolute: float,
    sizes: tuple[int, ...] = SIZES,
) -> Design:
    """Return a design with the first model's errors of mean 0, standard deviation ``NOISE`` and a mean ``absolute``."""

    def draw(generator: np.random.Generator, n: int) -> tuple[Predictions, Sampling]:
        noise, own = errors(generator, n), errors(generator, n)
        true = generator.normal(size=n) + noise
        shared = generator.random(n) < 0.5
        models = (
            ModelOutputs("a", y_pred=true - noise),
            ModelOutputs("b", y_pred=true - WORSE * np.where(shared, noise, own)),
        )
        return predictions_on("regression", true, models), sampling_by(n)

    square = NOISE**2
    spread = 1 + square
    values = {
        "mae": (absolute, WORSE * absolute),
        "mse": (square, WORSE**2 * square),
        "rmse": (NOISE, WORSE * NOISE),
        "r2": (1 - square / spread, 1 - WORSE**2 * square / spread),
    }
    truths: dict[Truth, float] = {}
    for metric, (a, b) in values.items():
        truths["value", "a", Quantity(metric)] = a
        truths["difference", "a", Quantity(metric)] = a - b
    return Design(name, text + "; b's are 1.2 times as large", sizes, draw, truths)
