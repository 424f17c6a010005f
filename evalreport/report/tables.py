"""Results as tidy CSV tables: plain numbers, a row for each value, pair, gate or point of a curve."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from evalreport.questions.calibration.records import CalibrationTableRecord
from evalreport.report.view import View
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.schema.finding_rules import about_text, findings_of
from evalreport.schema.findings import FindingRecord
from evalreport.schema.metrics import MetricRecord, Quantity
from evalreport.schema.results import Results
from evalreport.texts import Message
from evalreport.texts.visible import shaped

Cell = str | float | None
FORMULA = re.compile(r"[\s\x00-\x1f]*[=+\-@\uff1d\uff0b\uff0d\uff20\u2212]")
"""The beginning of a cell that a spreadsheet would compute."""
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)

VALUE_COLUMNS = (
    "model", "metric", "average", "label", "value", "low", "high", "interval_method", "n", "level", "standard_error",
    "reason",
)  # fmt: skip
PAIR_COLUMNS = (
    "a", "b", "metric", "difference", "low", "high", "interval_method", "test", "p_value", "p_adjusted", "verdict",
    "average", "label", "level", "reason",
)  # fmt: skip
GATE_COLUMNS = ("gate", "outcome", "value", "low", "high", "text")
NET_BENEFIT_COLUMNS = (
    "model", "threshold", "net_benefit", "low", "high", "treat_all", "minus_all", "minus_all_low", "minus_all_high",
    "standardised", "avoided", "avoided_low", "avoided_high",
)  # fmt: skip
GRADE_COLUMNS = (
    "model",
    "grade",
    "n",
    "predicted",
    "observed",
    "low",
    "high",
    "p_value",
    "slice_column",
    "slice_value",
)
FINDING_COLUMNS = ("finding", "about", "owner", "due", "severity", "state", "since_run", "since", "text")
MURPHY_COLUMNS = ("a", "b", "threshold", "difference", "low", "high", "level")
CURVE_COLUMNS = ("model", "curve", "label", "x", "y", "threshold", "low", "high", "count")


def tables(view: View) -> dict[str, bytes]:
    """Return the tables as CSV files in UTF-8, by name.

    A table without rows has its header alone. The limits of a pair on the primary metric are the pair's one interval.
    """
    results = view.results
    rows: Mapping[str, tuple[Sequence[str], Iterable[Sequence[Cell]]]] = {
        "metrics": (VALUE_COLUMNS, (_value(r) for r in results.metrics if r.slice is None)),
        "pairs": (PAIR_COLUMNS, pairs(view)),
        "slices": ((*VALUE_COLUMNS[:9], "slice_column", "slice_value", *VALUE_COLUMNS[9:]), _slices(results)),
        "gates": (GATE_COLUMNS, (_cells(gate, GATE_COLUMNS) for gate in results.gates)),
        "curves": (CURVE_COLUMNS, _curves(results)),
        "net_benefit": (
            NET_BENEFIT_COLUMNS,
            (_cells(r, NET_BENEFIT_COLUMNS) for r in results.decision_curves),
        ),
        "deciles": (GRADE_COLUMNS, map(_grade, results.calibration_table)),
        "murphy": (MURPHY_COLUMNS, _murphy(results)),
        "findings": (FINDING_COLUMNS, map(_finding, results.findings or findings_of(results))),
    }
    return {name: as_csv(columns, found) for name, (columns, found) in rows.items()}


def as_csv(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> bytes:
    r"""Write rows below their header; a text that a spreadsheet would compute gets an apostrophe before it.

    Examples
    --------
    >>> as_csv(["model", "value"], [["=1+1", 0.1], ["a, b", None], ["-5", -2.0]]).decode().splitlines()
    ['model,value', "'=1+1,0.1", '"a, b",', '-5,-2']
    """
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_written(cell) for cell in row] for row in rows)
    return stream.getvalue().encode("utf-8", errors="replace")


def _written(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, str):
        cell = shaped(cell)
        return f"'{cell}" if FORMULA.match(cell) and not NUMBER.fullmatch(cell) else cell
    return plain_number(cell)


def plain_number(value: float) -> str:
    """Write the shortest text that reads back to the same number; empty where it is not finite.

    Examples
    --------
    >>> plain_number(0.1), plain_number(-2.0), plain_number(1e-7), plain_number(float("nan"))
    ('0.1', '-2', '1e-07', '')
    """
    if isinstance(value, int):
        return str(value)
    return repr(float(value)).removesuffix(".0") if math.isfinite(value) else ""


def _cells(record: object, columns: Sequence[str], **others: Cell | Message) -> tuple[Cell, ...]:
    """Return the fields of a record by the names of the columns, but for the others; a sentence as text."""
    cells = (others[name] if name in others else getattr(record, name) for name in columns)
    return tuple(str(cell) if isinstance(cell, Message) else cell for cell in cells)


def _value(record: MetricRecord) -> tuple[Cell, ...]:
    first = record.intervals[0] if record.intervals else None
    low, high = (None, None) if first is None else (first.low, first.high)
    method, level = (None, None) if first is None else (first.method, first.level)
    reason = record.reason or (None if first is None else first.reason)
    limits = {"low": low, "high": high, "interval_method": method, "level": level}
    return _cells(record, VALUE_COLUMNS, **limits, reason=reason)


def _grade(record: CalibrationTableRecord) -> tuple[Cell, ...]:
    where = (None, None) if record.slice is None else (record.slice.column, record.slice.value)
    return (*_cells(record, GRADE_COLUMNS[:-2]), *where)


def _murphy(results: Results) -> Iterator[tuple[Cell, ...]]:
    for r in results.murphy_differences:
        for row in zip(r.threshold, r.difference, r.low, r.high, strict=True):
            yield (r.a, r.b, *row, r.level)


def _finding(record: FindingRecord) -> tuple[Cell, ...]:
    return _cells(record, FINDING_COLUMNS, finding=record.code, about=about_text(record.about))


def _slices(results: Results) -> Iterator[tuple[Cell, ...]]:
    for record in results.metrics:
        if record.slice is not None:
            row = _value(record)
            yield (*row[:9], record.slice.column, record.slice.value, *row[9:])


def pairs(view: View) -> Iterator[tuple[Cell, ...]]:
    """Yield each pair on each metric once, by the test that leads, as seen from its first model."""
    seen = set()
    for record in view.results.comparisons:
        key = (record.a, record.b, Quantity.of(record))
        if record.b is None or record.slice is not None or not record.leads or key in seen:
            continue
        seen.add(key)
        found = view.comparison(Quantity.of(record), record.a, record.b)
        assert found is not None
        yield _pair(view, found)


def _pair(view: View, record: ComparisonRecord) -> tuple[Cell, ...]:
    assert record.b is not None
    decided = view.verdict(record.a, record.b) if Quantity.of(record) == view.primary else None
    method = record.interval_method if decided is None else decided.method or record.interval_method
    return _cells(
        record, PAIR_COLUMNS, interval_method=method, verdict=None if decided is None else decided.verdict
    )


def _curves(results: Results) -> Iterator[tuple[Cell, ...]]:
    for curve in results.curves:
        columns = (curve.x, curve.y, curve.threshold, curve.low, curve.high, curve.count)
        for place in range(len(curve.x)):
            cells = (None if column is None else column[place] for column in columns)
            yield (curve.model, curve.curve, curve.label, *cells)
