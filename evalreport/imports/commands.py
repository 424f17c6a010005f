"""The command ``evalreport import``."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from evalreport.cli import say
from evalreport.texts import Message

if TYPE_CHECKING:
    from evalreport.imports.answers import Imported

F = TypeVar("F", bound=Callable[..., object])


def shared_options(function: F) -> F:
    """Add the argument and the options that every import has."""
    parts = (
        click.argument("paths", nargs=-1, required=True, metavar="PATH..."),
        click.option("-o", "--output", required=True, type=click.Path(path_type=Path), metavar="FILE",
                     help="The prediction file: .csv, .tsv, .jsonl (each also .gz) or .parquet."),
        click.option("--model", "models", multiple=True, metavar="NAME",
                     help="Repeatable: models to read, as they are called there (FOUND=NAME renames one); or one"
                     " name for each PATH, in order."),
        click.option("-q", "--quiet", is_flag=True, help="Print errors only."),
    )  # fmt: skip
    for part in reversed(parts):
        function = part(function)
    return function


@click.group("import")
def import_command() -> None:
    """Turn other tools' logs into predictions.

    Reads JSON and SQLite databases, read-only; nothing is unpickled or run.
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
@click.option("--gold", metavar="COLUMN", help="What a person judged, on some rows: becomes the column gold.")
@click.option("--experiment", metavar="NAME", help="Only runs of this experiment, of a database or server.")
def import_mlflow_command(paths: tuple[str, ...], output: Path, quiet: bool, **options: Any) -> int:
    """Read evaluations of MLflow: tables of rows, and judged traces.

    PATH is a database (sqlite:///mlflow.db), a server (http://...), a folder that is searched for
    eval_results_table.json, or such a table (also the result_df of mlflow.genai.evaluate saved with
    to_json(orient="split")). Runs are models, by their names.
    """
    from evalreport.imports.mlflow import import_mlflow

    return _written(import_mlflow(paths, **options), output, quiet=quiet)


@import_command.command("inspect")
@shared_options
@click.option("--scorer", metavar="NAME", help="Whose score is the outcome (default: the only one).")
@click.option("--gold", metavar="NAME", help="The scorer that holds what a person judged: the column gold.")
@click.option("--runs", type=click.Choice(["only", "last"]), default="only", show_default=True,
              help="Several logs of one model and task: refuse, or the last.")  # fmt: skip
def import_inspect_command(paths: tuple[str, ...], output: Path, quiet: bool, **options: Any) -> int:
    """Read logs of Inspect AI.

    PATH is a log (.eval or .json), or a folder of them. Epochs become the column attempt; a sample that an error or a
    limit left without a score has an empty outcome.
    """
    from evalreport.imports.inspect_ai import import_inspect

    return _written(import_inspect(_files(paths), **options), output, quiet=quiet)


@import_command.command("promptfoo")
@shared_options
@click.option("--metric", metavar="NAME", help="score, or a named metric (default: whether the test passed).")
def import_promptfoo_command(paths: tuple[str, ...], output: Path, quiet: bool, **options: Any) -> int:
    """Read results of promptfoo.

    PATH is a results.json (promptfoo eval -o results.json), or a folder of them. Providers are models; tests are
    matched by their variables and assertions, and those of --repeat become the column attempt.
    """
    from evalreport.imports.test_cases import import_promptfoo

    return _written(import_promptfoo(_files(paths), **options), output, quiet=quiet)


@import_command.command("deepeval")
@shared_options
@click.option(
    "--metric", metavar="NAME", help="The metric whose score counts (default: whether a test passed)."
)
@click.option("--runs", type=click.Choice(["only", "last"]), default="only", show_default=True,
              help="Several test runs of one model: refuse, or the last.")  # fmt: skip
def import_deepeval_command(paths: tuple[str, ...], output: Path, quiet: bool, **options: Any) -> int:
    """Read test runs of DeepEval.

    PATH is a test run as JSON, or a folder of them (DEEPEVAL_RESULTS_FOLDER). Its hyperparameter model names the model.
    """
    from evalreport.imports.test_cases import import_deepeval

    return _written(import_deepeval(_files(paths), **options), output, quiet=quiet)


@import_command.command("every-eval-ever")
@shared_options
@click.option(
    "--task", "tasks", multiple=True, metavar="NAME", help="Repeatable: only this evaluation (default: all)."
)
@click.option(
    "--metric",
    type=click.Choice(["is_correct", "score"]),
    default=None,
    help="The outcome (default: is_correct).",
)
@click.option("--runs", type=click.Choice(["only", "last"]), default="only", show_default=True,
              help="Several evaluations of one model and name: refuse, or the last.")  # fmt: skip
def import_every_eval_ever_command(paths: tuple[str, ...], output: Path, quiet: bool, **options: Any) -> int:
    """Read instance files of Every Eval Ever.

    PATH is a .jsonl of instances (schema 0.2 and 0.3), or a folder that is searched for them. HELM, Inspect AI and
    lm-evaluation-harness convert to it. Samples are matched by sample_id, or by sample_hash where that names several.
    """
    from evalreport.imports.every_eval_ever import import_every_eval_ever

    return _written(import_every_eval_ever(_files(paths), **options), output, quiet=quiet)


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
@click.option(
    "--prompts-differ", is_flag=True, help="Accept that models were asked the same by other prompts."
)
@click.option("--runs", type=click.Choice(["only", "last", "all"]), default="only", show_default=True,
              help="Several logs of one model and task: refuse, the last, all as attempts.")  # fmt: skip
def import_lm_eval_command(paths: tuple[str, ...], output: Path, quiet: bool, **options: Any) -> int:
    """Read sample logs of lm-evaluation-harness.

    PATH is a samples_TASK_DATE.jsonl (written with --log_samples), or a folder that is searched for them. Samples are
    matched by the digests of their documents; models that were asked different things are refused.
    """
    from evalreport.imports.lm_eval import import_lm_eval

    return _written(import_lm_eval(_files(paths), **options), output, quiet=quiet)


def _files(paths: tuple[str, ...]) -> list[Path]:
    return [Path(path) for path in paths]


def _written(table: Imported, output: Path, *, quiet: bool) -> int:
    from evalreport.imports.answers import write_table

    write_table(table, output)
    if not quiet:
        for sentence in table.notes:
            say(sentence)
        command = shlex.join(["evalreport", "run" if table.options else "check", str(output), *table.options])
        say(Message("imported.written", file=str(output), command=command))
    return 0
