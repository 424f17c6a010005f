"""The commands before a run: ``evalreport init``, ``list``, ``plan`` and ``templates``."""

from __future__ import annotations

import json
import math
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalreport.cli import tell, writable
from evalreport.cli.configuration import CONFIG_NAME
from evalreport.errors import UsageError
from evalreport.keys import Kind
from evalreport.options import KEYS
from evalreport.questions.looks.options import MOST_LOOKS
from evalreport.texts import Message, group_of

if TYPE_CHECKING:
    from evalreport.schema.inputs import JsonObject

POSITIVE = click.FloatRange(min=0, min_open=True)
# \b keeps click from joining the lines of a paragraph.
HELP = """Say how many examples are needed, or what they can show.

No file is read: the answers rest on what is assumed, which is printed beside them. Without a question, the
smallest differences that usual numbers of examples show.

\b
evalreport plan --half-width 0.02                   an accuracy to within ± 2 points
evalreport plan --difference 0.02 --expected 0.9    two models, 2 points apart
evalreport plan -n 500                              what 500 examples show
evalreport plan -n 200 --between 0.1 --within 0.12  200 questions, by the attempts at each
evalreport plan --difference 0.02 --looks 5         the same if there may be five looks on the way
evalreport plan -n 2000 --judge-correlation 0.8     what human outcomes are worth beside a judge
"""
SHARE = click.FloatRange(min=0, max=1, min_open=True, max_open=True)


@click.group("list")
def list_command() -> None:
    """List metrics, tests, intervals, curves, templates, warnings."""


@list_command.command("metrics")
def list_metrics() -> None:
    """List the metrics.

    Prints name, label, tasks, the recommended interval and the definition in a sentence.
    """
    from evalreport.metrics import METRICS

    firsts = {m.name: m.inference.intervals[0] if m.inference.intervals else "-" for m in METRICS.values()}
    _print_rows(
        (m.name, m.display.label, " ".join(m.tasks), firsts[m.name], m.display.summary)
        for m in METRICS.values()
    )


@list_command.command("intervals")
def list_intervals() -> None:
    """List the methods of confidence intervals.

    Prints name, label, where the interval leads and the definition in a sentence. Where it leads are rows of one
    table: the lowest number that fits, and whose interval applies, decides.
    """
    from evalreport.intervals import INTERVALS
    from evalreport.intervals.leaders import leads_for

    _print_rows((e.name, e.label, leads_for(e.name) or "-", e.summary) for e in INTERVALS.values())


@list_command.command("tests")
def list_tests() -> None:
    """List the tests of differences.

    Prints name, label, where the test leads and the definition in a sentence. Where it leads are rows of one table:
    the lowest number that fits decides.
    """
    from evalreport.comparisons import TESTS
    from evalreport.comparisons.test_selection import leads_for

    _print_rows((e.name, e.label, leads_for(e.name) or "-", e.summary) for e in TESTS.values())


@list_command.command("curves")
def list_curves() -> None:
    """List the curves in results.json."""
    from evalreport.metrics.curves import CURVES

    _print_rows((entry.name, entry.label, entry.summary) for entry in CURVES.values())


@list_command.command("templates")
def list_templates() -> None:
    """List the built-in templates.

    `evalreport templates copy DIR` copies them to be edited.
    """
    for name in template_files():
        click.echo(name)


@list_command.command("warnings")
def list_warnings() -> None:
    """List the warnings of a run.

    Prints code, level and meaning. A warning with several levels has the first one as a rule.
    """
    from evalreport.schema.warnings import levels_of

    _print_rows(
        (code, ", ".join(levels_of(code)), meaning) for code, meaning in sorted(group_of("meaning").items())
    )


def _print_rows(rows: Iterable[Sequence[str]]) -> None:
    """Print names with summaries on a terminal; else tab-separated rows, for grep and cut."""
    if not sys.stdout.isatty():
        for row in rows:
            click.echo("\t".join(row))
        return
    formatter = click.HelpFormatter(width=shutil.get_terminal_size().columns)
    described = [(name, f"{summary} ({'; '.join(facts)})" if facts else summary)
                 for name, *facts, summary in rows]  # fmt: skip
    formatter.write_dl(described)
    click.echo(formatter.getvalue(), nl=False)


@click.command("schema")
@click.option("--settings", is_flag=True, help="That of evalreport.toml instead, for editors.")
def schema_command(settings: bool) -> int:
    """Print the JSON Schema of results.json.

    In JSON Schema 2020-12, also in the package: evalreport/schema/results.schema.json.
    """
    from evalreport.schema.json_schema import SCHEMA_FILE

    click.echo(settings_schema() if settings else SCHEMA_FILE.read_text(encoding="utf-8"), nl=False)
    return 0


TEXT = {"type": "string"}
TEXTS = {"anyOf": [TEXT, {"type": "array", "items": TEXT}]}
TYPES: Mapping[Kind, dict[str, Any]] = {
    **{"text": TEXT, "path": TEXT, "choice": TEXT, "list": TEXTS, "formats": TEXTS},
    **{"number": {"type": "number"}, "integer": {"type": "integer"}, "flag": {"type": "boolean"}},
}
"""The JSON Schema of an option's value, by its kind."""


def settings_schema() -> str:
    """Return the JSON Schema of evalreport.toml: every key with its type, its choices and its sentence.

    Examples
    --------
    >>> '"seed"' in settings_schema()
    True
    """
    choices = {key.name: {"enum": list(key.choices)} for key in KEYS if key.choices and key.kind == "choice"}
    keys = {
        key.name: {**TYPES[key.kind], **choices.get(key.name, {}), "description": key.summary} for key in KEYS
    }
    table = {"type": "object", "properties": keys, "additionalProperties": False}
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": CONFIG_NAME}
    document = {**head, **table, "properties": {"evalreport": table}}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


@click.command("init")
@click.argument("folder", type=click.Path(path_type=Path), default=Path(), metavar="[DIR]")
def init_command(folder: Path) -> int:
    """Write a commented evalreport.toml.

    Written into DIR (default: the current folder); an existing file is never overwritten.
    """
    path = folder / CONFIG_NAME
    with writable(path, "name another folder"):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            # "x" fails if the file exists, so that no file is ever overwritten.
            with path.open("x", encoding="utf-8", newline="\n") as file:
                file.write(starter())
        except FileExistsError:
            existing = path if path.exists() else folder
            raise UsageError(
                f"{existing}: already exists and was left as it is; name another folder"
            ) from None
    tell(str(path))
    return 0


def starter() -> str:
    """Return the text of an evalreport.toml with every key, commented out.

    Examples
    --------
    >>> "#seed = 0" in starter()
    True
    """
    parts = [str(Message("starter.preamble"))]
    for key in KEYS:
        comment = textwrap.fill(
            key.summary, 100, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False
        )
        parts.append(f"{comment}\n#{key.name} = {key.example}\n")
    return "\n".join(parts)


@click.group("templates")
def templates_command() -> None:
    """Copy the templates of the report."""


@templates_command.command("copy")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
def copy_templates(folder: Path) -> int:
    """Copy the built-in templates to DIR.

    Edit them there and use them with --templates DIR; remove those that you do not change.

    Files that are there already stay as they are.
    """
    from evalreport.files import write_whole

    files = template_files()
    kept = 0
    with writable(folder, "name another folder"):
        for name, content in files.items():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.exists():
                kept += 1
            else:
                write_whole(target, content)  # else half a template would be kept as the user's
    tell(f"{folder}: {len(files) - kept} files copied" + (f", {kept} kept as they were" if kept else ""))
    return 0


def template_files() -> dict[str, bytes]:
    """Return the paths and contents of the built-in templates.

    They include the texts of the report, under a name that no run reads, as a base for translations.
    """
    from evalreport.report.templates import template_folder
    from evalreport.report.translations import shipped_as_toml

    root = template_folder()
    paths = sorted(path for path in root.rglob("*") if path.is_file() and path.suffix != ".pyc")
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}
    return files | {"texts.en.toml": shipped_as_toml()}


@click.command("plan", help=HELP)
@click.option("--half-width", type=POSITIVE, metavar="X", help="Ask: examples for an interval of ± X.")
@click.option("--difference", type=POSITIVE, metavar="X", help="Ask: examples to find a difference of X.")
@click.option("-n", "--examples", type=click.IntRange(min=2), metavar="N",
              help="Ask: what N examples show (smallest difference, half-width).")  # fmt: skip
@click.option("--measure", type=click.Choice(["accuracy", "mean", "auc"]), default="accuracy", show_default=True,
              help="What is measured: accuracy or any other proportion, the mean of a loss, or ROC AUC.")  # fmt: skip
@click.option("--layout", type=click.Choice(["one", "paired", "independent", "folds"]), default="paired",
              show_default=True,
              help="One model against a value, two on the same examples, two on sets of their own, or"
              " cross-validation.")  # fmt: skip
@click.option("--expected", type=click.FloatRange(0, 1), multiple=True, metavar="X",
              help="Expected accuracy or AUC; twice for two models (default: usual values).")  # fmt: skip
@click.option("--against", type=SHARE, metavar="X", help="The value that one model is compared with.")
@click.option("--discordance", type=click.FloatRange(min=0, max=1, min_open=True), metavar="X",
              help="Share of examples on which exactly one of the two models is right.")  # fmt: skip
@click.option("--sd", type=POSITIVE, metavar="X",
              help="Standard deviation: of a mean's values, of the per-example differences of two models, or of the"
              " fold differences.")  # fmt: skip
@click.option("--attempts", type=click.IntRange(min=1), multiple=True, metavar="M",
              help="Attempts at each question, whose mean counts; repeatable (default: usual numbers).")  # fmt: skip
@click.option("--between", type=click.FloatRange(min=0), metavar="X",
              help="With attempts: variance between questions (of one model, or of the differences of two), as"
              " attempt_variance in a results.json has it.")  # fmt: skip
@click.option("--within", type=click.FloatRange(min=0), metavar="X",
              help="With attempts: variance between the attempts at one question.")  # fmt: skip
@click.option("--prevalence", type=SHARE, default=0.5, show_default=True, metavar="X",
              help="Share of positive examples, for AUC.")  # fmt: skip
@click.option("--folds", type=click.IntRange(min=2), default=10, show_default=True, metavar="K",
              help="Folds of the cross-validation.")  # fmt: skip
@click.option("--repeats", type=click.IntRange(min=1), metavar="R", help="Repeats of the cross-validation.")
@click.option("--judge-correlation", type=click.FloatRange(min=-1, max=1, min_open=True), metavar="R",
              help="Ask: what human outcomes are worth beside an automatic judge's of all -n answers; correlation of"
              " judge and people (--sd or --expected: of what people say).")  # fmt: skip
@click.option("--results", type=click.Path(path_type=Path), metavar="FILE",
              help="Ask how many fresh examples would confirm the model that leads in this results.json; with the"
              " column gold also what human outcomes are worth, by its correlations.")  # fmt: skip
@click.option("--looks", type=click.IntRange(min=2, max=MOST_LOOKS), metavar="L",
              help="With --difference: L looks at a growing number of examples, for power 0.8 and 0.9.")  # fmt: skip
@click.option("--power", type=SHARE, default=0.8, show_default=True, metavar="X",
              help="Wanted probability of finding the difference.")  # fmt: skip
@click.option("--confidence", type=SHARE, default=0.95, show_default=True, metavar="X",
              help="Level of the intervals; 1 − X is the level of the tests.")  # fmt: skip
@click.option("--pairs", type=click.IntRange(min=1), default=1, show_default=True, metavar="M",
              help="Comparisons that are corrected together (α is divided by M).")  # fmt: skip
def plan_command(
    *, confidence: float, pairs: int, expected: tuple[float, ...], results: Path | None, **assumed: Any
) -> int:
    """Print the answers to a question of planning; the help text is HELP."""
    if len(expected) > 2:
        raise UsageError("--expected is given once for each of at most two models")
    _require_finite({**assumed, "confidence": confidence, "expected": sum(expected)})
    from evalreport.comparisons.study_design import PlanOptions, answers, judges_of, leads_of

    content = None if results is None else _content(results)
    choices = () if content is None else leads_of(content)
    judges = () if content is None else judges_of(content, may_lack=bool(choices))
    alpha = (1 - confidence) / pairs
    plan = PlanOptions(**assumed, expected=expected, alpha=alpha, judges=judges, choices=choices)
    click.echo("\n\n".join(map(str, answers(plan))))
    return 0


def _content(results: Path) -> JsonObject:
    from evalreport.schema.recorded import read_recorded

    return read_recorded(results).content


def _require_finite(values: Mapping[str, object]) -> None:
    """Refuse nan and infinity, which click's ranges accept."""
    for name, value in values.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise UsageError(f"--{name.replace('_', '-')}: {value} is not a finite number")
