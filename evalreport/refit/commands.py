"""The command ``evalreport resample``."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalreport.cli import progress_bar, say, tell
from evalreport.errors import InputError, OutputError
from evalreport.texts import Message

if TYPE_CHECKING:
    from evalreport.refit.plans import Plan
    from evalreport.refit.resampling import Resampled
    from evalreport.schema.inputs import JsonObject

FAILURES_SHOWN = 3

# \b keeps click from joining the lines of a paragraph.
HELP = """Fit the estimators of a PLAN and write what they predict.

PLAN is a TOML file: the data, the scheme (folds, bootstrap, learning curve ...) and the estimators. The predictions
are written in the format that `evalreport run` reads. This command runs the code that the plan names; `run` never
does. Interrupted, the same command goes on where it stopped.

\b
evalreport resample plan.toml -o predictions    fit, and write predictions/predictions.parquet
evalreport run predictions                      compare what was predicted

Exit codes: 0 done; 2 a plan or data that cannot be used, or no fit succeeded; 4 some fits failed: the predictions of
the others are written, and failures.md beside them holds the tracebacks.
"""


@click.command("resample", help=HELP)
@click.argument("plan", type=click.Path(path_type=Path), metavar="PLAN")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="DIR|FILE",
              help="A folder, or a file ending in .parquet, .csv or .csv.gz (default: PLAN's name and"
              " -predictions, here).")  # fmt: skip
@click.option(
    "--jobs", type=click.IntRange(min=1), metavar="N", help="Fits at once (default: the plan's, else 1)."
)
@click.option("--backend", type=click.Choice(["sequential", "threads", "loky", "dask"]),
              help="Where fits run: this process, its threads, other processes, a Dask cluster"
                    " (default: the plan's, else loky); the predictions are the same bytes.")  # fmt: skip
@click.option("--scheduler", metavar="ADDRESS", help="Of the Dask cluster, such as tcp://127.0.0.1:8786.")
@click.option("--seed", type=click.IntRange(min=0), metavar="N", help="Over the plan's seed (default 0).")
@click.option("-q", "--quiet", is_flag=True, help="Print only errors and failures.")
@click.option("-v", "--verbose", is_flag=True, help="Show the traceback of every fit that failed.")
@click.pass_context
def resample_command(
    context: click.Context, /, plan: Path, output: Path | None, quiet: bool, verbose: bool, **flags: Any
) -> int:
    """Carry out a plan and print the files written; the help text is HELP."""
    context.obj |= {"verbose": verbose, "interrupted": Message("cli.resample.kept")}
    from evalreport.refit.plans import read_plan
    from evalreport.refit.resampling import resample

    settled = _with_flags(read_plan(plan), flags)
    place = Path(f"{plan.stem}-predictions") if output is None else output
    with progress_bar("reading the examples", shown=not quiet, remaining=True) as progress:
        done = resample(
            settled,
            output=place,
            progress=progress,
            announce=(lambda _text: None) if quiet else say,
            done=lambda path: context.obj.update(interrupted=Message("cli.resample.written", path=str(path))),
        )
    _say_done(done, place, quiet=quiet)
    return _say_failures(done, verbose=verbose)


def _with_flags(plan: Plan, flags: JsonObject) -> Plan:
    """Return the plan with the given flags, checked again."""
    from msgspec.structs import replace

    from evalreport.refit.plans import settle

    given = {name: value for name, value in flags.items() if value is not None}
    if "scheduler" in given and "backend" not in given:
        given["backend"] = "dask"
    if given.get("backend", "dask") != "dask":
        given.setdefault("scheduler", None)
    return settle(replace(plan, **given))


def _say_done(done: Resampled, place: Path, *, quiet: bool) -> None:
    if quiet:
        return
    for text in done.estimators_warned:
        say(f"warning: {text}")
    if done.predictions is None:
        return
    fits, command = done.n_fits - len(done.failures), ["evalreport", "run", str(place), *done.arguments]
    counts = {"rows": done.n_rows, "n": len(done.models), "fits": fits}
    say(Message("cli.resample.done", **counts, command=shlex.join(command)))
    tell(f"predictions: {done.predictions}")


def _say_failures(done: Resampled, *, verbose: bool) -> int:
    """Print which fits failed and where their tracebacks are; return the exit code."""
    if not done.failures:
        return 0
    for failure in done.failures if verbose else done.failures[:FAILURES_SHOWN]:
        which = ", ".join(f"{name} {value:g}" for name, value in failure.fit.items())
        say(f"failed: {failure.model}{f' ({which})' if which else ''}: {failure.error}")
        for line in failure.traceback.rstrip().splitlines() if verbose else ():
            say(f"  {line}")
    failed = len(done.failures)
    say(Message("cli.resample.failed", n=failed, fits=done.n_fits, file=str(done.failures_file)))
    return InputError.exit_code if done.predictions is None else OutputError.exit_code
