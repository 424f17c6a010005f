"""``evalreport list``: what is registered, from the registries themselves."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

import click


@click.group("list")
def list_command() -> None:
    """List metrics, tests, intervals, templates."""


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
    _print_table(("name", "label", "tasks", "interval", "summary"), rows)


@list_command.command("intervals")
def list_intervals() -> None:
    """List the methods of confidence intervals."""
    from evalreport.intervals import INTERVALS

    rows = [(entry.name, entry.label, entry.summary) for entry in INTERVALS.values()]
    _print_table(("name", "label", "summary"), rows)


@list_command.command("tests")
def list_tests() -> None:
    """List the tests of differences."""
    from evalreport.comparisons import TESTS

    rows = [(entry.name, entry.label, entry.summary) for entry in TESTS.values()]
    _print_table(("name", "label", "summary"), rows)


@list_command.command("templates")
def list_templates() -> None:
    """List the built-in templates.

    `evalreport templates copy DIR` copies them to be edited.
    """
    from evalreport.cli.project import template_files

    _print_table(("name",), [(name,) for name in template_files()])


def _print_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table on a terminal; elsewhere one line a row, whole and tab-separated, for grep and cut."""
    if not sys.stdout.isatty():
        for row in rows:
            click.echo("\t".join(row))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for name in head:
        # Names are what people copy: the other columns wrap before one of these is cut.
        table.add_column(name, no_wrap=name == "name", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console().print(table)
