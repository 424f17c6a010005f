"""What the terminal, a chat line and a notebook say of a run."""

from __future__ import annotations

import dataclasses
import io
import re
from collections.abc import Callable

from rich.console import Console

import evalreport as er
from evalreport.report.markdown import summary_text
from evalreport.report.terminal import not_summarised, oneliner, summary
from evalreport.schema.decisions import GateRecord
from evalreport.schema.results import Results
from evalreport.schema.warnings import WarningRecord


def printed(results: Results) -> str:
    """Print the summary as a terminal of 120 columns without colour would."""
    console = Console(width=120, file=io.StringIO(), color_system=None)
    console.print(summary(results))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    return str(text)


def gated(results: Results, outcome: str) -> Results:
    """Give results with one gate."""
    gate = GateRecord(
        gate="forest.accuracy >= 0.7",
        outcome=outcome,
        value=0.8,
        low=0.78,
        high=0.82,
        text="0.80 [0.78, 0.82]",
    )  # type: ignore[arg-type]
    return dataclasses.replace(results, gates=(gate,))


def test_terminal_shows_table_verdict_gates_and_cautions(simulate: Callable[..., Results]) -> None:
    """Every model, the headline, the gate with its outcome and the gravest cautions are printed."""
    results = gated(simulate(), "pass")
    text = printed(results)
    text = " ".join(text.split())
    for words in (*simulate().models, "Δ vs forest", "do not show which. ", "pass: ", "caution: "):
        assert words in text
    assert "1 caution in all" in str(results)


def test_a_caution_is_said_once_and_by_the_short_name(simulate: Callable[..., Results]) -> None:
    """What the summary says is no line of its own before it; the others are, under the names of the table."""
    models = {f"runs/2026/{name}-final": skill for name, skill in (("forest", 1.85), ("tree", 0.6))}
    results = simulate(models)
    about = WarningRecord(
        code="tied_scores", text="runs/2026/tree-final ties.", about=("runs/2026/tree-final",)
    )
    results = dataclasses.replace(results, warnings=(*results.warnings, about))
    rest, text = not_summarised(results), " ".join(printed(results).split())
    said = [w for w in results.warnings if w.level != "info" and w not in rest]
    assert [w.text for w in rest if w.code == "tied_scores"] == ["tree-final ties."]
    assert not [w for w in rest if w.level != "info" and str(w.text) in text]
    assert len(said) + len([w for w in rest if w.level != "info"]) >= 1


def test_terminal_and_summary_name_the_groups_by_letters(simulate: Callable[..., Results]) -> None:
    """The first group is a, whatever the results call it, and one line says what a letter means."""
    results = simulate()
    assert "Group" not in printed(results)  # no two models share one
    letters = dict(
        zip(("forest", "boosting", "logreg", "knn", "tree"), ("b", "bc", "c", "a", "a"), strict=True)
    )
    ranking = tuple(dataclasses.replace(r, letters=letters[r.model]) for r in results.ranking)
    text = printed(dataclasses.replace(results, ranking=ranking))
    assert "Models that share a letter cannot be told apart" in " ".join(text.split())
    rows = [re.split(r"\s{2,}", line.strip()) for line in text.splitlines()]
    groups = {row[1]: row[-1] for row in rows if len(row) > 3 and row[0].isdigit()}
    assert groups == {"forest": "a", "boosting": "ab", "logreg": "b", "knn": "c", "tree": "c"}
    assert "| 2 | boosting " in summary_text(dataclasses.replace(results, ranking=ranking))


def test_chat_line_says_the_state_of_the_gates(simulate: Callable[..., Results]) -> None:
    """The state by the tone stands first, then the headline with its one interval, and n; nothing is escaped."""
    heads = {
        "pass": "[evalreport OK] ",
        "undecided": "[evalreport UNDECIDED] A gate is undecided: forest’s accuracy is 0.800 ",
        "fail": "[evalreport FAILED] A gate fails: forest’s accuracy is 0.800 ",
    }
    for outcome, head in heads.items():
        line = oneliner(gated(simulate(), outcome))
        assert line.startswith(head)
        assert line.endswith(", n = 1,200.")
    both = oneliner(simulate({"forest": 1.85, "tree": 0.6}))
    assert both.startswith(
        "[evalreport] forest is ahead of tree on accuracy: 0.815 against 0.600, by 0.215 ["
    )
    assert oneliner(simulate({"only": 1.0})).startswith("[evalreport] only’s accuracy is ")


def test_slices_are_spoken_of_also_where_none_differs() -> None:
    """Whoever asked for slices is told how many tests were made, on the screen as in the summary."""
    n = 200
    frame = {
        "id": list(range(n)),
        "y_true": [i % 2 for i in range(n)],
        "y_pred": [i % 2 if i % 5 else 1 - i % 2 for i in range(n)],
        "ward": ["east" if i % 4 < 2 else "west" for i in range(n)],
    }
    results = er.evaluate({"forest": frame}, metrics=["accuracy"], slices=["ward"], resamples=50)
    assert "none is shown to differ from the other examples (one test)" in " ".join(printed(results).split())


def test_rows_that_are_cut_are_counted(simulate: Callable[..., Results]) -> None:
    """Of 30 models the table has its first rows; the line below says how many are left out."""
    text = printed(simulate({f"m{k:02d}": 3 - k / 10 for k in range(30)}))
    assert re.search(r"and \d+ more, all behind by 0\.\d+ or more", text)
