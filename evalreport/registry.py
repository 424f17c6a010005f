"""One plain dictionary for each kind of thing that can be added: a duplicate name raises."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Protocol, TypeVar

from evalreport.errors import UsageError

ABBREVIATIONS = frozenset(
    [
        *("f1", "f2", "mcc", "npv", "fpr", "fnr", "roc", "auc", "pr", "eer", "ece", "mce"),
        *("r2", "mse", "rmse", "mae", "mape", "rae", "rrse", "aic", "bic", "mdl"),
    ]
)
"""Parts of names that are written in capitals."""


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


def unknown_name(kind: str, name: str, known: Mapping[str, object] | list[str]) -> str:
    """Say that a name is unknown and which known ones are close to it."""
    import difflib

    close = difflib.get_close_matches(name, list(known), n=3)
    hint = f"did you mean {' or '.join(close)}?" if close else f"known: {', '.join(known) or 'none'}."
    return f"unknown {kind} {name!r}; {hint}"


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
