"""``evalreport list``: what is registered, from the registries themselves."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Sequence

import click


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
    """List the curves that stand in results.json."""
    from evalreport.metrics.curves import CURVES

    rows = [(entry.name, entry.label, entry.summary) for entry in CURVES.values()]
    _print_rows(rows)


@list_command.command("templates")
def list_templates() -> None:
    """List the built-in templates.

    `evalreport templates copy DIR` copies them to be edited.
    """
    from evalreport.cli.project import template_files

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
