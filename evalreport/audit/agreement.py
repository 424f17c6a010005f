"""Two results.json, leaf by leaf: which figures agree exactly, which to rounding, and which do not."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from evalreport.texts import say

RELATIVE = 1e-9
ABSOLUTE = 1e-14
"""Other processors and other versions of libraries round the last digits otherwise; nothing that is read changes."""

# What tells the records of a list apart; the rest of a record is what it says.
IDENTITY = (
    *(
        "path",
        "model",
        "a",
        "b",
        "about",
        "question",
        "reference",
        "source",
        "metric",
        "average",
        "label",
        "slice",
    ),
    *(
        "reference_value",
        "test",
        "estimator",
        "loss",
        "curve",
        "criterion",
        "quantity",
        "method",
        "effect",
        "name",
    ),
    *(
        "dataset",
        "repeat",
        "fold",
        "replicate",
        "seed",
        "true",
        "predicted",
        "what",
        "id",
        "gate",
        "code",
        "part",
    ),
)
# Sentences of the program, which another version may word otherwise.
WORDED = frozenset({"text", "reason", "caution", "why", "formula", "measure"})

Kind = Literal["exact", "rounded", "differs", "worded", "one side"]


@dataclass(frozen=True, slots=True)
class Leaf:
    """One value that both say, or one of them.

    Attributes
    ----------
    number
        Whether it is a figure; else it is a word.
    kind
        ``worded``: a sentence that is put otherwise; ``one side``: only one of the two has it.
    """

    where: str
    number: bool
    kind: Kind
    said: Any = None
    found: Any = None


def leaves(said: Any, found: Any, where: str = "") -> Iterator[Leaf]:
    """Compare two values and everything inside them.

    Records of a list are matched by what they are about, so that one that is missing is one difference.

    Examples
    --------
    >>> [leaf.kind for leaf in leaves({"n": 500, "value": 0.5}, {"n": 500, "value": 0.5 + 1e-12})]
    ['exact', 'rounded']
    """
    if isinstance(said, dict) and isinstance(found, dict):
        for name in sorted({*said, *found}):
            place = f"{where}.{name}" if where else name
            if name in said and name in found:
                yield from leaves(said[name], found[name], place)
            elif said.get(name) == [] or found.get(name) == []:
                continue  # an empty list says no more than none
            else:
                yield Leaf(place, False, "one side", said.get(name), found.get(name))
    elif isinstance(said, list) and isinstance(found, list):
        of_records = all(isinstance(entry, dict) for entry in (*said, *found))
        yield from (_records if of_records else _values)(said, found, where)
    else:
        yield _leaf(said, found, where)


def _records(
    said: Sequence[Mapping[str, Any]], found: Sequence[Mapping[str, Any]], where: str
) -> Iterator[Leaf]:
    old, new = _by_identity(said), _by_identity(found)
    for key in (*old, *(key for key in new if key not in old)):
        place = f"{where}[{_spoken(old.get(key) or new[key], where)}]"
        if key in old and key in new:
            yield from leaves(old[key], new[key], place)
        else:
            yield Leaf(place, False, "one side", _there(old.get(key)), _there(new.get(key)))
    shared = [key for key in old if key in new]
    if shared != [key for key in new if key in old]:
        yield Leaf(say("verify.order", where=where), False, "differs", "another order", "this order")


def _values(said: Sequence[Any], found: Sequence[Any], where: str) -> Iterator[Leaf]:
    if len(said) != len(found):
        yield Leaf(f"{where}: how many", True, "differs", len(said), len(found))
    for place, (one, other) in enumerate(zip(said, found, strict=False)):
        yield from leaves(one, other, f"{where}[{place}]")


def _by_identity(records: Sequence[Mapping[str, Any]]) -> dict[tuple[str, int], Mapping[str, Any]]:
    """Give each record a key of what it is about; several of one kind are counted."""
    keyed: dict[tuple[str, int], Mapping[str, Any]] = {}
    counts: dict[str, int] = {}
    for record in records:
        names = [name for name in _names(record) if name in record and not _is_number(record[name])]
        about = json.dumps([[name, record[name]] for name in names], sort_keys=True)
        counts[about] = counts.get(about, 0) + 1
        keyed[about, counts[about]] = record
    return keyed


def _spoken(record: Mapping[str, Any], where: str) -> str:
    """Say what a record is about: its names, those that are null left out."""
    parts = []
    for name in _names(record):
        value = record.get(name)
        if isinstance(value, dict):
            value = "=".join(str(part) for part in value.values())
        elif isinstance(value, list):
            value = ", ".join(map(str, value))
        if value is not None and value != "" and not _is_number(value):
            parts.append(f"{name} {value}" if name in ("repeat", "fold", "seed", "label") else str(value))
    return " ".join(parts) or where


def _names(record: Mapping[str, Any]) -> Sequence[str]:
    """Return what tells a record apart; the method of an interval does among others, of a verdict it is content."""
    return [name for name in IDENTITY if name != "method" or "verdict" not in record]


def _there(record: Any) -> str | None:
    return None if record is None else "a record"


def _leaf(said: Any, found: Any, where: str) -> Leaf:
    if _is_number(said) and _is_number(found):
        if said == found:
            return Leaf(where, True, "exact")
        near = abs(said - found) <= max(ABSOLUTE, RELATIVE * max(abs(said), abs(found)))
        return Leaf(where, True, "rounded" if near else "differs", said, found)
    number = _is_number(said) or _is_number(found)
    if type(said) is type(found) and said == found:
        return Leaf(where, False, "exact")
    name = where.rsplit(".", 1)[-1]
    texts = all(value is None or isinstance(value, str) for value in (said, found))
    return Leaf(where, number, "worded" if name in WORDED and texts else "differs", said, found)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
