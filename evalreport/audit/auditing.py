"""One audit: run, ask what the history can answer, decide the gates; then record what came of it."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from evalreport import pipeline
from evalreport.audit.columnar import packed
from evalreport.audit.connection import History
from evalreport.audit.evidence import fresh, kept_of
from evalreport.audit.gates import judge
from evalreport.audit.gates_since import decider
from evalreport.audit.questions import asked
from evalreport.audit.record import NewRun, append
from evalreport.audit.reference import Past, past_of
from evalreport.audit.since import Present
from evalreport.audit.store import Run, Standing, same_run, standing
from evalreport.config import Options
from evalreport.data import load
from evalreport.data.predictions import Predictions
from evalreport.errors import UsageError
from evalreport.provenance import plain_options, signature
from evalreport.redaction import cleared
from evalreport.results import Results, to_json
from evalreport.stages import analysed

LONGEST_SERIES = 200


@dataclass(frozen=True, slots=True)
class Audited:
    """One audited run, not recorded yet.

    Attributes
    ----------
    predictions
        The rows that were analysed.
    standing
        Where the series stood when the audit began.
    again
        The recorded run that is this very one; None: it is new.
    content, summary
        What is recorded of the results: made before anything is written, so that no template comes between.
    """

    results: Results
    content: bytes
    summary: Mapping[str, Any]
    predictions: Predictions
    options: Options
    series: str
    identity: str
    standing: Standing
    past: Past
    again: Run | None


def audit(
    source: Any,
    *,
    options: Options,
    history: History,
    series: str = "default",
    jobs: int = 1,
    memory_limit: int | None = None,
    progress: Callable[[str, float], None] | None = None,
) -> Audited:
    """Analyse a run as ``evaluate`` does, compare it with the series' past, and decide its gates.

    Nothing is written: ``record`` adds it to the history. Hold the lock of the series around both.

    Raises
    ------
    UsageError, InputError
        As ``evaluate``; a series without a name.
    HistoryError
        The history cannot be read.
    """
    check_series(series)
    began = standing(history, series)
    loaded = load(source, options=options, memory_limit=memory_limit)
    predictions = analysed(loaded)
    identity = identity_of(predictions, options)
    again = same_run(history, series, identity)
    # Everything is read before the work: a database that goes away meanwhile costs the record, not the report.
    past = past_of(history, series, began, again)
    past = replace(past, fresh=fresh(predictions, options, history, past))
    results = pipeline.evaluate(loaded, options=options, jobs=jobs, progress=progress)
    results = asked(Present(results, predictions, options), past)
    results = judge(results, options.gates, since=decider(Present(results, predictions, options), past))
    # Before anything is made of them: the page, the files and the history hold no secret.
    results = cleared(results)
    return Audited(
        results, to_json(results), summary_of(results),
        predictions, options, series, identity, began, past, again,
    )  # fmt: skip


def record(
    audited: Audited, *, history: History, time: datetime | None = None, exit_code: int
) -> tuple[Run, bool]:
    """Add an audited run to its series; return it and whether it was added: a run is recorded once.

    Parameters
    ----------
    time
        When the predictions were made, with its time zone; None: now.
    exit_code
        What the audit ends with: a run that exited 0 is what ``last`` means in gates.

    Raises
    ------
    HistoryError
        The database failed, or another run was recorded meanwhile; nothing was added.
    """
    if audited.again is not None:
        return audited.again, False
    references = audited.past.references
    accepted, last = references.get("accepted"), references.get("last")
    new = NewRun(
        series=audited.series,
        identity=audited.identity,
        signature=audited.results.signature,
        time=timestamp(time or datetime.now(UTC)),
        exit_code=exit_code,
        accepted_run=None if accepted is None else accepted.run.id,
        last_run=None if last is None else last.run.id,
        summary=audited.summary,
        results=audited.content,
        predictions=packed(audited.predictions, audited.options),
        rows=audited.predictions.n,
    )
    return append(history, new, after=audited.standing.latest)


def identity_of(predictions: Predictions, options: Options) -> str:
    """Return what makes a run the same run: its signature (version, data, inputs) and every option behind the results.

    Gates are among them: whoever asks another question of the same predictions has made another run.
    """
    content = json.dumps(
        [signature(predictions, options), plain_options(options)], sort_keys=True, default=str
    )
    return hashlib.sha256(content.encode()).hexdigest()


def check_series(series: str) -> None:
    """Check the name of a series.

    Raises
    ------
    UsageError
        It is empty, too long, or holds characters that cannot be seen.
    """
    if not series.strip() or len(series) > LONGEST_SERIES or not series.isprintable():
        raise UsageError(
            f"--series: expected a name of 1 to {LONGEST_SERIES} visible characters, not {series!r:.60}"
        )


def timestamp(time: datetime) -> str:
    """Return a time as the history keeps it: ISO 8601 in UTC, to the second.

    Examples
    --------
    >>> timestamp(datetime.fromisoformat("2024-03-01T02:30:00+02:00"))
    '2024-03-01T00:30:00Z'
    """
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def summary_of(results: Results) -> dict[str, Any]:
    """Return the facts of a run that lists and charts need without opening its results."""
    values = {}
    for row in results.metrics:
        spelled = f"{row.metric}_{row.average}" if row.average else row.metric
        spelled = f"{spelled}[class={row.label}]" if row.label is not None else spelled
        if spelled == results.primary_metric and row.slice is None:
            first = row.intervals[0] if row.intervals else None
            values[row.model] = [row.value, first.low if first else None, first.high if first else None]
    return {
        "n": results.n,
        "task": results.task,
        "design": results.design,
        "models": list(results.models),
        "primary_metric": results.primary_metric,
        "values": values,
        "gates": dict(Counter(gate.outcome for gate in results.gates)),
        "warnings": len(results.warnings),
        "evidence": kept_of(results.evidence),
    }
