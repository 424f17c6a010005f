"""The flags of the commands, made from the one table of options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from evalreport.cli.messages import log_as
from evalreport.config import parse_formats
from evalreport.keys import KEYS, Key, LogFormat

F = TypeVar("F", bound=Callable[..., Any])


class Documented(click.Option):
    """An option whose help stands in the catalogue, which is read only where help is asked for."""

    @property
    def help(self) -> str | None:
        """What the option does."""
        return next(key.summary for key in KEYS if key.field == self.name)

    @help.setter  # noqa: A003 - the name that click gives it
    def help(self, _given: str | None) -> None:
        """Nothing is given: it stands in the catalogue."""


models_argument = click.argument(
    "models", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="MODELS..."
)


def run_options(function: F) -> F:
    """Add every option of a run, and --config."""
    return _add(KEYS, function)


def loading_options(function: F) -> F:
    """Add the options that reading the files depends on, --quiet, --verbose and --config."""
    return _add(tuple(key for key in KEYS if key.loading or key.name in ("quiet", "verbose")), function)


def given(flags: Mapping[str, Any]) -> dict[str, Any]:
    """Keep the flags that were given; the others leave room for evalreport.toml and the defaults.

    Raises
    ------
    UsageError
        An unknown format.
    """
    values = {name: value for name, value in flags.items() if value is not None and value != ()}
    if "formats" in values:
        values["formats"] = parse_formats(values["formats"])
    for key in KEYS:
        if key.kind == "list" and key.field in values:
            values[key.field] = tuple(dict.fromkeys(values[key.field]))
    return values


def _add(keys: tuple[Key, ...], function: F) -> F:
    config = click.option(
        "--config",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Configuration (default: evalreport.toml here, in the MODELS folder or in its parent).",
    )
    decorated = config(function)
    # The last decorator applied stands first in --help.
    for key in reversed(keys):
        decorated = _option(key)(decorated)
    return decorated


def _option(key: Key) -> Callable[[F], F]:
    """Turn one key into a flag whose value is None (or empty) unless it is given."""
    names = [*([key.short] if key.short else []), key.flag, key.field]
    if key.kind == "flag":
        return click.option(*names, is_flag=True, default=None, cls=Documented)
    takes: Any = {"number": float, "integer": int}.get(key.kind, str)
    if key.kind == "choice":
        takes = click.Choice(key.choices)
    elif key.kind == "path" and key.field != "truth":
        takes = click.Path(path_type=Path)
    if key.field == "log_format":
        # Eager: what is wrong with the other flags is said in the format that was asked for, too.
        return click.option(
            key.flag, key.field, type=takes, is_eager=True, callback=_log_format, cls=Documented
        )
    # A choice shows its choices where the others show their metavar.
    metavar = None if key.kind == "choice" else key.metavar
    repeatable = key.kind in ("list", "formats")
    return click.option(*names, type=takes, metavar=metavar, multiple=repeatable, cls=Documented)


def _log_format(
    _context: click.Context, _option: click.Parameter, value: LogFormat | None
) -> LogFormat | None:
    if value is not None:
        log_as(value)
    return value
