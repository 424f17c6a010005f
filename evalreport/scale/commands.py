"""The command ``evalreport aggregate``."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from evalreport.cli import progress_bar, say, tell
from evalreport.cli.configuration import Grouped, aggregate_options, models_argument
from evalreport.cli.run import begin
from evalreport.errors import UsageError
from evalreport.options import memory_bytes
from evalreport.texts import Message


@click.command("aggregate", cls=Grouped)
@models_argument
@aggregate_options
@click.pass_context
def aggregate_command(
    context: click.Context, /, models: tuple[Path, ...], config: Path | None, **flags: object
) -> int:
    """Count predictions of any size for `run DIR`.

    MODELS are prediction files of labels (id, y_true, y_pred), of two classes with scores too, one a model or with a
    column model. DuckDB counts them in this process within --memory-limit (500 MB unless given); with --engine
    dask=ADDRESS or spark=MASTER a cluster does, from Parquet files that all its workers can open.
    """
    if flags.get("output") is None:
        raise UsageError("-o DIR is missing: the folder that the counts go to")
    context.obj["interrupted"] = "nothing was written"
    settings = begin(context, models, flags, config)
    import evalreport.metrics  # noqa: F401 - registers what is added up of scores
    from evalreport.scale.aggregates import aggregate

    output = settings.output
    with progress_bar("counting", shown=not output.quiet):
        done = aggregate(
            models[0] if len(models) == 1 else list(models),
            output=output.output,
            options=settings.options,
            engine=output.engine or "duckdb",
            memory_limit=memory_bytes(output.memory_limit),
        )
    if done.left_out:
        say(Message("cli.aggregate.left_out", columns=", ".join(done.left_out)), level="warning")
    if not output.quiet:
        counted = {"n": done.n, "models": len(done.models), "cells": done.cells, "folder": str(done.folder)}
        tell(Message("cli.aggregate.done", **counted))
        slices = [word for text in settings.options.slices for word in ("--slice", text)]
        command = shlex.join(["evalreport", "run", str(done.folder), *slices])
        tell(Message("cli.aggregate.next", command=command))
    return 0
