"""The command ``evalreport render``: a saved report drawn again."""

from __future__ import annotations

from pathlib import Path

import click

from evalreport.cli.configuration import given, rendering_options
from evalreport.cli.run import check_output, write
from evalreport.errors import redacted
from evalreport.options import OutputOptions, filled, validate_output


@click.command("render")
@click.argument("results", type=click.Path(path_type=Path), metavar="RESULTS")
@rendering_options
@click.pass_context
def render_command(context: click.Context, /, results: Path, **flags: object) -> int:
    """Draw a saved report again, without its inputs.

    RESULTS is a results.json under any name, an output folder, or a report.pdf with its attachment. Nothing is
    computed: with the same options as in the run the files are the same, byte by byte (--time is the run's time).

    Exit codes: 0 done, whatever its gates; 2 bad usage, or no results; 4 an output could not be made.
    """
    from dataclasses import replace

    from evalreport.schema.recorded import read_recorded, results_of

    output = filled(OutputOptions, given(flags))
    validate_output(output)
    if output.title is not None:
        output = replace(output, title=redacted(output.title))
    context.obj["verbose"] = output.verbose
    context.obj["interrupted"] = "nothing was written"
    recorded = results_of(read_recorded(results).content)
    check_output(output)
    failure = write(recorded, output, context.obj)
    return 0 if failure is None else failure.exit_code
