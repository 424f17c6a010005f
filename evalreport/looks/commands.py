"""The command ``evalreport declare``."""

from __future__ import annotations

from pathlib import Path

import click

from evalreport.cli import tell, writable
from evalreport.cli.configuration import PathOrAddress, criteria_options, given
from evalreport.errors import UsageError
from evalreport.options import KEYS, Options, filled, plain, run_time


@click.command("declare")
@click.option("--truth", type=PathOrAddress(), required=True, metavar="FILE|MODELS",
              help="True values by id, or prediction files that hold them; no prediction is read.")  # fmt: skip
@click.option("--models", multiple=True, required=True, metavar="A,B",
              help="Names of the models that will be compared; repeatable.")  # fmt: skip
@criteria_options
@click.option("-o", "--output", "path", type=click.Path(path_type=Path), default=Path("criteria.toml"),
              show_default=True, metavar="FILE", help="The file to write; an existing one stays.")  # fmt: skip
def declare_command(truth: Path | str, models: tuple[str, ...], path: Path, **flags: object) -> int:
    """Declare criteria before a run.

    Writes the primary metric, the margin, gates, slices, looks and models, with the time and digests of the true values
    and of the file itself. `evalreport run --criteria FILE` follows them, and its report says what was changed since:
    a gate, a metric, a slice or a model that was not declared is exploratory.
    """
    named = given(flags)
    time = named.pop("time", None)
    declare(
        str(truth),
        [name for part in models for name in part.split(",")],
        named,
        str(time or "") or None,
        path,
    )
    tell(str(path))
    return 0


def declare(truth: str, models: list[str], fields: dict[str, object], time: str | None, path: Path) -> None:
    """Declare criteria and write them; a file that exists is left as it is.

    Raises
    ------
    UsageError
        A value that is not allowed, or a file that exists.
    """
    from evalreport.looks.criteria import as_toml, declared

    fields = {key.field: plain(key, fields[key.field]) for key in KEYS if key.field in fields}
    if path.exists():
        raise UsageError(
            f"{path}: already exists and was left as it is: criteria are declared once; name another file with -o"
        )
    moment = run_time(time).strftime("%Y-%m-%dT%H:%M:%SZ")
    criteria = declared(filled(Options, fields), models, truth=truth, time=moment, given=tuple(fields))
    with writable(path, "name another file with -o"):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(as_toml(criteria))
