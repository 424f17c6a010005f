"""``evalreport check``: read and validate only; what was found and which analyses are possible."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalreport.cli.configuration import settle
from evalreport.cli.messages import clean, say, tell, tell_json
from evalreport.cli.options import given, loading_options, models_argument
from evalreport.config import memory_bytes
from evalreport.texts import group_of

if TYPE_CHECKING:
    from evalreport.data.predictions import Predictions
    from evalreport.data.survey import Possible


@click.command("check")
@models_argument
@loading_options
@click.option(
    "-f", "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True,
    help="How to print what was found.",
)  # fmt: skip
@click.pass_context
def check_command(
    context: click.Context, /, models: tuple[Path, ...], config: Path | None, form: str, **flags: Any
) -> int:
    """Read and validate MODELS, analyse nothing.

    Prints which models, design and task were found, which analyses are possible, and for the others the
    reason and what would make them possible. Bad input ends with exit code 2, as it would in a run.
    """
    settings = settle(models, given(flags), config=config)
    context.obj["verbose"] = settings.output.verbose
    if settings.config is not None and not settings.output.quiet:
        say(f"configuration: {settings.config}")
    from evalreport import data

    source = models[0] if len(models) == 1 else list(models)
    predictions = data.load(
        source, options=settings.options, memory_limit=memory_bytes(settings.output.memory_limit)
    )
    survey = data.survey(predictions)
    if form == "json":
        _print_json(predictions, survey)
    elif not settings.output.quiet:
        _print_found(predictions)
        _print_survey(survey)
    return 0


def _print_found(predictions: Predictions) -> None:
    """Print the files and what they hold, one fact a line."""
    for record in predictions.inputs:
        model = f", model {record.model}" if record.model is not None else ""
        tell(f"file: {record.path} ({record.rows} rows{model})")
    for name, value in _facts(predictions).items():
        if value is not None:
            tell(f"{name}: {value}")
    for found in predictions.found:
        tell(f"{found.what}: {found.value}" + (f" ({found.why})" if found.why else ""))
    for warning in predictions.warnings:
        tell(f"warning: {warning.text} [{warning.code}]")


def _facts(predictions: Predictions) -> dict[str, str | None]:
    said = {record.what for record in predictions.found}
    facts = {
        "models": ", ".join(model.name for model in predictions.models),
        "rows": str(predictions.n),
        "examples": str(len(predictions.ids)),
        "task": predictions.task,
        "design": predictions.design,
        "classes": ", ".join(predictions.classes) or None,
        "positive class": predictions.positive,
        "metadata columns": ", ".join(predictions.metadata) or None,
    }
    # What was found is printed with its reason, once.
    return {name: value for name, value in facts.items() if name not in said}


def _print_survey(survey: tuple[Possible, ...]) -> None:
    """Print the analyses: a table on a terminal, one line each (tab-separated) elsewhere."""
    if not sys.stdout.isatty():
        for row in survey:
            state = "possible" if row.possible else "not possible"
            tell(f"{state}: {row.analysis}\t{row.reason}\t{row.remedy or ''}".rstrip("\t"))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*group_of("cli.check").values(), title="Analyses")
    for row in survey:
        cells = (row.analysis, "yes" if row.possible else "no", row.reason, row.remedy or "")
        table.add_row(*(Text(clean(cell)) for cell in cells))
    Console().print(table)


def _print_json(predictions: Predictions, survey: tuple[Possible, ...]) -> None:
    """Print everything as one JSON object, for scripts."""
    from dataclasses import asdict

    content = {
        "task": predictions.task,
        "design": predictions.design,
        "n": predictions.n,
        "classes": list(predictions.classes),
        "positive": predictions.positive,
        "models": [model.name for model in predictions.models],
        "inputs": [asdict(record) for record in predictions.inputs],
        "found": [asdict(record) for record in predictions.found],
        "warnings": [asdict(record) for record in predictions.warnings],
        "analyses": [asdict(row) for row in survey],
    }
    tell_json(content)
