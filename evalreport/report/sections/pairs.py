"""Pairs of models in ranked order: difference, interval and verdict of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from evalreport import numbers
from evalreport.report.naming import family_words, level_of_pairs, listed, test_in_words
from evalreport.report.table import MANY_MODELS, Cell, Column, Row, Table, headings
from evalreport.report.view import Model, View, limits_at_zero
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.schema.lookups import tested_pairs
from evalreport.texts import in_words, named, say

LEAST_MODELS = 3
"""Of two models the line under the leaderboard says all of their pair."""
MOST_OPEN = 8
"""Pairs of more models are a list, folded away."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """What the section shows: a table of models by models, or of very many pairs a list of ``listed`` rows."""

    heading: str
    table: Table
    listed: int
    notes: tuple[str, ...]


def describe(view: View) -> Pairs | None:
    """Lay out all pairs, or those with the baseline; nothing of fewer than three models or without a comparison."""
    if len(view.models) < LEAST_MODELS or not view.results.verdicts:
        return None
    rows, columns = view.models[:-1], view.models[1:]
    if view.results.baseline is not None:
        columns = (view.model(view.results.baseline),)
        rows = tuple(m for m in view.models if m is not columns[0])
    place = {m.id: i for i, m in enumerate(view.models)}
    # A pair stands once: where the row's model ranks first, or is compared with the baseline.
    cells = {
        (row, column): cell
        for row in rows
        for column in columns
        if view.results.baseline is not None or place[row.id] < place[column.id]
        if (cell := _cell(view, row, column)) is not None
    }
    many = len(rows) * len(columns) > MOST_OPEN**2
    heading = say("evidence.headed", section=named("nav", "pairs"), finding=_finding(view))
    table = _list(cells) if many else _triangle(rows, columns, cells, turned=not view.greater_is_better)
    return Pairs(heading, table, len(cells) if many else 0, _notes(view))


def of_the_only_pair(view: View) -> str:
    """Write difference, interval, verdict and test of two models; nothing of more, or without a comparison."""
    if len(view.models) != 2 or not view.results.verdicts:
        return ""
    first, second = view.models
    cell = _cell(view, first, second)
    if cell is None:
        return ""
    better, worse = (first, second) if view.greater_is_better else (second, first)
    deciding, verdict = _deciding(view, first.id, second.id), view.verdict(first.id, second.id)
    said = cell.below[0]
    if cell.look in ("cell-better", "cell-worse") and verdict is not None:
        # The difference of a loss has the worse model in front: who is better has a name.
        winner, p = (first if verdict.verdict == "better" else second), said.partition(", ")[2]
        said = say("evidence.only_pair_better", model=winner.name, p=p) if p else said
    told = {
        "better": better.name, "worse": worse.name, "metric": view.primary_words, "verdict": said,
        "difference": f"{cell.text} {view.digits_of_difference(view.primary).unit}".strip(),
    }  # fmt: skip
    if deciding is None or _p_value(deciding) is None:
        pair = say("evidence.only_pair_untested", **told)
    else:
        test = test_in_words(str(deciding.test))
        pair = say("evidence.only_pair", **told, test=test, family=family_words(view.results))
    margin, of_margin = view.results.options.get("margin"), []
    if verdict is not None and verdict.verdict == "equivalent" and margin is not None:
        of_margin = [say("evidence.pairs_margin", margin=float(margin))]
    return " ".join((pair, *_notes_on_limits(view), *of_margin))


PairCells = Mapping[tuple[Model, Model], Cell]
"""By pair: the first better by so much than the second, with the interval, the verdict and its p-value."""


def _triangle(rows: Sequence[Model], columns: Sequence[Model], cells: PairCells, *, turned: bool) -> Table:
    """Return models by models; the cells of pairs that stand elsewhere are empty.

    ``turned``: the differences are those of the column's model less the row's.
    """
    heads = tuple(Column(m, "text", beside=say("evidence.over", model=m.name)) for m in columns)
    look = "triangle" + (" many" if len(columns) > MANY_MODELS else "") + (" turned" if turned else "")
    made = tuple(Row(row, tuple(cells.get((row, column), "") for column in columns)) for row in rows)
    return Table(say("pairs.box"), heads, made, look=look, first="", cut=0)


def _list(cells: PairCells) -> Table:
    heads = (say(f"evidence.{name}") for name in ("compared", "difference", "interval", "verdict_p"))
    rows = tuple(
        Row(a, (b.name, cell.value, cell.beside, *cell.below), key=f"{a.key} {b.key}")
        for (a, b), cell in cells.items()
    )
    return Table(say("pairs.box"), headings(heads, "text,number,number,text"), rows, sortable=True)


def _cell(view: View, row: Model, column: Model) -> Cell | None:
    # Better minus worse: of a loss, that of the column's model less that of the row's.
    better, worse = (row, column) if view.greater_is_better else (column, row)
    verdict = view.verdict(row.id, column.id)
    record = view.comparison(view.primary, better.id, worse.id)
    if verdict is None or record is None:
        return None
    digits = view.digits_of_difference(view.primary)
    deciding = _deciding(view, row.id, column.id)
    p = None if deciding is None else _p_value(deciding)
    turned = verdict.verdict in ("better", "worse") and {row.id, column.id} <= view.inverted
    kind = "inverted" if turned else verdict.verdict
    return Cell(
        numbers.number(record.difference, digits, signed=True),
        view.interval(record, digits),
        below=(", ".join((named("evidence.verdict", kind), *(() if p is None else (numbers.p_phrase(p),)))),),
        look=f"cell-{kind}",
        strong=False,
    )


def _deciding(view: View, a: str, b: str) -> ComparisonRecord | None:
    """Return the test that decides a pair; of equivalence the other test of the family."""
    own, verdict = view.tests_of_pair.get(frozenset((a, b)), ()), view.verdict(a, b)
    beside = [r for r in own if not r.recommended and r.p_adjusted is not None]
    if verdict is not None and verdict.verdict == "equivalent" and beside:
        return beside[0]
    return next((r for r in own if r.recommended), None)


def _p_value(deciding: ComparisonRecord) -> float | None:
    return deciding.p_value if deciding.p_adjusted is None else deciding.p_adjusted


def _finding(view: View) -> str:
    """Say how many of the pairs are decided, equivalent and undecided, and how many were not tested."""
    tested = tested_pairs(view.results.comparisons, view.primary.spelled)
    kinds = {"better": "decided", "worse": "decided"}
    found = Counter(
        "untested"
        if record.verdict == "undecided" and frozenset(record.about) not in tested
        else kinds.get(record.verdict, record.verdict)
        for record in view.results.verdicts
    )
    total, order = sum(found.values()), ("decided", "equivalent", "non-inferior", "undecided", "untested")
    counts = [(kind, found[kind]) for kind in order if found[kind]]
    if len(counts) == 1:
        kind = counts[0][0]
        of_two, of_more = ("neither", "none") if kind == "untested" else ("both", "all")
        every = say(f"finding.of_pairs.{of_two if total == 2 else of_more}", number=in_words(total))
        return say(f"finding.pairs_all.{kind}", n=total, all=every)
    parts = [say(f"finding.pairs_some.{kind}", n=n, number=in_words(n)) for kind, n in counts]
    return say("finding.pairs", number=in_words(total), parts=listed(parts))


def _tests(view: View) -> str:
    """Name the tests that lead on the primary metric."""
    tests = {
        r.test for r in view.results.comparisons
        if r.test is not None and r.recommended and r.metric == view.primary.metric and r.slice is None
    }  # fmt: skip
    labels = sorted(map(test_in_words, tests)) or [""]
    return reduce(lambda first, last: say("list.and", names=first, last=last), labels)


def _notes(view: View) -> tuple[str, ...]:
    sign = "better_minus_worse" if view.results.baseline is None else "positive_above_baseline"
    notes = [
        say(
            "evidence.pairs",
            metric=view.digits_of_difference(view.primary).headed(view.primary_label),
            sign=say(f"evidence.{sign}"),
            test=_tests(view),
            family=family_words(view.results),
            level=level_of_pairs(view.results),
        )
    ]
    margin = view.results.options.get("margin")
    of_margin = [] if margin is None else [say("evidence.pairs_margin_p", margin=float(margin))]
    notes += [*_notes_on_limits(view), *of_margin]
    of_all: dict[int, list[str]] = {}
    for o in view.results.omnibus:
        if o.metric == view.primary.metric and o.p_value is not None:
            text = say("evidence.all_models_by", test=test_in_words(o.test), p=numbers.p_phrase(o.p_value))
            of_all.setdefault(len(o.models), []).append(text)
    notes += [
        say("evidence.all_models", number=in_words(n), tests=tuple(tests)) for n, tests in of_all.items()
    ]
    return tuple(notes)


def _notes_on_limits(view: View) -> list[str]:
    turned = [model.name for model in view.models if model.id in view.inverted]
    inverted = say("evidence.pairs_inverted", names=listed(turned), n=len(turned)) if turned else ""
    return [text for text in (inverted, limits_at_zero(view.results.verdicts)) if text]
