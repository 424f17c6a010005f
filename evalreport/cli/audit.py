"""``evalreport audit``: a scheduled run, compared with its history, judged by gates, and recorded."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evalreport.cli.configuration import Grouped, Settings, models_argument, run_options
from evalreport.cli.messages import State, progress_bar, say, say_warnings, tell
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
from evalreport.config import memory_bytes, parse_time
from evalreport.errors import HistoryError, InputError, OutputError, UsageError
from evalreport.files import content_of
from evalreport.texts import Message, parts

if TYPE_CHECKING:
    from evalreport.audit.auditing import Audited
    from evalreport.audit.connection import History


WAIT = 600.0
ALARMING = frozenset({"worse_than_accepted", "slice_fell", "data_changed"})


@click.command("audit", cls=Grouped)
@models_argument
@click.option("--history", "url", required=True, metavar="URL",
              help="The history: sqlite:///audits.db, or postgresql://USER@HOST/DATABASE.")  # fmt: skip
@click.option("--series", default="default", show_default=True, metavar="NAME",
              help="Keeps suites that share a history apart: runs are compared within a series.")  # fmt: skip
@click.option("--wait", type=click.FloatRange(min=0), default=WAIT, show_default=True, metavar="SECONDS",
              help="How long to wait for another audit of the series; 0: exit at once.")  # fmt: skip
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
    **flags: object,
) -> int:
    """Run on a schedule: compare with the history and record.

    MODELS and the options are those of `evalreport run`. Gates may name earlier runs of the series:
    'forest.accuracy >= accepted - 0.02' (the run that `evalreport history accept` pinned; at first the first one)
    or 'forest.accuracy >= last - 0.02' (the last that exited 0). The same predictions under the same options are
    recorded once. Exit codes are those of `evalreport run`.
    """
    settings = begin(context, models, flags, config)
    context.obj["interrupted"] = Message("cli.audit.nothing")
    check_output(settings.output)
    loud = not settings.output.quiet
    from evalreport.audit.auditing import check_series
    from evalreport.audit.connection import open_history
    from evalreport.audit.store import locked

    check_series(series)
    history = open_history(url, create=True)
    with locked(history, series, wait=wait, say=say if loud else None):
        audited = _audit(models, settings, history, series)
        failure = write(audited.results, settings.output, context.obj)
        code = exit_code(audited.results.gates, failure)
        when = None if settings.output.time is None else parse_time(settings.output.time)
        _record(audited, history, when, code, loud=loud, state=context.obj)
    say_gates(audited.results.gates, settings.output)
    return code


def _audit(models: tuple[Path | str, ...], settings: Settings, history: History, series: str) -> Audited:
    """Run the analysis and what the history adds, and say what was found."""
    from evalreport.audit.auditing import audit

    check_names(settings.options)
    quiet = settings.output.quiet
    with progress_bar("reading and checking", shown=not quiet) as progress:
        audited = audit(
            source_of(models, settings),
            options=settings.options,
            history=history,
            series=series,
            jobs=settings.output.jobs,
            memory_limit=memory_bytes(settings.output.memory_limit),
            progress=progress,
        )
    warnings = audited.results.warnings
    if not quiet:
        say_read(audited.results, settings.output)
        for row in audited.results.audit:
            if row.question == "worse" and not row.alarm:  # an alarm is among the warnings
                say(f"{row.about}: {row.text}")
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
    state: State,
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


SUMMARY = "summary.md"
NOT_MADE = "**evalreport made no report**\n\n"


@click.command("comment")
@click.argument("folder", type=click.Path(path_type=Path), default=Path("evalreport-out"), metavar="[OUTPUT]")
@click.option("--key", metavar="TEXT",
              help="Tells this comment from others of evalreport on the same review, such as a job's name (default:"
              " the report's title and primary metric).")  # fmt: skip
@click.option("--number", type=click.IntRange(min=1), metavar="N",
              help="Of the pull or merge request (default: that of the pipeline's event).")  # fmt: skip
@click.option("--failed", metavar="TEXT",
              help="No report was made: comment with this reason instead of the summary. Needs --key.")  # fmt: skip
@click.option("--base", type=click.Path(path_type=Path), metavar="RESULTS",
              help="The base branch's results.json or output folder: the comment says what changed since.")  # fmt: skip
@click.option("--inputs", nargs=2, type=click.Path(path_type=Path), metavar="BASE_DIR NEW_DIR",
              help="With --base, the prediction files of both: models are then compared pair by pair.")  # fmt: skip
@click.option("--link", "links", multiple=True, metavar="WORDS=ADDRESS",
              help="Repeatable: a link below the summary.")  # fmt: skip
def comment_command(
    folder: Path,
    key: str | None,
    number: int | None,
    failed: str | None,
    base: Path | None,
    inputs: tuple[Path, Path] | None,
    links: tuple[str, ...],
) -> int:
    """Write the summary as one comment on a review.

    The text is summary.md of the folder OUTPUT, for the pull request or merge request of this pipeline. It is found
    again by a hidden marker, so there is one however often it runs. GitHub: GITHUB_REPOSITORY, GITHUB_TOKEN and the
    event's file; GitLab: CI_API_V4_URL, CI_PROJECT_ID, CI_MERGE_REQUEST_IID and GITLAB_TOKEN. Outside of a review
    nothing is done. Exit code 4: no comment could be written; the message says why.
    """
    from evalreport.audit.reviews import body_of, links_of, publish, review_of, with_part

    if failed is not None and key is None:
        raise UsageError("--failed needs --key: without a summary nothing says which comment it is about")
    extra = [(words, address) for words, _, address in (link.partition("=") for link in links)]
    summary = f"{NOT_MADE}{_quoted(failed)}\n" if failed is not None else _read(folder / SUMMARY)
    if base is not None and failed is None:
        summary = with_part(summary, _since_base(base, folder, inputs or None))
    try:
        review = review_of(os.environ, number=number)
    except UsageError as error:
        # Not the command's words: what the pipeline says of itself.
        raise OutputError(f"the comment could not be written: {error}") from None
    if review is None:
        tell(Message("cli.no_comment"))
        return 0
    body = body_of(summary, host=review.host, key=key, links=links_of(os.environ, extra))
    published = publish(review, body)
    click.echo(f"comment {published.id} {published.done}")
    return 0


def _since_base(base: Path, folder: Path, inputs: tuple[Path, Path] | None) -> str:
    """Say what changed since the base branch, or why that cannot be said: the rest of the comment stands either way."""
    from evalreport.audit.compare_runs import compare_runs
    from evalreport.audit.kept_files import read_recorded
    from evalreport.audit.reviews import as_part
    from evalreport.report.markdown import escaped

    try:
        return as_part(compare_runs(read_recorded(base), read_recorded(folder), inputs=inputs))
    except (InputError, UsageError) as error:
        reason = Message("changes.no_base", reason=str(error))
        tell(reason)
        return f"### {Message('changes.since_base')}\n\n{escaped(str(reason))}\n"


def _read(path: Path) -> str:
    from evalreport.files import recover

    recover(path.parent)
    try:
        return content_of(path).decode()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise UsageError(
            f"{path}: {reason}; name the folder of a report that was made with -f md among others"
        ) from None


def _quoted(text: str) -> str:
    """Return a text from outside as a block of code that it cannot end."""
    return "\n".join(f"    {line}" for line in text.splitlines()[-30:])
