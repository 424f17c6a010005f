"""The table of predictions that ``run`` reads, and its bytes as a file."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from evalreport.errors import UsageError
from evalreport.refit.examples import Examples
from evalreport.refit.fitting import messages_of
from evalreport.refit.plans import Scheme
from evalreport.refit.tasks import Task

WRITTEN_FORMATS = (".parquet", ".csv", ".csv.gz")
KEYS = ("repeat", "fold", "replicate", "seed")
FACTS = ("inbag", "part", "inner_fold", "params", "train_size", "complexity", "n_parameters", "vc_dimension")
Result = tuple[Task, pa.Table]


def prediction_table(examples: Examples, scheme: Scheme, results: Sequence[Result]) -> pa.Table:
    """Return all predictions as an Arrow table, in the order of models, fits and examples, without empty columns."""
    tables = [_of_task(task, table, scheme, examples.n) for task, table in results]
    table = pa.concat_tables(tables, promote_options="default").combine_chunks()
    columns = dict(zip(table.column_names, table.columns, strict=True))
    if len(columns["part"].unique()) == 1:
        del columns["part"]
    rows = columns["row"]
    truth = pa.array(examples.target) if examples.labels is None else _labels(examples)
    columns |= {"id": pa.array(examples.ids, pa.string()).take(rows), "y_true": truth.take(rows)}
    written = {}
    for name, texts in examples.written.items():
        written["time" if _is_time(examples, name) else name] = pa.array(texts, pa.string()).take(rows)
    features = examples.features
    if isinstance(features, np.ndarray) and features.shape[1] == 1 and "x" not in written:
        # The one input, to draw predictions against it.
        written["x"] = pa.array(features[:, 0]).take(rows)
    probabilities = [f"p_{label}" for label in examples.classes]
    names = ("id", "model", "y_true", "y_pred", "score", *probabilities, *KEYS, *FACTS)
    return pa.table({name: columns[name] for name in names if name in columns} | written)


def _of_task(task: Task, table: pa.Table, scheme: Scheme, n: int) -> pa.Table:
    """Return the predictions of a task with the columns that identify its fit."""
    kinds = {"model": pa.string(), "complexity": pa.float64()}
    for name, value in {"model": task.variant.model, **task.numbers}.items():
        constant = pa.scalar(value, kinds.get(name, pa.int32()))
        table = table.append_column(name, pa.repeat(constant, len(table)))
    if scheme.name == "bootstrap-oob" and task.fit.part == "test":
        drawn = np.bincount(task.fit.train, minlength=n)[table.column("row").to_numpy()]
        validated = np.asarray(table.column("part")) != "test"
        table = table.append_column("inbag", pa.array(drawn, pa.int32(), mask=validated))
    return table


def _labels(examples: Examples) -> pa.Array:
    assert examples.labels is not None
    return pa.array(examples.classes, pa.string()).take(pa.array(examples.labels.codes))


def _is_time(examples: Examples, name: str) -> bool:
    return examples.times is not None and name == next(iter(examples.written))


def check_columns(examples: Examples) -> None:
    """Refuse columns whose names have a meaning in prediction files.

    Raises
    ------
    UsageError
        A column to be written beside the predictions has such a name.
    """
    from evalreport.predictions.column_names import PROBABILITY_PREFIXES, spellings

    taken = set(spellings()) - {"time"}
    for name in examples.written:
        if not _is_time(examples, name) and (name in taken or name.startswith(PROBABILITY_PREFIXES)):
            raise UsageError(
                f"[data] the column {name!r} would mean something else beside predictions; rename it in the file"
            )


def table_bytes(table: pa.Table, path: Path) -> bytes:
    """Return a table as the bytes of a file in the format of its name; the same table gives the same bytes."""
    import pyarrow.csv
    import pyarrow.parquet

    sink = io.BytesIO()
    if path.name.endswith(".parquet"):
        pyarrow.parquet.write_table(table, sink, compression="zstd", row_group_size=1 << 20)
        return sink.getvalue()
    pyarrow.csv.write_csv(table, sink)
    # Without name and time in the archive, so that the bytes depend on the predictions alone.
    return gzip.compress(sink.getvalue(), mtime=0) if path.name.endswith(".gz") else sink.getvalue()


def warnings_of(results: Sequence[Result]) -> Iterator[str]:
    """Yield each warning of each model once, with the number of fits."""
    counts: dict[tuple[str, str], int] = {}
    fits: dict[str, int] = {}
    for task, table in results:
        model = task.variant.model
        fits[model] = fits.get(model, 0) + 1
        for message in messages_of(table):
            counts[model, message] = counts.get((model, message), 0) + 1
    for (model, message), count in counts.items():
        yield f"{model} warned in {count} of {fits[model]} fits: {message}"
