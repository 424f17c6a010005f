"""What platforms call the columns of their predictions: one table, for reading, messages and docs/columns."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """The names of one platform's columns, as it writes them.

    ``<label>`` and ``<TARGET>`` stand for a class and for the column that was predicted.

    Attributes
    ----------
    labels
        The predicted labels or numbers: ``y_pred``.
    probabilities
        A column for each class.
    scores
        Any number that grows with the positive class, or the confidence in the label: ``score``.
    ids, truth, folds
        Names of ``id``, ``y_true`` and ``fold``.
    weights
        Names of weights, which count where ``--weight`` names them.
    """

    name: str
    labels: tuple[str, ...] = ()
    probabilities: tuple[str, ...] = ()
    scores: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    truth: tuple[str, ...] = ()
    weights: tuple[str, ...] = ()
    folds: tuple[str, ...] = ()


PLATFORMS = (
    Platform(
        name="Azure ML",
        labels=("Scored Labels",),
        probabilities=("Scored Probabilities", 'Scored Probabilities for Class "<label>"'),
    ),
    Platform(
        name="caret (R)",
        labels=("pred",),
        ids=("rowIndex",),
        truth=("obs",),
        weights=("weights",),
        folds=("Resample",),
    ),
    Platform(name="H2O", labels=("predict",), probabilities=("p<label>", "<label>")),
    Platform(name="Hugging Face", truth=("label", "labels")),
    Platform(name="HumanEval", ids=("task_id",)),
    Platform(name="Kaggle", ids=("PassengerId",)),
    Platform(name="KNIME", labels=("Prediction (<TARGET>)",), probabilities=("P (<TARGET>=<label>)",)),
    Platform(
        name="ML.NET",
        labels=("PredictedLabel",),
        probabilities=("Probability",),
        scores=("Score",),
        truth=("Label",),
    ),
    Platform(
        name="mlr3 (R)",
        labels=("response",),
        probabilities=("prob.<label>",),
        ids=("row_ids",),
        truth=("truth",),
        weights=("weights",),
    ),
    Platform(
        name="OpenML",
        labels=("prediction",),
        probabilities=("confidence.<label>",),
        ids=("row_id",),
        truth=("correct",),
        folds=("fold",),
    ),
    Platform(name="Prophet, statsforecast", labels=("yhat", "y_hat")),
    Platform(name="PyCaret", labels=("prediction_label",), scores=("prediction_score",)),
    Platform(name="RapidMiner", labels=("prediction(<TARGET>)",), probabilities=("confidence(<label>)",)),
    Platform(
        name="SageMaker",
        labels=("predicted_label",),
        probabilities=("probability", "probabilities", "score"),
    ),
    Platform(
        name="SAS",
        labels=("I_<TARGET>",),
        probabilities=("P_<TARGET><label>",),
        truth=("F_<TARGET>",),
    ),
    Platform(name="scikit-learn's users", truth=("target", "actual", "ground_truth")),
    Platform(name="Spark ML", labels=("prediction",), probabilities=("probability", "probability_<label>")),
    Platform(
        name="tidymodels (R)",
        labels=(".pred_class", ".pred"),
        probabilities=(".pred_<label>",),
        ids=(".row",),
        truth=("truth",),
        weights=("case_wts",),
        folds=("id",),
    ),
    Platform(name="others", labels=("predicted", "predicted_class", "pred_label")),
)
"""The platforms whose names are read, by name."""


_PARTS = {"y_pred": "labels", "score": "scores", "id": "ids", "y_true": "truth", "fold": "folds"}
_NOT_BY_NAME_ALONE = frozenset(("correct", "score"))
"""What values decide: ``correct`` is a judgement or the true label, ``score`` a number or a list."""


def names_of(standard: str) -> tuple[str, ...]:
    """Return the names, in small letters, by which platforms call a standard column, without those with a gap."""
    names = (name.lower() for one in PLATFORMS for name in getattr(one, _PARTS.get(standard, ""), ()))
    return tuple(
        dict.fromkeys(
            name for name in names if "<" not in name and name not in (*_NOT_BY_NAME_ALONE, standard, "id")
        )
    )


WEIGHTS = tuple(dict.fromkeys(name for one in PLATFORMS for name in one.weights))
"""Names of weights, which are read where ``--weight`` names them."""


_OF_CLASS = tuple(
    re.compile(pattern)
    for pattern in (
        r"prob\.(.+)",
        r"\.pred_(?!class$)(.+)",
        r"confidence\.(.+)",
        r"confidence\((.+)\)",
        r"P \([^=]*=(.+)\)",
        r'[Ss]cored [Pp]robabilities for [Cc]lass "(.+)"',
        r"probability_(.+)",
    )
)
"""Names of the probability of a class that say so by themselves."""


def class_of(header: str) -> str | None:
    """Return the class whose probability a column holds by a platform's name; None: its name does not say so.

    Examples
    --------
    >>> [class_of(name) for name in ("prob.Yes", ".pred_No", ".pred_class", "confidence(1)", "P (churn=yes)")]
    ['Yes', 'No', None, '1', 'yes']
    """
    return next((match[1] for pattern in _OF_CLASS if (match := pattern.fullmatch(header.strip()))), None)


_INTO = re.compile(r"I_([A-Z][A-Z0-9_]*)")
_OF_TARGET = re.compile(r"[Pp]rediction ?\((.+)\)")


def by_target(headers: Collection[str]) -> dict[str, str]:
    """Return the standard column of headers that name what was predicted: ``I_BAD`` of SAS, ``prediction(Survived)``.

    Examples
    --------
    >>> by_target(["I_BAD", "P_BAD1", "P_BAD0", "F_BAD"]), by_target(["Survived", "prediction(Survived)"])
    ({'I_BAD': 'y_pred', 'F_BAD': 'y_true'}, {'prediction(Survived)': 'y_pred', 'Survived': 'y_true'})
    >>> by_target(["I_AM", "y_true"])
    {}
    """
    names = [header.strip() for header in headers]
    columns: dict[str, str] = {}
    for name in names:
        into, of = _INTO.fullmatch(name), _OF_TARGET.fullmatch(name)
        if into is not None and any(other.startswith(f"P_{into[1]}") for other in names):
            columns |= {name: "y_pred", f"F_{into[1]}": "y_true"}
        if of is not None:
            columns |= {name: "y_pred", of[1]: "y_true"}
    return {name: standard for name, standard in columns.items() if name in names}


def sas_classes(names: Collection[str], classes: Collection[str]) -> dict[str, str]:
    """Return the class of each column ``P_<TARGET><label>`` of SAS, by what follows the ``P_``; empty: they are none.

    Examples
    --------
    >>> sas_classes(["BAD1", "BAD0"], ["0", "1"]), sas_classes(["class0", "class1"], ["0", "1"])
    ({'BAD1': '1', 'BAD0': '0'}, {})
    """
    spelled = {label.casefold(): label for label in classes}
    first = next(iter(names), "")
    for label in spelled:
        target = first[: -len(label)] if label and first.casefold().endswith(label) else ""
        spelled_names = {name: spelled.get(name.removeprefix(target).casefold()) for name in names}
        if _INTO.fullmatch(f"I_{target}") and all(name.startswith(target) for name in names):
            meant = {name: own for name, own in spelled_names.items() if own is not None}
            if len(set(meant.values())) == len(spelled_names):
                return meant
    return {}


def every_name(part: str) -> Iterator[str]:
    """Yield the names that platforms give one part, such as ``labels``, as they write them, each once."""
    yield from dict.fromkeys(name for one in PLATFORMS for name in getattr(one, part))
