"""Which questions fell and which rose between two models that answered each several times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from evalreport import numbers
from evalreport.errors import UsageError
from evalreport.gates.conditions import parse
from evalreport.questions.attempts.records import QuestionRecord, QuestionVerdict
from evalreport.report.table import Column, Row, Stroke, Table, scale_of, stroke
from evalreport.report.view import View
from evalreport.schema.pairs import seen_from
from evalreport.texts import say
from evalreport.texts.visible import visible

MOST_OPEN, MOST_ROWS, MOST_TEXT, MOST_PAIRS, MOST_LINES, MOST_SQUARES = 2, 40, 90, 3, 10, 12
OPPOSITE: Mapping[QuestionVerdict, QuestionVerdict] = {
    "better": "worse",
    "worse": "better",
    "undecided": "undecided",
}


@dataclass(frozen=True, slots=True)
class Part:
    """One pair of models, the new one and the old one."""

    heading: str
    table: Table | None
    box: str


@dataclass(frozen=True, slots=True)
class Questions:
    """The section: its heading, and for each pair a table or what it would take to decide."""

    heading: str
    parts: tuple[Part, ...]
    in_brief: bool = True


def describe(view: View) -> Questions | None:
    """Lay out the questions of the pairs that gates name, else of those with the baseline, else of the first two.

    That no question could be decided is said of one pair, where it is the same of others.
    """
    parts: list[Part] = []
    for new, old in _pairs(view):
        records, few = _oriented(view, new, old), _few(view, new, old)
        finding = _finding(view, new, old, records)
        if not few:
            parts.append(Part(finding, _table(view, new, old, records), ""))
        elif finding not in [part.heading for part in parts]:
            parts.append(Part(finding, None, few))
    if not parts:
        return None
    return Questions(heading=say("questions.heading", finding=parts[0].heading), parts=tuple(parts))


def fallen_lines(view: View) -> tuple[str, ...]:
    """Return the heading of each pair for summary.md, with the questions that are worse, then those that are better."""
    lines = []
    for new, old in _pairs(view):
        records = _oriented(view, new, old)
        decided = [r for r in records if r.verdict == "worse"] + [r for r in records if r.verdict == "better"]
        heading = say("questions.heading", finding=_finding(view, new, old, records)) + "."
        lines += [] if heading in lines else [heading]
        lines += [_line(view, r) for r in decided[:MOST_LINES]]
        if len(decided) > MOST_LINES:
            lines.append(say("questions.more", n=len(decided) - MOST_LINES))
    return tuple(lines)


def _line(view: View, record: QuestionRecord) -> str:
    name = _name(record)
    key = "questions.line_passes" if record.passes_a is not None else "questions.line"
    assert record.b is not None
    return say(
        key, word=say(f"questions.word.{record.verdict}"), name=name, a=view.model(record.a).name,
        b=view.model(record.b).name, passes_a=record.passes_a, n_a=record.n_a, passes_b=record.passes_b,
        n_b=record.n_b, p=record.p_adjusted,
    )  # fmt: skip


def _pairs(view: View) -> list[tuple[str, str]]:
    """Return the pairs that are shown, the new model first: of gates, with the baseline, or the first two by rank."""
    known = {frozenset((r.a, r.b)) for r in view.results.questions if r.b is not None}
    asked: list[tuple[str, str]] = []
    for gate in view.results.gates:
        try:
            read = parse(gate.gate, models=view.results.models)
        except UsageError:
            continue
        if read.count == "regressions":
            new, old = read.about
            asked.append((new, old))
    pairs = list(dict.fromkeys(asked))
    if not pairs and view.results.baseline is not None:
        pairs = [(m.id, view.results.baseline) for m in view.models if m.id != view.results.baseline]
    if not pairs and len(view.models) > 1:
        first, second = sorted(m.id for m in view.models[:2])
        pairs = [(first, second)]
    return [pair for pair in pairs if frozenset(pair) in known][:MOST_PAIRS]


def _oriented(view: View, new: str, old: str) -> list[QuestionRecord]:
    """Return the records of a pair, the new model seen from the old one."""
    records = []
    for row in view.results.questions:
        if {row.a, row.b} == {new, old}:
            seen = seen_from(new, row, ("difference",))
            if seen is not row:
                assert row.n_b is not None
                verdict = None if row.verdict is None else OPPOSITE[row.verdict]
                seen = replace(seen, n_a=row.n_b, n_b=row.n_a, passes_a=row.passes_b, passes_b=row.passes_a,
                               verdict=verdict)  # fmt: skip
            records.append(seen)
    return records


def _finding(view: View, new: str, old: str, records: Sequence[QuestionRecord]) -> str:
    if _few(view, new, old):
        most = max(min(r.n_a, r.n_b or 0) for r in records)
        return say("questions.none_could", n=len(records), attempts=most)
    count = {word: sum(r.verdict == word for r in records) for word in ("worse", "better", "undecided")}
    return say(
        "questions.found", total=len(records), worse=count["worse"], better=count["better"],
        undecided=count["undecided"], new=view.model(new).name, old=view.model(old).name,
    )  # fmt: skip


def _few(view: View, new: str, old: str) -> str:
    """Return the warning that no question of a pair could have been decided; nothing where some could."""
    warned = (w for w in view.results.warnings if w.code == "few_attempts" and {*w.about} == {new, old})
    warning = next(warned, None)
    return "" if warning is None else str(warning.text)


def _table(view: View, new: str, old: str, records: Sequence[QuestionRecord]) -> Table:
    def order(record: QuestionRecord) -> tuple[float, float, str]:
        return (record.p_adjusted or 0.0, record.p_value or 0.0, record.id)

    fell, rose, open_ = (
        sorted((r for r in records if r.verdict == word), key=order)
        for word in ("worse", "better", "undecided")
    )
    shown = [*fell, *rose][:MOST_ROWS]
    shown += open_[:MOST_OPEN]
    passes = all(r.passes_a is not None for r in records)
    squares = max(max(r.n_a, r.n_b or 0) for r in records) <= MOST_SQUARES
    scale = scale_of([0.0, 1.0], [0.0, 0.5, 1.0], texts=lambda share: f"{100 * share:g} %")
    rows = []
    for record in shown:
        cells: list[str | Stroke] = [_name(record)]
        if passes:
            for passed, attempts in ((record.passes_b, record.n_b), (record.passes_a, record.n_a)):
                share = (passed or 0) / (attempts or 1)
                text = f"{passed} / {attempts}"
                tries = Stroke(tries=tuple(k < (passed or 0) for k in range(attempts or 0)), title=text)
                cells += [tries if squares else stroke(scale, None, box=share, title=text), text]
        else:
            cells.append(numbers.to_digits(record.difference or 0.0, 3))
        cells.append(numbers.p_value(record.p_adjusted))
        word = say(f"questions.word.{record.verdict}")
        rows.append(Row(None, tuple(cells), word, off=record.verdict == "undecided"))
    names = (view.model(old).name, view.model(new).name)
    heads: list[str | Column] = [Column(say("questions.question"), "text")]
    if passes:
        for name in names:
            heads += [Column("", scale=scale), say("questions.passes", model=name)]
    else:
        heads.append(say("questions.difference", new=names[1], old=names[0]))
    left = len(records) - len(shown)
    return Table(
        say("questions.table", new=names[1], old=names[0]),
        (*heads, say("table.adjusted")),
        tuple(rows),
        _note(view, records, passes, left),
        look="lined questions tries" if squares else "lined questions bars",
        first=say("questions.verdict"),
    )


def _note(view: View, records: Sequence[QuestionRecord], passes: bool, left: int) -> str:
    correction = str(view.results.options.get("correction"))
    key = "questions.note_passes" if passes else "questions.note_permuted"
    texts = [say(key), say(f"questions.correction.{correction}", n=len(records))]
    if left:
        texts.append(say("questions.left", n=left))
    return " ".join(texts)


def _name(record: QuestionRecord) -> str:
    """Write a question as its text, cut, with its id behind it; of a suite with its task."""
    name = visible(record.id if record.task is None else f"{record.task}:{record.id}")
    if not record.text:
        return name
    text = " ".join(visible(record.text).split())
    text = text if len(text) <= MOST_TEXT else text[: MOST_TEXT - 1].rstrip() + "…"
    return f"{text} ({name})"
