"""What is said on standard error: one line a message, and nothing from a file can act on the terminal.

Each line is plain text, or with ``--log-format json`` one JSON object, for what collects the logs of scheduled runs.
"""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict

import click

from evalreport.config import STANDARD_OUTPUT, LogFormat
from evalreport.errors import UsageError, cleared, redacted
from evalreport.texts import Message, Text

if TYPE_CHECKING:
    from evalreport.records import FoundRecord, WarningRecord


class State(TypedDict):
    """What a command tells whoever handles its end.

    Whether tracebacks are wanted, the folder that was written so far, what is to be said should the run be interrupted
    now, and the number of the signal that interrupted it.
    """

    verbose: bool
    written: Path | None
    interrupted: Text | None
    signal: int | None


WARNINGS_SHOWN = 3
Level = Literal["info", "warning", "error"]
_LOG_FORMAT: ContextVar[LogFormat] = ContextVar("log_format", default="text")

# Some scripts need them between letters.
_JOINERS = "\u200c\u200d"


def clean(text: Text) -> str:
    r"""Return text for one line of a terminal: without secrets, and what acts on it or cannot be seen as U+001B.

    That is: controls (a file name may hold an escape sequence), marks of direction (they reorder what is read),
    characters without a width (names look alike), lone surrogates (which no stream can encode).

    Examples
    --------
    >>> clean("model\x1b[2J")
    'modelU+001B[2J'
    """
    shown = redacted(str(text))
    if shown.isprintable():
        return shown
    return "".join(
        c if c.isprintable() or c in _JOINERS or unicodedata.category(c) == "Zs" else f"U+{ord(c):04X}"
        for c in shown
    )


def log_as(form: LogFormat) -> None:
    """Choose how the lines on standard error are written from here on."""
    _LOG_FORMAT.set(form)


def say(text: Text, *, level: Level = "info", code: str | None = None) -> None:
    """Print one line on standard error.

    Parameters
    ----------
    level, code
        Fields of a JSON line; in plain text the message says what they say.
    """
    if _LOG_FORMAT.get() == "json":
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        fields = {"time": now, "level": level, "message": clean(text)} | ({"code": code} if code else {})
        click.echo(json.dumps(fields), err=True)
    else:
        click.echo(clean(text), err=True)


def tell(text: Text) -> None:
    """Print one line on standard output; tabs separate its cells."""
    click.echo("\t".join(clean(cell) for cell in str(text).split("\t")))


def tell_json(content: object) -> None:
    """Print what was asked for as JSON, with no known secret in it."""
    click.echo(json.dumps(cleared(content), sort_keys=True, indent=1, default=str))


@contextmanager
def writable(place: Path, remedy: str = "name another place with -o") -> Iterator[None]:
    """Say of what cannot be written into a file or a folder why, and what to do.

    Raises
    ------
    UsageError
        The operating system refuses it.
    """
    try:
        yield
    except OSError as error:
        raise UsageError(f"{place}: cannot be written ({error.strerror}); {remedy}") from None


@contextmanager
def writing(place: Path) -> Iterator[Callable[[str], object]]:
    """Yield what writes a text without known secrets: to standard output, or into a file, whole or not at all.

    Raises
    ------
    UsageError
        The file cannot be written.
    """
    from evalreport.files import writing_whole

    if place == STANDARD_OUTPUT:
        yield lambda text: click.echo(cleared(text), nl=False)
        return
    with writable(place), writing_whole(place) as stream:
        yield lambda text: stream.write(cleared(text).encode("utf-8", "backslashreplace"))


OF_METHODS = frozenset({"resampling of ranks", "ROC bands"})
"""What was found that says how figures are made rather than how the files are read."""


def say_found(found: Sequence[FoundRecord], *, verbose: bool = True) -> None:
    """Say what was found in the files, and why it is taken so; how figures are made only where ``verbose``."""
    for record in found if verbose else [f for f in found if f.what not in OF_METHODS]:
        say(f"{record.what}: {record.value}" + (f" ({record.why})" if record.why else ""))


def say_warnings(warnings: Sequence[WarningRecord], *, verbose: bool) -> None:
    """Say the warnings: the first few and how many more there are; all of them where ``verbose``."""
    # What is for information changes no reading of the figures: it stands in the report.
    counted = warnings if verbose else [record for record in warnings if record.level != "info"]
    shown = counted if verbose else counted[:WARNINGS_SHOWN]
    for record in shown:
        level: Level = "info" if record.level == "info" else "warning"
        say(f"{record.level}: {record.text} [{record.code}]", level=level, code=record.code)
    left = len(counted) - len(shown)
    if left:
        say(Message("cli.more_warnings", n=left))


@contextmanager
def progress_bar(
    first: str, *, shown: bool, remaining: bool = False
) -> Iterator[Callable[[str, float], None]]:
    """Yield a function of (stage, share done) that moves a bar, where somebody looks on.

    It raises an interrupt once more that a library has swallowed (some clear every error while they are set up).

    Parameters
    ----------
    first
        The stage that it begins with.
    shown
        False: no bar even on a terminal.
    remaining
        Show the time that is left as well, where the shares done are of equal pieces of work.
    """
    context = click.get_current_context(silent=True)

    def go_on() -> None:
        if context is not None and context.obj is not None and context.obj["signal"] is not None:
            raise KeyboardInterrupt

    if not shown or not sys.stderr.isatty():
        yield lambda _stage, _fraction: go_on()
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

        def moved(stage: str, fraction: float) -> None:
            go_on()
            bar.update(task, description=clean(stage), completed=fraction)

        yield moved
