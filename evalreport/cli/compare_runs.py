"""``evalreport compare-runs``: what changed between two runs, for a terminal, a pull request or a program."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evalreport.cli.messages import clean
from evalreport.cli.run import EXIT_GATE_FAILED, EXIT_GATE_UNDECIDED
from evalreport.config import STANDARD_OUTPUT
from evalreport.errors import UsageError
from evalreport.redaction import cleared

if TYPE_CHECKING:
    from evalreport.audit.compare_runs import Compared


@click.command("compare-runs")
@click.argument("old", type=click.Path(path_type=Path), metavar="OLD")
@click.argument("new", type=click.Path(path_type=Path), metavar="NEW")
@click.option("--inputs", nargs=2, type=click.Path(path_type=Path), metavar="OLD_DIR NEW_DIR",
              help="The prediction files of both runs: models are then compared pair by pair.")  # fmt: skip
@click.option("--fail-if-worse", is_flag=True,
              help="Exit 1 as well where a model is decidedly worse on the primary metric.")  # fmt: skip
@click.option("-f", "--format", "form", type=click.Choice(["text", "md", "json"]), default="text",
              show_default=True, help="How to write it; md is for a review.")  # fmt: skip
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE",
              help="Write it to a file (default: standard output).")  # fmt: skip
def compare_runs_command(
    old: Path,
    new: Path,
    inputs: tuple[Path, Path] | None,
    fail_if_worse: bool,
    form: str,
    output: Path | None,
) -> int:
    """Say what changed between two runs.

    Values, verdicts, gates, models, data and options, from OLD to NEW, the base branch and the pull request. Each is an
    output folder, a results.json or a report.pdf. Without --inputs there is only each value with its interval, and what
    that cannot settle is said.

    Exit codes: 0 no gate of NEW failed; 1 one failed (or a model got worse, with --fail-if-worse); 2 bad input;
    3 none failed, one is undecided.
    """
    from evalreport.audit.changes_text import as_markdown, as_text
    from evalreport.audit.compare_runs import compare_runs
    from evalreport.audit.results_file import read_recorded

    found = compare_runs(read_recorded(old), read_recorded(new), inputs=inputs or None)
    if form == "json":
        text = json.dumps(asdict(found), sort_keys=True, indent=1, default=str) + "\n"
    elif form == "md":
        text = as_markdown(found)
    else:
        text = "".join(clean(line) + "\n" for line in as_text(found))
    _write(text, output)
    return _exit_code(found, fail_if_worse=fail_if_worse)


def _exit_code(found: Compared, *, fail_if_worse: bool) -> int:
    outcomes = {gate.new for gate in found.gates}
    worse = any(value.judgement == "worse" and value.within is None for value in found.values)
    if "fail" in outcomes or (fail_if_worse and worse):
        return EXIT_GATE_FAILED
    return EXIT_GATE_UNDECIDED if "undecided" in outcomes else 0


def _write(text: str, output: Path | None) -> None:
    if output is None:
        click.echo(cleared(text), nl=False)
        return
    from evalreport.publishing import write_whole

    content = text.encode("utf-8", "backslashreplace")
    try:
        if output == STANDARD_OUTPUT:
            click.echo(content, nl=False)
        else:
            write_whole(output, content)
    except OSError as error:
        raise UsageError(
            f"{output}: cannot be written ({error.strerror}); name another place with -o"
        ) from None
