"""The program ``evalreport``: finding its commands, printing, exit codes and errors.

Messages on standard error are one line each, plain text or, with ``--log-format json``, one JSON object. Control
characters from files never reach the terminal.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Literal, NoReturn, TypedDict

import click

from evalreport.cli.streams import forgiving_streams
from evalreport.errors import EvalreportError, OutputError, UsageError, cleared, redacted, remember_address
from evalreport.extensions import COMMANDS, load
from evalreport.files import Handler
from evalreport.options import STANDARD_OUTPUT, LogFormat
from evalreport.registry import instead_of, unknown_name
from evalreport.texts import Message, Text, parts
from evalreport.texts.visible import shaped, shorten

if TYPE_CHECKING:
    from evalreport.schema.inputs import FoundRecord
    from evalreport.schema.warnings import WarningRecord

# sysexits.h: an internal software error; 1 is a failed gate.
EXIT_DEFECT = 70
# 128 + the signal's number, as shells report it.
EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143
EXIT_PIPE = 141

# \b keeps click from joining the lines of a paragraph.
HELP = """Compare machine-learning models honestly, from prediction files to a report.

\b
evalreport run models/        one prediction file a model, in a folder
evalreport check models/      what is there, and what can be done with it
evalreport aggregate preds/ -o counts/    predictions of any size, counted for run
evalreport plan               how many examples are needed, or what they can show
evalreport resample PLAN      fit estimators on folds or bootstrap samples, and write their predictions
evalreport audit models/ --history URL    a scheduled run: compared with earlier ones, and recorded
evalreport history list --history URL     the runs that were recorded
evalreport import mlflow|lm-eval PATH -o FILE    other tools' logs as a prediction file
evalreport compare-runs OLD NEW    what changed between two runs, base branch against pull request
evalreport comment OUTPUT     the summary as one comment on a pull request, updated in place
evalreport verify RESULTS     recompute what a results.json or a report.pdf says
evalreport render RESULTS     draw it again: another format, title or template; nothing is recomputed

Exit codes: 0 done, every gate passed; 1 a gate failed; 2 bad usage or bad input; 3 no gate failed, at least
one is undecided; 4 an output named with -f could not be made.
"""


class LazyGroup(click.Group):
    """Commands by name, each imported when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names in the order in which a newcomer needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the command; None: there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = load(cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or suggest similar names."""
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            if Path(args[0]).exists():
                raise UsageError(f"{args[0]!r} is a file or folder, and no command: evalreport run {args[0]}")
            raise UsageError(unknown_name("command", args[0], list(COMMANDS)))
        return super().resolve_command(ctx, args)


def _print_version(ctx: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted:
        from evalreport.version import __version__

        click.echo(f"evalreport {__version__}")
        ctx.exit()


@click.group(
    cls=LazyGroup,
    help=HELP,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog='Completion in bash: eval "$(_EVALREPORT_COMPLETE=bash_source evalreport)" (zsh_source and'
    " fish_source likewise).",
)
@click.option("--version", is_flag=True, expose_value=False, is_eager=True, callback=_print_version,
              help="Show the version and exit.")  # fmt: skip
def program() -> None:  # noqa: D103 - HELP says it, with a line break that click needs and a docstring lacks
    pass


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code; exceptions become messages here.

    Parameters
    ----------
    arguments
        The words after ``evalreport``; None: this process's.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    with forgiving_streams() as failure_of_output:
        log_as("text")
        for word in words:
            if "/" in word:
                remember_address(word)
        return _with_output(_ended(words), failure_of_output())


def process() -> NoReturn:
    """Run the program as a process and exit with its code.

    ``--jobs`` alone sets the number of threads, so those of the linear algebra are limited to one.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if not hasattr(sys.modules["evalreport"], "evaluate"):
        say(Message("cli.other_package"), level="error")
        sys.exit(UsageError.exit_code)
    sys.exit(main())


def _ended(words: list[str]) -> int:
    """Run the command of the words and return its exit code, whatever it raises."""
    state: State = {"verbose": False, "written": None, "interrupted": None, "signal": None}
    try:
        with _interrupts_noted(state):
            return _answer(words, state)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return UsageError.exit_code
    except click.ClickException as error:
        instead = instead_of(error.option_name) if isinstance(error, click.NoSuchOption) else ""
        say(f"evalreport: {instead or error.format_message() + _where_to_look(error)}", level="error")
        return UsageError.exit_code
    except EvalreportError as error:
        for line in error.lines:
            say(f"evalreport: {line}", level="error")
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        return _say_interrupted(state)
    except Exception as error:  # noqa: BLE001 - the outermost handler: a defect must not look like a gate
        if state["signal"] is not None:
            return _say_interrupted(state)
        surroundings = _fault_of_surroundings(error)
        if surroundings is not None:
            say(surroundings, level="error")
            return UsageError.exit_code
        return _report_defect(error, verbose=state["verbose"])


def _fault_of_surroundings(error: BaseException) -> Message | None:
    """Return what this process lacks, where that made any code fail: memory, or its current folder."""
    seen: BaseException | None = error
    while seen is not None:
        out_of_memory = isinstance(seen, MemoryError) or getattr(seen, "errno", None) == errno.ENOMEM
        if out_of_memory or (isinstance(seen, ImportError) and "failed to map segment" in str(seen)):
            return Message("cli.no_memory")
        seen = seen.__cause__ or seen.__context__
    try:
        Path.cwd()
    except OSError:
        return Message("cli.no_folder")
    return None


def _with_output(code: int, failure: OSError | None) -> int:
    """Return the exit code of work that is done, where standard output may have refused a part of it."""
    if failure is None:
        return code
    if isinstance(failure, BrokenPipeError):
        return code or EXIT_PIPE
    why = Message("cli.closed") if failure.errno == errno.EBADF else failure.strerror
    say(Message("cli.full", why=why), level="error")
    return code or OutputError.exit_code


def _answer(words: list[str], state: State) -> int:
    """Run the command of the words and return its exit code."""
    for word in words:
        if not word.isascii() and word.encode(errors="replace").decode() != word:
            raise UsageError(f"{word}: not UTF-8; rename the file or the folder, or write the text as UTF-8")
    if "_EVALREPORT_COMPLETE" in os.environ:
        program.main(words, prog_name="evalreport")
    try:
        # program.main() would exit with 1 on a closed pipe, which here means a failed gate.
        with program.make_context("evalreport", words, obj=state) as context:
            return int(program.invoke(context) or 0)
    except click.exceptions.Exit as done:
        return done.exit_code


def _where_to_look(error: click.ClickException) -> str:
    context, parameter = getattr(error, "ctx", None), getattr(error, "param", None)
    if parameter is not None and parameter.name == "task":
        return " (--task is the kind of task, no column of the files)"
    return f" (see: {context.command_path} --help)" if context is not None else ""


@contextmanager
def _interrupts_noted(state: State) -> Iterator[None]:
    """Let SIGTERM unwind the program as Ctrl-C does, and store the signal's number in the state.

    A library that is interrupted while it is imported may report an error of its own. Signals that the caller ignores
    or handles stay as they are. In callbacks of weak references Python only prints an interrupt: that is suppressed,
    and ``progress_bar`` raises it again.
    """

    def note(number: int, _frame: FrameType | None) -> None:
        state["signal"] = number
        raise KeyboardInterrupt

    def unless_noted(lost: sys.UnraisableHookArgs) -> None:
        if not (state["signal"] and lost.exc_type is KeyboardInterrupt):
            printed(lost)

    usual: dict[signal.Signals, Handler] = {signal.SIGTERM: signal.SIG_DFL}
    usual[signal.SIGINT] = signal.default_int_handler
    # Only the main thread gets signals.
    in_main = threading.current_thread() is threading.main_thread()
    ours = [number for number in usual if in_main and signal.getsignal(number) is usual[number]]
    for number in ours:
        signal.signal(number, note)
    printed, sys.unraisablehook = sys.unraisablehook, unless_noted
    try:
        yield
    finally:
        sys.unraisablehook = printed
        for number in ours:
            signal.signal(number, usual[number])


def _say_interrupted(state: State) -> int:
    say(parts("interrupted", *([state["interrupted"]] if state["interrupted"] else [])))
    # An interrupt inside exec (used by dataclasses) leaves CPython's mark of an unhandled interrupt, and the process
    # would end by the signal and lose its exit code. Another exec removes the mark.
    exec("")  # noqa: S102
    return EXIT_TERMINATED if state["signal"] == signal.SIGTERM else EXIT_INTERRUPTED


def _report_defect(error: Exception, *, verbose: bool) -> int:
    if verbose:
        import traceback

        for line in "".join(traceback.format_exception(error)).splitlines():
            click.echo(clean(line), err=True)
    say(f"evalreport: internal error: {type(error).__name__}: {error}", level="error")
    say(Message("cli.defect" if verbose else "cli.defect_shown_with_verbose"))
    return EXIT_DEFECT


class State(TypedDict):
    """The state of a command for error handling.

    Whether to print tracebacks, the folder written so far, the message in case of an interrupt, and the number of the
    signal that interrupted it.
    """

    verbose: bool
    written: Path | None
    interrupted: Text | None
    signal: int | None


WARNINGS_SHOWN = 3
Level = Literal["info", "warning", "error"]
_LOG_FORMAT: ContextVar[LogFormat] = ContextVar("log_format", default="text")


def clean(text: str | Message) -> str:
    r"""Return text for one line of a terminal, without secrets and with dangerous characters written as U+001B.

    Examples
    --------
    >>> clean("model\x1b[2J")
    'modelU+001B[2J'
    """
    return shaped(redacted(str(text)))


def log_as(form: LogFormat) -> None:
    """Choose the format of the lines on standard error."""
    _LOG_FORMAT.set(form)


LONGEST_LINE = 4_000
"""Characters of a line on standard error: a name from a file has no end."""


def say(text: str | Message, *, level: Level = "info", code: str | None = None) -> None:
    """Print one line on standard error.

    Parameters
    ----------
    level, code
        Fields of a JSON line; plain text leaves them out.
    """
    if _LOG_FORMAT.get() == "json":
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        fields = {"time": now, "level": level, "message": shorten(clean(text), LONGEST_LINE)}
        click.echo(json.dumps({**fields, "code": code} if code else fields), err=True)
    else:
        # By name: click takes ASCII for a mistake, and would write UTF-8.
        click.echo(shorten(clean(text), LONGEST_LINE), file=sys.stderr)


def tell(text: str | Message) -> None:
    """Print one line on standard output; tabs separate its cells."""
    click.echo("\t".join(clean(cell) for cell in str(text).split("\t")), file=sys.stdout)


@contextmanager
def writable(place: Path, remedy: str = "name another place with -o") -> Iterator[None]:
    """Turn errors of writing a file or folder into UsageError, with a remedy.

    Raises
    ------
    UsageError
        The operating system refuses to write.
    """
    try:
        yield
    except OSError as error:
        raise UsageError(f"{place}: cannot be written ({error.strerror}); {remedy}") from None


@contextmanager
def writing(place: Path) -> Iterator[Callable[[str], object]]:
    """Yield a function that writes text without known secrets to standard output, or to a file, whole or not at all.

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


OF_METHODS = frozenset({"resampling of scores and losses", "ROC bands"})
"""Facts about methods rather than about the files."""


def say_found(found: Sequence[FoundRecord], *, verbose: bool) -> None:
    """Print the facts found in the files with their reasons; facts about methods only if ``verbose``."""
    for record in found if verbose else [f for f in found if f.what not in OF_METHODS]:
        say(f"{record.what}: {record.value}" + (f" ({record.why})" if record.why else ""))


def say_warnings(warnings: Sequence[WarningRecord], *, verbose: bool) -> None:
    """Print the first warnings and the number of the others; all of them if ``verbose``."""
    # Warnings for information are in the report only.
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
    first: str, *, shown: bool, remaining: bool = False, shorter: bool = False
) -> Iterator[Callable[[str, float], None]]:
    """Yield a function of (stage, share done) that moves a progress bar on a terminal; lines say the time left.

    The function raises an interrupt again that a library has swallowed, as some do while they are imported.

    Parameters
    ----------
    first
        The first stage.
    shown
        False: no bar even on a terminal.
    remaining
        Show the remaining time, too; for work in equal pieces.
    shorter
        Whether it is an analysis, of which a line names the option that makes it shorter.
    """
    context = click.get_current_context(silent=True)

    def go_on() -> None:
        if context is not None and context.obj is not None and context.obj["signal"] is not None:
            raise KeyboardInterrupt

    if not shown:
        yield lambda _stage, _fraction: go_on()
        return
    from evalreport.cli.time_left import time_left

    if not sys.stderr.isatty():
        with time_left(first, say, shorter=shorter) as told:

            def noted(stage: str, fraction: float) -> None:
                go_on()
                told(stage, fraction)

            yield noted
        return
    from rich import progress as of_rich
    from rich.console import Console

    columns: tuple[of_rich.ProgressColumn, ...] = (
        of_rich.SpinnerColumn(),
        # Markup off: a stage may hold a model's name.
        of_rich.TextColumn("{task.description}", markup=False),
        of_rich.BarColumn(),
        of_rich.TimeElapsedColumn(),
        *((of_rich.TextColumn("left:"), of_rich.TimeRemainingColumn()) if remaining else ()),
    )
    console = Console(stderr=True)
    with (
        of_rich.Progress(*columns, console=console, transient=True) as bar,
        time_left(first, lambda line: console.print(clean(line), markup=False), shorter=shorter) as told,
    ):
        task = bar.add_task(first, total=1.0)

        def moved(stage: str, fraction: float) -> None:
            go_on()
            told(stage, fraction)
            bar.update(task, description=clean(stage), completed=fraction)

        yield moved
