"""The progress bar: on a terminal only, on standard error only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from evalreport.cli.messages import clean


@contextmanager
def progress_bar(
    first: str, *, shown: bool, remaining: bool = False
) -> Iterator[Callable[[str, float], None]]:
    """Yield a function of (stage, share done) that moves a bar, or does nothing where nobody looks on.

    Parameters
    ----------
    first
        The stage that it begins with.
    shown
        False: no bar even on a terminal.
    remaining
        Show the time that is left as well, where the shares done are of equal pieces of work.
    """
    if not shown or not sys.stderr.isatty():
        yield lambda _stage, _fraction: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns: tuple[ProgressColumn, ...] = (
        SpinnerColumn(),
        # Markup off: a stage may hold a model's name.
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
        *((TextColumn("left:"), TimeRemainingColumn()) if remaining else ()),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(first, total=1.0)
        yield lambda stage, fraction: bar.update(task, description=clean(stage), completed=fraction)
