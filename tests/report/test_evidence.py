"""The last pages of a report that is signed: flow of cases, lines to sign, checklists."""

from __future__ import annotations

import hashlib

import pytest

import evalreport as er
from evalreport.options import OutputOptions
from evalreport.report import pdf
from evalreport.report.evidence import EMPTY_LINES, ITEMS, describe_evidence
from evalreport.report.view import view_of
from evalreport.report.writing import render
from evalreport.schema.results import to_json

N = 60


def models(**more):
    """Return two models of 60 cases: b lacks five rows, a has three empty predictions, and two truths are unknown."""
    a = {
        "id": [f"e{k}" for k in range(N)],
        "y_true": [None if k in (10, 20) else str(k % 2) for k in range(N)],
        "y_pred": [None if k in (30, 31, 32) else str((k // 3) % 2) for k in range(N)],
    }
    kept = range(5, N)
    b = {name: [values[k] for k in kept] for name, values in a.items()}
    b["y_pred"] = [str(k % 2) for k in kept]
    return {"a": a, "b": b}


@pytest.fixture(scope="module")
def results():
    """A comparison in which cases were left out for every reason."""
    return er.evaluate(models(), join="intersect", missing="drop", metrics="accuracy", resamples=20)


def described(results, *signed):
    """Describe the pages of results whose report has a decision and cases."""
    names = frozenset({"decision", "cases"})
    return describe_evidence(view_of(results), signed, data=to_json(results), names=names)


def test_the_flow_adds_up_from_the_cases_read_to_those_compared(results):
    """60 read, 5 without a row of b, 2 without a truth, 3 without an answer of a: 50."""
    found = [(r.step, r.reason, r.model, r.n) for r in results.flow]
    assert found == [
        ("read", None, None, 60),
        ("read", None, "a", 60),
        ("read", None, "b", 55),
        ("left_out", "no_row", None, 5),
        ("left_out", "no_truth", None, 2),
        ("left_out", "no_answer", None, 3),
        ("left_out", "no_answer", "a", 3),
        ("used", None, None, 50),
    ]
    evidence = described(results)
    assert evidence.title == "Evidence: 50 of 60 cases are evaluated"
    assert [step.n for step in evidence.steps] == ["60", "55", "53", "50"]
    assert [step.left_out.n for step in evidence.steps if step.left_out] == ["5", "2", "3"]
    assert [(m.read, m.empty, m.used) for m in evidence.models] == [("55", "0", "50"), ("60", "3", "50")]


def test_where_nothing_was_left_out_one_sentence_says_so():
    """No picture; the models' numbers stay."""
    plain = {"a": {"y_true": ["0", "1"] * 20, "y_pred": ["0", "1"] * 20}}
    evidence = described(er.evaluate(plain, metrics="accuracy", resamples=20))
    assert (evidence.title, evidence.flow_title, evidence.steps) == (
        "Evidence: all 40 cases are evaluated",
        "Flow of cases: nothing was left out",
        (),
    )


def test_names_are_lines_to_sign_and_without_names_three_are_empty(results):
    """The digest above is that of results.json, in groups of four."""
    evidence = described(results, "A. Validator, model risk")
    assert evidence.lines == ("A. Validator, model risk",)
    digest = hashlib.sha256(to_json(results)).hexdigest()
    assert f"{digest[:4]} {digest[4:8]} {digest[8:12]} " in evidence.digests
    assert evidence.headline.startswith("b is ahead of a on accuracy")
    assert described(results).lines == ("",) * EMPTY_LINES


def test_every_item_has_a_state_and_a_place(results):
    """The counts of the heading are those of the table; what was not asked is named with its option."""
    evidence = described(results, "A. Validator")
    items = [item for _, of_one in evidence.checklists for item in of_one]
    assert len(items) == sum(map(len, ITEMS["items"].values())) == 26
    states = [item.state for item in items]
    said = (
        f"{states.count('answered')} of 26, {states.count('in_part')} in part, {states.count('cannot')} not"
    )
    assert evidence.checklist_title.endswith(said)
    by_asks = {item.asks: item for item in items}
    assert by_asks["analyses of variability in accuracy"].where == "no group was named (--slice)"
    assert by_asks["cross table of results"].state == "answered"
    assert by_asks["validation data, metrics, test reports dated and signed"].state == "answered"


@pytest.mark.slow
def test_the_pages_are_in_the_pdf_alone(results, tmp_path):
    """Text of the PDF with a name to sign, which is text, whatever it is."""
    from pypdf import PdfReader

    signed = OutputOptions(formats=("html", "pdf"), sign_off=("<b>A. Validator</b>, model risk",))
    render(results, tmp_path, options=signed)
    pages = PdfReader(tmp_path / "report.pdf").pages
    text = " ".join("\n".join(page.extract_text() for page in pages).split())
    assert "<b>A. Validator</b>, model risk" in text
    assert "TRIPOD+AI (2024)" in text
    assert "Name, role" not in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_the_pages_are_made_only_where_they_are_asked_for(results, tmp_path, monkeypatch):
    """What would be laid out as a PDF has them with a name, and else has not."""
    monkeypatch.setattr(pdf, "pdf_bytes", lambda page, *_attachment, **_time: page.encode())
    for asked in (True, False):
        options = OutputOptions(formats=("pdf",), sign_off=("A. Validator",) if asked else ())
        render(results, tmp_path, options=options)
        assert ("TRIPOD+AI" in (tmp_path / "report.pdf").read_text(encoding="utf-8")) == asked
