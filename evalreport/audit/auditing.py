"""One audit: run, ask what the history can answer, decide the gates; then record what came of it."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

from evalreport.analysis import analysed, evaluate
from evalreport.audit.drift import data_changed
from evalreport.audit.gates_on_history import decider
from evalreport.audit.sequential_test import is_worse, share_of_look, unresolved, worse_than_accepted
from evalreport.comparisons.adjustment import adjust
from evalreport.errors import InputError, UsageError, cleared
from evalreport.gates.outcomes import judge
from evalreport.history.connection import History
from evalreport.history.kept_predictions import packed
from evalreport.history.past import Fresh, Past, accepted_with, past_of
from evalreport.history.run_differences import Present, Reference, Since, quantity_of, since
from evalreport.history.run_values import fresh, kept_of
from evalreport.history.store import NewRun, Run, Standing, append, same_run, standing
from evalreport.loading.counts import require_examples
from evalreport.loading.load import load
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import parse
from evalreport.options import Options, Task
from evalreport.predictions.table import Predictions
from evalreport.provenance import plain_options, signature
from evalreport.schema.audit import AuditRecord, HistoryRecord
from evalreport.schema.inputs import JsonObject
from evalreport.schema.metrics import MetricRecord
from evalreport.schema.recorded import Recorded
from evalreport.schema.results import Results, to_json
from evalreport.schema.warnings import warning
from evalreport.texts import Message, Text

MOST_JUDGED = 40
"""Slices that are compared in full, those that fell most; the others count in the correction all the same."""
LONGEST_SERIES = 200
MOST_SAID = 3


def fallen_slices(now: Present, past: Past) -> Results:
    """Ask of every slice of every model how its primary metric changed since the accepted run."""
    reference, fresh = past.references.get("accepted"), past.fresh
    if reference is None or fresh is None:
        return now.results
    quantity = parse(now.results.primary_metric, now.predictions.task, now.results.classes)
    rows = [r for r in now.results.metrics if r.slice is not None and Quantity.of(r) == quantity]
    if not rows:
        return now.results
    chosen = _largest_changes(rows, reference.results["metrics"])
    found = [(row, since(reference, now, row.model, quantity, within=row.slice)) for row in chosen]
    records = _judged(found, len(rows), now, quantity, reference, fresh)
    return replace(now.results, audit=(*now.results.audit, *records))


def _largest_changes(rows: Sequence[MetricRecord], stored: Sequence[JsonObject]) -> Sequence[MetricRecord]:
    """Return the rows whose value changed most; in their order."""
    if len(rows) <= MOST_JUDGED:
        return rows
    then = {
        (r["model"], quantity_of(r), *r["slice"].values()): r["value"]
        for r in stored
        if r["slice"] is not None
    }

    def change(row: MetricRecord) -> float:
        assert row.slice is not None
        old = then.get((row.model, Quantity.of(row), *asdict(row.slice).values()))
        return -1.0 if old is None or row.value is None else abs(row.value - old)

    kept = sorted(range(len(rows)), key=lambda k: -change(rows[k]))[:MOST_JUDGED]
    return [rows[k] for k in sorted(kept)]


def _judged(
    found: Sequence[tuple[MetricRecord, Since]],
    family: int,
    now: Present,
    quantity: Quantity,
    reference: Reference,
    fresh: Fresh,
) -> list[AuditRecord]:
    """Adjust by Holm over all slices and models, those that were not compared counting as p = 1, and for the looks."""
    tested = [change.p_value for _, change in found if change.p_value is not None]
    adjusted = iter(adjust([*tested, *[1.0] * (family - len(found))], "holm"))
    share, alpha = share_of_look(fresh.look), 1 - now.options.confidence
    records = []
    for row, change in found:
        uncut = None if change.p_value is None else next(adjusted) / share
        p = None if uncut is None else min(1.0, uncut)
        worse = is_worse(quantity, change.difference, lower_is_better=now.options.lower_is_better)
        alarm = worse and p is not None and p <= alpha
        unclear = None
        if worse and not alarm and uncut is not None and change.p_value is not None:
            unclear = unresolved(change.test, change.p_value, uncut / alpha, now)
        assert row.slice is not None
        records.append(
            AuditRecord(
                question="slice",
                about=f"{row.model}, {row.slice.column} = {row.slice.value}",
                run=reference.run.id,
                look=fresh.look,
                test=change.test,
                p_value=change.p_value,
                p_adjusted=p,
                effect="difference",
                effect_size=change.difference,
                low=change.low,
                high=change.high,
                alarm=alarm,
                text=_text(quantity, change, fell=alarm),
                reason=change.reason or unclear,
                statistic=None,
                details=_then_and_now(change),
            )
        )
    return records


def _then_and_now(change: Since) -> dict[str, float]:
    """Return both values, and on how many examples where these are not the same."""
    if change.value is None or change.reference_value is None:
        return {}
    details = {"then": change.reference_value, "now": change.value}
    if change.sizes is not None:
        details |= {"n_then": change.sizes[0], "n_now": change.sizes[1]}
    return details


def _text(quantity: Quantity, change: Since, *, fell: bool) -> Text:
    if change.value is None or change.reference_value is None:
        return change.reason or Message("slice_since.not_compared")
    return Message(
        "slice_since.fell" if fell else "slice_since.value",
        metric=quantity.spelled,
        now=change.value,
        then=change.reference_value,
        how=change.how,
        decimals=4,
    )


Question = Callable[[Present, Past], Results]


def changed_since(now: Present, past: Past) -> Results:
    """Ask how every model's primary metric changed since the accepted run, and since the last that exited 0."""
    task: Task = now.predictions.task
    quantity = parse(now.results.primary_metric, task, now.results.classes)
    references = list(past.references.values())
    if len(references) > 1 and references[0].run.id == references[1].run.id:
        references = references[:1]
    found = [
        _record(reference, now, model, quantity) for reference in references for model in now.results.models
    ]
    return replace(now.results, history=tuple(found))


def said_aloud(now: Present, _past: Past) -> Results:
    """Warn of the answers that are alarming, once for the models, the slices and the data."""
    loud = [row for row in now.results.audit if row.alarm]
    models = [row for row in loud if row.question == "worse"]
    slices = [row for row in loud if row.question == "slice"]
    data = [row for row in loud if row not in models and row not in slices]
    found = []
    if models:
        found.append(warning("worse_than_accepted", about=_about(models), said=_said(models)))
    if slices:
        found.append(warning("slice_fell", about=_about(slices), said=_said(slices)))
    if data:
        found.append(warning("data_changed", about=_about(data), said=_said(data)))
    # First, because a terminal shows only the first few.
    return replace(now.results, warnings=(*found, *now.results.warnings))


QUESTIONS: tuple[Question, ...] = (
    changed_since,
    worse_than_accepted,
    fallen_slices,
    data_changed,
    said_aloud,
)


def _said(rows: Sequence[AuditRecord]) -> tuple[Message, ...]:
    said = tuple(Message("alarming.row", what=_named(row), text=row.text) for row in rows[:MOST_SAID])
    return said if len(rows) <= MOST_SAID else (*said, Message("alarming.more", n=len(rows) - MOST_SAID))


def _named(row: AuditRecord) -> str:
    if row.question in ("worse", "slice"):
        return row.about
    return f"{row.question.replace('_', ' ')} {row.about}".strip()


def _about(rows: Sequence[AuditRecord]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(row.about for row in rows if row.about))


def _record(reference: Reference, now: Present, model: str, quantity: Quantity) -> HistoryRecord:
    found = since(reference, now, model, quantity)
    return HistoryRecord(
        reference=reference.name,
        run=reference.run.id,
        time=reference.run.time,
        model=model,
        **quantity.fields,
        value=found.value,
        reference_value=found.reference_value,
        difference=found.difference,
        level=now.options.confidence,
        low=found.low,
        high=found.high,
        interval_method=found.method,
        test=found.test,
        p_value=found.p_value,
        paired=found.paired,
        text=found.how,
        reason=found.reason,
    )


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
    summary: JsonObject
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
    require_examples(
        loaded,
        "an audit finds the examples of earlier runs again by id",
        "run `evalreport run` on the counts",
    )
    predictions = analysed(loaded)
    identity = identity_of(predictions, options)
    again = same_run(history, series, identity)
    # Everything is read before the work: a database that goes away meanwhile costs the record, not the report.
    past = past_of(history, series, began, again)
    past = replace(past, fresh=fresh(predictions, options, history, past))
    results = evaluate(loaded, options=options, jobs=jobs, progress=progress)
    results = _compared(Present(results, predictions, options), past)
    # Before anything is made of them: the page, the files and the history hold no secret.
    results = cleared(results)
    return Audited(
        results, to_json(results), summary_of(results),
        predictions, options, series, identity, began, past, again,
    )  # fmt: skip


def audited_again(recorded: Recorded, now: Present, history: History, series: str) -> Results:
    """Return a recorded audit's results, compared with the runs that the history held when the audit was made.

    Parameters
    ----------
    recorded
        The results of the audit.
    now
        What ``evaluate`` finds again in the audit's predictions.

    Raises
    ------
    InputError
        The history holds no such run.
    """
    run = same_run(history, series, _identity(recorded.content["signature"], recorded.content["options"]))
    if run is None:
        raise InputError(
            f"{history.name} holds no run with this signature and these options in the series {series!r}",
            file=recorded.name,
            remedy="name the history and the --series that recorded it (`evalreport history list`)",
        )
    # What is accepted now does not matter, only what was accepted when the audit was made.
    then = accepted_with(run) or (run.id,)
    past = past_of(history, series, replace(standing(history, series), nights=then), run)
    past = replace(past, fresh=fresh(now.predictions, now.options, history, past))
    return _compared(now, past)


def _compared(now: Present, past: Past) -> Results:
    """Answer every question about earlier runs, then decide the gates."""
    for question in QUESTIONS:
        now = replace(now, results=question(now, past))
    return judge(now.results, now.options.gates, since=decider(now, past))


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
    return _identity(signature(predictions, options), plain_options(options))


def _identity(signature: str, options: Mapping[str, object]) -> str:
    content = json.dumps([signature, options], sort_keys=True, default=str)
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


def summary_of(results: Results) -> JsonObject:
    """Return the facts of a run that lists and charts need without opening its results."""
    values = {}
    for row in results.metrics:
        if Quantity.of(row).spelled == results.primary_metric and row.slice is None:
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
