"""The command ``evalreport demo``: an example's prediction files and their report, without files of one's own."""

from __future__ import annotations

import io
import shlex
import zipfile
from importlib.resources import files
from pathlib import Path

import click

from evalreport.cli import progress_bar, say, tell, writable
from evalreport.cli.configuration import CONFIG_NAME, settle
from evalreport.errors import UsageError
from evalreport.files import write_whole
from evalreport.options import PAGE
from evalreport.texts import Message

TASKS = ("binary", "regression", "multiclass", "language-models")


@click.command("demo")
@click.option("-o", "--output", "folder", type=click.Path(path_type=Path), default=Path("evalreport-demo"),
              show_default=True, metavar="DIR", help="A new folder: models/ and report/ are made in it.")  # fmt: skip
@click.option("--task", type=click.Choice(TASKS), default=TASKS[0], show_default=True, help="Which example.")
@click.pass_context
def demo_command(context: click.Context, folder: Path, task: str) -> int:
    """Make an example and its report.

    No files are needed: the predictions of a few models come with evalreport. They are written into DIR/models, to
    be read and edited, and compared in DIR/report. A folder that exists is never overwritten.
    """
    context.obj["interrupted"] = Message("cli.demo.interrupted", folder=str(folder))
    models = unpack(task, folder)
    report_folder = folder / "report"
    settings = settle((models,), {"output": report_folder}, config=folder / CONFIG_NAME)
    from evalreport import analysis, report

    with progress_bar("comparing the models", shown=True) as progress:
        results = analysis.evaluate(models, options=settings.options, progress=progress)
    with progress_bar("writing the report", shown=True):
        outcome = report.render(results, report_folder, options=settings.output)
    for warning in outcome.warnings:
        say(f"warning: {warning}", level="warning")
    tell(Message("cli.demo.made", n=len(results.models), models=str(models)))
    tell(Message("cli.demo.report", path=str(report_folder / PAGE)))
    tell(Message("cli.demo.next", command=shlex.join(["evalreport", "check", str(models)])))
    return 0


def unpack(task: str, folder: Path) -> Path:
    """Write the files of an example into a new folder, and return the folder of its models.

    Raises
    ------
    UsageError
        The folder exists, or cannot be made.
    """
    content = files("evalreport.cli").joinpath("demonstrations", f"{task}.zip").read_bytes()
    with writable(folder), zipfile.ZipFile(io.BytesIO(content)) as archive:
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            raise UsageError(str(Message("cli.demo.exists", folder=str(folder)))) from None
        for name in archive.namelist():
            place = folder / name
            place.parent.mkdir(exist_ok=True)
            write_whole(place, archive.read(name))
    return folder / "models"
