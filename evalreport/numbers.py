"""Where numbers become text: the one module that rounds."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

MINUS = "−"
MISSING = "–"
MOST_DECIMALS = 6


def decimals_of(standard_errors: Iterable[float | None]) -> int:
    """Give the number of decimals of a column: down to the second digit of its typical standard error.

    The typical one is the lower median, so that all values of a column have the same decimals.

    Parameters
    ----------
    standard_errors
        In the units of the values; missing, zero and infinite ones are passed over.

    Examples
    --------
    >>> decimals_of([0.0058, 0.0061, None])
    4
    >>> decimals_of([12.5])
    0
    """
    known = [s for s in standard_errors if s is not None and math.isfinite(s) and s > 0]
    if not known:
        return 3
    return min(max(1 - math.floor(math.log10(sorted(known)[(len(known) - 1) // 2])), 0), MOST_DECIMALS)


@dataclass(frozen=True, slots=True)
class Digits:
    """How the numbers of a column are written: decimals, in units of ten to the ``power``; its head names the unit.

    Examples
    --------
    >>> millions = Digits(0, 6)
    >>> number(1_182_345_000, millions), interval(-371e6, 1.17e9, millions, signed=True), millions.unit
    ('1,182', '[−371, +1,170]', 'million')
    """

    decimals: int
    power: int = 0

    @property
    def unit(self) -> str:
        """The word, or the power of ten, for the head of the column; empty where numbers are written as they are."""
        return UNITS.get(self.power, f"×10{_raised(self.power)}") if self.power else ""

    def headed(self, text: str) -> str:
        """Return the head of a column with its unit."""
        return f"{text} ({self.unit})" if self.power else text

    def single(self, value: float) -> str:
        """Write a number that stands by itself, with its unit.

        Examples
        --------
        >>> Digits(0, 6).single(3_758e6), Digits(2, -9).single(1.6329e-8), Digits(2).single(0.5)
        ('3,758 million', '16.33×10⁻⁹', '0.50')
        """
        text = number(value, self)
        return f"{text} {self.unit}" if self.power in UNITS else f"{text}{self.unit}"

    @property
    def finer(self) -> Digits:
        """These with one decimal more."""
        return Digits(self.decimals + 1, self.power)

    def at_least(self, decimals: int) -> Digits:
        """Return these with no fewer decimals than that."""
        return Digits(max(self.decimals, decimals), self.power)

    def at_most(self, decimals: int) -> Digits:
        """Return these with no more decimals than that."""
        return Digits(min(self.decimals, decimals), self.power)


UNITS = {3: "thousand", 6: "million", 9: "billion", 12: "trillion"}
LONG, SHORT = 1e7, 1e-3
"""From this size on, and below that one where six decimals do not reach, numbers have a unit."""


def digits_of(values: Iterable[float | None], standard_errors: Iterable[float | None]) -> Digits:
    """Give the digits of a column: down to the second digit of its typical standard error, by ``decimals_of``.

    Where its values have more than seven digits before the point, or need more than six after it, they have the
    largest unit of a thousand, a million ... in which one decimal is enough, or a larger one in which they have four
    digits before the point.

    Examples
    --------
    >>> digits_of([0.91, 0.87], [0.0058, 0.0061]), digits_of([1.18e9, 2.7e9], [1.3e8, 2e8])
    (Digits(decimals=4, power=0), Digits(decimals=0, power=6))
    >>> digits_of([2.6e-8, 4.1e-8], [1.5e-9, None]), digits_of([1.25e6, 376.418], [])
    (Digits(decimals=1, power=-9), Digits(decimals=0, power=0))
    >>> digits_of([2.0e-8, 3.2e-8], [9.8e-10, None])
    Digits(decimals=2, power=-9)
    """
    errors = [s for s in standard_errors if s is not None and math.isfinite(s) and s > 0]
    size = max((abs(v) for v in values if v is not None and math.isfinite(v)), default=0.0)
    if not errors and 100 <= size < LONG:
        return Digits(max(3 - math.floor(math.log10(size)), 0))
    if not size or (SHORT <= size < LONG):
        return Digits(decimals_of(errors))
    typical = sorted(errors)[(len(errors) - 1) // 2] if errors else size / 100
    last = math.floor(math.log10(typical)) - 1
    if size < SHORT and -last <= MOST_DECIMALS:
        return Digits(decimals_of(errors))
    power = 3 * math.floor((last + 1) / 3)
    while size / 10.0**power >= 1e4:
        power += 3
    return Digits(max(power - last, 0), power)


def number(value: float | None, decimals: int | Digits = 3, *, signed: bool = False) -> str:
    """Write a number with a true minus sign and thousands separators; a missing one is a dash.

    Examples
    --------
    >>> number(-1234.5678, 2), number(0.1, 3, signed=True), number(-0.0001, 2), number(None)
    ('−1,234.57', '+0.100', '0.00', '–')
    """
    if value is None or math.isnan(value):
        return MISSING
    if math.isinf(value):
        return "∞" if value > 0 else MINUS + "∞"
    if isinstance(decimals, Digits):
        value, decimals = value / 10.0**decimals.power, decimals.decimals
    if value and (abs(value) >= 1e9 or (abs(value) < 10.0**-MOST_DECIMALS and decimals >= MOST_DECIMALS)):
        return _power_of_ten(value, signed)
    text = f"{abs(value):,.{decimals}f}"
    if not text.strip("0.,"):
        return text
    return (MINUS if value < 0 else "+" if signed else "") + text


def _power_of_ten(value: float, signed: bool, digits: int = 3) -> str:
    mantissa, exponent = f"{abs(value):.{digits - 1}e}".split("e")
    return (MINUS if value < 0 else "+" if signed else "") + f"{mantissa}×10{_raised(int(exponent))}"


def _raised(power: int) -> str:
    return str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def interval(
    low: float | None,
    high: float | None,
    decimals: int | Digits = 3,
    *,
    signed: bool = False,
    excluded: float | None = None,
    margin: float | None = None,
) -> str:
    """Write an interval in brackets; nothing where a limit is missing.

    A limit of a signed interval, which is one of a difference, never looks as if it were 0 or the margin when it is
    beside it: then both limits have more decimals.

    Parameters
    ----------
    excluded
        A limit of this value is no part of the interval, which its round bracket says.
    margin
        Smallest difference that matters.

    Examples
    --------
    >>> interval(-0.0042, 0.0151, 3, signed=True)
    '[−0.004, +0.015]'
    >>> interval(0.0, 0.0151, 3, signed=True, excluded=0.0)
    '(0.000, +0.015]'
    >>> interval(0.0003, 0.0151, 3, signed=True), interval(-0.01, 0.0099, 2, signed=True, margin=0.01)
    ('[+0.0003, +0.0151]', '[−0.0100, +0.0099]')
    """
    if low is None or high is None:
        return ""
    if isinstance(decimals, Digits):
        low, high, excluded, margin = (
            None if v is None else v / 10.0**decimals.power for v in (low, high, excluded, margin)
        )
        return interval(low, high, decimals.decimals, signed=signed, excluded=excluded, margin=margin)
    if signed or excluded is not None:
        marks = (0.0, *(() if margin is None else (-margin, margin)))
        while decimals < MOST_DECIMALS and any(
            round(limit, decimals) == mark != limit for limit in (low, high) for mark in marks
        ):
            decimals += 1
    left, right = "(" if low == excluded else "[", ")" if high == excluded else "]"
    return f"{left}{number(low, decimals, signed=signed)}, {number(high, decimals, signed=signed)}{right}"


def p_value(p: float | None) -> str:
    """Write a p-value: three decimals below 0.1, two above, never 0 and never 1.00 for what is less than 1.

    Examples
    --------
    >>> [p_value(p) for p in (0.00001, 0.0123, 0.77, 0.9999, 1.0, None)]
    ['<0.001', '0.012', '0.77', '>0.99', '1', '–']
    """
    if p is None or math.isnan(p):
        return MISSING
    if p < 0.001:
        return "<0.001"
    if p < 0.0995:
        return f"{p:.3f}"
    if p < 0.995:
        return f"{p:.2f}"
    return "1" if p >= 1 else ">0.99"


def p_phrase(p: float | None) -> str:
    """Write a p-value for the inside of a sentence: ``p = 0.012`` or ``p < 0.001``."""
    text = p_value(p)
    return f"p {text[0]} {text[1:]}" if text[0] in "<>" else f"p = {text}"


def count(n: float) -> str:
    """Write a count with thousands separators; decimals only where a weighted count has them."""
    return f"{n:,.0f}" if float(n).is_integer() else f"{n:,.1f}"


def rounded_count(n: float) -> str:
    """Write a rough count with one digit, in words from a million on.

    Examples
    --------
    >>> rounded_count(38_912_000), rounded_count(437_112), rounded_count(550)
    ('40 million', '400,000', '600')
    """
    unit = 10 ** math.floor(math.log10(n)) if n >= 1 else 1
    rough = round(n / unit) * unit
    for size, name in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if rough >= size:
            return f"{rough / size:,.0f} {name}"
    return count(rough)


def share(part: float, whole: float) -> str:
    """Write a part of a whole as a percentage; a dash where the whole is nothing."""
    return f"{100 * part / whole:.1f} %" if whole else MISSING


def percent(fraction: float) -> str:
    """Write a level; one that is no round number to the second digit of what it lacks.

    Examples
    --------
    >>> percent(0.95), percent(0.99212103), percent(1 - 1.08e-6)
    ('95 %', '99.21 %', '99.99989 %')
    """
    text = f"{100 * fraction:.10g}"
    lacking = 100 * (1 - fraction)
    if len(text) > 7 and 0 < lacking < 100:
        text = f"{100 * fraction:.{max(1 - math.floor(math.log10(lacking)), 0)}f}"
    return f"{text} %"


def level(alpha: float) -> str:
    """Write the level of a look: three decimals, of a level below 0.001 one digit.

    Examples
    --------
    >>> level(0.0079), level(0.0220), level(0.05), level(0.00079), level(1.08e-6)
    ('0.008', '0.022', '0.05', '0.0008', '0.000001')
    """
    if alpha >= 0.001:
        return f"{round(alpha, 3):g}"
    places = max(-math.floor(math.log10(alpha)), 0)
    return f"{alpha:.{places}f}" if places <= 12 else "0"


def rate(value: float) -> str:
    """Write a share as a percentage with two significant digits, one decimal from 10 % on.

    Examples
    --------
    >>> rate(0.0342), rate(0.0055), rate(0.147), rate(0.0), rate(1.0)
    ('3.4 %', '0.55 %', '14.7 %', '0 %', '100 %')
    """
    hundredfold = 100 * value
    if hundredfold in (0.0, 100.0) or not math.isfinite(value):
        return f"{hundredfold:.0f} %"
    if hundredfold < 1e-4:
        return f"{_power_of_ten(hundredfold, signed=False, digits=2)} %"
    decimals = 1 if hundredfold >= 1 else 1 - math.floor(math.log10(hundredfold))
    text = f"{hundredfold:.{decimals}f}"
    return f"{'>99.9' if text == '100.0' else text} %"


def plain(value: float) -> str:
    """Write a number that somebody chose, with the digits that it has; large and tiny ones in words or powers of ten.

    Examples
    --------
    >>> plain(0.02), plain(-1.5), plain(2500.0), plain(2e7), plain(1e-9)
    ('0.02', '−1.5', '2500', '20 million', '1×10⁻⁹')
    """
    text, _, power = f"{value:g}".partition("e")
    if power and 1e6 <= abs(value) < 1e15:
        return to_digits(value, 4)
    return (MINUS + text[1:] if value < 0 else text) + (f"×10{_raised(int(power))}" if power else "")


def statistic(value: float | None) -> str:
    """Write a test statistic: two decimals, two digits of a small one, or as a whole number where it is one.

    Examples
    --------
    >>> statistic(2.071), statistic(27.0), statistic(0.0020), statistic(212_362_140.97)
    ('2.07', '27', '0.002', '212 million')
    """
    if value is None or not math.isfinite(value):
        return MISSING
    if abs(value) >= LONG:
        return to_digits(value)
    if 0 < abs(value) < 0.095:
        return to_digits(value, 2)
    return number(value, 0 if float(value).is_integer() else 2)


def to_digits(value: float, digits: int = 3) -> str:
    """Write a number with a number of significant digits: thresholds and slopes have no common scale.

    From ten million on in words, where so many digits do not tell numbers apart anyway.

    Examples
    --------
    >>> to_digits(0.41734), to_digits(29.0), to_digits(-1234.5), to_digits(0.0000123), to_digits(115_905_883.0, 2)
    ('0.417', '29', '−1,234', '1.23×10⁻⁵', '116 million')
    """
    if value == 0 or not math.isfinite(value):
        return number(value, 0)
    place = math.floor(math.log10(abs(value)))
    for power in (12, 9, 6) if digits <= 4 else ():
        if max(power, 7) <= place < 15:
            scaled = number(value / 10.0**power, max(digits - 1 - place + power, 0))
            return f"{scaled.rstrip('0').rstrip('.') if '.' in scaled else scaled} {UNITS[power]}"
    if place < -4 or place >= 9:
        return _power_of_ten(value, signed=False, digits=digits)
    text = number(value, max(digits - 1 - place, 0))
    return text.rstrip("0").rstrip(".") if "." in text else text


def digits_apart(values: Iterable[float], digits: int = 3) -> int:
    """Give the significant digits that tell numbers apart: ``digits`` beyond those that all of them share.

    Examples
    --------
    >>> digits_apart([0.2, 0.7]), digits_apart([1e9 - 2.0, 1e9]), digits_apart([5.0, 5.0]), digits_apart([])
    (3, 12, 3, 3)
    """
    known = [v for v in values if math.isfinite(v)]
    size = max(map(abs, known), default=0.0)
    # Halves: the span of numbers near the largest double is infinite.
    spread = max(known) / 2 - min(known) / 2 if known else 0.0
    shared = math.log10(size) - math.log10(spread) if 0 < spread < size else 0.0
    return min(digits + math.ceil(shared), 17) if shared >= 1 else digits


def headline_decimals(half: float | None, values: Iterable[float] = ()) -> int:
    """Give the decimals that an uncertainty allows: two digits of half an interval, three decimals at the most.

    More only where the interval is narrower than that. Without an interval three significant digits of the smallest
    value.

    Examples
    --------
    >>> headline_decimals(0.017), headline_decimals(0.14), headline_decimals(0.0071), headline_decimals(0.0001)
    (3, 2, 3, 5)
    >>> headline_decimals(3.4), headline_decimals(420.0), headline_decimals(None, [0.86])
    (1, 0, 3)
    """
    if half is None or not math.isfinite(half) or half <= 0:
        sizes = [abs(v) for v in values if v and math.isfinite(v)]
        return min(max(2 - math.floor(math.log10(min(sizes))), 0), 3) if sizes else 3
    two_digits = max(1 - math.floor(math.log10(half)), 0)
    return two_digits if half < 0.0005 else min(two_digits, 3)


def amount(
    value: float,
    half: float | None = None,
    *,
    signed: bool = False,
    beside_others: bool = False,
    finer: bool = False,
    like: float | None = None,
) -> str:
    """Write a number of any size as a sentence does, with the digits that its uncertainty allows.

    Parameters
    ----------
    half
        Half the width of its interval, in the same units.
    beside_others
        It stands in a list, whose numbers have the same decimals; alone one that ends in a half has one decimal more.
    finer
        With one decimal more.
    like
        A number that has the power of ten which this one shares, where they have one.

    Examples
    --------
    >>> amount(0.8604, 0.017), amount(10.13, 0.6), amount(15_210_414, 3.8e6), amount(9.23e-9, 2e-9)
    ('0.860', '10.13', '15.2 million', '9.2×10⁻⁹')
    >>> amount(2.645e-8, 1.9e-9), amount(-5.3e-6, 1e-7), amount(5e-7, 7e-6)
    ('26.4×10⁻⁹', '−5.30×10⁻⁶', '0.5×10⁻⁶')
    """
    unit, name, decimals = _scale(value, half, finer)
    decimals = headline_decimals(half, (value,)) if beside_others and not name else decimals
    mark = MINUS if value < 0 else "+" if signed and value > 0 else ""
    if name:
        return f"{mark}{abs(value) / unit:,.{decimals}f} {name}"
    size = max(abs(like or value), half or 0.0)
    if size and (size < 1e-4 or size >= 1e15):
        if value == 0:
            return "0"
        digits = 3 + finer
        if half:
            digits = max(math.floor(math.log10(abs(value))) - math.floor(math.log10(half)) + 2, 1) + finer
        power = 3 * math.floor(math.log10(size) / 3)
        before = math.floor(math.log10(abs(value))) - power + 1
        return f"{mark}{abs(value) / 10.0**power:,.{max(min(digits, 4 + finer) - before, 0)}f}×10{_raised(power)}"
    return number(value, decimals, signed=signed)


def _scale(value: float, half: float | None, finer: bool = False) -> tuple[float, str, int]:
    """Return the unit in which a number is written, its name, and the decimals; one more where a half would be cut."""
    size = max(abs(value), half or 0.0)
    for unit, name in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if size >= unit and size < 1e15:
            scaled = None if half is None else half / unit
            return unit, name, headline_decimals(scaled, (value / unit,)) + finer
    decimals = headline_decimals(half, (value,))
    return 1.0, "", decimals + (finer or _ends_in_half(value, decimals))


def _ends_in_half(value: float, decimals: int) -> bool:
    """Say whether a number lies halfway between two of that many decimals, so that rounding would go either way.

    Examples
    --------
    >>> _ends_in_half(0.0075, 3), _ends_in_half(0.0375, 3), _ends_in_half(0.0374, 3), _ends_in_half(12.5, 1)
    (True, True, False, False)
    """
    halves = abs(value) * 10.0 ** (decimals + 1)
    return decimals > 0 and halves < 1e9 and abs(halves - round(halves)) < 1e-6 and round(halves) % 10 == 5


def shown(value: float, half: float | None, *, finer: bool = False) -> tuple[float, float]:
    """Return the number that ``amount`` writes, and the size of its last digit.

    Examples
    --------
    >>> shown(0.91449, 0.05), shown(0.0075, 0.05), shown(15_210_414, 3.8e6)
    ((0.914, 0.001), (0.0075, 0.0001), (15200000.0, 100000.0))
    """
    unit, _, decimals = _scale(value, half, finer)
    return round(value / unit, decimals) * unit, unit * 10.0**-decimals


def amounts(
    limits: tuple[float, float], half: float | None, *, like: float | None = None, signed: bool = False
) -> str:
    """Write an interval in brackets as ``amount`` writes a value, a unit that both limits have once.

    Parameters
    ----------
    like
        The value that stands before it, which has the same power of ten.

    Examples
    --------
    >>> amounts((0.0432, 0.0768), 0.0168), amounts((62e6, 120e6), 29e6)
    ('[0.043, 0.077]', '[62, 120] million')
    >>> amounts((1.03e-8, 1.79e-8), 3.8e-9), amounts((5.19e-10, 1.63e-9), 5.6e-10, like=7.7e-10)
    ('[10.3, 17.9]×10⁻⁹', '[519, 1,630]×10⁻¹²')
    """
    texts = []
    for limit in limits:
        text = amount(limit, half, signed=signed, beside_others=True, like=like)
        if limit == 0:
            text = "0"
        elif not text.strip("0.,−+"):
            # A limit beside 0 does not look as if it were 0.
            text = to_digits(limit, 1)
        texts.append(text)
    written = [_UNIT_AT_END.fullmatch(text) for text in texts]
    ends = [match.group(1) for match in written if match]
    units = {match.group(2) for match in written if match}
    if len(ends) == 2 and len(units) == 1:
        return f"[{ends[0]}, {ends[1]}]{units.pop()}"
    return f"[{texts[0]}, {texts[1]}]"


_UNIT_AT_END = re.compile(r"([−+\d.,]+)( \w+|×10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
