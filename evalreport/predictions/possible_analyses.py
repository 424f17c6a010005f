"""Which analyses a table of predictions allows, and why not the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evalreport.options import Task
from evalreport.predictions.series import series_of
from evalreport.predictions.slicing import sliceable
from evalreport.predictions.subsets import test_rows
from evalreport.predictions.table import Predictions
from evalreport.texts import Message, parts

Answer = Message | tuple[Message, Message]
"""What the data say: a reason why it is possible, or (a reason why not, what would make it possible)."""


@dataclass(frozen=True, slots=True)
class Possible:
    """One analysis: whether the data allow it, why or why not, and what would make it possible."""

    analysis: Message
    possible: bool
    reason: Message
    remedy: Message | None = None


def survey(predictions: Predictions) -> tuple[Possible, ...]:
    """List every analysis with a yes or no, its reason and (for a no) what would make it possible."""
    return tuple(_answered(predictions, name, ask) for name, ask in _ANALYSES.items())


def why_not_analysed(predictions: Predictions) -> Message | None:
    """Say why this version cannot analyse the table as one test set; None where it can.

    Learning curves have the design ``test-set``, yet predict an example more than once.
    """
    if predictions.tasks is not None and predictions.design != "test-set":
        return Message("survey.suite_of_fits", design=predictions.design)
    one_fit = predictions.design == "test-set" and not predictions.apart and "attempt" not in predictions.keys
    if one_fit and series_of(predictions) is None and test_rows(predictions).n > len(predictions.ids):
        return Message("survey.more_than_once")
    return None


def _answered(predictions: Predictions, name: str, ask: Callable[[Predictions], Answer]) -> Possible:
    answer, analysis = ask(predictions), Message(f"analysis.{name}")
    if not isinstance(answer, Message):
        return Possible(analysis, False, *answer)
    why_not = why_not_analysed(predictions)
    if why_not is not None:
        reason = Message("survey.not_this_version", answer=answer, why=why_not)
        return Possible(analysis, False, reason, Message("survey.one_test_set"))
    return Possible(analysis, True, answer)


def _no(name: str, /, **found: object) -> Answer:
    return Message(f"survey.no.{name}", **found), Message(f"survey.remedy.{name}")


def _of_classes(name: str, *columns: str) -> Callable[[Predictions], Answer]:
    """Return the question which models give the first of some outputs of classes, or another of them."""

    def ask(p: Predictions) -> Answer:
        if not p.classes:
            return _no(name, task=p.task)
        if name == "scores" and p.y_true is not None and len(np.unique(p.y_true)) < 2:
            return _no("one_class")
        giving = [m.name for m in p.models if any(getattr(m, column) is not None for column in columns)]
        return _those_with(p, columns[0], giving)

    return ask


def _where(task: Task, name: str) -> Callable[[Predictions], Answer]:
    """Return the question whether the task is this one."""
    return lambda p: _yes(name) if p.task == task else _no(name, task=p.task)


def _with_gold(p: Predictions) -> Answer:
    counts = {m.name: int(np.count_nonzero(~np.isnan(m.gold))) for m in p.models if m.gold is not None}
    if not counts:
        return _no("gold")
    return _yes("gold", counts=tuple(f"{name} {n}" for name, n in counts.items()), n=p.n)


def _paired(p: Predictions) -> Answer:
    if p.design != "test-set":
        return _no("paired", design=p.design)
    if len(p.models) < 2:
        return _no("one_model_of_pair")
    if p.apart:
        return _no("own_test_sets")
    n = len(p.ids) if p.multiplicity is None else p.n_examples
    return _yes("paired", models=len(p.models), n=n)


def _independent(p: Predictions) -> Answer:
    if len(p.models) < 2:
        return _no("one_model")
    if p.design == "seeds" or not p.apart:
        return _no("shared_examples")
    return _yes("own_test_sets")


def _folds(p: Predictions) -> Answer:
    if p.design not in ("cross-validation", "repeated-holdout"):
        return _no("folds")
    return _two_models(p, Message("survey.design", design=p.design))


def _five_by_two(p: Predictions) -> Answer:
    return _two_models(p, _yes("five_by_two")) if p.design == "5x2cv" else _no("five_by_two")


def _number_of(p: Predictions, key: str) -> int:
    return len(p.keys[key].categories or ())


def _bias_variance(p: Predictions) -> Answer:
    if p.design != "bootstrap" or p.y_true is None:
        return _no("replicates")
    return _yes("replicates", n=_number_of(p, "replicate"))


def _error_estimates(p: Predictions) -> Answer:
    if p.design != "bootstrap" or not ("inbag" in p.keys or any("inbag" in m.columns for m in p.models)):
        return _no("inbag")
    return _yes("inbag") if _has_training_rows(p) else _no("training_rows_of_replicates")


def _has_training_rows(p: Predictions) -> bool:
    part = p.keys.get("part")
    return part is not None and "train" in (part.categories or ())


def _datasets(p: Predictions) -> Answer:
    if p.design != "datasets":
        return _no("datasets")
    return _two_models(p, _yes("datasets", n=_number_of(p, "dataset")))


def _suite(p: Predictions) -> Answer:
    if p.design == "datasets":
        name = "suite_or_datasets" if p.tasks is None else "suite_and_datasets"
        return _no(name, n=_number_of(p, "dataset"))
    tasks = p.tasks
    return _no("suite") if tasks is None else _yes("suite", n=len(tasks.categories or ()))


def _seeds(p: Predictions) -> Answer:
    return _yes("seeds", n=_number_of(p, "seed")) if p.design == "seeds" else _no("seeds")


def _slices(p: Predictions) -> Answer:
    if not p.metadata:
        return _no("slices")
    answer = _yes("slices", columns=sliceable(p))
    differing = {name for model in p.models for name in model.columns}
    return parts(answer, _yes("differing", columns=sorted(differing))) if differing else answer


def _clusters(p: Predictions) -> Answer:
    # One cluster of all examples leaves nothing that varies.
    several = tuple(name for name, column in p.metadata.items() if (column.values != column.values[0]).any())
    return _yes("clusters", columns=several) if several else _no("clusters")


def _criteria(p: Predictions) -> Answer:
    held = {*p.keys, *(name for m in p.models for name in m.columns)}
    if not held & {"n_parameters", "log_likelihood", "vc_dimension"}:
        return _no("sizes")
    return _yes("sizes") if _has_training_rows(p) else _no("training_rows")


def _learning_curves(p: Predictions) -> Answer:
    for name in ("train_size", "complexity"):
        columns = [p.keys.get(name), *(m.columns.get(name) for m in p.models)]
        if any(column is not None and len(np.unique(column.values)) > 1 for column in columns):
            return _yes("learning_curves", name=name)
    return _no("learning_curves")


def _those_with(p: Predictions, what: str, names: list[str]) -> Answer:
    if not names:
        return _no(what)
    given = Message(f"survey.given.{what}")
    if len(names) == len(p.models):
        return _yes("every_model", given=given)
    return _yes(
        "some_models",
        names=names,
        given=given,
        lacking=[m.name for m in p.models if m.name not in names],
        remedy=Message(f"survey.remedy.{what}"),
    )


def _two_models(p: Predictions, reason: Message) -> Answer:
    return reason if len(p.models) > 1 else _no("one_model")


def _yes(name: str, /, **found: object) -> Message:
    return Message(f"survey.yes.{name}", **found)


_ANALYSES: dict[str, Callable[[Predictions], Answer]] = {
    "labels": _of_classes("labels", "y_pred"),
    "ranking": _of_classes("scores", "score", "proba"),
    "probabilities": _of_classes("probabilities", "proba"),
    "regression": _where("regression", "numbers"),
    "outcomes": _where("outcome", "outcome"),
    "judged": _with_gold,
    "scores": _where("scores", "value"),
    "groups": _where("clustering", "groups"),
    "sums": _where("sums", "sums"),
    "intervals": _where("intervals", "intervals"),
    "sets": _where("sets", "sets"),
    "paired": _paired,
    "independent": _independent,
    "folds": _folds,
    "five_by_two": _five_by_two,
    "bias_variance": _bias_variance,
    "error_estimates": _error_estimates,
    "datasets": _datasets,
    "suite": _suite,
    "seeds": _seeds,
    "slices": _slices,
    "clusters": _clusters,
    "criteria": _criteria,
    "learning_curves": _learning_curves,
}
"""The analyses by their names in the catalogue."""
