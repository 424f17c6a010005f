"""``evalreport audit``: a scheduled run, compared with its history, judged by gates, and recorded."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalreport.cli.configuration import Settings, settle
from evalreport.cli.messages import say, say_found, say_warnings
from evalreport.cli.options import given, models_argument, run_options
from evalreport.cli.progress import progress_bar
from evalreport.cli.run import check_names, check_output, exit_code, say_gates, write
from evalreport.config import memory_bytes
from evalreport.errors import HistoryError, UsageError
from evalreport.texts import Message, parts

if TYPE_CHECKING:
    from evalreport.audit.auditing import Audited
    from evalreport.audit.connection import History

WAIT = 600.0
ALARMING = frozenset({"worse_than_accepted", "slice_fell", "data_changed"})


@click.command("audit")
@models_argument
@click.option("--history", "url", required=True, metavar="URL",
              help="The history: sqlite:///audits.db, or postgresql://USER@HOST/DATABASE.")  # fmt: skip
@click.option("--series", default="default", show_default=True, metavar="NAME",
              help="Keeps suites that share a history apart: runs are compared within a series.")  # fmt: skip
@click.option("--time", metavar="ISO8601",
              help="When the predictions were made, such as 2025-03-01T02:00:00+01:00 (default: now; UTC unless it says"
              " otherwise).")  # fmt: skip
@click.option("--wait", type=click.FloatRange(min=0), default=WAIT, show_default=True, metavar="SECONDS",
              help="How long to wait for another audit of the series; 0: leave at once.")  # fmt: skip
@run_options
@click.pass_context
def audit_command(
    context: click.Context,
    /,
    models: tuple[Path, ...],
    config: Path | None,
    url: str,
    series: str,
    time: str | None,
    wait: float,
    **flags: Any,
) -> int:
    """Run on a schedule: compare with the history and record.

    MODELS and the options are those of `evalreport run`. Gates may name earlier runs of the series:
    'forest.accuracy >= accepted - 0.02' (the run that `evalreport history accept` pinned; at first the first one)
    or 'forest.accuracy >= last - 0.02' (the last that exited 0). The same predictions under the same options are
    recorded once. Exit codes are those of `evalreport run`.
    """
    when = None if time is None else parse_time(time)
    settings = settle(models, given(flags), config=config)
    context.obj |= {
        "verbose": settings.output.verbose,
        "interrupted": Message("cli.audit.nothing"),
    }
    check_output(settings.output)
    loud = not settings.output.quiet
    if settings.config is not None and loud:
        say(f"configuration: {settings.config}")
    from evalreport.audit.auditing import check_series
    from evalreport.audit.connection import open_history
    from evalreport.audit.lock import locked

    check_series(series)
    history = open_history(url, create=True)
    with locked(history, series, wait=wait, say=say if loud else None):
        audited = _audit(models, settings, history, series)
        failure = write(audited.results, settings.output, context.obj)
        code = exit_code(audited.results.gates, failure)
        _record(audited, history, when, code, loud=loud, state=context.obj)
    say_gates(audited.results.gates, settings.output)
    return code


def parse_time(text: str) -> datetime:
    """Read a time; without a zone it is UTC.

    Raises
    ------
    UsageError
        No time in ISO 8601.

    Examples
    --------
    >>> parse_time("2025-03-01").isoformat()
    '2025-03-01T00:00:00+00:00'
    """
    try:
        time = datetime.fromisoformat(text)
        return (time if time.tzinfo is not None else time.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise UsageError(f"--time {text!r}: expected ISO 8601, such as 2025-03-01T02:00:00+01:00") from None


def _audit(models: tuple[Path, ...], settings: Settings, history: History, series: str) -> Audited:
    """Run the analysis and what the history adds, and say what was found."""
    from evalreport.audit.auditing import audit

    check_names(settings.options)
    source = models[0] if len(models) == 1 else list(models)
    quiet = settings.output.quiet
    with progress_bar("reading and checking", shown=not quiet) as progress:
        audited = audit(
            source,
            options=settings.options,
            history=history,
            series=series,
            jobs=settings.output.jobs,
            memory_limit=memory_bytes(settings.output.memory_limit),
            progress=progress,
        )
    warnings = audited.results.warnings
    if not quiet:
        say_found(audited.results.found)
        for row in audited.results.audit:
            if row.question == "worse" and not row.alarm:  # an alarm is among the warnings
                say(f"{row.about}: {row.text}")
        say_warnings(warnings, verbose=settings.output.verbose)
    elif all(gate.outcome == "pass" for gate in audited.results.gates):
        # Quiet success, not quiet alarm; where a gate did not pass, that is said.
        say_warnings([w for w in warnings if w.code in ALARMING], verbose=False)
    return audited


def _record(
    audited: Audited,
    history: History,
    time: datetime | None,
    code: int,
    *,
    loud: bool,
    state: dict[str, Any],
) -> None:
    """Record the run, and say so.

    Raises
    ------
    HistoryError
        It could not be recorded; the message says what was written.
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
