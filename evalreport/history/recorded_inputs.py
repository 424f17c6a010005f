"""The options and input files that a results.json records, found again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from evalreport.errors import EvalreportError, UsageError
from evalreport.options import Options, with_fields
from evalreport.schema.inputs import JsonObject
from evalreport.sources.files import digest
from evalreport.sources.recorded import places, stays_below
from evalreport.texts import Message, Text

MOST_RESAMPLES = 10_000_000
"""What a results.json may ask this machine to do is limited: it is not ours."""

State = Literal["unchanged", "changed", "missing"]


@dataclass(frozen=True, slots=True)
class InputState:
    """One recorded input: whether the file of its name has the recorded digest; ``why`` says why it is missing."""

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
        An option that this version does not know, a value that it refuses, or work without end.
    """
    given = dict(content["options"])
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
    if options.resamples > MOST_RESAMPLES:
        raise UsageError(
            f"the recorded options ask for {options.resamples} resamples; at most {MOST_RESAMPLES}"
        )
    return options


def input_states(content: JsonObject, folder: Path) -> tuple[InputState, ...]:
    """Look for every recorded input in a folder, and compare its digest."""
    place = places(content["inputs"])
    return tuple(_state(row, place[row["path"]], folder) for row in content["inputs"])


def _state(row: JsonObject, lies: str, folder: Path) -> InputState:
    path, recorded = row["path"], row["sha256"]
    if path == "<memory>":
        return InputState(path, "missing", recorded, why=Message("verify.in_memory"))
    if not stays_below(lies):
        # A path from a file that is handed in must not lead to other files of this machine.
        return InputState(path, "missing", recorded, why=Message("verify.out_of_folder"))
    place = folder / lies
    try:
        if not place.is_file():
            return InputState(path, "missing", recorded, why=Message("verify.no_file", path=str(place)))
        found = digest(place)
    except OSError as error:
        return InputState(path, "missing", recorded, why=f"{place}: {error.strerror}")
    return InputState(path, "unchanged" if found == recorded else "changed", recorded, found)
