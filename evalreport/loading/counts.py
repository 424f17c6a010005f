"""Tables of counts: a line for each combination of truth and answers, with its number of examples.

A line is no example: it has no id, and its examples are drawn one by one. So a table becomes ``Predictions`` of its
distinct lines in canonical order, each with its ``multiplicity``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from evalreport.engine.numbering import numbered
from evalreport.errors import InputError, UsageError
from evalreport.loading.rows import Rows, gather
from evalreport.loading.tables import Table
from evalreport.options import Options
from evalreport.predictions.arrays import Indices
from evalreport.predictions.cells import combined, floats, positions
from evalreport.predictions.score_sums import ScoreSums
from evalreport.predictions.subsets import subset
from evalreport.predictions.table import Counts, Notes, Predictions
from evalreport.schema.inputs import FoundRecord, InputRecord
from evalreport.schema.warnings import warning
from evalreport.sources.files import AGGREGATE
from evalreport.sources.reading import Columns, empty_file
from evalreport.texts import Message, plain

MOST_EXAMPLES = 2**53
"""Up to here floating-point numbers are exact for every whole number."""


ENOUGH_FOR_SUMS = 1_000
"""With fewer examples of a class the normal approximation is rough for rank metrics."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedElsewhere:
    """Counts that replace the predictions of a source: of an aggregate, or made by an engine.

    Attributes
    ----------
    table
        The counts, as a file or a table.
    options
        Those under which the counts are read.
    inputs
        The files that were counted, or that hold the sums of scores.
    scores
        Sums of the scores, where there are any.
    positive
        The positive class that labels and sums were made with; None: any.
    """

    table: object
    options: Options
    inputs: tuple[InputRecord, ...] = ()
    scores: ScoreSums | None = None
    positive: str | None = None


def rows_of_counts(tables: Sequence[Table], truth: Table | None, options: Options) -> Rows | None:
    """Turn a table of counts into rows of its models, one a line and model; None where no table holds counts.

    Raises
    ------
    InputError
        Where another source is given too, a count is no whole number of 0 or more, or a line has no truth.
    UsageError
        Where an option asks for what counts do not hold.
    """
    table = next((table for table in tables if table.roles.answers), None)
    if table is None:
        return None
    refuse_options(table.name, options)
    beside = truth or next((other for other in tables if other is not table), None)
    if beside is not None:
        raise InputError.of("counts_beside", file=table.name, name=beside.name)
    lines, counts = _lines(table)
    # Metadata and remarks stand once: they are the same for every model.
    answers = enumerate(sorted(table.roles.answers.items()))
    models = [_of_model(table, lines, *answer, first=place == 0) for place, answer in answers]
    rows, n = gather(models), len(lines)
    places = np.tile(np.arange(n), len(models))
    return replace(rows, times=np.tile(counts, len(models)), coded=(positions(n), places))


def refuse_parts(tables: Sequence[Table]) -> None:
    """Refuse files of aggregates that are read by themselves: their manifest names clusters, weights and classes.

    Raises
    ------
    InputError
        With the remedy: the folder of the aggregate.
    """
    part = next((table for table in tables if table.read.of_aggregate), None)
    if part is not None:
        raise InputError.of("part_of_aggregate", file=part.name, manifest=AGGREGATE)


def refuse_options(name: str | None, options: Options) -> None:
    """Refuse options that a table of counts cannot serve; ``name`` None: it is no table of counts.

    Raises
    ------
    UsageError
        With the option, and what it needs.
    """
    given = {
        "--outcome": options.outcome,
        "--value": options.value,
        "--join independent": "" if options.join == "independent" else None,
    }
    for option, value in given.items():
        if name is not None and value is not None:
            raise UsageError(
                f"{option}{f' {value}' if value else ''}: {name} holds counts, whose lines stand for examples"
                " that are alike and are drawn one by one; it needs the predictions themselves, a row for each"
                " example"
            )


def _lines(table: Table) -> tuple[Indices, Indices]:
    """Return the lines of a table that represent at least one example, and their counts."""
    header = table.roles.columns["count"]
    array = combined(table.read.arrays[header])
    counts, empty = floats(array), array.is_null().to_numpy(zero_copy_only=False)
    with np.errstate(invalid="ignore"):
        wrong = empty | ~(np.isfinite(counts) & (counts >= 0) & (counts == np.floor(counts)))
    if wrong.any():
        row = int(np.argmax(wrong))
        line, cell = table.read.locate(row, header)
        raise InputError.of(
            "empty_count" if empty[row] else "no_count", file=table.name, line=line, column=header, count=cell
        )
    total = float(counts.sum())
    if total > MOST_EXAMPLES:
        raise InputError.of(
            "counts_too_large", file=table.name, column=header, total=f"{total:.4g}", most_examples=MOST_EXAMPLES
        )  # fmt: skip
    kept = np.flatnonzero(counts > 0)
    if not len(kept):
        raise empty_file(table.name)
    return kept.astype(np.int64), counts[kept].astype(np.int64)


def _of_model(table: Table, lines: Indices, model: str, header: str, *, first: bool) -> Table:
    """Return one model's columns as a table of its own."""
    roles, read = table.roles, table.read
    metadata = roles.metadata if first else ()
    headers = (roles.columns["y_true"], header, *metadata)
    taken = {name: combined(read.arrays[name]).take(pa.array(lines)) for name in headers}

    def locate(row: int, name: str | None) -> tuple[int | None, str]:
        return read.locate(int(lines[row]), name)

    names = {"y_true": roles.columns["y_true"], "y_pred": header}
    own = replace(roles, columns=names, metadata=metadata, unused=roles.unused if first else {})
    columns = Columns(read.names, taken, len(lines), locate, texts=read.texts)
    return Table(table.name, model, own, columns, positional=True)


def counts_found(rows: Rows) -> Notes:
    """Note the numbers of lines and examples, and the limits of counts."""
    assert rows.times is not None
    models = len(rows.models)
    lines, examples = rows.n // models, int(rows.times.sum()) // models
    value = Message("found.counts.value", n=lines, examples=examples)
    why = Message("found.models.counts", n=models)
    note = FoundRecord(what="models", value=plain(", ".join(rows.models)), why=why)
    return Notes((note, FoundRecord(what="counts", value=value, why=Message("found.counts.why"))))


def with_scores(predictions: Predictions, counted: CountedElsewhere) -> Predictions:
    """Add the sums of scores that an engine made, with a note.

    Raises
    ------
    InputError
        They were made with another positive class.
    """
    scores = counted.scores
    if counted.positive is not None and predictions.positive != counted.positive:
        file, found = ", ".join(record.path for record in counted.inputs) or None, predictions.positive
        raise InputError.of("positive_of_aggregate", file=file, recorded=counted.positive, found=found)
    if scores is None or predictions.counts is None:
        return predictions
    why = Message("found.counts.why_with_scores")
    records = (replace(r, why=why) if r.what == "counts" else r for r in predictions.found)
    value = Message("found.scores.value", n=len(scores.models))
    rarest = min(scores.class_sizes) if scores.models else 0
    few = [warning("few_for_sums", n=rarest, enough=ENOUGH_FOR_SUMS)] if rarest < ENOUGH_FOR_SUMS else []
    sums = FoundRecord(what="scores", value=value, why=Message("found.scores.why"))
    counts = replace(predictions.counts, scores=scores)
    notes = Notes((*records, sums), (*predictions.warnings, *few))
    return replace(predictions, counts=counts, notes=notes)


def distinct(predictions: Predictions) -> Predictions:
    """Merge the lines that are alike and put them in canonical order, which that of the file does not change.

    Raises
    ------
    InputError
        Where the task has no classes: numbers would need nearly one line for each example.
    """
    if predictions.multiplicity is None:
        return predictions
    if not predictions.classes:
        raise InputError.of("counts_of_numbers", column="y_true")
    assert predictions.y_true is not None
    answers = [model.y_pred for model in predictions.models if model.y_pred is not None]
    columns = (column.values for column in predictions.metadata.values())
    code = numbered((predictions.y_true, *answers, *columns))
    first = np.unique(code, return_index=True)[1]
    counts = np.bincount(code, weights=predictions.multiplicity).astype(np.int64)
    n = len(first)
    part = subset(predictions, first)
    return replace(part, counts=Counts(counts), ids=positions(n), example=np.arange(n))


def require_examples(predictions: Predictions, why: str, otherwise: str) -> None:
    """Refuse counts where examples are to be known by their ids.

    Raises
    ------
    InputError
        With the remedy: the predictions themselves, or ``otherwise``.
    """
    if predictions.multiplicity is not None:
        file = ", ".join(record.path for record in predictions.inputs)
        raise InputError.of("counts_without_ids", file=file, why=why, otherwise=otherwise)
