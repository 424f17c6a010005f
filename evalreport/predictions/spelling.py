"""One spelling for one value: missing cells, numbers, true and false, instants; and what two texts differ in."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Collection, Iterable
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import numpy as np

from evalreport.predictions.arrays import Floats

BLANKS = " \t"  # str.strip() would also take control characters, which float() refuses


MISSING_WORDS = (
    *("NA", "N/A", "#N/A", "NULL", "None", "<NA>", "NaN", "n/a", "."),
    # Further words that pandas reads as missing, and what Excel writes for #N/A in other languages.
    *("nan", "NAN", "-nan", "-NaN", "null", "#NA", "#N/A N/A", "#NV", "#N/D"),
    # Of Hive, Snowflake and MySQL; of SQL clients; of Ruby, Lua and Swift; of pandas' dates; by hand.
    *(r"\N", "(null)", "(NULL)", "<null>", "<NULL>", "nil", "NIL", "NaT", "N.A."),
)
"""Words that programs write for a missing value: empty cells, wherever a label or a number is expected."""


DOUBTFUL_WORDS = ("?", "-", "missing", "Missing", "MISSING")
"""Words that are a missing value, too, where a number or an outcome is expected, and among two other labels or more."""


IGNORED = "-100"
"""What PyTorch and Hugging Face write as the true label of what is not to be counted."""


NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


_LEADING_ZERO = re.compile(r"[+-]?0\d", re.ASCII)


_LONGEST_WHOLE = 40
"""Digits up to which a whole number is written out."""


_INSTANT = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?: ?(Z|UTC|[+-]\d\d(?::?\d\d)?))?)?",
    re.ASCII,
)


TRUTHS = {"true": "1", "false": "0"}


_OUTCOMES = {
    **dict.fromkeys(("true", "yes", "y", "pass", "passed", "correct", "success", "succeeded", "right", "c"), 1.0),
    **dict.fromkeys(("false", "no", "n", "fail", "failed", "incorrect", "failure", "wrong", "i"), 0.0),
}  # fmt: skip


def outcome_words(texts: Iterable[str]) -> dict[str, float]:
    """Return the outcome that each word means, in small letters; P is partial credit beside C and I.

    Examples
    --------
    >>> words = outcome_words(["C", "P", "I"])
    >>> words["c"], words["p"], words["i"], "p" in outcome_words(["P", "F"])
    (1.0, 0.5, 0.0, False)
    """
    graded = any(text.strip(BLANKS).casefold() in ("c", "i") for text in texts)
    return {**_OUTCOMES, **({"p": 0.5} if graded else {})}


def are_ignored(true: Collection[str], predicted: Collection[str]) -> bool:
    """Say whether -100 among true labels marks what is not to be counted: beside codes, and never predicted.

    Examples
    --------
    >>> are_ignored({"0", "1", "-100"}, {"0", "1"}), are_ignored({"0", "1", "-100"}, {"0", "-100"})
    (True, False)
    """
    # Most texts of a regression are no whole numbers: the first one tells.
    if not all(is_whole(text) or text.strip(BLANKS).casefold() in TRUTHS for text in true):
        return False
    codes = set(one_spelling(true).values())
    labels = set(one_spelling(predicted).values())
    rest = codes - {IGNORED}
    if IGNORED not in codes or IGNORED in labels or len(rest) < 2:
        return False
    whole = all(is_whole(label) and float(label) >= 0 for label in rest)
    return whole and 2 * len(labels & rest) >= len(labels) > 0


def is_missing(text: str) -> bool:
    """Say whether a cell is empty or holds a word for a missing value."""
    plain = text.strip(BLANKS)
    return not plain or plain in MISSING_WORDS


def is_no_number(text: str) -> bool:
    """Say whether a cell in a column of numbers is empty or holds a word for a missing number."""
    return is_missing(text) or text.strip(BLANKS) in DOUBTFUL_WORDS


def is_number(text: str) -> bool:
    """Say whether a text is a finite decimal number."""
    return NUMBER.fullmatch(text.strip(BLANKS)) is not None and abs(float(text)) < float("inf")


def is_whole(text: str) -> bool:
    """Say whether a text is a whole number, with or without zeros after the point."""
    return is_number(text) and float(text).is_integer()


def has_leading_zero(text: str) -> bool:
    """Say whether a text begins with a zero that counts for nothing, which makes it text: ``007``."""
    return _LEADING_ZERO.match(text.strip(BLANKS)) is not None


def one_number(text: str) -> str:
    """Spell a number as every equal one; what begins with a zero that counts for nothing is text, and stays.

    Examples
    --------
    >>> [one_number(text) for text in ("1.0", "+1", "-0.0", "1e+05", "0.50", "01", "v1.0")]
    ['1', '1', '0', '100000', '0.5', '01', 'v1.0']
    """
    plain = text.strip(BLANKS)
    if not is_number(plain) or has_leading_zero(plain):
        return text
    value, exact = float(plain), Decimal(plain)
    if not value.is_integer():
        return repr(value)
    if exact.adjusted() > _LONGEST_WHOLE:
        return repr(value)
    # A whole number of any length is exact as text, though not as a double.
    return str(int(exact) if exact == int(exact) else int(value))


def one_spelling(labels: Iterable[str]) -> dict[str, str]:
    """Map each label of a task to its one spelling: equal numbers are one, and true and false like 1 and 0 beside them.

    Examples
    --------
    >>> one_spelling(["True", "1", "0.0"]), one_spelling(["TRUE", "False", "True"])
    ({'True': '1', '1': '1', '0.0': '0'}, {'TRUE': 'True', 'False': 'False', 'True': 'True'})
    """
    spelled = {label: one_number(label) for label in labels}
    lowered = {label: label.strip(BLANKS).casefold() for label in spelled}
    truths = {label for label in spelled if lowered[label] in TRUTHS}
    rest = spelled.keys() - truths
    if not truths or any(spelled[label] not in ("0", "1") for label in rest):
        return spelled
    if rest:
        return {label: TRUTHS.get(lowered[label], number) for label, number in spelled.items()}
    if len(truths) == len(set(lowered.values())):
        return spelled
    return {label: lowered[label].capitalize() for label in spelled}


def category_spelling(texts: Iterable[str]) -> dict[str, str]:
    """Map each value of a column to its one spelling: equal whole numbers, and equal instants, where all are such.

    Numbers with decimals keep their text: 1.1 and 1.10 may be versions.
    """
    distinct = list(dict.fromkeys(texts))
    if all(is_number(text) for text in distinct):
        return {text: one_number(text) if is_whole(text) else text for text in distinct}
    if all(is_instant(text) for text in distinct):
        return {text: one_instant(text) for text in distinct}
    return {text: text for text in distinct}


def is_instant(text: str) -> bool:
    """Say whether a text is a date or a time in ISO 8601 that a calendar has."""
    try:
        one_instant(text)
    except ValueError:
        return False
    return True


def one_instant(text: str) -> str:
    """Spell an instant as every equal one: in UTC with Z where it has a zone, and without zeros that say nothing.

    Raises
    ------
    ValueError
        It is no instant.

    Examples
    --------
    >>> one_instant("2024-03-30T23:00:00.000+01:00"), one_instant("2024-03-30 00:00"), one_instant("2024-03-30")
    ('2024-03-30 22:00:00Z', '2024-03-30', '2024-03-30')
    """
    match = _INSTANT.fullmatch(text.strip(BLANKS))
    if match is None:
        raise ValueError(text)
    day, minute, second, fraction, zone = match.groups()
    moment = datetime.fromisoformat(f"{day} {minute or '00:00'}:{second or '00'}").replace(tzinfo=UTC)
    fraction = (fraction or "").rstrip("0")
    if zone is not None:
        moment = moment.replace(tzinfo=_zone(zone)).astimezone(UTC)
    elif not (moment.hour or moment.minute or moment.second or fraction):
        return day
    return f"{moment:%Y-%m-%d %H:%M:%S}{'.' * bool(fraction)}{fraction}{'' if zone is None else 'Z'}"


def _zone(text: str) -> timezone:
    if text in ("Z", "UTC"):
        return UTC
    digits = text[1:].replace(":", "").ljust(4, "0")
    away = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-away if text[0] == "-" else away)


def in_order(labels: Iterable[str]) -> tuple[str, ...]:
    """Sort distinct labels by value where all are numbers, else as text by code point."""
    distinct = set(labels)
    if all(is_number(label) for label in distinct):
        return tuple(sorted(distinct, key=lambda label: (float(label), label)))
    return tuple(sorted(distinct))


def alikes(some: Iterable[str], others: Iterable[str]) -> dict[str, tuple[str, str]]:
    r"""Return for each text that looks like one of the others that one, and the name of what they differ in.

    The name is that of a phrase in [found.differ].

    Examples
    --------
    >>> alikes(["cat", "7"], ["dog", "Cat", "007"])
    {'7': ('007', 'leading_zeros'), 'cat': ('Cat', 'capitals')}
    >>> alikes(["cat"], ["cat\u00a0"]), alikes(["cat"], ["dog"])
    ({'cat': ('cat\xa0', 'spaces')}, {})
    """
    some, others = list(some), list(others)
    pairs: dict[str, tuple[str, str]] = {}
    for name, plain in _ALIKE:
        by_form: dict[str, list[str]] = {}
        for text in others:
            by_form.setdefault(plain(text), []).append(text)
        for text in some:
            alike = [other for other in by_form.get(plain(text), ()) if other != text]
            if alike:
                pairs.setdefault(text, (alike[0], name))
    return pairs


def shown_apart(text: str, differs_in: str) -> str:
    """Quote a text so that a reader sees what it differs in from one that looks like it."""
    return ascii(text) if differs_in in ("unicode", "spaces", "invisible", "several") else repr(text)


def _unzoned(text: str) -> str:
    match = _INSTANT.fullmatch(text.strip(BLANKS))
    if match is None or not is_instant(text):
        return text
    zone = match.start(5)
    return one_instant(text if zone < 0 else text[:zone])


def _equal_number(text: str) -> str:
    return one_number(text) if is_number(text) else text


def _without_leading_zeros(text: str) -> str:
    digits = re.sub(r"\d+", lambda run: run[0].lstrip("0") or "0", text, flags=re.ASCII)
    return _equal_number(digits)


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _seen(text: str) -> str:
    """Leave out what has no width: marks of direction, joiners, soft hyphens, control characters."""
    return "".join(mark for mark in text if unicodedata.category(mark) not in ("Cf", "Cc"))


def _same_instant(text: str) -> str:
    return one_instant(text) if is_instant(text) else text


_ALIKE = (
    ("unicode", lambda text: unicodedata.normalize("NFC", text)),
    ("spaces", _spaced),
    ("invisible", _seen),
    ("number", _equal_number),
    ("leading_zeros", _without_leading_zeros),
    ("instant", _same_instant),
    ("zone", _unzoned),
    ("capitals", str.casefold),
    ("several", lambda text: _spaced(_seen(unicodedata.normalize("NFKC", text))).casefold()),
)
"""Ways in which texts can be alike, the narrowest first, each with the text that is left where it is disregarded."""


def parse_labels(texts: Collection[str]) -> frozenset[str]:
    """Return the labels that ``--labels`` names: separated by commas, quoted as cells of a CSV file are.

    Examples
    --------
    >>> sorted(parse_labels(['NA,None', '"a,b"']))
    ['NA', 'None', 'a,b']
    """
    return frozenset(label for row in csv.reader(texts, skipinitialspace=True) for label in row if label)


WRITTEN = 1e15
"""Probabilities of up to 15 decimals have that many decimals in their complement, too."""


def complement(p: Floats) -> Floats:
    """Return 1 - p of probabilities (n,), as it would be written: that of 0.9 is 0.1, not 0.09999999999999998.

    So a threshold of 0.1 cuts alike whichever class's probability a file gives. A p of more than 15 decimals is
    subtracted as it is.

    Examples
    --------
    >>> complement(np.array([0.9, 0.43, 1 - 2**-53])).tolist()
    [0.1, 0.57, 1.1102230246251565e-16]
    """
    whole = np.rint(p * WRITTEN)
    return np.where(whole / WRITTEN == p, (WRITTEN - whole) / WRITTEN, 1.0 - p)
