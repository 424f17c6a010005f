"""Small predictions of one model on numbered examples, and audits of them."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from evalreport.audit.auditing import Audited, audit, record
from evalreport.history.connection import History
from evalreport.history.store import Run
from evalreport.options import Options

Source = dict[str, dict[str, Any]]


def right(pattern: Sequence[int], *, first: int = 0, model: str = "forest") -> Source:
    """Return a label model that is right (1) or wrong (0) on examples from a number on; the classes alternate."""
    truth = [str(place % 2) for place in range(len(pattern))]
    said = [t if hit else str(1 - int(t)) for t, hit in zip(truth, pattern, strict=True)]
    ids = [f"e{first + place:05d}" for place in range(len(pattern))]
    return {model: {"id": ids, "y_true": truth, "y_pred": said}}


def share(correct: int, n: int) -> list[int]:
    """Return a pattern that is right on the first ``correct`` of n examples."""
    return [1] * correct + [0] * (n - correct)


def write(folder: Path, pattern: Sequence[int], *, first: int = 0, model: str = "forest") -> Path:
    """Write such a model as a file of its folder; return the folder."""
    folder.mkdir(exist_ok=True)
    columns = right(pattern, first=first, model=model)[model]
    with (folder / f"{model}.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(columns)
        table.writerows(zip(*columns.values(), strict=True))
    return folder


def options(**given: Any) -> Options:
    """Return options of one quick metric, unless told otherwise."""
    return Options(**{"metrics": ("accuracy",), "resamples": 50, **given})


def audited(
    history: History,
    source: Any,
    *,
    exit_code: int = 0,
    series: str = "default",
    time: datetime | None = None,
    **given: Any,
) -> tuple[Audited, Run, bool]:
    """Audit a source and record it; return what was found, the run, and whether it was added."""
    found = audit(source, options=options(**given), history=history, series=series, time=time)
    run, added = record(found, history=history, time=time, exit_code=exit_code)
    return found, run, added


def gate_of(found: Audited, place: int = 0) -> tuple[str, str]:
    """Return the outcome and the text of a gate."""
    gate = found.results.gates[place]
    return gate.outcome, gate.text
