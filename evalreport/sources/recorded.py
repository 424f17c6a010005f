"""The inputs that a results.json records, found again."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from urllib.parse import quote

from evalreport.errors import is_address
from evalreport.options import AnyPath
from evalreport.schema.inputs import JsonObject
from evalreport.schema.warnings import WarningRecord
from evalreport.sources.files import File, Found, check_format, set_truth_apart
from evalreport.sources.folders import Belongs, hive_columns
from evalreport.sources.reading import model_name

Rows = Sequence[JsonObject]
"""``inputs`` of a results.json, which may hold anything."""


def places(inputs: Rows) -> dict[str, str]:
    """Return the path of each recorded input below the folder of MODELS, by its recorded path.

    Examples
    --------
    >>> places([{"path": "s3://bucket/preds/forest/part-0.csv"}, {"path": "s3://bucket/preds/knn/part-0.csv"}])
    {'s3://bucket/preds/forest/part-0.csv': 'forest/part-0.csv', 's3://bucket/preds/knn/part-0.csv': 'knn/part-0.csv'}
    """
    remote = {path: path.partition("://")[2].lstrip("/") for row in inputs if is_address(path := row["path"])}
    common = os.path.commonpath([os.path.dirname(path) for path in remote.values()]) if remote else ""  # noqa: PTH120
    while "=" in common.rpartition("/")[2]:
        common = common.rpartition("/")[0]
    return {
        row["path"]: remote[row["path"]][len(common) + 1 :] if row["path"] in remote else row["path"]
        for row in inputs
    }


def stays_below(place: str) -> bool:
    """Say whether a path from a file that is handed in leads nowhere but below the folder that the user named."""
    relative = PurePosixPath(place)
    return bool(relative.parts) and not (
        relative.is_absolute() or ".." in relative.parts or "\0" in place or "\\" in place
    )


@contextmanager
def at_hand(content: JsonObject, where: AnyPath) -> Iterator[Path]:
    """Give the folder where recorded inputs lie; of an address the copies, and of nothing else that lies there.

    Raises
    ------
    InputError
        The address cannot be read; a single file that is not there is found missing later.
    """
    if not is_address(where):
        yield Path(where)
        return
    from evalreport.sources.addresses import copy_one, read_address

    base = read_address(str(where))
    with TemporaryDirectory(prefix="evalreport-") as made:
        for place in places(content["inputs"]).values():
            if stays_below(place) and not place.startswith("<"):
                to = Path(made, place)
                try:
                    to.parent.mkdir(parents=True, exist_ok=True)
                except OSError:
                    continue  # a name that no folder can have, such as one below another input: found missing
                copy_one(base, quote(place) if base.scheme.startswith("http") else place, to)
        yield Path(made)


def recorded_files(
    inputs: Rows, folder: Path, truth: str | None, warnings: tuple[WarningRecord, ...] = ()
) -> Found:
    """Return recorded inputs as files to read, each with the model that was recorded for it.

    Parameters
    ----------
    warnings
        About the files beside them that are not read.
    """
    rows_of = Counter(row["model"] for row in inputs if row["model"] is not None)
    files = []
    for path, place in places(inputs).items():
        row = next(row for row in inputs if row["path"] == path)
        own = PurePosixPath(place)
        check_format(own.name, place)
        columns = hive_columns(own.parts[:-1])
        columns.pop("model", None)
        belongs = Belongs(row["model"] or model_name(own), rows_of[row["model"]] > 1, columns)
        files.append(File(folder / place, str(folder / place), path, belongs))
    apart = next((file for file in files if truth is not None and str(file.path) == truth), None)
    return set_truth_apart(files, apart, [str(folder)], warnings)
