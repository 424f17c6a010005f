"""A folder of counts that `evalreport aggregate` writes once and `evalreport run` reads in a second, however large
the predictions were: counts.parquet, of scores their histograms and sums of products, and a manifest of what it was
made of and under which options.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

import narwhals as nw
import pyarrow as pa
import pyarrow.parquet as pq

from evalreport.errors import InputError, InputErrors, UsageError
from evalreport.files import Kind, publish
from evalreport.loading.counts import CountedElsewhere
from evalreport.options import AnyPath, Options
from evalreport.predictions.score_sums import ScoreSums
from evalreport.predictions.spelling import one_number
from evalreport.scale.aggregation import Counted, count
from evalreport.scale.consistency import Contradiction, check_counts, check_sums
from evalreport.scale.engines import Engine, engine_of, lazy, started
from evalreport.scale.label_sources import NotLabels, Source, unserved
from evalreport.scale.manifest import (
    FILES,
    HISTOGRAMS,
    MANIFEST,
    PRODUCTS,
    Manifest,
    anew,
    is_unchanged,
    manifest_of,
    sha256_of,
    truth_named,
)
from evalreport.scale.scores import histograms_schema, products_schema
from evalreport.schema.inputs import InputRecord
from evalreport.sources.binary import read_whole
from evalreport.sources.files import (
    COUNTS,
    File,
    Found,
    aggregate_in,
    copies_of_addresses,
    digest,
    find_files,
    is_path,
)
from evalreport.sources.reading import OF_AGGREGATE
from evalreport.sources.recorded import places, recorded_files, stays_below

KIND = Kind("aggregate", lambda name: name == MANIFEST or name in FILES[-1])
_BINDING = ("task", "positive", "threshold", "cluster", "weight", "resamples", "seed")
_DEFAULTS = Options()


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregated:
    """The written counts: folder, models, examples, distinct cells, and the columns that were left out."""

    folder: Path
    models: tuple[str, ...]
    n: int
    cells: int
    left_out: tuple[str, ...]


def aggregate(
    models: object,
    *,
    output: AnyPath,
    options: Options,
    engine: str = "duckdb",
    memory_limit: int | None = None,
) -> Aggregated:
    """Count predictions and write the counts with their manifest, both or neither.

    Raises
    ------
    InputError
        Wherever a run would refuse the predictions, and where they hold no labels.
    UsageError
        An option that counts cannot serve, an engine that cannot be had, or a folder that cannot be written to.
    """
    output = Path(output)
    if isinstance(models, (str, Path)) and output.resolve() == Path(models).resolve():
        raise UsageError(f"-o {output}: the folder of the predictions themselves; name another")
    counted, inputs = counts_of(models, options, engine=engine, memory_limit=memory_limit)
    tables = {COUNTS: counted.table}
    if counted.scores is not None:
        tables |= {HISTOGRAMS: counted.scores.histograms, PRODUCTS: counted.scores.products}
    files = {name: _as_parquet(table) for name, table in tables.items()}
    manifest = Manifest(
        options=dataclasses.replace(options, truth=None),
        truth=truth_named(options),
        positive=counted.positive,
        cut=counted.cut,
        models=tuple(sorted({model for own in counted.models for model in own})),
        n=sum(counted.table["count"].to_pylist()),
        left_out=counted.left_out,
        inputs=inputs,
        files={name: sha256_of(content) for name, content in files.items()},
    )
    try:
        publish(output, {MANIFEST: manifest.as_json(), **files}, kind=KIND)
    except OSError as error:
        raise UsageError(f"{output}: the counts could not be written: {error.strerror or error}") from error
    return Aggregated(
        folder=output,
        models=manifest.models,
        n=manifest.n,
        cells=counted.table.num_rows,
        left_out=counted.left_out,
    )


def counts_of(
    models: object, options: Options, *, engine: str = "duckdb", memory_limit: int | None = None
) -> tuple[Counted, tuple[InputRecord, ...]]:
    """Count predictions in files, or in lazy frames of Dask or Spark; also say which files they were.

    Raises
    ------
    InputError, UsageError
        As ``aggregate``.
    """
    frames = lazy_frames(models)
    if frames:
        own = engine_of(next(iter(frames.values())))
        assert own is not None, "lazy_frames() has asked"
        sources = [Source(f"<{name}>", name, lazy(frame)) for name, frame in sorted(frames.items())]
        return count(sources, options, own), ()
    if not isinstance(models, (str, Path, Sequence, Found)):
        raise UsageError(
            "aggregate takes files, or lazy frames of Dask or Spark: others are in memory already"
        )
    with copies_of_addresses() as copies, started(engine, memory_limit) as running:
        found = models if isinstance(models, Found) else find_files(models, options.truth, copies)
        files = [*((file, False) for file in found.files), *((file, True) for file in (found.truth,) if file)]
        sources = [_of_file(file, running, is_truth=is_truth) for file, is_truth in files]
        counted = count(sources, options, running)
        inputs = [
            InputRecord(
                path=file.relative,
                sha256=digest(file.path),
                rows=rows,
                model=own[0] if len(own) == 1 else None,
            )
            for (file, _), rows, own in zip(files, counted.rows, counted.models, strict=True)
        ]
    return counted, tuple(sorted(inputs, key=lambda record: record.path))


def counts_instead(
    source: object, truth: object, options: Options, *, engine: str | None, memory_limit: int | None
) -> CountedElsewhere | None:
    """Return the counts of an aggregate's folder, of files that an engine counts, or of lazy frames; None: of neither.

    Raises
    ------
    InputError
        Where files hold scores of more than two classes, which a run on an engine would miss.
    UsageError
        An engine that is unknown or cannot be had.
    """
    folder = aggregate_in(source)
    if folder is not None:
        found = opened(folder, memory_limit=memory_limit)
        table, positive = folder / COUNTS, found.manifest.positive
        return CountedElsewhere(
            table=table, options=options, inputs=found.files, scores=found.scores, positive=positive
        )
    if engine is None or not is_path(source):
        counts = counted_frames(source, options) if truth is None and options.truth is None else None
        if counts is None:
            return None
        return CountedElsewhere(table=counts.table, options=options, scores=counts.scores)
    counted, inputs = counts_of(source, options, engine=engine, memory_limit=memory_limit)
    if counted.left_out:
        name, columns = engine.partition("=")[0], counted.left_out[:3]
        raise InputError.of("scores_not_counted", columns=columns, engine=name)
    counts_options = dataclasses.replace(options, truth=None)
    return CountedElsewhere(table=counted.table, options=counts_options, inputs=inputs, scores=counted.scores)


def counted_frames(models: object, options: Options) -> Counted | None:
    """Return the counts of lazy frames of Dask or Spark; None: other frames, or scores that are not counted.

    Raises
    ------
    InputError
        Where a run would refuse the rows.
    """
    frames = lazy_frames(models)
    if not frames or unserved(options) is not None:
        return None
    try:
        counted, _ = counts_of(models, options)
    except InputError as error:
        each = error.errors if isinstance(error, InputErrors) else (error,)
        if any(isinstance(one, NotLabels) for one in each):
            return None
        raise
    return None if counted.left_out else counted


def lazy_frames(models: object) -> dict[str, Any]:
    """Return lazy frames of Dask or Spark by their models' names (one frame: by ``model``); empty: these are others."""
    frames = dict(models) if isinstance(models, Mapping) else {"model": models}
    return frames if frames and all(engine_of(frame) is not None for frame in frames.values()) else {}


def _of_file(file: File, engine: Engine, *, is_truth: bool) -> Source:
    frame = engine.scan(file.path, file.name)
    given = [nw.lit(value).alias(name) for name, value in file.belongs.columns.items()]
    frame = frame.with_columns(*given) if given else frame
    return Source(file.name, file.belongs.model, frame, is_truth, part=file.belongs.part)


def _as_parquet(table: pa.Table) -> bytes:
    stream = io.BytesIO()
    pq.write_table(table.replace_schema_metadata(OF_AGGREGATE), stream, compression="zstd")
    return stream.getvalue()


# --- reading one ------------------------------------------------------------------------------------------------------


def aggregate_below(folder: Path, digests: Collection[str]) -> Path | None:
    """Return the aggregate in one of a folder's subfolders whose counts have one of some digests, else None.

    Of several with the same counts it is the one whose sums of scores have the other digests.

    Raises
    ------
    InputError
        Several have the same files, and do not say that they were made of the same predictions in the same way.
    """
    manifests: dict[Path, Manifest] = {}
    for path in sorted(part for part in folder.glob("*") if part.is_dir()):
        with contextlib.suppress(InputError):
            if aggregate_in(path) is not None and (manifest := manifest_of(path)).files[COUNTS] in digests:
                manifests[path] = manifest
    exact = {one: own for one, own in manifests.items() if set(own.files.values()) == set(digests)}
    alike = exact or manifests
    if any(own != next(iter(alike.values())) for own in alike.values()):
        first = next(iter(alike))
        names, named = [one.name for one in alike], shlex.quote(str(first))
        raise InputError.of("aggregates_alike", file=str(folder), value=names, path=named)
    return next(iter(alike), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """An aggregate whose files are those of its manifest and agree with one another."""

    manifest: Manifest
    counts: pa.Table
    scores: ScoreSums | None

    @property
    def files(self) -> tuple[InputRecord, ...]:
        """The files of the sums of scores."""
        if self.scores is None:
            return ()
        tables = {HISTOGRAMS: self.scores.histograms, PRODUCTS: self.scores.products}
        return tuple(
            InputRecord(path=name, sha256=self.manifest.files[name], rows=table.num_rows, model=None)
            for name, table in tables.items()
        )


def opened(folder: Path, *, memory_limit: int | None = None) -> Opened:
    """Read an aggregate and check it.

    Parameters
    ----------
    memory_limit
        Bytes that each of its files may unpack to; None: as of files of predictions.

    Raises
    ------
    InputError
        A file is not the one that the manifest was written with, or its numbers contradict others.
    """
    manifest = manifest_of(folder)

    def table(name: str, schema: pa.Schema | None) -> pa.Table:
        return read_whole(folder / name, str(folder / name), schema, memory_limit=memory_limit)

    try:
        counts = table(COUNTS, None)
        check_counts(counts, manifest)
        if HISTOGRAMS not in manifest.files:
            return Opened(manifest=manifest, counts=counts, scores=None)
        scores = ScoreSums(table(HISTOGRAMS, histograms_schema()), table(PRODUCTS, products_schema()))
        check_sums(scores.histograms, scores.products, counts, manifest)
    except Contradiction as error:
        path, command = str(folder / error.file), anew(manifest.options, folder)
        raise InputError.of("aggregate_contradicts", file=path, why=error.why, command=command) from None
    return Opened(manifest=manifest, counts=counts, scores=scores)


def aggregated_again(folder: Path, near: Path) -> bool | None:
    """Add up once more the files that an aggregate was made of, and say whether the same comes out.

    Parameters
    ----------
    near
        Holds these files, or a folder that does; None is returned where they are in neither.
    """
    recorded = opened(folder)
    manifest = recorded.manifest
    rows = [dataclasses.asdict(record) for record in manifest.inputs]
    lies = places(rows)

    def held(place: Path) -> bool:
        return all(
            stays_below(lies[row["path"]]) and is_unchanged(place / lies[row["path"]], row["sha256"])
            for row in rows
        )

    place = next((one for one in (near, *sorted(p for p in near.iterdir() if p.is_dir())) if held(one)), None)
    if place is None or not rows:
        return None
    path = next((lies[row["path"]] for row in rows if PurePath(row["path"]).name == manifest.truth), None)
    truth = None if path is None else str(place / path)
    options = dataclasses.replace(manifest.options, truth=truth)
    counted, _ = counts_of(recorded_files(rows, place, truth), options)
    sums, then = counted.scores, recorded.scores
    if (counted.positive, counted.cut) != (manifest.positive, manifest.cut):
        return False
    alike = sums is then if sums is None or then is None else then.agrees(sums)
    return recorded.counts.equals(counted.table) and alike


def under_manifest(source: object, options: Options) -> Options:
    """Return the options of a run, with those that its aggregate was made under where the run names none.

    Raises
    ------
    InputError
        The manifest cannot be read.
    UsageError
        The run asks for what the aggregate was not made for; the message has the line that aggregates anew.
    """
    folder = aggregate_in(source)
    if folder is None:
        return options
    manifest = manifest_of(folder)
    made = manifest.options
    if options.truth is not None:
        raise UsageError(
            "--truth: the counts hold the true values; leave it out, or run on the files themselves"
        )
    lacking = [column for column in options.slices if not _divides(column, made.slices)]
    wanted = dataclasses.replace(made, slices=tuple(dict.fromkeys((*made.slices, *lacking))))
    changed = [f"--slice {column}" for column in lacking]
    for name in _BINDING:
        requested, default, kept = (getattr(record, name) for record in (options, _DEFAULTS, made))
        if requested == default:
            options = dataclasses.replace(options, **{name: kept})
        elif not _serves(manifest, name, requested):
            wanted = dataclasses.replace(wanted, **{name: requested})
            changed.append(f"--{name} {requested}")
    if changed:
        remedy = f"aggregate anew: {anew(wanted, folder)}"
        raise UsageError(f"{folder} was aggregated without {', '.join(changed)}; {remedy}")
    return options


def _serves(manifest: Manifest, name: str, requested: object) -> bool:
    """Whether an aggregate is what it would be if it had been made under another value of an option."""
    kept = getattr(manifest.options, name)
    if name == "positive" and manifest.positive is not None:
        return manifest.positive in (requested, one_number(str(requested)))
    if name == "task" and manifest.positive is not None:
        return requested == "binary"
    free = name not in ("threshold", "cluster", "weight") and kept == getattr(_DEFAULTS, name)
    return requested == kept or free


def _divides(text: str, made: Sequence[str]) -> bool:
    """Whether the columns of a slicing are among those that an aggregate keeps."""
    kept = {part.partition(":")[0].strip() for one in made for part in one.split("*")} | set(made)
    return all(part.partition(":")[0].strip() in kept for part in text.split("*")) or text in kept
