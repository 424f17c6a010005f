"""The options and input files that a results.json records, found again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from evalreport.errors import EvalreportError, UsageError
from evalreport.options import Options, with_fields
from evalreport.predictions.direction import BY_NAME
from evalreport.registry import instead_of
from evalreport.schema.inputs import JsonObject
from evalreport.sources.files import digest
from evalreport.sources.recorded import places, stays_below
from evalreport.texts import Message, Text, plain

State = Literal["unchanged", "changed", "missing"]


@dataclass(frozen=True, slots=True)
class InputState:
    """One recorded input and whether its file has the recorded digest; ``why`` says why a file is missing."""

    path: str
    state: State
    recorded: str
    found: str | None = None
    why: Text | None = None


def recorded_options(content: JsonObject, folder: Path) -> Options:
    """Return the recorded options; the file of true values is looked for in the folder.

    Raises
    ------
    UsageError
        An option that this version does not know, a value that it refuses, or too many resamples.
    """
    # Options that are gone were recorded with their defaults by earlier versions.
    given = {k: v for k, v in content["options"].items() if v not in (None, False) or not instead_of(k)}
    if any(row.get("code") == BY_NAME for row in content.get("found", ())):
        given.pop("lower_is_better", None)  # a name decided it, and does again
    if given.get("truth") is not None:
        named = [
            row["path"] for row in content["inputs"] if PurePosixPath(row["path"]).name == given["truth"]
        ]
        if not named:
            raise UsageError(f"the file of true values {given['truth']!r} is not among the recorded inputs")
        given["truth"] = str(folder / places(content["inputs"])[named[0]])
    try:
        options = with_fields(Options(), given)
    except EvalreportError as error:
        raise UsageError(f"the recorded options cannot be followed: {error}") from error
    return options


def input_states(content: JsonObject, folder: Path) -> tuple[InputState, ...]:
    """Find every recorded input in a folder, and compare its digest."""
    paths = places(content["inputs"])
    return tuple(_state(row, paths[row["path"]], folder) for row in content["inputs"])


def _state(row: JsonObject, relative: str, folder: Path) -> InputState:
    path, recorded = row["path"], row["sha256"]
    if path == "<memory>":
        return InputState(path, "missing", recorded, why=Message("verify.in_memory"))
    if not stays_below(relative):
        # A path from outside must not lead to other files of this machine.
        return InputState(path, "missing", recorded, why=Message("verify.out_of_folder"))
    file = folder / relative
    try:
        if not file.is_file():
            return InputState(path, "missing", recorded, why=Message("verify.no_file", path=str(file)))
        state_digest = digest(file)
    except OSError as error:
        return InputState(path, "missing", recorded, why=plain(f"{file}: {error.strerror}"))
    return InputState(path, "unchanged" if state_digest == recorded else "changed", recorded, state_digest)
