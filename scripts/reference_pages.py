"""The pages of docs/reference: every command as its help says it, and every field of results.json with its type."""

from __future__ import annotations

import dataclasses
import inspect
import re
import typing
from collections.abc import Iterator

import click

WIDTH = 100


def commands() -> str:
    """Return the page of commands: usage and help of each, as a terminal of 100 columns shows them."""
    from evalreport.cli import program

    lines = ["# Commands", "", "Written by `make docs` from the program itself; do not edit.", ""]
    for name, command in _below(program, "evalreport"):
        with click.Context(command, info_name=name, terminal_width=WIDTH, max_content_width=WIDTH) as context:
            text = command.get_help(context)
        lines += [f"## {name}", "", "```text", *(line.rstrip() for line in text.splitlines()), "```", ""]
    return "\n".join(lines)


def _below(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    """Yield a command and all below it."""
    yield name, command
    if isinstance(command, click.Group):
        with click.Context(command) as context:
            for each in command.list_commands(context):
                found = command.get_command(context, each)
                assert found is not None
                yield from _below(found, f"{name} {each}")


RESULTS_HEAD = """\
# Fields of results.json

Written by `make docs` from the records themselves; do not edit.

results.json is UTF-8 with sorted keys and no NaN: what cannot be had is `null`, with a `reason` beside it. Each list
holds flat records, so it opens as a data frame (`results.to_frame("metrics")`, or any JSON reader). Lists are in a
canonical order, and the same inputs and options give the same bytes.

`evalreport schema` prints these fields as JSON Schema 2020-12, also in the package as
[results.schema.json](../../evalreport/schema/results.schema.json). The promise: while `schema` is
`evalreport/results/2`, fields are only added, and none changes its name, type or meaning; what does makes another
`schema`, which the changelog names. A reader should ignore fields that it does not know.

Beside the fields below `sentences` has the code and the parameters of every sentence, by its English text:
`evalreport render` and `Results.from_json` make the messages of the run of them.
"""


def results() -> str:
    """Return the page of the fields of results.json: the whole, then each record once."""
    from evalreport.schema.results import Results

    lines = [RESULTS_HEAD]
    waiting: list[type] = [Results]
    seen: set[type] = set()
    while waiting:
        record = waiting.pop(0)
        if record in seen:
            continue
        seen.add(record)
        hints = typing.get_type_hints(record)
        fields = [(field.name, hints[field.name]) for field in dataclasses.fields(record)]
        title = "The whole" if record is Results else f"`{record.__name__}`"
        lines += [f"## {title}", "", *_prose(record), "| field | holds |", "|---|---|"]
        lines += [f"| `{name}` | {_words(hint)} |" for name, hint in fields if not name.startswith("_")]
        lines.append("")
        waiting += [found for _, hint in fields for found in _records(hint)]
    return "\n".join(lines)


def _prose(record: type) -> list[str]:
    """Return what a record says of itself, as paragraphs: its docstring without sections, marks as Markdown's."""
    text = inspect.getdoc(record) or ""
    text = re.split(r"\n\n?(?=\w[\w ]*\n-{3,}\n)", text)[0]
    if not text:
        return []
    text = re.sub(r"``(.+?)``", r"`\1`", text)
    # Outside of code, what Markdown or HTML would take for its own.
    parts = re.split(r"(`[^`]+`)", text)
    return ["".join(part if part[:1] == "`" else re.sub(r"([*_<\[])", r"\\\1", part) for part in parts), ""]


def _records(hint: object) -> Iterator[type]:
    """Yield the records within a type."""
    if isinstance(hint, type) and dataclasses.is_dataclass(hint) and "Message" not in hint.__name__:
        yield hint
    for inner in typing.get_args(hint):
        yield from _records(inner)


def _words(hint: object) -> str:
    """Write a type as a reader of JSON would say it."""
    inner = typing.get_args(hint)
    origin = typing.get_origin(hint)
    if origin is typing.Literal:
        return " \\| ".join(f"`{value}`" for value in inner)
    if origin is tuple or (origin is not None and getattr(origin, "__name__", "") in ("Sequence", "list")):
        if len(inner) == 2 and inner[1] is not Ellipsis:
            return "a pair: " + ", ".join(map(_words, inner))
        return f"list of {_words(inner[0])}"
    if inner and (origin is typing.Union or type(hint).__name__ == "UnionType"):
        kinds = [kind for kind in inner if not (kind is int and float in inner)]
        return " or ".join(dict.fromkeys("null" if kind is type(None) else _words(kind) for kind in kinds))
    if origin is not None:
        return "object"
    names = {
        "str": "text",
        "float": "number",
        "int": "whole number",
        "bool": "true or false",
        "Message": "text",
    }
    name = getattr(hint, "__name__", str(hint))
    if isinstance(hint, type) and dataclasses.is_dataclass(hint) and name != "Message":
        return f"[`{name}`](#{name.lower()})"
    return names.get(name, "text" if "Text" in name else "any value" if name == "Any" else f"`{name}`")
