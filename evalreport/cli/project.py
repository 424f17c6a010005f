"""``evalreport init`` and ``evalreport templates``: files that a project starts from."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from evalreport.cli.configuration import CONFIG_NAME
from evalreport.cli.messages import tell
from evalreport.config import KEYS
from evalreport.errors import UsageError
from evalreport.texts import say


@click.group("list")
def list_command() -> None:
    """List metrics, tests, intervals, curves."""


@list_command.command("metrics")
def list_metrics() -> None:
    """List the metrics.

    Prints name, label, tasks, the recommended interval and the definition in a sentence.
    """
    from evalreport.metrics import METRICS

    rows = [
        (m.name, m.label, " ".join(m.tasks), m.intervals[0] if m.intervals else "-", m.summary)
        for m in METRICS.values()
    ]
    _print_rows(rows)


@list_command.command("intervals")
def list_intervals() -> None:
    """List the methods of confidence intervals."""
    from evalreport.intervals import INTERVALS

    rows = [(entry.name, entry.label, entry.summary) for entry in INTERVALS.values()]
    _print_rows(rows)


@list_command.command("tests")
def list_tests() -> None:
    """List the tests of differences."""
    from evalreport.comparisons import TESTS

    rows = [(entry.name, entry.label, entry.summary) for entry in TESTS.values()]
    _print_rows(rows)


@list_command.command("curves")
def list_curves() -> None:
    """List the curves in results.json."""
    from evalreport.metrics.curves import CURVES

    rows = [(entry.name, entry.label, entry.summary) for entry in CURVES.values()]
    _print_rows(rows)


@list_command.command("templates")
def list_templates() -> None:
    """List the built-in templates.

    `evalreport templates copy DIR` copies them to be edited.
    """
    for name in template_files():
        click.echo(name)


def _print_rows(rows: Iterable[Sequence[str]]) -> None:
    """Print names with their summaries on a terminal; elsewhere whole rows, tab-separated, for grep and cut."""
    if not sys.stdout.isatty():
        for row in rows:
            click.echo("\t".join(row))
        return
    formatter = click.HelpFormatter(width=shutil.get_terminal_size().columns)
    described = [(name, f"{summary} ({'; '.join(facts)})" if facts else summary)
                 for name, *facts, summary in rows]  # fmt: skip
    formatter.write_dl(described)
    click.echo(formatter.getvalue(), nl=False)


@click.command("init")
@click.argument("folder", type=click.Path(path_type=Path), default=Path(), metavar="[DIR]")
def init_command(folder: Path) -> int:
    """Write a commented evalreport.toml.

    Written into DIR (default: the current folder); an existing file is never overwritten.
    """
    path = folder / CONFIG_NAME
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # "x": one call both checks and creates, so that no file is ever overwritten.
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(starter())
    except FileExistsError:
        existing = path if path.exists() else folder
        raise UsageError(f"{existing}: already exists and was left as it is; name another folder") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror}); name another folder") from None
    tell(str(path))
    return 0


def starter() -> str:
    """Return the text of a commented evalreport.toml that holds every key.

    Examples
    --------
    >>> "#seed = 0" in starter()
    True
    """
    parts = [say("starter.preamble")]
    for key in KEYS:
        comment = textwrap.fill(
            key.summary, 100, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False
        )
        parts.append(f"{comment}\n#{key.name} = {key.example}\n")
    return "\n".join(parts)


@click.group("templates")
def templates_command() -> None:
    """Copy the templates of the report."""


@templates_command.command("copy")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
def copy_templates(folder: Path) -> int:
    """Copy the built-in templates to DIR.

    Edit them there and use them with --templates DIR; remove those that you do not change.

    Files that are there already stay as they are.
    """
    from evalreport.files import write_whole

    files = template_files()
    kept = 0
    try:
        for name, content in files.items():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.exists():
                kept += 1
            else:
                write_whole(target, content)  # half a template would be kept as the user's
    except OSError as error:
        raise UsageError(f"{folder}: cannot be written ({error.strerror}); name another folder") from None
    tell(f"{folder}: {len(files) - kept} files copied" + (f", {kept} kept as they were" if kept else ""))
    return 0


def template_files() -> dict[str, bytes]:
    """Return the built-in templates: their path below the templates' folder, and their content.

    The texts of the report are among them under a name that no run reads: a translation keeps what it changes.
    """
    from evalreport.report.brand import shipped_as_toml
    from evalreport.report.html import template_folder

    root = template_folder()
    paths = sorted(path for path in root.rglob("*") if path.is_file())
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}
    return files | {"texts.en.toml": shipped_as_toml()}
