"""Write docs/reference.md and docs/reference: every option, metric, interval, test, command and field, from the code.

Also evalreport/questions/declared_*.py, the options and lists of all rooms, evalreport/keywords.py, the options as the
keywords of the functions of the package, evalreport/cli/readable_formats.py, the formats for the help, and a part of
docs/columns.md and docs/warnings.md. With --check nothing is written; the exit code is 1 where a file is not what it
would be.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from evalreport.keys import Key

ROOT = Path(__file__).resolve().parent.parent
PATH, KEYWORDS_PATH = ROOT / "docs" / "reference.md", ROOT / "evalreport" / "keywords.py"
LONGEST = 110
"""Characters of a line of code."""
ROOMS_PATH = ROOT / "evalreport" / "questions"
COLUMNS_PATH = ROOT / "docs" / "columns.md"
WARNINGS_PATH = ROOT / "docs" / "warnings.md"
BEGIN_PLATFORMS, END_PLATFORMS = "<!-- platforms -->", "<!-- end of platforms -->"
BEGIN_OTHERS, END_OTHERS = "<!-- other warnings -->", "<!-- end of other warnings -->"
READABLE_PATH = ROOT / "evalreport" / "cli" / "readable_formats.py"

HEAD = """\
# Reference

Written by `make docs` from the program itself; do not edit. Every name here is also an argument of `--metric`,
`--interval` or `--test`, and a value in `results.json`.
"""


def reference() -> str:
    """Return the whole document."""
    return "\n".join(
        [
            HEAD,
            *_options(),
            *_formats(),
            *_audit(),
            *_evidence(),
            *_plan(),
            *_resample(),
            *_metrics(),
            *_intervals(),
            *_tests(),
            *_curves(),
        ]
    )


def _options() -> list[str]:
    from evalreport.options import KEYS

    rows = []
    for key in KEYS:
        flags = f"`{key.short}`, `{key.flag}`" if key.short else f"`{key.flag}`"
        takes = "" if key.kind == "flag" else " \\| ".join(key.choices) or _cell(key.metavar)
        rows.append((flags, takes, _cell(key.summary)))
    intro = "Of `evalreport run`; in `evalreport.toml` the same names without dashes in front, underscores inside."
    return ["## Options", "", intro, "", *_table(("option", "takes", "meaning"), rows)]


def _formats() -> list[str]:
    from evalreport.loading import load  # noqa: F401 - registers every reader
    from evalreport.sources.reading import FORMATS, WRITABLE, dotted

    read, written = (", ".join(f"`{suffix}`" for suffix in dotted(of)) for of in (FORMATS, WRITABLE))
    text = f"Read: {read}. Written by `evalreport import`: {written}."
    return ["## Formats", "", text, ""]


def _readable_formats() -> str:
    """Return the module with the formats that can be read."""
    import evalreport.loading.load  # noqa: F401 - registers every reader
    from evalreport.sources.reading import readable

    head = '"""The formats that can be read, for help texts, which import no reader; written by ``make docs``."""'
    line = f'READABLE = "{readable()}"'
    if len(line) > LONGEST:
        parts = textwrap.wrap(readable(), LONGEST - 8, drop_whitespace=False)
        line = "\n".join(["READABLE = (", *(f'    "{part}"' for part in parts), ")"])
    return f"{head}\n\n{line}\n"


def _audit() -> list[str]:
    from evalreport.audit.commands import audit_command
    from evalreport.history.commands import history_command
    from evalreport.options import KEYS

    of_run = {key.field for key in KEYS} | {"config"}
    own = click.Command("audit", params=[p for p in audit_command.params if p.name not in of_run])
    intro = "Of `evalreport audit`, beside those of `evalreport run`; [audits.md](audits.md) says what they are for."
    lines = ["## Audits", "", intro, "", *_command_options(own)]
    for name, command in history_command.commands.items():
        lines += [f"`evalreport history {name}`: {_cell((command.help or '').splitlines()[0])}", ""]
        lines += _command_options(command)
    return lines


def _evidence() -> list[str]:
    from evalreport.imports.commands import import_command
    from evalreport.reviews.commands import comment_command
    from evalreport.verify.commands import compare_runs_command, verify_command

    intro = "Of `evalreport verify RESULTS`; [evidence.md](evidence.md) says what agrees means."
    lines = ["## Evidence", "", intro, "", *_command_options(verify_command)]
    lines += ["Of `evalreport compare-runs OLD NEW`:", "", *_command_options(compare_runs_command)]
    lines += [
        "## Reviews",
        "",
        "Of `evalreport comment`; [reviews.md](reviews.md) says what pipelines do with it.",
        "",
    ]
    lines += _command_options(comment_command)
    lines += ["## Imports", "", "Of `evalreport import`; [imports.md](imports.md) says what is read.", ""]
    for name, command in import_command.commands.items():
        lines += [f"`evalreport import {name} PATH...`:", "", *_command_options(command)]
    return lines


def _plan() -> list[str]:
    from evalreport.cli.preparation import plan_command

    intro = "Of `evalreport plan`, which reads no file: how many examples are needed, or what they can show."
    return ["## Planning", "", intro, "", *_command_options(plan_command)]


def _resample() -> list[str]:
    from evalreport.refit.commands import resample_command
    from evalreport.refit.plans import SCHEMES

    intro = "Of `evalreport resample PLAN`, which fits estimators; [resampling.md](resampling.md) says what a plan is."
    schemes = [(f"`{name}`", ", ".join(map(_scheme_key, keys.items()))) for name, keys in SCHEMES.items()]
    taken = "What each scheme of a plan takes, with its default:"
    return [
        *("## Resampling", "", intro, "", *_command_options(resample_command)),
        *(taken, "", *_table(("scheme", "keys"), schemes)),
    ]


def _scheme_key(entry: tuple[str, object]) -> str:
    """Write a key and its default as a plan would."""
    name, value = entry
    if value is None:
        return f"`{name}`"
    if isinstance(value, tuple):
        return f"`{name} = {list(value)}`"
    return f"`{name}` (a third)" if value == 1 / 3 else f"`{name} = {str(value).lower()}`"


def _command_options(command: click.Command) -> list[str]:
    """Return the table of a command's options."""
    rows = []
    for option in command.params:
        if not isinstance(option, click.Option):
            continue
        takes = (
            " \\| ".join(option.type.choices)
            if isinstance(option.type, click.Choice)
            else option.metavar or ""
        )
        given = option.default not in (None, ()) and type(option.default) in (str, int, float)
        default = f" (default {option.default})" if given else ""
        flags = ", ".join(f"`{flag}`" for flag in sorted(option.opts, key=len))
        rows.append((flags, _cell(takes) if "\\" not in takes else takes, _cell(option.help or "") + default))
    return _table(("option", "takes", "meaning"), rows)


def _metrics() -> list[str]:
    from evalreport.metrics import METRICS

    rows = [
        (
            f"`{m.name}`",
            _cell(m.display.label),
            ", ".join(m.tasks),
            _cell(m.display.summary),
            _code(m.display.formula),
            f"`{m.inference.intervals[0]}`" if m.inference.intervals else "none",
            f"`{m.inference.test}`",
            _cell(m.display.source),
        )
        for m in METRICS.values()
    ]
    intro = "Interval and test are the recommended ones; the report says where another one leads, and why."
    heads = ("name", "label", "tasks", "meaning", "definition", "interval", "test", "source")
    return ["## Metrics", "", intro, "", *_table(heads, rows)]


def _intervals() -> list[str]:
    from evalreport.intervals import INTERVALS
    from evalreport.intervals.leaders import leads_for

    rows = [
        (f"`{i.name}`", _cell(i.label), _cell(i.summary), _cell(leads_for(i.name)), _cell(i.source))
        for i in INTERVALS.values()
    ]
    intro = "Where an interval leads are rows of one table: the lowest number that fits, and whose interval applies."
    return ["## Intervals", "", intro, "", *_table(("name", "label", "meaning", "leads for", "source"), rows)]


def _tests() -> list[str]:
    from evalreport.comparisons import TESTS
    from evalreport.comparisons.test_selection import leads_for

    rows = [
        (
            f"`{t.name}`",
            _cell(t.label),
            _cell(t.summary),
            _cell(leads_for(t.name)),
            _cell(str(t.null_hypothesis)),
            _cell(str(t.assumptions)),
            _cell(str(t.source)),
        )
        for t in TESTS.values()
    ]
    intro = "Where a test leads are rows of one table: the lowest number that fits."
    heads = ("name", "label", "meaning", "leads for", "null hypothesis", "assumptions", "source")
    return ["## Tests", "", intro, "", *_table(heads, rows)]


def _curves() -> list[str]:
    from evalreport.metrics.curves import CURVES

    rows = [
        (
            f"`{c.name}`",
            _cell(c.label),
            ", ".join(c.tasks),
            _cell(c.summary),
            _cell(c.x),
            _cell(c.y),
            _cell(c.source),
        )
        for c in CURVES.values()
    ]
    intro = "The values of `curve` in `results.json`; no option names them. See [curves.md](curves.md)."
    heads = ("name", "label", "tasks", "meaning", "x", "y", "source")
    return ["## Curves", "", intro, "", *_table(heads, rows)]


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    lines = [heads, tuple("---" for _ in heads), *rows]
    return [f"| {' | '.join(line)} |" for line in lines] + [""]


def _cell(text: str) -> str:
    """Escape what would end a cell or start a tag."""
    return text.replace("|", "\\|").replace("<", "&lt;")


def _code(text: str) -> str:
    """Set a formula as code, where only the bar needs escaping."""
    return f"`{text.replace('|', chr(92) + '|')}`"


KEYWORDS_HEAD = '''\
"""The options as keywords of the functions of the package, for type checkers and for ``help``.

Written by ``make docs`` from the declarations in options.py; do not edit.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Literal, TypedDict
'''


def keywords() -> str:
    """Return the module of keywords: one TypedDict of the options of a run, and one of those of the report."""
    from evalreport.options import KEYS, RENDERING, Options, OutputOptions

    of_run = [key.field for key in KEYS if hasattr(Options(), key.field) and key.field != "truth"]
    return "\n\n".join(
        [
            KEYWORDS_HEAD,
            _keywords("RunKeywords", "The options of a run.", Options(), of_run),
            _keywords("ReportKeywords", "The options of a report.", OutputOptions(), RENDERING),
        ]
    )


def _keywords(name: str, about: str, defaults: object, of: Iterable[str]) -> str:
    """Return the TypedDict of some fields, its docstring what stands in the documentation of functions."""
    from evalreport.options import KEYS

    keys = {key.field: key for key in KEYS}
    described, typed = [], []
    for field in of:
        key, kind = keys[field], _type_of(keys[field])
        described += [
            f"    {field} : {kind.removeprefix('Literal')}",
            *textwrap.wrap(
                _without_flags(key.summary), 104, initial_indent=" " * 8, subsequent_indent=" " * 8
            ),
        ]
        none = " | None" if getattr(defaults, field) is None else ""
        line = f"    {field}: {kind}{none}"
        if len(line) > LONGEST:
            choices = "".join(f"            {json.dumps(choice)},\n" for choice in key.choices)
            line = f"    {field}: (\n        Literal[\n{choices}        ]\n        {none.strip()}\n    )"
        typed.append(line)
    lines = [
        f"class {name}(TypedDict, total=False):",
        f'    """{about}',
        "",
        *described,
        '    """',
        "",
        *typed,
    ]
    return "\n".join(lines) + "\n"


def _type_of(key: Key) -> str:
    if key.choices:
        return f"Literal[{', '.join(map(json.dumps, key.choices))}]"
    return {
        "number": "float",
        "integer": "int",
        "flag": "bool",
        "path": "str | PathLike[str]",
        "list": "str | Sequence[str]",
        "formats": "str | Sequence[str]",
    }.get(key.kind, "str")


def _without_flags(summary: str) -> str:
    """Return what an option does without what is said of its flag alone."""
    text = re.sub(r"^Repeatable[.:]?\s*", "", summary)
    return text[:1].upper() + text[1:] if text[:1] != "(" else f"Names {text}"


DECLARED_HEAD = '''"""The {about} of all rooms; written by ``make docs``, do not edit."""

from __future__ import annotations

from dataclasses import dataclass
'''
DECLARED = {
    "declared_options": ("options", "Options", "options"),
    "declared_lists": ("records", "Lists", "lists of results.json"),
}
"""Modules of ``questions``: the file of a room, the ending of its class, and what the class declares."""


def declared(module: str) -> str:
    """Return the module that joins the classes ``...Options``, or ``...Lists``, of all rooms."""
    from evalreport.extensions import ROOMS

    file, ending, about = DECLARED[module]
    imports: list[str] = []
    bases: list[str] = []
    for room in ROOMS:
        path = ROOMS_PATH / room / f"{file}.py"
        tree = ast.parse(path.read_text(encoding="utf-8")) if path.exists() else ast.Module([], [])
        names = [n.name for n in tree.body if isinstance(n, ast.ClassDef) and n.name.endswith(ending)]
        imports += [f"from evalreport.questions.{room}.{file} import {name}" for name in names]
        bases += names
    joined = _joined_class(f"Room{ending}", bases, f"The {about} of all rooms, in their order.")
    return "\n".join([DECLARED_HEAD.format(about=about), *sorted(imports), "", "", joined]).rstrip() + "\n"


def _joined_class(name: str, bases: list[str], about: str) -> str:
    listed = "".join(
        f"    {base},\n" for base in reversed(bases)
    )  # the first fields are those of the last base
    return f'@dataclass(frozen=True, kw_only=True)\nclass {name}(\n{listed}):\n    """{about}"""\n\n'


def columns_page() -> str:
    """Return the page of columns with the names that platforms use."""
    from evalreport.predictions.platforms import PLATFORMS

    def cell(names: tuple[str, ...]) -> str:
        return ", ".join(f"`{name}`" for name in names)

    rows = [
        f"| {one.name} | {cell(one.labels)} | {cell((*one.probabilities, *one.scores))} | {cell(one.ids)}"
        f" | {cell(one.truth)} | {cell((*one.folds, *one.weights))} |"
        for one in PLATFORMS
    ]
    head = "| platform | predictions | probabilities, scores | ids | truth | folds, weights |"
    page = COLUMNS_PATH.read_text(encoding="utf-8")
    return _with_part(page, BEGIN_PLATFORMS, [head, "|" + "---|" * 6, *rows], END_PLATFORMS)


def warnings_page() -> str:
    """Return the page of warnings; one that it does not explain by hand stands at its end, with its meaning."""
    from evalreport.schema.warnings import levels_of
    from evalreport.texts import group_of

    page = WARNINGS_PATH.read_text(encoding="utf-8")
    by_hand = _with_part(page, BEGIN_OTHERS, [], END_OTHERS)
    lines = []
    for code, meaning in sorted(group_of("meaning").items()):
        if f"### `{code}`" not in by_hand:
            lines += ["", f"### `{code}`", "", f"{' or '.join(levels_of(code)).capitalize()}. {meaning}"]
    part = ["", "## Other warnings", *lines, ""] if lines else []
    return _with_part(page, BEGIN_OTHERS, part, END_OTHERS)


def _with_part(page: str, begin: str, lines: list[str], end: str) -> str:
    """Return a page with these lines between two marks."""
    before, rest = page.split(begin)
    return "\n".join([f"{before}{begin}", *lines, f"{end}{rest.split(end)[1]}"])


def main() -> int:
    """Write or check the files; return the exit code."""
    sys.path.insert(0, str(ROOT))  # for the neighbour below, also where only the package is installed
    for module in DECLARED:  # before all others, which import them
        if not _is_written(ROOMS_PATH / f"{module}.py", declared(module)):
            return 1
    from evalreport.schema.json_schema import SCHEMA_FILE as SCHEMA_PATH
    from evalreport.schema.json_schema import json_schema
    from scripts.reference_pages import commands, results

    # The help of commands quotes the formats, so they are written first.
    written = {
        READABLE_PATH: _readable_formats,
        PATH: reference,
        KEYWORDS_PATH: keywords,
        ROOT / "docs" / "reference" / "commands.md": commands,
        ROOT / "docs" / "reference" / "results.md": results,
        COLUMNS_PATH: columns_page,
        WARNINGS_PATH: warnings_page,
        SCHEMA_PATH: json_schema,
    }
    for path, content in written.items():
        if not _is_written(path, content()):
            return 1
    return 0


def _is_written(path: Path, text: str) -> bool:
    """Write a file; with --check say whether it holds this text."""
    if "--check" not in sys.argv[1:]:
        path.write_text(text, encoding="utf-8")
    elif not path.exists() or path.read_text(encoding="utf-8") != text:
        print(f"{path.name} is not what the program would write: make docs", file=sys.stderr)
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
