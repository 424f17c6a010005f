"""What the terminal, a chat line and a notebook say of a run."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Callable

from rich.console import Console

from evalreport.records import GateRecord
from evalreport.report.notebook import leaderboard_html
from evalreport.report.terminal import oneliner, summary
from evalreport.results import Results


def printed(results: Results) -> str:
    """Print the summary as a terminal of 120 columns without colour would."""
    console = Console(width=120, file=io.StringIO(), color_system=None)
    console.print(summary(results))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    return str(text)


def gated(results: Results, outcome: str) -> Results:
    """Give results with one gate."""
    gate = GateRecord("forest.accuracy >= 0.7", outcome, 0.8, 0.78, 0.82, "0.80 [0.78, 0.82]")  # type: ignore[arg-type]
    return dataclasses.replace(results, gates=(gate,))


def test_terminal_shows_table_verdict_gates_and_cautions(simulate: Callable[..., Results]) -> None:
    """Every model, the headline, the gate with its outcome and the number of cautions are printed."""
    text = printed(gated(simulate(), "pass"))
    for words in (*simulate().models, "Δ vs forest", "cannot be told apart", "gate: pass", "1 caution;"):
        assert words in text


def test_chat_line_says_the_state_of_the_gates(simulate: Callable[..., Results]) -> None:
    """OK, UNDECIDED and FAILED stand first, and the line holds leader, value, interval, difference and n."""
    states = {"pass": "OK", "undecided": "UNDECIDED", "fail": "FAILED"}
    for outcome, state in states.items():
        line = oneliner(gated(simulate(), outcome))
        assert line.startswith(f"[evalreport {state}] forest leads on accuracy 0.823 [0.801, 0.844]")
        assert line.endswith("vs boosting (Holm p = 1), n = 1,200; forest and boosting not distinguishable.")


def test_notebook_table_has_a_row_for_each_model(simulate: Callable[..., Results]) -> None:
    """The table that a notebook shows has the models in rank order and no script or style."""
    page = leaderboard_html(simulate())
    order = [page.index(f"<th>{name}</th>") for name in ("forest", "boosting", "logreg", "knn", "tree")]
    assert order == sorted(order)
    assert "<script" not in page
    assert "style=" not in page
