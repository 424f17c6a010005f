"""One plain dictionary for each kind of thing that can be added: a duplicate name raises."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

from evalreport.errors import UsageError
from evalreport.texts import has, say

ABBREVIATIONS = frozenset(
    [
        *("f1", "f2", "mcc", "npv", "fpr", "fnr", "roc", "auc", "pr", "eer", "ece", "mce"),
        *("r2", "mse", "rmse", "mae", "mape", "rae", "rrse", "wis", "aic", "bic", "mdl"),
    ]
)
"""Parts of names that are written in capitals."""


@dataclass(frozen=True, slots=True)
class Registered:
    """What tests, intervals and curves have in common.

    Attributes
    ----------
    name, label, summary
        The name in results.json, the report's words, the first sentence of the function's docstring.
    """

    name: str
    label: str
    summary: str


class Entry(Protocol):
    """What every registered thing has."""

    @property
    def name(self) -> str:
        """The name under which it is known, unique in its registry."""


E = TypeVar("E", bound=Entry)


class Registry(Mapping[str, E]):
    """Entries by name, in the order in which they were registered.

    Raises
    ------
    ValueError
        When a name is registered twice.
    UsageError
        When an unknown name is looked up; the message names the closest ones.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._entries: dict[str, E] = {}

    def add(self, entry: E) -> E:
        """Add an entry and return it; a name that is taken raises."""
        if entry.name in self._entries:
            raise ValueError(f"{self.kind} {entry.name!r} is registered twice")
        self._entries[entry.name] = entry
        return entry

    def remove(self, name: str) -> None:
        """Take an entry out again, such as one that a test has registered; an unknown name raises."""
        del self._entries[name]

    def __getitem__(self, name: str) -> E:
        try:
            return self._entries[name]
        except KeyError:
            raise UsageError(unknown_name(self.kind, name, self._entries)) from None

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


LONGEST_NAME = 1_000
"""Characters of a name that is compared with those that are known."""


def unknown_name(kind: str, name: str, known: Iterable[str]) -> str:
    """Say that a name is unknown and which known ones are close, or of an option that is gone what to do instead."""
    if len(name) > LONGEST_NAME:
        return f"unknown {kind} {name[:40]!r}... of {len(name):,} characters"
    if kind in ("option", "keyword", "key") and (instead := instead_of(name)):
        return instead
    if kind in ("test", "interval") and has(f"gone.method.{name}"):
        return say("gone.option", name=name, instead=say(f"gone.method.{name}"))
    names = list(known)
    close = close_names(name, names)
    hint = f"did you mean {' or '.join(close)}?" if close else f"known: {', '.join(names) or 'none'}."
    return f"unknown {kind} {name!r}; {hint}"


def instead_of(option: str) -> str:
    """Return what to do in place of an option that earlier versions had; empty for any other name.

    Examples
    --------
    >>> instead_of("--exact") == instead_of("exact")
    True
    >>> instead_of("--seed")
    ''
    """
    name = option.lstrip("-").replace("-", "_")
    return (
        say("gone.option", name=f"--{name.replace('_', '-')}", instead=say(f"gone.{name}"))
        if has(f"gone.{name}")
        else ""
    )


def close_names(name: str, known: Iterable[str]) -> list[str]:
    """Return at most three known names that are close, ignoring case and the joints of words.

    Examples
    --------
    >>> close_names("F1", ["accuracy", "f1", "f2"])
    ['f1']
    >>> close_names("ROC-AUC", ["roc_auc", "roc_auc_ovr"])
    ['roc_auc']
    >>> close_names("acc", ["accuracy", "mcc"])
    ['accuracy', 'mcc']
    """
    import difflib

    by_letters: dict[str, list[str]] = {}
    for candidate in known:
        by_letters.setdefault(_letters(candidate), []).append(candidate)
    wanted = _letters(name)
    if wanted in by_letters:
        return by_letters[wanted][:3]
    longer = [letters for letters in by_letters if len(wanted) > 2 and letters.startswith(wanted)]
    close = dict.fromkeys([*longer[:1], *difflib.get_close_matches(wanted, list(by_letters), n=3)])
    return [candidate for letters in close for candidate in by_letters[letters]][:3]


def closest_names(name: str, known: Iterable[str]) -> list[str]:
    """Return the three closest of the known names, the nearest first.

    Examples
    --------
    >>> closest_names("recal", ["recall", "accuracy", "precision", "f1"])
    ['recall', 'precision', 'accuracy']
    """
    import difflib

    names = list(dict.fromkeys(known))
    near = close_names(name, names)
    wanted = _letters(name)
    rest = sorted(
        (other for other in names if other not in near),
        key=lambda other: -difflib.SequenceMatcher(None, wanted, _letters(other)).ratio(),
    )
    return [*near, *rest][:3]


def _letters(name: str) -> str:
    """Return a name as it is compared: without case, and without what joins words."""
    return "".join(c for c in name.casefold() if c.isalnum()) or name


def summary_of(function: object) -> str:
    """Return the first sentence of a docstring: what the report and ``evalreport list`` print."""
    doc = inspect.getdoc(function)
    if not doc:
        raise ValueError(f"{function!r} needs a docstring: its first sentence is printed")
    return doc.split("\n\n")[0].replace("\n", " ")


def words(name: str) -> str:
    """Give a registered name, with an average where it has one, as words.

    Examples
    --------
    >>> words("f1_macro"), words("log_loss")
    ('F1 macro', 'log loss')
    """
    return " ".join(part.upper() if part in ABBREVIATIONS else part for part in name.split("_"))
