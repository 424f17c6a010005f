"""``evalreport audit``, ``comment``, ``compare-runs`` and ``verify``: a run beside earlier ones, a review, its inputs.

An audit is a scheduled run, compared with its history, judged by gates, and recorded.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evalreport.cli import (
    State,
    clean,
    progress_bar,
    say,
    say_warnings,
    tell,
    tell_json,
    writing,
)
from evalreport.cli.configuration import (
    Grouped,
    PathOrAddress,
    Settings,
    form_option,
    models_argument,
    run_options,
)
from evalreport.cli.run import (
    EXIT_GATE_FAILED,
    begin,
    check_names,
    check_output,
    exit_code,
    say_gates,
    say_read,
    source_of,
    write,
)
from evalreport.errors import HistoryError, InputError, OutputError, UsageError
from evalreport.files import content_of
from evalreport.options import STANDARD_OUTPUT, memory_bytes, run_time
from evalreport.texts import Message, Text, parts

if TYPE_CHECKING:
    from evalreport.audit.auditing import Audited
    from evalreport.history.connection import History
    from evalreport.verify.recompute import InputState, Leaf, Verification


WAIT = 600.0
ALARMING = frozenset({"worse_than_accepted", "slice_fell", "data_changed"})
EXIT_CODES = {"agrees": 0, "differs": 1, "cannot be had": 2}
SHOWN = 20


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
    from evalreport.history.connection import open_history
    from evalreport.history.store import locked

    check_series(series)
    history = open_history(url, create=True)
    with locked(history, series, wait=wait, say=say if loud else None):
        audited = _audit(models, settings, history, series)
        failure = write(audited.results, settings.output, context.obj)
        code = exit_code({gate.outcome for gate in audited.results.gates}, failure)
        _record(audited, history, run_time(settings.output.time), code, loud=loud, state=context.obj)
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
    from evalreport.reviews.comment import body_of, links_of, publish, review_of, with_part

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
    from evalreport.history.kept_files import read_recorded
    from evalreport.report.markdown import escaped
    from evalreport.reviews.comment import as_part
    from evalreport.verify.compare_runs import compare_runs

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


@click.command("compare-runs")
@click.argument("old", type=click.Path(path_type=Path), metavar="OLD")
@click.argument("new", type=click.Path(path_type=Path), metavar="NEW")
@click.option("--inputs", nargs=2, type=PathOrAddress(), metavar="OLD_DIR NEW_DIR",
              help="The prediction files of both runs: models are then compared pair by pair.")  # fmt: skip
@click.option("--fail-if-worse", is_flag=True,
              help="Exit 1 as well where a model is decidedly worse on the primary metric.")  # fmt: skip
@click.option("-f", "--format", "form", type=click.Choice(["text", "md", "json"]), default="text",
              show_default=True, help="How to write it; md is for a review.")  # fmt: skip
@click.option("-o", "--output", type=click.Path(path_type=Path), default=STANDARD_OUTPUT, metavar="FILE",
              help="Write it to a file (default: standard output).")  # fmt: skip
def compare_runs_command(
    old: Path,
    new: Path,
    inputs: tuple[Path | str, Path | str] | None,
    fail_if_worse: bool,
    form: str,
    output: Path,
) -> int:
    """Say what changed between two runs.

    Values, verdicts, gates, models, data and options, from OLD to NEW, the base branch and the pull request. Each is an
    output folder, a results.json or a report.pdf. Without --inputs there is only each value with its interval, and what
    that cannot settle is said.

    Exit codes: 0 no gate of NEW failed; 1 one failed (or a model got worse, with --fail-if-worse); 2 bad input;
    3 none failed, one is undecided.
    """
    from evalreport.history.kept_files import read_recorded
    from evalreport.reviews.comment import as_markdown, as_text
    from evalreport.verify.compare_runs import compare_runs

    found = compare_runs(read_recorded(old), read_recorded(new), inputs=inputs or None)
    if form == "json":
        text = json.dumps(asdict(found), sort_keys=True, indent=1, default=str) + "\n"
    elif form == "md":
        text = as_markdown(found)
    else:
        text = "".join(clean(line) + "\n" for line in as_text(found))
    with writing(output) as put:
        put(text)
    worse = any(value.judgement == "worse" and value.within is None for value in found.values)
    return EXIT_GATE_FAILED if fail_if_worse and worse else exit_code({gate.new for gate in found.gates})


@click.command("verify")
@click.argument("results", type=click.Path(path_type=Path), metavar="RESULTS")
@click.option("--inputs", "folder", type=PathOrAddress(), default=".", metavar="DIR",
              help="Where the prediction files are: a folder or an address (default: the current folder).")  # fmt: skip
@click.option("--history", "url", metavar="URL",
              help="The history that recorded the audit: needed for what it says about earlier runs.")  # fmt: skip
@click.option("--series", default="default", show_default=True, metavar="NAME", help="The audit's series.")
@form_option(help="How to print it.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing where all agrees.")
@click.option("-v", "--verbose", is_flag=True, help="Print every difference (default: the first 20).")
@click.pass_context
def verify_command(
    context: click.Context,
    /,
    results: Path,
    folder: Path | str,
    url: str | None,
    series: str,
    form: str,
    quiet: bool,
    verbose: bool,
) -> int:
    """Recompute a report's figures from its inputs.

    RESULTS is a results.json, an output folder, or a report.pdf with its attachment. Every figure is computed again
    with the recorded options: metrics, tests, verdicts, gates, slices and curves; an audit's comparisons with
    earlier runs as well, where --history is given.

    Exit codes: 0 all agrees; 1 a figure differs or an input has changed; 2 an input is missing.
    """
    context.obj["verbose"] = verbose
    from evalreport.history.connection import open_history
    from evalreport.history.kept_files import read_recorded
    from evalreport.verify.recompute import verify

    recorded = read_recorded(results)
    history = None if url is None else open_history(url)
    with progress_bar("recomputing", shown=not quiet) as progress:
        found = verify(recorded, folder, history=history, series=series, progress=progress)
    if form == "json":
        tell_json(_plain(found))
    elif not quiet or found.outcome != "agrees":
        for line in _lines(found, None if verbose else SHOWN):
            tell(line)
    return EXIT_CODES[found.outcome]


def _plain(found: Verification) -> dict[str, object]:
    """Return what came of it as it is printed for programs."""
    versions = {name: {"recorded": old, "here": new} for name, (old, new) in found.versions.items()}
    return {**asdict(found), "versions": versions, "outcome": found.outcome}


def _lines(found: Verification, most: int | None) -> list[Text]:
    lines: list[Text] = [f"{found.name}: {_versions(found)}", *(_input(state) for state in found.inputs)]
    agreeing = found.exact + found.rounded
    if agreeing or found.differences:
        facts = {"figures": agreeing, "words": found.words}
        lines.append(
            Message("verify.agree_but_for_rounding", **facts, rounded=found.rounded)
            if found.rounded
            else Message("verify.agree", **facts)
        )
        lines.append(f"differ: {len(found.differences):,}")
    lines += [f"  {_difference(leaf)}" for leaf in found.differences[:most]]
    if most is not None and len(found.differences) > most:
        lines.append(Message("verify.more", n=len(found.differences) - most))
    if found.worded:
        lines.append(Message("verify.worded", n=len(found.worded)))
    lines += [Message("verify.not_recomputed", what=what) for what in found.unchecked]
    lines += [Message("verify.counted_again")] if found.counted else []
    return [*lines, _summary(found)]


def _versions(found: Verification) -> Message:
    other = [
        f"{name} {old or 'none'} (here {new or 'none'})"
        for name, (old, new) in found.versions.items()
        if old != new
    ]
    if not other:
        return Message("verify.same_versions")
    return Message("verify.other_versions", versions=other)


def _input(state: InputState) -> str:
    if state.state == "missing":
        return f"input {state.path}: missing: {state.why}"
    if state.state == "changed":
        return f"input {state.path}: changed: recorded SHA-256 {state.recorded}, found {state.found}"
    return f"input {state.path}: unchanged"


def _difference(leaf: Leaf) -> str:
    if leaf.kind == "one side":
        return f"{leaf.where}: {Message('verify.lost' if leaf.found is None else 'verify.new')}"
    return f"{leaf.where}: recorded {_shown(leaf.said)}, recomputed {_shown(leaf.found)}"


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else text[:197] + "..."


def _summary(found: Verification) -> Message:
    changed = sum(state.state == "changed" for state in found.inputs)
    missing = sum(state.state == "missing" for state in found.inputs)
    if missing or not found.inputs:
        return Message("verify.cannot")
    if changed:
        return Message("verify.changed", n=changed)
    if found.differences:
        return Message("verify.differs")
    if found.unchecked:
        return Message("verify.agrees_in_part")
    return Message("verify.agrees")
