"""``evalreport import``: other tools' logs -> a prediction file that `run` reads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from evalreport.cli.messages import say

if TYPE_CHECKING:
    from evalreport.imports import Imported
    from evalreport.imports.lm_eval import Runs

F = TypeVar("F", bound=Callable[..., object])


def shared_options(function: F) -> F:
    """Add the argument and the options that every import has."""
    parts = (
        click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH..."),
        click.option("-o", "--output", required=True, type=click.Path(path_type=Path), metavar="FILE",
                     help="The prediction file: .csv, .tsv, .jsonl (each also .gz) or .parquet."),
        click.option("--model", "models", multiple=True, metavar="NAME",
                     help="Repeatable: names of the models, in order of what is read (default: found)."),
        click.option("-q", "--quiet", is_flag=True, help="Print errors only."),
    )  # fmt: skip
    for part in reversed(parts):
        function = part(function)
    return function


@click.group("import")
def import_command() -> None:
    """Turn other tools' logs into predictions.

    Only JSON is read; nothing is unpickled, fetched or run.
    """


@import_command.command("mlflow")
@shared_options
@click.option("--id", "id_column", metavar="COLUMN",
              help="What rows are matched by (default: a column id, else a digest of the inputs).")  # fmt: skip
@click.option("--outcome", metavar="COLUMN",
              help="The column that judges a row (default: the only one of */score and */value).")  # fmt: skip
@click.option(
    "--target", metavar="COLUMN", help="The truth, to compare labels or numbers instead of an outcome."
)
@click.option("--prediction", metavar="COLUMN", help="The answer (default: a column called so).")
def import_mlflow_command(
    paths: tuple[Path, ...],
    output: Path,
    models: tuple[str, ...],
    quiet: bool,
    id_column: str | None,
    outcome: str | None,
    target: str | None,
    prediction: str | None,
) -> int:
    """Read evaluation tables of MLflow.

    PATH is a table (eval_results_table.json; the result_df of mlflow.genai.evaluate saved with
    to_json(orient="split")), or a folder that is searched for such tables, as a store of runs or artifacts.
    """
    from evalreport.imports import import_mlflow

    table = import_mlflow(
        paths, models=models, id_column=id_column, outcome=outcome, target=target, prediction=prediction
    )
    return _written(table, output, quiet=quiet)


@import_command.command("lm-eval")
@shared_options
@click.option(
    "--task", "tasks", multiple=True, metavar="NAME", help="Repeatable: only this task (default: all)."
)
@click.option("--metric", metavar="NAME", help="The outcome (default: the first metric of each sample).")
@click.option(
    "--filter",
    "filter_name",
    metavar="NAME",
    help="Whose answers, where a task filters them in several ways.",
)
@click.option("--labels", is_flag=True,
              help="Truth, prediction, probabilities: multiple choice with fixed choices only.")  # fmt: skip
@click.option(
    "--prompts-differ", is_flag=True, help="Accept that models were asked the same by other prompts."
)
@click.option("--runs", type=click.Choice(["only", "last", "all"]), default="only", show_default=True,
              help="Several logs of one model and task: refuse, the last, all as samples.")  # fmt: skip
def import_lm_eval_command(
    paths: tuple[Path, ...],
    output: Path,
    models: tuple[str, ...],
    quiet: bool,
    tasks: tuple[str, ...],
    metric: str | None,
    filter_name: str | None,
    labels: bool,
    prompts_differ: bool,
    runs: Runs,
) -> int:
    """Read sample logs of lm-evaluation-harness.

    PATH is a samples_TASK_DATE.jsonl (written with --log_samples), or a folder that is searched for them. Samples are
    matched by the digests of their documents; models that were asked different things are refused.
    """
    from evalreport.imports import import_lm_eval

    table = import_lm_eval(
        paths,
        models=models,
        tasks=tasks,
        metric=metric,
        filter_name=filter_name,
        labels=labels,
        prompts_differ=prompts_differ,
        runs=runs,
    )
    return _written(table, output, quiet=quiet)


def _written(table: Imported, output: Path, *, quiet: bool) -> int:
    from evalreport.imports import write_table

    write_table(table, output)
    if not quiet:
        for sentence in table.said:
            say(sentence)
        say(f"written: {output}")
    return 0
