"""One audit: analyse a run, compare it with the earlier runs of its series, decide the gates, record it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, partial
from typing import cast

from evalreport.analysis import analysed, evaluate, without_figures
from evalreport.audit.drift import data_changed
from evalreport.audit.fallen_slices import fallen_slices
from evalreport.audit.findings import Assignment, assigned, carried, changes_since, recorded_assignments
from evalreport.audit.gates_on_history import decider
from evalreport.audit.past import ContentOf, NewExamples, Past, accepted_with, past_of
from evalreport.audit.run_values import to_keep
from evalreport.audit.sequential_test import worse_than_accepted
from evalreport.errors import InputError, UsageError, cleared
from evalreport.gates.conditions import Gate
from evalreport.gates.conditions import parse as parse_gate
from evalreport.gates.deciding import gate_record
from evalreport.gates.outcomes import decide_gates
from evalreport.headline import headline_of_scores, with_headline
from evalreport.history.connection import History
from evalreport.history.kept_predictions import packed
from evalreport.history.run_differences import ModelChange, Present, Reference, change_since
from evalreport.history.store import (
    NewRun,
    Run,
    Standing,
    append,
    recorded_results,
    same_run,
    standing,
    timestamp,
)
from evalreport.loading.counts import require_examples
from evalreport.loading.load import load
from evalreport.loading.task import KnownTask
from evalreport.metrics.quantities import parse
from evalreport.metrics.registry import Quantity
from evalreport.options import Options, Task
from evalreport.predictions.direction import directed
from evalreport.predictions.table import Predictions
from evalreport.provenance import plain_options, signature
from evalreport.schema.audit import ALARMS, AuditRecord, HistoryRecord, Status
from evalreport.schema.decisions import GateRecord
from evalreport.schema.inputs import JsonObject
from evalreport.schema.metrics import limit_fields
from evalreport.schema.recorded import Recorded
from evalreport.schema.results import Results, to_json
from evalreport.schema.warnings import warning
from evalreport.texts import Message, has, say
from evalreport.warnings import with_warnings

LONGEST_SERIES = 200
MOST_SHOWN = 3
"""Alarms that a warning quotes."""


def changed_since(now: Present, past: Past) -> Results:
    """Answer how every model's primary metric changed since the accepted run, and since the last that exited 0."""
    task: Task = now.predictions.task
    quantity = parse(now.results.shown_metric, task, now.results.classes)
    references = list(past.references.values())
    if len(references) > 1 and references[0].run.id == references[1].run.id:
        references = references[:1]
    rows = []
    for reference in references:
        for model in now.results.models:
            change = change_since(reference, now, model, quantity)
            both: Status = "same" if change.same_answers else "both"
            status = both if model in reference.results.models else "new"
            rows.append(_record(reference, now, model, quantity, change, status))
    for reference in references[:1]:
        for model in reference.results.models:
            if model not in now.results.models:
                gone = Message("since.gone", model=model)
                change = ModelChange(how=gone, reason=gone)
                rows.append(_record(reference, now, model, quantity, change, "gone"))
    return replace(now.results, history=tuple(rows))


def warned(now: Present, _past: Past) -> Results:
    """Add a warning about the alarms, one each for models, slices and data."""
    alarms = [row for row in now.results.audit if row.alarm]
    worse = [row for row in alarms if row.question == "worse"]
    fallen = [row for row in alarms if row.question == "slice"]
    changed = [row for row in alarms if row.question not in ("worse", "slice")]

    cautions = []
    if worse:
        cautions.append(warning("worse_than_accepted", about=_about(worse), said=_first_alarms(worse)))
    if fallen:
        cautions.append(warning("slice_fell", about=_about(fallen), said=_first_alarms(fallen)))
    if changed:
        cautions.append(warning("data_changed", about=_about(changed), said=_first_alarms(changed)))
    # First, because a terminal shows only the first few.
    return with_warnings(now.results, cautions, looked=ALARMS if now.results.audit else ())


QUESTIONS: tuple[Callable[[Present, Past], Results], ...] = (
    changed_since,
    worse_than_accepted,
    fallen_slices,
    data_changed,
    warned,
)


def _about(rows: Sequence[AuditRecord]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(row.about for row in rows if row.about))


def _first_alarms(rows: Sequence[AuditRecord]) -> tuple[Message, ...]:
    """Return the sentences of the first alarms, and the number of the others."""
    sentences = []
    for row in rows[:MOST_SHOWN]:
        of_data = f"headline.data.{row.question}"
        if has(of_data):
            sentences.append(Message(of_data, about=row.about, what=row.text))
        else:
            sentences.append(Message("alarming.row", what=row.about, text=row.text))
    if len(rows) > MOST_SHOWN:
        sentences.append(Message("alarming.more", n=len(rows) - MOST_SHOWN))
    return tuple(sentences)


_OF_CHANGE = ("value", "reference_value", "difference", "test", "p_value", "paired", "reason")


def _record(
    reference: Reference, now: Present, model: str, quantity: Quantity, change: ModelChange, status: Status
) -> HistoryRecord:
    return HistoryRecord(
        reference=reference.name,
        run=reference.run.id,
        time=reference.run.time,
        model=model,
        **quantity.fields,
        **{name: getattr(change, name) for name in _OF_CHANGE},
        level=now.options.confidence,
        **limit_fields(change),
        interval_method=change.limits.method,
        text=change.how,
        n=now.results.n,
        reference_n=reference.results.n,
        status=status,
    )


@dataclass(frozen=True, slots=True)
class Audited:
    """One audited run that is not recorded yet.

    Attributes
    ----------
    predictions
        The analysed rows.
    standing
        The latest, accepted and last passed run of the series when the audit began.
    again
        The recorded run if the same run was audited before; None: it is new.
    content, summary
        The results as they will be recorded, made before any template runs.
    kept
        Whether it will be recorded: not without true values, or the same cases would not be new once these are known.
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
    kept: bool = True


def _known_task(before: Standing, content: ContentOf) -> KnownTask | None:
    """Return the task of the newest accepted run; None: there is none."""
    if not before.accepted:
        return None
    then = content(before.accepted[-1])
    if then.task in ("outcome", "scores", "clustering"):
        return None
    return KnownTask(cast(Task, then.task), tuple(then.classes), then.positive)


def scores_alone(predictions: Predictions, options: Options, past: Past) -> Results:
    """Compare a run without true values with the accepted run by its answers; nothing is said about quality."""
    plain = without_figures(predictions, options)
    results = replace(plain, found=predictions.found, warnings=predictions.warnings)
    now = Present(results, predictions, options)
    results = warned(replace(now, results=data_changed(now, past)), past)
    results = replace(results, gates=_gates_without_truth(results, options.gates))
    return replace(results, headline=headline_of_scores(results))


def _gates_without_truth(results: Results, gates: Sequence[str]) -> tuple[GateRecord, ...]:
    """Decide the gates on counts of rows and of changed data; the others need true values and are undecided."""
    decided: list[GateRecord] = []
    for text in gates:
        gate = parse_gate(text, models=results.models)
        if not gate.terms and gate.count in ("n", "drifts") and gate.reference is None:
            decided += decide_gates(results, [text], since=_undecided).gates
        else:
            decided.append(_undecided(gate))
    return tuple(decided)


def _undecided(gate: Gate) -> GateRecord:
    return gate_record(gate, "undecided", Message("gates.no_true_values"))


def audit(
    source: object,
    *,
    options: Options,
    history: History,
    series: str = "default",
    time: datetime | None = None,
    jobs: int = 1,
    memory_limit: int | None = None,
    progress: Callable[[str, float], None] | None = None,
    filled_in: Sequence[Assignment] = (),
) -> Audited:
    """Analyse a run as ``evaluate`` does, compare it with the series' past, and decide its gates.

    Nothing is written: ``record`` adds it to the history. Hold the lock of the series around both.

    Parameters
    ----------
    time
        When the predictions were made, with its time zone; None: now.
    filled_in
        Owners and due dates of findings; of the others those of the series' newest run are kept.

    Raises
    ------
    UsageError, InputError
        As ``evaluate``; a series without a name.
    HistoryError
        The history cannot be read.
    """
    check_series(series)
    before = standing(history, series)
    content = cache(partial(recorded_results, history))
    loaded = load(source, options=options, memory_limit=memory_limit, known=_known_task(before, content))
    options = directed(options, loaded.found)
    require_examples(loaded, say("needs_examples.audit"), say("needs_examples.run_on_counts"))
    predictions = analysed(loaded)
    identity = _identity(signature(predictions, options), plain_options(options))
    again = same_run(history, series, identity)
    # The history is read before the analysis, so that a database lost meanwhile loses the record, not the report.
    moment = datetime.fromisoformat(timestamp(time or datetime.now(UTC)) if again is None else again.time)
    past = past_of(history, series, before, again, time=moment, content=content, predictions=predictions)
    has_truth = predictions.y_true is not None or predictions.task in ("outcome", "scores", "sums")
    if has_truth:
        primary = _primary_of(past, predictions)
        results = evaluate(loaded, options=options, jobs=jobs, progress=progress, primary_of_series=primary)
        results = _compared(Present(results, predictions, options), past)
        earlier = () if before.latest is None else recorded_assignments(content(before.latest))
        results = replace(results, findings=assigned(results.findings, earlier, filled_in))
    else:
        results = scores_alone(predictions, options, past)
    # Secrets are removed before the page, the files and the history are made.
    results = cleared(results)
    summary = summary_of(results, past.new_examples) if has_truth else {}
    return Audited(
        results, to_json(results), summary, predictions, options, series, identity, before, past, again,
        kept=has_truth,
    )  # fmt: skip


def audited_again(recorded: Recorded, now: Present, history: History, series: str) -> Results:
    """Return a recorded audit's results, compared with the runs that the history held when the audit was made.

    Parameters
    ----------
    recorded
        The results of the audit.
    now
        The results of ``evaluate`` on the audit's predictions.

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
    # The runs that were accepted when the audit was made, not those that are accepted now.
    then = accepted_with(run) or (run.id,)
    moment = datetime.fromisoformat(run.time)
    before, content = replace(standing(history, series), accepted=then), partial(recorded_results, history)
    past = past_of(history, series, before, run, time=moment, content=content, predictions=now.predictions)
    return _compared(now, past)


def _compared(now: Present, past: Past) -> Results:
    """Answer every question about earlier runs, then decide the gates."""
    for question in QUESTIONS:
        now = replace(now, results=question(now, past))
    decided = decide_gates(now.results, now.options.gates, since=decider(now, past))
    since = changes_since(past.references.get("accepted"), decided)
    headed = with_headline(decided, first_of_series="accepted" not in past.references)
    return replace(headed, findings=carried(headed.findings, past), changes=since)


def _primary_of(past: Past, predictions: Predictions) -> str | None:
    """Return the primary metric of the accepted run, where that run was of the same task and classes."""
    accepted = past.references.get("accepted")
    if accepted is None or accepted.results.task != predictions.task:
        return None
    name = accepted.results.primary_metric
    try:
        parse(name or "", predictions.task, predictions.classes)
    except UsageError:
        return None
    return str(name)


def record(
    audited: Audited, *, history: History, time: datetime | None = None, exit_code: int
) -> tuple[Run, bool]:
    """Add an audited run to its series, once; return the recorded run and whether it was added.

    Parameters
    ----------
    time
        When the predictions were made, with its time zone; None: now.
    exit_code
        The exit code of the audit; the last run that exited 0 is ``last`` in gates.

    Raises
    ------
    HistoryError
        The database failed, or another run was recorded meanwhile; nothing was added.
    """
    if audited.again is not None:
        return audited.again, False
    numbers = {name: reference.run.id for name, reference in audited.past.references.items()}
    new = NewRun(
        series=audited.series,
        identity=audited.identity,
        signature=audited.results.signature,
        time=timestamp(time or datetime.now(UTC)),
        exit_code=exit_code,
        accepted_run=numbers.get("accepted"),
        last_run=numbers.get("last"),
        summary=audited.summary,
        results=audited.content,
        predictions=packed(audited.predictions, audited.options),
        rows=audited.predictions.n,
    )
    return append(history, new, after=audited.standing.latest)


def _identity(signature: str, options: Mapping[str, object]) -> str:
    """Return a digest of a run's signature (version, data, inputs) and its options.

    Gates are options, so the same predictions with another gate are another run.
    """
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


def summary_of(results: Results, new: NewExamples | None = None) -> JsonObject:
    """Return the facts of a run for lists and charts, so that these need not read its results."""
    sample = () if new is None else new.sample
    values = {}
    for row in results.metrics:
        if Quantity.of(row).spelled == results.shown_metric and row.slice is None:
            first = row.intervals[0] if row.intervals else None
            values[row.model] = [row.value, first.low if first else None, first.high if first else None]
    assert results.headline is not None
    return {
        "n": results.n,
        "task": results.task,
        "models": list(results.models),
        "primary_metric": results.shown_metric,
        "values": values,
        "evidence": to_keep(results.evidence) or ({"ids": list(sample)} if sample else {}),
        "headline": str(results.headline.text),
        "tone": results.headline.tone,
    }
