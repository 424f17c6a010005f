"""What an audit asks of its accepted run: did a model get worse, did a slice fall, did the data change."""

from __future__ import annotations

from dataclasses import dataclass

from evalreport import numbers
from evalreport.audit_records import AuditRecord
from evalreport.report import wording
from evalreport.report.naming import label_of
from evalreport.report.view import View, text_of

OF_MODELS = ("worse", "worse_this_run", "slice")
QUESTIONS = {
    "worse": "worse than accepted?",
    "worse_this_run": "this look alone",
    "slice": "slice",
    "examples": "rows",
    "labels": "true labels or values",
    "classes": "classes",
    "predicted_labels": "predicted labels",
    "scores": "scores",
    "missing": "missing answers",
    "column": "column",
}
EFFECTS = {
    "difference": "change",
    "ratio": "ratio",
    "cramers_v": "Cramér’s V",
    "wasserstein_sd": "Wasserstein / SD",
    "mean_change_sd": "mean change / SD",
    "changed_classes": "new or gone",
}
TESTS = {
    "betting": "betting sequence",
    "chi_square": "chi-square",
    "fisher_exact": "Fisher’s exact test",
    "kolmogorov_smirnov": "Kolmogorov-Smirnov",
}
DECIMALS = 4


@dataclass(frozen=True, slots=True)
class Line:
    """One question and its answer."""

    question: str
    about: str
    answer: str
    effect: str
    test: str
    p: str
    adjusted: str
    alarm: bool


@dataclass(frozen=True, slots=True)
class Table:
    """The questions of one kind."""

    title: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Audit:
    """What the section shows: a sentence, what is alarming, the tables, how to read them."""

    headline: str
    loud: tuple[str, ...]
    tables: tuple[Table, ...]
    note: str


def describe(view: View) -> Audit | None:
    """Lay out the questions and answers; nothing where there was no accepted run."""
    records = view.results.audit
    if not records:
        return None
    kinds = (("The models", True), ("The data", False))
    tables = tuple(
        Table(title, tuple(_line(view, r) for r in records if (r.question in OF_MODELS) == of_models))
        for title, of_models in kinds
    )
    loud = tuple(f"{_named(view, r)}: {text_of(view, r.text)}" for r in records if r.alarm)
    return Audit(
        headline=wording.audit_headline(len(loud), look=records[0].look, run=records[0].run),
        loud=loud,
        tables=tuple(table for table in tables if table.lines),
        note=wording.AUDIT,
    )


def _line(view: View, record: AuditRecord) -> Line:
    effect = ""
    if record.effect is not None and record.effect_size is not None:
        name = EFFECTS.get(record.effect, record.effect)
        signed = record.effect == "difference"
        effect = f"{name} {numbers.number(record.effect_size, DECIMALS if signed else 3, signed=signed)}"
    return Line(
        question=QUESTIONS.get(record.question, record.question),
        about=text_of(view, record.about),
        answer=text_of(view, record.text),
        effect=effect,
        test="" if record.test is None else TESTS.get(record.test) or label_of("test", record.test),
        p=numbers.p_value(record.p_value),
        adjusted=numbers.p_value(record.p_adjusted),
        alarm=record.alarm,
    )


def _named(view: View, record: AuditRecord) -> str:
    if record.question in OF_MODELS:
        return text_of(view, record.about)
    return f"{QUESTIONS.get(record.question, record.question)} {text_of(view, record.about)}".strip()
