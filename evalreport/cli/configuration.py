"""Options of commands from flags and evalreport.toml; flags win."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar, get_args

import click

from evalreport.cli import log_as, say
from evalreport.errors import UsageError, is_address, redacted, remember_address
from evalreport.files import toml_of
from evalreport.keys import Group, Key
from evalreport.options import (
    EXPECTED,
    KEYS,
    OF_AGGREGATES,
    OF_CRITERIA,
    RECORDED_PATHS,
    RENDERING,
    STANDARD_OUTPUT,
    LogFormat,
    Options,
    OutputOptions,
    check_ranges,
    check_types,
    filled,
    plain,
    shown,
    validate,
    validate_output,
)
from evalreport.registry import unknown_name
from evalreport.texts import say as text_of

F = TypeVar("F", bound=Callable[..., object])
Complete = Callable[[click.Context, click.Parameter, str], list[str]]


class Documented(click.Option):
    """An option whose help text is read from the catalogue when help is printed."""

    @property
    def help(self) -> str | None:
        """Help text of the option."""
        return next(key.summary for key in KEYS if key.field == self.name)

    @help.setter  # noqa: A003 - the name that click gives it
    def help(self, _given: str | None) -> None:
        """Ignore click's assignment; the text is in the catalogue."""


class Grouped(click.Command):
    """A command whose ``--help`` lists its own options, then the options of a run by groups."""

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the description, with the formats that can be read."""
        from evalreport.cli.readable_formats import READABLE

        given, self.help = self.help, (self.help or "").replace("{formats}", READABLE)
        super().format_help_text(ctx, formatter)
        self.help = given

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options under the headings of their groups."""
        group_of: dict[str | None, Group | None] = {key.field: key.group for key in KEYS}
        group_of["config"] = "Input"
        asking = self.get_help_option(ctx)
        rows: dict[Group | None, list[tuple[str, str]]] = {}
        for option in self.get_params(ctx):
            row = option.get_help_record(ctx)
            if row is not None and isinstance(option, click.Option):
                group = "Output" if option is asking else group_of.get(option.name)
                rows.setdefault(group, []).append(row)
        for group in (None, *get_args(Group)):
            if group in rows:
                with formatter.section(group or "Options"):
                    formatter.write_dl(rows[group])


class Models(click.Argument):
    """The argument MODELS; if it is missing, the command prints examples."""

    def process_value(self, ctx: click.Context, value: object) -> object:
        """Read the paths, or print examples and exit."""
        try:
            return super().process_value(ctx, value)
        except click.MissingParameter:
            if ctx.resilient_parsing:
                raise
            for line in text_of("cli.models", command=ctx.command_path).strip().splitlines():
                say(line, level="error")
            ctx.exit(UsageError.exit_code)


class PathOrAddress(click.Path):
    """A path, or an address, whose secrets are then hidden in all messages."""

    def convert(
        self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> str | Path:
        """Keep an address as text, because a path would lose one of its slashes."""
        if is_address(value):
            remember_address(str(value))
            return str(value)
        return Path(os.fsdecode(super().convert(value, param, ctx)))


models_argument = click.argument(
    "models", cls=Models, nargs=-1, required=True, type=PathOrAddress(), metavar="MODELS..."
)


def run_options(function: F) -> F:
    """Add every option of a run, and --config."""
    return _add(KEYS, function)


def loading_options(function: F) -> F:
    """Add the options of loading, --quiet, --verbose and --config."""
    return _add(tuple(key for key in KEYS if key.loading or key.name in ("quiet", "verbose")), function)


def aggregate_options(function: F) -> F:
    """Add the options of ``aggregate`` and --config."""
    named = (*OF_AGGREGATES, "output", "engine", "memory_limit", "log_format", "quiet", "verbose")
    return _add(tuple(key for key in KEYS if key.field in named), function)


def rendering_options(function: F) -> F:
    """Add the options of ``render``: those of the report, and of what is printed."""
    named = ("output", *RENDERING, "log_format", "quiet", "verbose")
    return _with_keys(tuple(key for key in KEYS if key.field in named), function)


def criteria_options(function: F) -> F:
    """Add the options of ``declare`` that a run has too."""
    return _with_keys(tuple(key for key in KEYS if key.field in OF_CRITERIA), function)


def given(flags: Mapping[str, object]) -> dict[str, object]:
    """Return the flags that were given, by field name; the others come from evalreport.toml or the defaults.

    Raises
    ------
    UsageError
        An unknown format.
    """
    return {key.field: plain(key, flags[key.field]) for key in KEYS if flags.get(key.field) not in (None, ())}


def _add(keys: tuple[Key, ...], function: F) -> F:
    about = "Configuration (default: evalreport.toml here, in the MODELS folder or in its parent)."
    config = click.option("--config", type=click.Path(path_type=Path), metavar="FILE", help=about)
    return _with_keys(keys, config(function))


def _with_keys(keys: tuple[Key, ...], function: F) -> F:
    # The last applied decorator is the first in --help.
    for key in reversed(keys):
        function = _option(key)(function)
    return function


def _option(key: Key) -> Callable[[F], F]:
    """Return one option as a flag, with the value None (or empty) unless it is given."""
    names = [*([key.short] if key.short else []), key.flag, key.field]
    if key.kind == "flag":
        return click.option(*names, is_flag=True, default=None, cls=Documented)
    takes = {
        "number": click.FLOAT,
        "integer": click.INT,
        "choice": click.Choice(key.choices),
        "path": PathOrAddress() if key.field == "truth" else click.Path(path_type=Path),
    }.get(key.kind, click.STRING)
    option = partial(click.option, type=takes, cls=Documented)
    if key.field == "log_format":
        # Eager, so that errors about other flags have this format, too.
        return option(key.flag, key.field, is_eager=True, callback=_log_format)
    # click shows the choices in place of a metavar.
    metavar, repeatable = None if key.kind == "choice" else key.metavar, key.kind in ("list", "formats")
    complete = COMPLETIONS.get(key.name)
    return option(*names, metavar=metavar, multiple=repeatable, shell_complete=complete)


def _log_format(
    _context: click.Context, _option: click.Parameter, value: LogFormat | None
) -> LogFormat | None:
    if value is not None:
        log_as(value)
    return value


CONFIG_NAME = "evalreport.toml"


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of a command, and their configuration file (None: flags and defaults only)."""

    options: Options
    output: OutputOptions
    config: Path | None


def settle(models: tuple[Path | str, ...], flags: Mapping[str, object], *, config: Path | None) -> Settings:
    """Merge evalreport.toml and the flags, which win, and check every value.

    Parameters
    ----------
    models
        The MODELS of the command: evalreport.toml is searched beside them.
    flags
        The given flags, by field name.
    config
        The file named by --config; None: search for one.

    Raises
    ------
    UsageError
        A file cannot be read, or a value is not allowed.
    """
    path = find_config(models) if config is None else config
    confined = config is None and path is not None and path.parent != Path()
    values = {**({} if path is None else read_config(path, confined=confined)), **flags}
    if values.get("criteria") is not None:
        from evalreport import extensions

        values = extensions.load("options with criteria")(values, flags)
    options, output = filled(Options, values), filled(OutputOptions, values)
    validate(options)
    validate_output(output)
    if len(models) == 1:
        from evalreport.loading.load import under_manifest

        options = under_manifest(models[0], options)
    log_as(output.log_format)
    if output.title is not None:
        output = replace(output, title=redacted(output.title))
    return Settings(options, output, path)


def find_config(models: tuple[Path | str, ...]) -> Path | None:
    """Find evalreport.toml: in the current folder, else in the MODELS folder, else in its parent."""
    folders = [Path()]
    if models and isinstance(models[0], Path):
        folder = models[0] if models[0].is_dir() else models[0].parent
        # The parent of "models" is ".", as a user would write it.
        folders += [folder, folder.parent if folder.name not in ("", "..") else folder / ".."]
    return next((f / CONFIG_NAME for f in folders if (f / CONFIG_NAME).is_file()), None)


def read_config(path: Path, *, confined: bool = False) -> dict[str, object]:
    r"""Read evalreport.toml into values by field name of ``Options`` and ``OutputOptions``.

    Parameters
    ----------
    path
        The file. Relative paths inside it are relative to its folder.
    confined
        True for a file that was found beside the data rather than named. Its paths may not lead out of its folder, so
        that data from others cannot choose where something is written.

    Raises
    ------
    UsageError
        The file cannot be read, is no TOML, or holds an unknown key, a wrong type or a value out of range.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "evalreport.toml"
    ...     _ = file.write_text("[evalreport]\nmetric = 'f1'\nseed = 3\n")
    ...     read_config(file)
    {'metrics': ('f1',), 'seed': 3}
    """
    known = {key.name: key for key in KEYS}
    values: dict[str, object] = {}
    for name, value in _table(path).items():
        if name not in known:
            raise UsageError(f"{path}: {unknown_name('key', name, list(known))}")
        key = known[name]
        values[key.field] = _value_of(key, value, path=path, confined=confined)
    try:
        options = filled(Options, values)
        check_types(options)
        check_ranges(options)
        check_types(filled(OutputOptions, values))
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None
    return values


def _table(path: Path) -> dict[str, object]:
    """Return the table [evalreport] of a TOML file."""
    content = toml_of(path)
    for name in content:
        if name in {key.name for key in KEYS}:
            raise UsageError(f"{path}: key {name!r} must stand below the line [evalreport]")
        if name != "evalreport":
            raise UsageError(f"{path}: {unknown_name('table', name, ['evalreport'])}")
    table = content.get("evalreport", {})
    if not isinstance(table, dict):
        raise UsageError(f"{path}: 'evalreport' must be a table: write [evalreport] on a line of its own")
    return table


def _value_of(key: Key, value: object, *, path: Path, confined: bool) -> object:
    """Convert one value of the file to its field's type."""
    place = f"{path}: key {key.name!r}"
    wanted, right = EXPECTED[key.kind]
    if not right(value):
        raise UsageError(
            f"{place}: expected {wanted}, not {shown(value)}; for example: {key.name} = {key.example}"
        )
    if key.kind == "path":
        return _path_of(key, str(value), path=path, confined=confined)
    if confined and key.field == "engine" and "=" in str(value):
        raise UsageError(
            f"{place}: {value!r} names a cluster, and you did not name this file; if you trust it, pass"
            f" --config {path}"
        )
    if key.kind == "choice" and value not in key.choices:
        raise UsageError(f"{place}: {unknown_name(key.name, str(value), list(key.choices))}")
    try:
        return plain(key, value)
    except UsageError as error:
        raise UsageError(f"{place}: {error}") from None


def _path_of(key: Key, value: str, *, path: Path, confined: bool) -> Path | str:
    """Resolve a path of the file against its folder."""
    if confined and (Path(value).is_absolute() or ".." in Path(value).parts):
        raise UsageError(
            f"{path}: key {key.name!r}: {value!r} leads out of this file's folder, and you did not name the file;"
            f" if you trust it, pass --config {path}"
        )
    if key.name == "output" and value == "-":
        return STANDARD_OUTPUT
    full = path.parent / value
    return str(full) if key.field in RECORDED_PATHS else full


ALL = "all"


def _metrics(_context: click.Context, _typed: str) -> list[str]:
    from evalreport.metrics.quantities import spelled_metrics

    return spelled_metrics()


def _intervals(_context: click.Context, _typed: str) -> list[str]:
    from evalreport.intervals import INTERVALS

    return [*INTERVALS, ALL]


def _tests(_context: click.Context, _typed: str) -> list[str]:
    from evalreport.comparisons import TESTS

    return [*TESTS, ALL]


def _gates(context: click.Context, typed: str) -> list[str]:
    """Return the beginnings of gates: the models, and after one of them its metrics."""
    models = sorted(_models(context, typed), key=len, reverse=True)
    model = next((name for name in models if typed.startswith(f"{name}.")), None)
    if model is None:
        return [*(f"{name}." for name in sorted(models)), "n"]
    return [f"{model}.{metric}" for metric in _metrics(context, typed)]


def _models(context: click.Context, _typed: str) -> list[str]:
    """Return the models' names by their files; files with a column ``model`` are not opened."""
    from evalreport.sources.reading import file_format, model_name

    names: list[str] = []
    try:
        # click leaves MODELS among the unparsed words while an option still needs its value.
        given = [*(context.params.get("models") or ()), *context.args]
        for path in (Path(path) for path in given if not is_address(path)):
            entries = sorted(path.iterdir()) if path.is_dir() else [path]
            names += [model_name(entry) for entry in entries if entry.is_dir() or file_format(entry)]
    except OSError:
        pass  # completion prints no errors
    return [name for name in names if name != "truth"]


def _completed(names: Callable[[click.Context, str], list[str]]) -> Complete:
    """Complete a typed text by the names that begin with it, ignoring case."""

    def complete(context: click.Context, _option: click.Parameter, typed: str) -> list[str]:
        return [name for name in names(context, typed) if name.lower().startswith(typed.lower())]

    return complete


COMPLETIONS: Mapping[str, Complete] = {
    **{"metric": _completed(_metrics), "interval": _completed(_intervals), "test": _completed(_tests)},
    **{"baseline": _completed(_models), "gate": _completed(_gates)},
}
"""By the name of an option."""
