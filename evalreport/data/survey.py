"""Which analyses the data allow, and for the others what is missing and what would make it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evalreport.data.predictions import Predictions
from evalreport.data.selection import test_rows
from evalreport.data.series import series_of
from evalreport.data.slicing import sliceable

ANALYSED_DESIGNS = frozenset(
    {"test-set", "cross-validation", "5x2cv", "repeated-holdout", "bootstrap", "datasets", "seeds"}
)
"""The designs that ``run`` analyses in this version."""
ANALYSED = frozenset(
    (
        *("label metrics", "ranking metrics and curves", "probability metrics", "regression metrics"),
        *("mean outcome", "mean of scores", "paired tests", "tests on independent test sets"),
        *("cross-validation tests", "5x2cv tests", "tests over many data sets", "variance between seeds"),
        *("clusters", "slices", "bias and variance", "error estimators (.632, .632+)"),
        *("penalised criteria", "learning curves"),
    )
)
"""The analyses that ``run`` makes in this version, where the data allow them."""

RESAMPLE = "evalreport resample PLAN"
"""The command that makes folds, replicates and curves."""

Answer = tuple[str, str] | str
"""What the data say: a reason why it is possible, or (a reason why not, what would make it possible)."""


@dataclass(frozen=True, slots=True)
class Possible:
    """One analysis: whether the data allow it, why or why not, and what would make it possible."""

    analysis: str
    possible: bool
    reason: str
    remedy: str | None = None


def survey(predictions: Predictions) -> tuple[Possible, ...]:
    """List every analysis with a yes or no, its reason and (for a no) what would make it possible."""
    return tuple(_answered(predictions, name, ask) for name, ask in _ANALYSES.items())


def why_not_analysed(predictions: Predictions) -> str | None:
    """Say why this version cannot analyse the table as one test set; None where it can.

    Learning curves stand in the design ``test-set``, yet predict an example more than once.
    """
    if predictions.design not in ANALYSED_DESIGNS:
        return f"the design is {predictions.design}"
    one_fit = predictions.design == "test-set" and not predictions.apart
    if one_fit and series_of(predictions) is None and test_rows(predictions).n > len(predictions.ids):
        return "a model predicts the same example more than once, and no fold, repeat or size tells why"
    return None


def _answered(predictions: Predictions, name: str, ask: Callable[[Predictions], Answer]) -> Possible:
    answer = ask(predictions)
    if not isinstance(answer, str):
        return Possible(name, False, *answer)
    why_not = "it does not make this analysis" if name not in ANALYSED else why_not_analysed(predictions)
    if why_not is not None:
        reason = f"the data allow it ({answer}), but not this version: {why_not}"
        return Possible(name, False, reason, "compare the models on one test set until a later version")
    return Possible(name, True, answer)


def _labels(p: Predictions) -> Answer:
    if not p.classes:
        return f"the task is {p.task}, which has no classes", "write class labels in y_true and y_pred"
    return _those_with(p, "labels", [m.name for m in p.models if m.y_pred is not None], "add a column y_pred")


def _ranking(p: Predictions) -> Answer:
    if not p.classes:
        return (
            f"the task is {p.task}, which has no classes",
            "write class labels in y_true and a column score",
        )
    with_scores = [m.name for m in p.models if m.score is not None or m.proba is not None]
    if p.y_true is not None and len(np.unique(p.y_true)) < 2:
        return "the true values hold one class only", "add examples of the other class"
    return _those_with(
        p, "scores", with_scores, "add a column score or p_<label>: labels alone are one point"
    )


def _probability(p: Predictions) -> Answer:
    if not p.classes:
        return f"the task is {p.task}, which has no classes", "write a column p_<label> for each class"
    given = [m.name for m in p.models if m.proba is not None]
    return _those_with(p, "probabilities of every class", given, "add a column p_<label> for each class")


def _regression(p: Predictions) -> Answer:
    if p.task != "regression":
        return f"the task is {p.task}", "write numbers in y_true and y_pred, or pass --task regression"
    return "the true values and the predictions are numbers"


def _outcomes(p: Predictions) -> Answer:
    if p.task != "outcome":
        return (
            f"the task is {p.task}",
            "write a column outcome (one judgement a row), or name it with --outcome",
        )
    return "there is a column outcome"


def _scores(p: Predictions) -> Answer:
    if p.task != "scores":
        return f"the task is {p.task}", "write a column value (one score a row), or name it with --value"
    return "there is a column value"


def _paired(p: Predictions) -> Answer:
    if p.design != "test-set":
        return (
            f"the design is {p.design}, not one test set",
            "write one prediction for each model and example",
        )
    if len(p.models) < 2:
        return "there is only one model", "add a second model's predictions of the same ids"
    if p.apart:
        return (
            "the models have test sets of their own (--join independent)",
            "predict the same ids with every model",
        )
    return f"{len(p.models)} models predict the same {len(p.ids)} examples"


def _independent(p: Predictions) -> Answer:
    if len(p.models) < 2:
        return "there is only one model", "add a second model's predictions"
    if p.design == "seeds" or not p.apart:
        return (
            "the models share their examples: paired tests are stronger",
            "pass --join independent only if not",
        )
    return "each model has a test set of its own"


def _folds(p: Predictions) -> Answer:
    if p.design not in ("cross-validation", "repeated-holdout"):
        return (
            "there are no folds",
            "write the columns repeat and fold, or run: " + RESAMPLE,
        )
    return _two_models(p, f"the design is {p.design}")


def _five_by_two(p: Predictions) -> Answer:
    if p.design != "5x2cv":
        remedy = "make 5 repeats of 2 folds, for example with: " + RESAMPLE
        return "there are no 5 repeats of 2 folds, which one test set cannot replace", remedy
    return _two_models(p, "there are 5 repeats of 2 folds")


def _bias_variance(p: Predictions) -> Answer:
    if p.design != "bootstrap" or p.y_true is None:
        remedy = "refit on bootstrap samples and write the column replicate: " + RESAMPLE
        return "there are no bootstrap replicates with true values", remedy
    column = p.keys["replicate"]
    return f"there are {len(column.categories or ())} replicates"


def _error_estimates(p: Predictions) -> Answer:
    remedy = "write replicate, inbag and the training predictions (part = train): " + RESAMPLE
    if p.design != "bootstrap" or not ("inbag" in p.keys or any("inbag" in m.columns for m in p.models)):
        return "there are no replicates with a column inbag", remedy
    part = p.keys.get("part")
    if part is None or "train" not in (part.categories or ()):
        return "there are no predictions of the training rows (part = train)", remedy
    return "there are replicates with inbag and predictions of the training rows"


def _datasets(p: Predictions) -> Answer:
    if p.design != "datasets":
        return (
            "there is no column dataset with several data sets",
            f"put the predictions of several data sets together with a column dataset (of each by: {RESAMPLE})",
        )
    return _two_models(p, f"there are {len(p.keys['dataset'].categories or ())} data sets")


def _seeds(p: Predictions) -> Answer:
    if p.design != "seeds":
        return (
            "there is no column seed with several seeds",
            "train with several seeds and write the column seed",
        )
    return f"there are {len(p.keys['seed'].categories or ())} training seeds"


def _slices(p: Predictions) -> Answer:
    if not p.metadata:
        return (
            "there is no column beside those that evalreport knows",
            "add a column, and name it with --slice",
        )
    differing = {name for model in p.models for name in model.columns}
    said = f"--slice can name {'; '.join(sliceable(p))}"
    return said + (f"; not {', '.join(sorted(differing))}: the models differ in it" if differing else "")


def _clusters(p: Predictions) -> Answer:
    if not p.metadata:
        return (
            "there is no column that could name clusters",
            "add a column of clusters, and name it with --cluster",
        )
    return f"--cluster can name {', '.join(p.metadata)}"


def _criteria(p: Predictions) -> Answer:
    held = {*p.keys, *(name for m in p.models for name in m.columns)}
    if not held & {"n_parameters", "log_likelihood", "vc_dimension"}:
        remedy = (
            "write n_parameters (log_likelihood, vc_dimension) with the training predictions, part = train"
        )
        return "there is no column n_parameters, log_likelihood or vc_dimension", remedy
    part = p.keys.get("part")
    if part is None or "train" not in (part.categories or ()):
        return (
            "penalised criteria need training rows, not test rows",
            "write the training predictions, part = train",
        )
    return "there are training rows with the models' sizes"


def _learning_curves(p: Predictions) -> Answer:
    for name in ("train_size", "complexity"):
        columns = [p.keys.get(name), *(m.columns.get(name) for m in p.models)]
        if any(column is not None and len(np.unique(column.values)) > 1 for column in columns):
            return f"there are several values of {name}"
    remedy = "fit on growing samples and write the column train_size: " + RESAMPLE
    return "there are no predictions after training on different numbers of rows", remedy


def _those_with(p: Predictions, what: str, names: list[str], remedy: str) -> Answer:
    if not names:
        return f"no model gives {what}", remedy
    if len(names) == len(p.models):
        return f"every model gives {what}"
    lacking = [m.name for m in p.models if m.name not in names]
    return f"{', '.join(names)} give {what}; {', '.join(lacking)} do not ({remedy})"


def _two_models(p: Predictions, reason: str) -> Answer:
    return reason if len(p.models) > 1 else ("there is only one model", "add a second model's predictions")


_ANALYSES: dict[str, Callable[[Predictions], Answer]] = {
    "label metrics": _labels,
    "ranking metrics and curves": _ranking,
    "probability metrics": _probability,
    "regression metrics": _regression,
    "mean outcome": _outcomes,
    "mean of scores": _scores,
    "paired tests": _paired,
    "tests on independent test sets": _independent,
    "cross-validation tests": _folds,
    "5x2cv tests": _five_by_two,
    "bias and variance": _bias_variance,
    "error estimators (.632, .632+)": _error_estimates,
    "tests over many data sets": _datasets,
    "variance between seeds": _seeds,
    "slices": _slices,
    "clusters": _clusters,
    "penalised criteria": _criteria,
    "learning curves": _learning_curves,
}
