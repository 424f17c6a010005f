"""The command line in this process, with the analysis and the report replaced by fakes."""

from __future__ import annotations

import importlib.util
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import evalreport
from evalreport.analysis import with_gates
from evalreport.cli import main
from evalreport.schema.inputs import FoundRecord
from evalreport.schema.metrics import Interval, MetricRecord
from evalreport.schema.results import Results
from evalreport.schema.warnings import WarningRecord


@dataclass
class Outcome:
    """What one call of the program gave back."""

    code: int
    out: str
    err: str


@dataclass
class Fakes:
    """What the fake analysis returns and does, and what it was called with."""

    results: Results
    calls: list[dict[str, Any]] = field(default_factory=list)
    on_evaluate: Callable[[], None] = lambda: None
    on_render: Callable[[Path], None] = lambda _folder: None
    render_warnings: tuple[str, ...] = ()


def some_results(**changes: Any) -> Results:
    """Results of one model whose accuracy is 0.9 in [0.85, 0.95]."""
    interval = Interval(method="wilson", level=0.95, low=0.85, high=0.95)
    fields: dict[str, Any] = {
        "signature": "s",
        "options": {},
        "task": "binary",
        "design": "test-set",
        "n": 500,
        "classes": ("0", "1"),
        "positive": "1",
        "models": ("forest",),
        "primary_metric": "accuracy",
        "baseline": None,
        "inputs": (),
        "metrics": (
            MetricRecord(
                model="forest",
                metric="accuracy",
                average=None,
                label=None,
                slice=None,
                value=0.9,
                standard_error=0.01,
                n=500,
                intervals=(interval,),
                reason=None,
            ),
        ),
        "found": (FoundRecord(what="positive class", value="1", why="the greater of 0 and 1"),),
        "warnings": tuple(WarningRecord(code=f"code_{i}", text=f"warning number {i}") for i in range(5)),
    }
    return Results(**{**fields, **changes})


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Call the program with words, in an empty folder of its own."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)

    def call(*words: str | Path) -> Outcome:
        capsys.readouterr()
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return call


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> Fakes:
    """Replace the analysis and the report."""
    state = Fakes(some_results())

    def evaluate(source: Any, **keywords: Any) -> Results:
        state.calls.append({"source": source, **keywords})
        keywords["progress"]("bootstrap", 0.5)
        state.on_evaluate()
        return state.results

    def gated(results: Results, options: Any, mark: Any) -> Results:
        return with_gates(results, options, mark) if options.gates else results

    def render(_results: Results, output: Path, *, options: Any, beside: Any, done: Any) -> Any:
        state.calls[-1]["output"] = options
        output.mkdir(parents=True, exist_ok=True)
        (output / "report.html").write_text("<html>")
        state.on_render(output)
        done()
        return types.SimpleNamespace(paths=(output / "report.html",), warnings=state.render_warnings)

    _install(monkeypatch, "analysis", evaluate=evaluate, with_gates=gated)
    _install(
        monkeypatch,
        "report",
        render=render,
        terminal=types.SimpleNamespace(
            summary=lambda results: f"SUMMARY of {results.n}", not_summarised=lambda results: results.warnings
        ),
    )
    return state


def _install(monkeypatch: pytest.MonkeyPatch, name: str, **attributes: Any) -> None:
    """Put a module of these attributes where the package would import its own; what lies in that one stays there."""
    module = types.ModuleType(f"evalreport.{name}")
    real = importlib.util.find_spec(module.__name__)
    if real is not None and real.submodule_search_locations is not None:
        module.__path__ = [*real.submodule_search_locations]
    for key, value in attributes.items():
        setattr(module, key, value)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(evalreport, name, module, raising=False)
