"""One option: its flag, its key of evalreport.toml, its field and its kind of value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeVar

from evalreport.texts import say

T = TypeVar("T")

Kind = Literal["text", "number", "integer", "flag", "path", "choice", "list", "formats"]
Group = Literal["Input", "Analysis", "Output", "Gates"]
"""The sections of ``--help``."""


@dataclass(frozen=True, slots=True)
class Key:
    """One option: its key in evalreport.toml, its field, the kind of value and an example."""

    name: str
    field: str
    kind: Kind
    metavar: str
    example: str
    group: Group
    """The section of ``--help``."""
    choices: tuple[str, ...] = ()
    short: str | None = None
    loading: bool = False
    """Whether loading depends on it, so that ``evalreport check`` takes it, too."""

    @property
    def flag(self) -> str:
        """The spelling on the command line."""
        return "--" + self.name.replace("_", "-")

    @property
    def summary(self) -> str:
        """The help text, from the catalogue."""
        return say(f"option.{self.name}")


def option(
    default: T,
    kind: Kind,
    metavar: str,
    example: str,
    *,
    group: Group,
    name: str | None = None,
    choices: tuple[str, ...] = (),
    short: str | None = None,
    loading: bool = False,
) -> T:
    """Return a field that declares an option; see ``Key``."""
    key = Key(name or "", "", kind, metavar, example, group, choices, short, loading)
    return field(default=default, metadata={"key": key})
