"""The commands ``evalreport history``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evalreport.cli import clean, say, tell, writable, writing
from evalreport.errors import HistoryError, UsageError
from evalreport.extensions import load
from evalreport.options import STANDARD_OUTPUT, parse_time
from evalreport.texts import Message

if TYPE_CHECKING:
    from evalreport.history.connection import History
    from evalreport.history.store import Run
    from evalreport.schema.inputs import JsonObject

url_option = click.option("--history", "url", required=True, metavar="URL",
                          help="sqlite:///audits.db, or postgresql://USER@HOST/DATABASE.")  # fmt: skip

series_option = partial(click.option, "--series", metavar="NAME")
"""The option --series; its help says what it means for a command."""


@click.group("history")
def history_command() -> None:
    """List, compare, accept and prune recorded runs.

    `evalreport audit` adds to it.
    """


@history_command.command("list")
@url_option
@series_option(help="Only the runs of this series (default: all).")
def list_runs(url: str, series: str | None) -> int:
    """List the runs, the oldest first.

    The columns: number, time, series, exit code, whether it is the accepted or the last passed run, examples, and the
    models' primary metric with its interval.
    """
    from evalreport.history.store import runs

    history, damaged = _open(url), list[str]()
    listed = runs(history, series, damaged=damaged)
    marks = _marks(history, listed, damaged)
    heads = ("run", "time", "series", "exit", "", "n", "primary metric", "headline")
    rows = [
        (str(run.id), run.time, run.series, str(run.exit_code), _marked(marks[run.id]),
         str(run.summary["n"]), _values(run), run.summary["headline"])
        for run in listed
    ]  # fmt: skip
    _print_table(heads, rows)
    return _ended(damaged)


@history_command.command("show")
@click.argument("run_id", type=int, metavar="ID")
@url_option
def show_run(run_id: int, url: str) -> int:
    """Show one run: its inputs, gates, changes and warnings."""
    from evalreport.history.store import acceptances, recorded_results, run_with
    from evalreport.schema.results import to_dict

    history = _open(url)
    run = run_with(history, run_id)
    results = to_dict(recorded_results(history, run_id))
    lines = [f"{name}: {value}" for name, value in _facts(run).items() if value is not None]
    lines += [f"models: {', '.join(results['models'])}", f"{run.summary['primary_metric']}: {_values(run)}"]
    lines += [f"input: {row['path']} ({row['rows']} rows, {row['sha256']})" for row in results["inputs"]]
    lines += [f"gate: {row['outcome']}: {row['gate']}: {row['text']}" for row in results["gates"]]
    lines += [_change(row) for row in results["history"]]
    lines += [f"{row['level']}: {row['text']} [{row['code']}]" for row in results["warnings"]]
    lines += [
        f"accepted: {pin.time}{f' ({pin.note})' if pin.note else ''}"
        for pin in acceptances(history, run.series)
        if pin.run_id == run.id
    ]
    for line in lines:
        tell(line)
    return 0


@history_command.command("diff")
@click.argument("before", type=int, metavar="ID")
@click.argument("after", type=int, metavar="ID")
@url_option
@click.option("-v", "--verbose", is_flag=True, help="Print every difference (default: half a screen).")
@click.pass_context
def diff_runs(context: click.Context, /, before: int, after: int, url: str, verbose: bool) -> int:
    """Say what differs between two runs.

    Gates, values, data, options, inputs, versions and warnings. Values are compared as numbers; whether a model
    changed is what gates and comparisons decide.
    """
    context.obj["verbose"] = verbose
    from evalreport.history.changes import changes
    from evalreport.history.comparison_text import HALF_A_SCREEN
    from evalreport.history.store import recorded_results
    from evalreport.schema.results import to_dict

    history = _open(url)
    differences = changes(*(to_dict(recorded_results(history, run_id)) for run_id in (before, after)))
    rows = [(c.kind, c.what, _shown(c.before), _shown(c.after)) for c in differences]
    rows.sort(key=lambda row: ("gate", "value").index(row[0]) if row[0] in ("gate", "value") else 2)
    left = 0 if verbose else max(len(rows) - HALF_A_SCREEN + 1, 0)
    left = left if left > 1 else 0
    _print_table(("kind", "what", f"run {before}", f"run {after}"), rows[: len(rows) - left])
    if left:
        tell(Message("changes.more_lines", n=left))
    return 0


@history_command.command("accept")
@click.argument("run_ids", type=int, nargs=-1, required=True, metavar="ID...")
@url_option
@click.option("--note", metavar="TEXT", help="Why, for those who read the history later.")
def accept_run(run_ids: tuple[int, ...], url: str, note: str | None) -> int:
    """Pin runs as the accepted ones of their series.

    Name at least three good runs together: the alarm compares later runs with all of them. `accepted` in a gate is the
    newest of them from now on. Earlier acceptances stay in the history.
    """
    from evalreport.history.store import accept, timestamp

    history = _open(url)
    runs = accept(history, *run_ids, time=timestamp(datetime.now(UTC)), note=note or "")
    newest = runs[-1]
    facts = {"run": newest.id, "time": newest.time, "series": newest.series}
    others = [str(run.id) for run in runs[:-1]]
    key = "cli.history.accepted_together" if others else "cli.history.accepted"
    tell(Message(key, **facts, others=others))
    return 0


@history_command.command("export")
@url_option
@series_option(help="Only the runs of this series (default: all).")
@click.option("-o", "--output", type=click.Path(path_type=Path), default=STANDARD_OUTPUT, metavar="PATH",
              help="A file for JSON lines (default: standard output), or with --folder the folder.")  # fmt: skip
@click.option("--folder", is_flag=True, help="Write run-ID/results.json and run-ID/run.json into the folder.")
def export_runs(url: str, series: str | None, output: Path, folder: bool) -> int:
    """Write every run with its whole results.

    One JSON object a line; or with --folder a folder a run.
    """
    from evalreport.files import write_whole
    from evalreport.history.store import noted, results_of, runs
    from evalreport.schema.recorded import parsed

    history, damaged = _open(url), list[str]()
    if folder and output == STANDARD_OUTPUT:
        raise UsageError("--folder needs -o DIR, the folder to write into")
    listed = runs(history, series, damaged=damaged)
    marks = _marks(history, listed, damaged)

    def whole() -> Iterator[tuple[Run, dict[str, object], bytes, JsonObject]]:
        """Yield each run that can be read, with its results."""
        for run in listed:
            with noted(damaged):
                content = results_of(history, run.id)
                yield run, {**_facts(run), **marks[run.id]}, content, parsed(content, f"run {run.id}")

    if folder:
        with writable(output):
            for run, facts, content, _ in whole():
                place = output / f"run-{run.id}"
                write_whole(place / "results.json", content)
                write_whole(place / "run.json", (json.dumps(facts, indent=1) + "\n").encode())
        tell(f"{output}: {len(listed)} runs")
        return _ended(damaged)
    with writing(output) as write:
        for _, facts, _, results in whole():
            write(json.dumps({**facts, "results": results}, sort_keys=True) + "\n")
    return _ended(damaged)


@history_command.command("prune")
@url_option
@series_option(help="The series to prune.")
@click.option("--keep", type=click.IntRange(min=1), metavar="N", help="Keep the N newest runs.")
@click.option("--older-than", metavar="DAYS|ISO8601",
              help="Remove what is older than so many days, or than a time.")  # fmt: skip
@click.option("--predictions-only", is_flag=True, help="Remove the predictions and keep the runs' results.")
def prune_runs(
    url: str, series: str | None, keep: int | None, older_than: str | None, predictions_only: bool
) -> int:
    """Remove old runs, or only their predictions.

    The accepted runs, the last that exited 0 and the last of all stay whole: the next run is compared with them. With
    both --keep and --older-than a run goes if both say so.
    """
    from evalreport.history.store import compact, prune, runs

    if keep is None and older_than is None:
        raise UsageError("history prune: say what to remove with --keep N or --older-than DAYS")
    before = None if older_than is None else _limit(older_than)
    history = _open(url)
    removed = 0
    for name in sorted({run.series for run in runs(history, series)}):
        own = runs(history, name)
        newest = {run.id for run in own[-keep:]} if keep is not None else set()
        chosen = [r.id for r in own if r.id not in newest and (before is None or r.time < before)]
        removed += len(prune(history, name, chosen, predictions_only=predictions_only))
    if removed:
        try:
            compact(history)
        except HistoryError as error:
            say(Message("cli.history.not_compacted", why=str(error)), level="warning")
    what = "cli.history.predictions_removed" if predictions_only else "cli.history.runs_removed"
    tell(Message(what, n=removed))
    return 0


@history_command.command("site")
@click.argument("output", type=click.Path(path_type=Path), metavar="OUT")
@url_option
@series_option(help="Only this series (default: all).")
@click.option("--reports", type=click.Path(path_type=Path, file_okay=False, exists=True), metavar="DIR",
              help="Folder with the audits' output folders, to link their reports.")  # fmt: skip
@click.option("--templates", type=click.Path(path_type=Path), metavar="DIR",
              help="Folder searched before the built-in templates.")  # fmt: skip
def site(url: str, output: Path, series: str | None, reports: Path | None, templates: Path | None) -> int:
    """Write a page of all audits into the folder OUT.

    It is static and works offline: for every model a control chart of its primary metric, with marks where gates failed
    or data changed, and a table of the audits with links.
    """
    written = load("page of audits")(_open(url), output, series=series, reports=reports, templates=templates)
    audits = f"{written.audits} audit{'' if written.audits == 1 else 's'}"
    tell(f"{written.page}: {audits}, {written.reports} linked to their report")
    return _ended(written.damaged)


def _open(url: str) -> History:
    from evalreport.history.connection import open_history

    return open_history(url)


def _limit(text: str) -> str:
    from evalreport.history.store import timestamp

    if text.isdecimal():
        try:
            return timestamp(datetime.now(UTC) - timedelta(days=int(text)))
        except OverflowError:
            raise UsageError(f"--older-than {text}: that is before any calendar") from None
    try:
        return timestamp(parse_time(text))
    except UsageError:
        raise UsageError(
            f"--older-than {text!r}: expected a number of days, or a time such as 2025-03-01"
        ) from None


def _ended(damaged: Sequence[str]) -> int:
    """Name what could not be read of a history; return the exit code of a command that shows the rest."""
    for text in dict.fromkeys(damaged):
        say(f"evalreport: {text}", level="error")
    return HistoryError.exit_code if damaged else 0


def _marks(history: History, found: Iterable[Run], damaged: list[str]) -> dict[int, dict[str, bool]]:
    """Return for each run whether it is an accepted run of its series, and the last that exited 0."""
    from evalreport.history.store import Standing, noted, standing

    runs = list(found)
    by_series = dict.fromkeys({run.series for run in runs}, Standing(None, (), None))
    for name in by_series:
        with noted(damaged):
            by_series[name] = standing(history, name)
    stands = ((run.id, by_series[run.series]) for run in runs)
    return {run: {"accepted": run in stand.accepted, "last": stand.last == run} for run, stand in stands}


def _marked(marks: dict[str, bool]) -> str:
    return " ".join(name for name, holds in marks.items() if holds)


def _facts(run: Run) -> dict[str, object]:
    names = ("series", "time", "exit_code", "signature", "identity", "accepted_run", "last_run")
    return {"run": run.id, **{name: getattr(run, name) for name in names}}


def _values(run: Run) -> str:
    from evalreport import numbers

    parts = []
    for model, (value, low, high) in run.summary["values"].items():
        shown = "undefined" if value is None else numbers.number(value, 4)
        limits = "" if low is None or high is None else f" {numbers.interval(low, high, 4)}"
        parts.append(f"{model} {shown}{limits}")
    return ", ".join(parts)


def _change(row: JsonObject) -> str:
    from evalreport import numbers

    words = f"since {row['reference']} run {row['run']}: {row['model']}.{row['metric']}"
    if row["difference"] is None:
        return f"{words}: {row['reason']}"
    limits = "" if row["low"] is None else f" {numbers.interval(row['low'], row['high'], 4)}"
    return f"{words}: {numbers.number(row['difference'], 4)}{limits} {row['text']}"


def _shown(value: str | float | None) -> str:
    return "-" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def _print_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print aligned columns on a terminal, else tab-separated cells."""
    import sys

    cells = [[clean(cell) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        for row in cells:
            click.echo("\t".join(row))
        return
    widths = [max(len(row[k]) for row in [list(heads), *cells]) for k in range(len(heads) - 1)]
    for row in [list(heads), *cells]:
        start = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False))
        click.echo(f"{start}  {row[-1]}".rstrip())
