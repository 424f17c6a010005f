"""The manifest of an aggregate: what it was made of and under which options, and the digests of its files."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Annotated

from msgspec import Meta

from evalreport.errors import InputError, UsageError, without_login
from evalreport.files import content_of, with_each_key_once
from evalreport.loading.counts import MOST_EXAMPLES
from evalreport.options import KEYS, OF_AGGREGATES, Options, check_ranges, check_types, filled
from evalreport.schema.inputs import InputRecord, JsonObject
from evalreport.schema.recorded import converted
from evalreport.sources.files import AGGREGATE, COUNTS, digest
from evalreport.texts.visible import escaped_json
from evalreport.version import __version__

SCHEMA = "evalreport/aggregate/1"
MANIFEST = AGGREGATE
HISTOGRAMS, PRODUCTS = "score_histograms.parquet", "score_products.parquet"
FILES = ((COUNTS,), (COUNTS, HISTOGRAMS, PRODUCTS))
"""The files of an aggregate of labels, and of one of scores too."""
_DIGEST = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What an aggregate was made of.

    Attributes
    ----------
    options
        The options of ``evalreport aggregate``, without the truth.
    truth
        The name of the file that ``--truth`` named.
    positive
        The positive class of the sums of scores, and of labels that were cut from scores; None: there are neither.
    cut
        The models whose labels were cut from scores.
    models
        All models, by name.
    n
        Examples.
    left_out
        Columns of scores that are neither counted nor added up.
    inputs
        The files that were counted.
    files
        The SHA-256 of each file beside the manifest, by name.
    """

    options: Options
    truth: str | None
    positive: str | None
    cut: tuple[str, ...]
    models: Annotated[tuple[str, ...], Meta(min_length=1)]
    n: Annotated[int, Meta(ge=1, le=MOST_EXAMPLES)]
    left_out: tuple[str, ...]
    inputs: tuple[InputRecord, ...]
    files: Mapping[str, Annotated[str, Meta(pattern=rf"\A{_DIGEST.pattern}\Z")]]

    def as_json(self) -> bytes:
        """Return the bytes of aggregate.json."""
        options = {name: getattr(self.options, name) for name in OF_AGGREGATES if name != "truth"}
        content = {
            **{entry.name: getattr(self, entry.name) for entry in dataclasses.fields(self)},
            "schema": SCHEMA,
            "evalreport": __version__,
            "options": options,
            "inputs": [dataclasses.asdict(record) for record in self.inputs],
        }
        return escaped_json(json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()


def truth_named(options: Options) -> str | None:
    """Return the name of the file that ``--truth`` names, as a manifest records it."""
    return None if options.truth is None else PurePath(without_login(options.truth)).name


def sha256_of(content: bytes) -> str:
    """Return the SHA-256 of a file's content, as a manifest records it."""
    return hashlib.sha256(content).hexdigest()


def manifest_of(folder: Path) -> Manifest:
    """Read the manifest of an aggregate, and check it and the digests of the files beside it.

    Raises
    ------
    InputError
        It is of another version or damaged, or a file is not the one that it was written with.
    """
    try:
        content = json.loads(content_of(folder / MANIFEST), object_pairs_hook=with_each_key_once)
    except (OSError, ValueError, RecursionError):
        raise no_manifest(folder) from None
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        raise no_manifest(folder)
    try:
        manifest = _read(content)
    except (KeyError, TypeError, ValueError, UsageError) as error:
        why = f": {error}" if isinstance(error, UsageError) else ""
        raise InputError.of(
            "manifest_damaged", file=str(folder / MANIFEST), why=why, command=anew(Options(), folder)
        ) from None
    for name, expected in manifest.files.items():
        if not is_unchanged(folder / name, expected):
            raise InputError.of(
                "counts_changed",
                file=str(folder / name),
                manifest=MANIFEST,
                command=anew(manifest.options, folder),
            )
    return manifest


def is_unchanged(path: Path, sha256: str) -> bool:
    """Say whether a file is there and has a digest."""
    try:
        return path.is_file() and digest(path) == sha256
    except (OSError, ValueError):
        return False


def anew(options: Options, folder: Path) -> str:
    """Return the line that makes an aggregate under some options."""
    words = ["evalreport", "aggregate", "MODELS", "-o", str(folder)]
    for key in KEYS:
        value = getattr(options, key.field, None) if key.field in OF_AGGREGATES else None
        if value is None or value == getattr(Options(), key.field):
            continue
        for one in value if isinstance(value, tuple) else (value,):
            words += [key.flag, str(one)]
    return shlex.join(words)


def no_manifest(folder: Path) -> InputError:
    """Return the error of a manifest that this version cannot read."""
    return InputError.of("no_manifest", file=str(folder / MANIFEST), schema=SCHEMA)


def _read(content: JsonObject) -> Manifest:
    """Take a manifest out of JSON.

    Raises
    ------
    KeyError, TypeError, ValueError, UsageError
        A part is missing, has another type, is out of range, or contradicts another.
    """
    text = json.dumps(content, ensure_ascii=False)
    text.encode()  # half of a surrogate pair could not be written again
    _require("\\u0000" not in text)
    given = content["options"]
    _require(isinstance(given, dict) and set(given) == set(OF_AGGREGATES) - {"truth"})
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    options = filled(Options, values)
    check_types(options)
    check_ranges(options)
    manifest = dataclasses.replace(converted({**content, "options": {}}, Manifest), options=options)
    n, models, cut, files = manifest.n, manifest.models, manifest.cut, manifest.files
    _require(models == tuple(sorted(set(models))) and set(cut) <= set(models))
    _require(tuple(sorted(files)) in map(tuple, map(sorted, FILES)))
    _require((manifest.positive is not None) == (bool(cut) or len(files) > 1))
    _require(options.threshold is None or bool(cut))
    _require((options.cluster is None and options.weight is None) or len(files) == 1)
    rows: dict[str, int] = {}
    for record in manifest.inputs:
        _require(bool(_DIGEST.fullmatch(record.sha256)) and record.rows >= 0)
        _require(record.model is None or record.model in models)
        if record.model is not None:
            rows[record.model] = rows.get(record.model, 0) + record.rows
    several = any(record.model is None for record in manifest.inputs)
    _require(all(own == n or (several and own < n) for own in rows.values()))
    _require(several or not manifest.inputs or set(rows) == set(models))
    return manifest


def _require(holds: bool) -> None:
    if not holds:
        raise ValueError
