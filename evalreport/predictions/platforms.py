"""What platforms call the columns of their predictions: one table, for reading, messages and docs/columns."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path


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


PLATFORMS = tuple(
    Platform(name=name, **{part: tuple(names) for part, names in parts.items()})
    for name, parts in tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")).items()
)
"""The platforms whose names are read, by name."""


_PARTS = {
    **{"y_pred": "labels", "score": "scores", "p": "probabilities"},
    **{"id": "ids", "y_true": "truth", "fold": "folds"},
}
_NOT_BY_NAME_ALONE = frozenset(("correct", "score", "class", "prediction"))
"""What values or other columns decide: ``correct`` is an outcome or the true label, ``score`` a number or a list."""


def names_of(standard: str) -> tuple[str, ...]:
    """Return the names, in small letters, by which platforms call a standard column, without those with a gap.

    ``p`` is the one probability of two classes.
    """
    names = (name.lower() for one in PLATFORMS for name in getattr(one, _PARTS.get(standard, ""), ()))
    return tuple(
        dict.fromkeys(
            name for name in names if "<" not in name and name not in (*_NOT_BY_NAME_ALONE, standard, "id")
        )
    )


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
        r"(?:Log)?Probability:Class=(.+)",
        r"prediction_score_(.+)",
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
_BESIDE_TARGET = (re.compile(r"predicted_(.+)"), re.compile(r"(.+)_PREDICTION"))
_OF_CATBOOST = re.compile(r"SampleId|DocId|(RawFormulaVal|(Log)?Probability)(:.*)?")
_AFTER_A_CLASS = ("_PREDICTION", "_scores")
"""How DataRobot and Vertex AI end the name of a probability, after the target and the class."""


def classes_by_target(headers: Collection[str]) -> dict[str, str]:
    """Return the class of each header that names what was predicted and a class: ``bad_1_PREDICTION`` of DataRobot.

    Examples
    --------
    >>> classes_by_target(["bad", "bad_1_PREDICTION", "bad_0_PREDICTION", "bad_PREDICTION"])
    {'bad_1_PREDICTION': '1', 'bad_0_PREDICTION': '0'}
    """
    return {name: label for _, name, label in _of_classes([header.strip() for header in headers])}


def _of_classes(names: Collection[str]) -> Iterator[tuple[str, str, str]]:
    """Yield what was predicted, the name of a column and its class, where there are two such columns or more."""
    held = frozenset(names)
    by_ending: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for name in names:
        for ending in _AFTER_A_CLASS:
            stem = name.removesuffix(ending)
            ends = [place for place, mark in enumerate(stem) if mark == "_"] if stem != name else []
            for end in ends:
                if stem[:end] in held and stem[end + 1 :]:
                    by_ending.setdefault((stem[:end], ending), []).append((name, stem[end + 1 :]))
    for (target, _), classes in by_ending.items():
        yield from ((target, name, label) for name, label in classes if len(classes) > 1)


def by_target(headers: Collection[str]) -> dict[str, str]:
    """Return the standard column of headers that others explain: ``I_BAD`` of SAS, ``prediction(Survived)``.

    Examples
    --------
    >>> by_target(["churn", "predicted_churn"]), by_target(["bad", "bad_1_PREDICTION", "bad_PREDICTION"])
    ({'predicted_churn': 'y_pred', 'churn': 'y_true'}, {'bad_PREDICTION': 'y_pred', 'bad': 'y_true'})
    >>> by_target(["SampleId", "RawFormulaVal", "Class"]), by_target(["inst#", "predicted", "prediction"])
    ({'Class': 'y_pred'}, {'prediction': 'score'})
    >>> by_target(["I_BAD", "P_BAD1", "P_BAD0", "F_BAD"]), by_target(["Survived", "prediction(Survived)"])
    ({'I_BAD': 'y_pred', 'F_BAD': 'y_true'}, {'prediction(Survived)': 'y_pred', 'Survived': 'y_true'})
    >>> by_target(["I_AM", "y_true"])
    {}
    """
    names = [header.strip() for header in headers]
    columns: dict[str, str] = {}
    held = frozenset(names)
    if "Class" in held and any(map(_OF_CATBOOST.fullmatch, names)):
        columns["Class"] = "y_pred"
    if {"inst#", "predicted", "prediction"} <= held:
        columns["prediction"] = "score"
    columns |= dict.fromkeys((target for target, _, _ in _of_classes(names)), "y_true")
    for name in names:
        beside = next((match[1] for form in _BESIDE_TARGET if (match := form.fullmatch(name))), None)
        if beside in held:
            columns |= {name: "y_pred", beside: "y_true"}
        into, of = _INTO.fullmatch(name), _OF_TARGET.fullmatch(name)
        if into is not None and any(other.startswith(f"P_{into[1]}") for other in names):
            columns |= {name: "y_pred", f"F_{into[1]}": "y_true"}
        if of is not None:
            columns |= {name: "y_pred", of[1]: "y_true"}
    return {name: standard for name, standard in columns.items() if name in held}


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
