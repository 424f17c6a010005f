"""The commands ``evalreport audit`` and ``evalreport history``."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evalreport.cli import State, progress_bar, say, say_warnings
from evalreport.cli.configuration import Grouped, Settings, models_argument, run_options
from evalreport.cli.run import (
    begin,
    check_names,
    check_output,
    exit_code,
    say_gates,
    say_read,
    source_of,
    write,
)
from evalreport.errors import HistoryError, UsageError
from evalreport.options import memory_bytes, run_time
from evalreport.texts import Message, coded, joined, parts
from evalreport.texts.units import speaking_of

if TYPE_CHECKING:
    from evalreport.audit.auditing import Audited
    from evalreport.audit.findings import Assignment
    from evalreport.history.connection import History
    from evalreport.schema.audit import AuditRecord

WAIT = 600.0


@click.command("audit", cls=Grouped)
@models_argument
@click.option("--history", "url", required=True, metavar="URL",
              help="The history: sqlite:///audits.db, or postgresql://USER@HOST/DATABASE.")  # fmt: skip
@click.option("--series", default="default", show_default=True, metavar="NAME",
              help="Keeps suites that share a history apart: runs are compared within a series.")  # fmt: skip
@click.option("--wait", type=click.FloatRange(min=0), default=WAIT, show_default=True, metavar="SECONDS",
              help="How long to wait for another audit of the series; 0: exit at once.")  # fmt: skip
@click.option("--findings", type=click.Path(path_type=Path, dir_okay=False, exists=True), metavar="FILE",
              help="CSV with owner and due date of findings (docs/audits.md); later runs keep them.")  # fmt: skip
@run_options
@click.pass_context
def audit_command(
    context: click.Context,
    /,
    models: tuple[Path | str, ...],
    config: Path | None,
    url: str,
    series: str,
    wait: float,
    findings: Path | None,
    **flags: object,
) -> int:
    """Run on a schedule: compare with the history and record.

    MODELS and the options are those of `evalreport run`. Gates may name earlier runs of the series:
    'forest.accuracy >= accepted - 0.02' (the run that `evalreport history accept` pinned; at first the first one)
    or 'forest.accuracy >= last - 0.02' (the last that exited 0). The same predictions under the same options are
    recorded once. Exit codes are those of `evalreport run`.
    """
    settings = begin(context, models, flags, config)
    if settings.options.criteria is not None:
        raise UsageError(
            "criteria are declared for one comparison: an audit has its options in evalreport.toml; leave"
            " --criteria out"
        )
    if settings.options.looks is not None:
        raise UsageError(
            "looks are about one comparison: an audit counts its own looks (docs/audits.md), and every earlier run of"
            " the series has spent its full level; leave --looks out, or compare once with `evalreport run`"
        )
    context.obj["interrupted"] = Message("cli.audit.nothing")
    check_output(settings.output)
    loud = not settings.output.quiet
    from evalreport.audit.auditing import check_series
    from evalreport.audit.findings import read_assignments
    from evalreport.history.connection import open_history
    from evalreport.history.store import locked

    check_series(series)
    filled_in = () if findings is None else read_assignments(findings)
    history = open_history(url, create=True)
    time = run_time(settings.output.time)
    with locked(history, series, wait=wait, say=say if loud else None):
        audited = _audit(models, settings, history, series, time, filled_in)
        with speaking_of(audited.results.unit):
            failure = write(audited.results, settings.output, context.obj)
        code = exit_code({gate.outcome for gate in audited.results.gates}, failure)
        if audited.kept:
            _record(audited, history, time, code, loud=loud, state=context.obj)
        elif loud:
            say(Message("cli.audit.not_kept"))
    with speaking_of(audited.results.unit):
        say_gates(audited.results.gates, settings.output)
    return code


def _audit(
    models: tuple[Path | str, ...],
    settings: Settings,
    history: History,
    series: str,
    time: datetime,
    filled_in: tuple[Assignment, ...],
) -> Audited:
    """Analyse the run, compare it with the history, and print alarms and changes."""
    from evalreport.audit.auditing import audit
    from evalreport.audit.findings import without_a_finding
    from evalreport.schema.audit import ALARMS

    check_names(settings.options)
    quiet = settings.output.quiet
    with progress_bar("reading and checking", shown=not quiet, shorter=True) as progress:
        source, limit = source_of(models, settings), memory_bytes(settings.output.memory_limit)
        of_series = partial(audit, history=history, series=series, time=time, filled_in=filled_in)
        of_run = partial(of_series, options=settings.options, jobs=settings.output.jobs, memory_limit=limit)
        audited = of_run(source, progress=progress)
    warnings = audited.results.warnings
    if not quiet:
        say_read(audited.results, settings.output)
        with speaking_of(audited.results.unit):
            rows = audited.results.audit
            _say_without_alarm([row for row in rows if row.question == "worse" and not row.alarm])
        for left in without_a_finding(filled_in, audited.results.findings):
            say(Message("cli.audit.no_such_finding", what=": ".join(filter(None, (left.code, left.about)))))
    elif all(gate.outcome == "pass" for gate in audited.results.gates):
        # --quiet hides success but no alarm; gates that did not pass are printed anyway.
        say_warnings([w for w in warnings if w.code in ALARMS], verbose=False)
    return audited


def _say_without_alarm(rows: Sequence[AuditRecord]) -> None:
    """Print a line a model without an alarm, one for all new models, and what an alarm promises.

    An alarm is among the warnings. Of promises that differ in the spread between runs the one that asks most is
    printed: where it is kept, all are.
    """
    fresh = [row.about for row in rows if coded(row.reason or "")[0] == "since.no_model"]
    for row in rows:
        if row.about not in fresh:
            say(f"{row.about}: {joined(row.text)[0]}")
    if fresh:
        say(Message("audit.new_models", models=fresh, n=len(fresh)))
    parts_of = [part for row in rows for part in joined(row.text)[1:] if isinstance(part, Message)]
    for code in dict.fromkeys(part.code for part in parts_of if part.code.startswith("alarm.promise")):
        alike = [part for part in parts_of if part.code == code]
        least = min(alike, key=lambda part: float(str(part.params.get("between", 0))))
        say(Message("site.promise", promise=least))


def _record(
    audited: Audited, history: History, time: datetime | None, code: int, *, loud: bool, state: State
) -> None:
    """Record the run, and print its number.

    Raises
    ------
    HistoryError
        The run could not be recorded; the message names the written report.
    """
    from evalreport.audit.auditing import record

    written = [Message("cli.report_written", path=str(state["written"]))] if state["written"] else []
    state["interrupted"] = parts(*written, Message("cli.audit.perhaps_recorded"))
    try:
        run, added = record(audited, history=history, time=time, exit_code=code)
        state["interrupted"] = parts(*written, Message("cli.audit.is_recorded"))
    except HistoryError as error:
        report = f" (the report was written: {state['written']})" if state["written"] else ""
        raise HistoryError(f"this run is not in the history{report}: {error}") from error
    if loud and added:
        say(Message("cli.audit.recorded", run=run.id, series=run.series, history=history.name))
    elif loud:
        say(Message("cli.audit.known", run=run.id, time=run.time))
