"""Predictions in memory: data frames of any library, arrays and mappings, aligned by their index as pandas does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from evalreport.errors import InputError, refuse_all, together
from evalreport.loading.columns import (
    IDENTITY_COLUMNS,
    LONE_PROBABILITIES,
    PROBABILITY_PREFIXES,
    as_text,
    spellings,
)
from evalreport.loading.counts import are_counts
from evalreport.loading.rows import Table
from evalreport.options import Options
from evalreport.predictions.table import Indices
from evalreport.sources.binary import as_fold_scores, read_arrays, read_table
from evalreport.sources.files import table_of
from evalreport.sources.reading import Choose, Columns, empty_file
from evalreport.texts import quoted

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_ID_NAMES = frozenset(spellings("id"))
_TRUTH_NAMES = frozenset(spellings("y_true"))
MODEL = "model"
_no_order = partial(
    InputError,
    "it has no index, and stands beside indexes of different orders",
    expected="one order that a plain array can be in",
    remedy="give it the index of its rows: pd.Series(values, index=X_test.index)",
)


@dataclass(frozen=True, slots=True)
class _Part:
    """One source in memory.

    Attributes
    ----------
    name, model
        What messages call it, and the model whose predictions it holds where no column says so.
    columns
        Arrays by header; one of two dimensions holds probabilities.
    index
        The labels of its rows as text; None where rows are known by their position alone.
    labelled
        Whether the index says more than the position.
    """

    name: str
    model: str
    columns: Mapping[str, object]
    index: pa.Array | None = None
    labelled: bool = False

    @property
    def has_id(self) -> bool:
        return not _ID_NAMES.isdisjoint(self.columns) or are_counts(self.columns)  # counts need none


def memory_tables(
    source: object, truth: object, options: Options, classes: Sequence[object] | None = None
) -> tuple[list[Table], Table | None]:
    """Take predictions, and true values where they are given, from memory.

    Parameters
    ----------
    source
        A data frame in long format; a mapping of model name to data frame, to columns, to its y_pred or to its
        (n, K) probabilities; a mapping of column name to array; or what a cross-validation of scikit-learn returns.
    truth
        An array, a mapping of id to value, a mapping of columns or a data frame; None: the source holds them.
    classes
        The labels of the columns of (n, K) probabilities.

    Returns
    -------
    tables, truth
        The truth's table is None where there is none. Rows have ids where an index says more than their position:
        labels are then matched, and what has no index is taken in the order of the index of the true values.

    Raises
    ------
    InputError
        Where the source is none of these, its columns cannot be used, or labels do not allow an alignment.
    """
    errors: list[InputError] = []
    parts: list[_Part] = []
    source, scorer = as_fold_scores(source, options)
    if scorer is not None:
        options = replace(options, value=scorer)
    for name, model, value in _sources(source, options):
        with together(errors):
            parts.append(_part(value, name, model))
    apart = None
    if truth is not None:
        with together(errors):
            apart = _truth_part(truth)
    refuse_all(errors)
    parts, apart = _with_ids(parts, apart)
    tables = []
    for part in parts:
        with together(errors):
            tables.append(_table(part, options, classes))
    truth_table = None
    if apart is not None:
        with together(errors):
            truth_table = _table(apart, options, None, predictions=False)
    refuse_all(errors)
    return tables, truth_table


def truth_from_memory(truth: object, options: Options) -> Table:
    """Take true values from memory for predictions in files: by id, by the labels of an index, or by position.

    Raises
    ------
    InputError
        As ``memory_tables``.
    """
    part = _truth_part(truth)
    if part.labelled and not part.has_id:
        part = replace(part, columns={**part.columns, "id": part.index})
    return _table(part, options, None, predictions=False)


def _sources(source: object, options: Options) -> Iterator[tuple[str, str, object]]:
    """Yield what messages call each source, its model, and the source."""
    if _is_frame(source):
        yield "<data frame>", MODEL, source
        return
    if not isinstance(source, Mapping):
        _refuse_estimator(source, MODEL)
        raise InputError(
            f"predictions of type {type(source).__name__!r} cannot be read",
            expected="a path, a list of paths, a data frame, or a mapping of model names or columns",
            remedy='pass for example {"forest": {"y_pred": [...]}} with truth=[...]',
        )
    if not source:
        raise empty_file("<memory>")
    by_name = {str(name): value for name, value in source.items()}
    if all(isinstance(value, Mapping) or _is_frame(value) for value in by_name.values()):
        models: Mapping[str, object] = by_name
    elif are_counts(by_name) or _names_a_prediction(list(by_name), options):
        yield "<memory>", MODEL, by_name
        return
    else:
        models = _by_model(by_name)
        if not models:
            yield "<memory>", MODEL, by_name
            return
    for model, value in sorted(models.items()):
        yield f"<{model}>", model, value


def _names_a_prediction(names: Sequence[str], options: Options) -> bool:
    accepted = {*spellings("y_pred", "score", "outcome", "value"), *LONE_PROBABILITIES}
    accepted |= {name for name in (options.outcome, options.value) if name is not None}
    return any(name in accepted or name.startswith(PROBABILITY_PREFIXES) for name in names)


def _by_model(source: Mapping[str, object]) -> dict[str, object]:
    """Read {"y_true": ..., "forest": ..., "logreg": ...} as models' predictions beside shared columns."""
    known = spellings()
    shared = {name: values for name, values in source.items() if name in known}
    errors: list[InputError] = []
    found: dict[str, object] = {}
    for name, values in source.items():
        if name in known:
            continue
        with together(errors):
            whole = isinstance(values, Mapping) or _is_frame(values)
            found[name] = values if whole else {**shared, **_predicted(values, name)}
    refuse_all(errors)
    return found


def _predicted(values: object, model: str) -> dict[str, object]:
    """Take two dimensions for probabilities, one for labels or values."""
    _refuse_estimator(values, model)
    return {"y_prob" if _dimensions(values) == 2 else "y_pred": values}


def _dimensions(values: object) -> int:
    if isinstance(values, (list, tuple)):
        rows = [len(row) for row in values if isinstance(row, (list, tuple, np.ndarray))]
        return 2 if rows and len(rows) == len(values) and len(set(rows)) == 1 and rows[0] > 1 else 1
    return int(getattr(values, "ndim", 1))


def _refuse_estimator(value: object, model: str) -> None:
    """Refuse a model in the place of its predictions: nothing that could run code is asked for them.

    Raises
    ------
    InputError
        With the lines that make predictions.
    """
    if not hasattr(value, "predict"):
        return
    name = model if model.isidentifier() else MODEL
    graded = hasattr(value, "predict_proba")
    given = f"'y_pred': {name}.predict(X_test)" + (
        f", 'y_prob': {name}.predict_proba(X_test)" if graded else ""
    )
    remedy = (
        f"models = {{{model!r}: {{{given}}}}}; evalreport.evaluate(models, truth=y_test"
        f"{f', classes={name}.classes_' if graded else ''})"
    )
    if hasattr(value, "cv_results_"):
        remedy += f"; or pass {name}.cv_results_ to compare the candidates of the search"
    raise InputError(
        f"this is a fitted estimator ({type(value).__name__}), not what it predicts",
        file=f"<{model}>",
        expected="predictions: no model is ever run here",
        remedy=remedy,
    )


def _part(source: object, name: str, model: str) -> _Part:
    """Bring one source into columns with one index.

    Raises
    ------
    InputError
        Where its columns cannot be read, or their labels do not allow an alignment.
    """
    if not _is_frame(source):
        if not isinstance(source, Mapping):
            source = _predicted(source, model)
        return _aligned(source, name, model)
    frame, index = _frame(source, name)
    columns = {field: frame.column(place) for place, field in enumerate(frame.schema.names)}
    if len(columns) < frame.num_columns:
        raise _unreadable(name, "a column's name appears twice")
    labelled = index is not None and _is_labelled(index)
    return _Part(name, model, columns, None if index is None else _texts(index), labelled)


def _truth_part(truth: object) -> _Part:
    """Take true values: a frame, columns, a mapping of id to value, or one array."""
    if isinstance(truth, Mapping):
        if all(np.ndim(value) == 0 for value in truth.values()):
            truth = {"id": [str(i) for i in truth], "y_true": list(truth.values())}
    elif not _is_frame(truth):
        _refuse_estimator(truth, "truth")
        truth = {"y_true": truth}
    part = _part(truth, "<truth>", "truth")
    if len(part.columns) == 1 and _TRUTH_NAMES.isdisjoint(part.columns):
        return replace(part, columns={"y_true": next(iter(part.columns.values()))})
    return part


def _aligned(columns: Mapping[str, object], name: str, model: str) -> _Part:
    """Bring the columns of a mapping into the order of one index, where some of them have one."""
    taken = {str(header): _column(values) for header, values in columns.items()}
    indexes = {header: index for header, (_, index) in taken.items() if index is not None}
    if not any(map(_is_labelled, indexes.values())):
        index = _texts(next(iter(indexes.values()))) if indexes else None
        return _Part(name, model, {header: values for header, (values, _) in taken.items()}, index)
    texts = {header: _texts(index) for header, index in indexes.items()}
    first = next((header for header in texts if header in _TRUTH_NAMES), next(iter(texts)))
    reference = texts[first]
    alike = all(text.equals(reference) for text in texts.values())
    found: dict[str, object] = {}
    for header, (values, _) in taken.items():
        if header not in texts:
            if not alike:
                raise _no_order(file=name, column=header)
            found[header] = values
        elif texts[header].equals(reference):
            found[header] = values
        else:
            found[header] = _taken(values, _places(texts[header], reference, name, (header, first)))
    return _Part(name, model, found, reference, labelled=True)


def _taken(values: object, places: Indices) -> object:
    import pyarrow as pa

    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values.take(pa.array(places))
    return np.asarray(values)[places]


def _places(own: pa.Array, reference: pa.Array, name: str, headers: tuple[str, str]) -> Indices:
    """Find where each label of the reference stands in a column's own labels.

    Raises
    ------
    InputError
        Where a label appears twice, or in one of the two only.
    """
    import pyarrow.compute as pc

    for header, labels in zip(headers, (own, reference), strict=True):
        counts = pc.value_counts(labels)
        twice = counts.filter(pc.greater(counts.field("counts"), 1))
        if len(twice):
            raise InputError(
                f"the label {quoted(twice[0]['values'].as_py())} appears twice in the index",
                file=name,
                column=header,
                expected="each label once, since columns are aligned by their labels",
                remedy="give each row its own label, or pass plain arrays (.to_numpy()) in the same order",
            )
    places = pc.index_in(reference, own)
    if places.null_count or len(own) > len(reference):
        lost = (
            reference.filter(pc.is_null(places))
            if places.null_count
            else own.filter(pc.invert(pc.is_in(own, reference)))
        )
        raise InputError(
            f"the indexes of {headers[0]!r} and {headers[1]!r} have not the same labels: {quoted(lost[0].as_py())}"
            f" is in one only{f', as are {len(lost) - 1} others' if len(lost) > 1 else ''}",
            file=name,
            column=headers[0],
            expected="the same labels, in any order",
            remedy="give both the same index, or pass plain arrays (.to_numpy()) in the same order",
        )
    return np.asarray(places.to_numpy(zero_copy_only=False), dtype=np.int64)


def _with_ids(parts: Sequence[_Part], truth: _Part | None) -> tuple[list[_Part], _Part | None]:
    """Make ids of the indexes where one of them says more than the position.

    Raises
    ------
    InputError
        Where a plain array stands beside indexes of different orders, or of another length.
    """
    every = [part for part in (truth, *parts) if part is not None and not part.has_id]
    labelled = [part for part in every if part.labelled]
    if not labelled:
        return list(parts), truth
    # The truth stands first, so its order is that of the arrays beside it.
    reference = labelled[0]
    labels = reference.index
    assert labels is not None
    alike = all(part.index is not None and part.index.equals(labels) for part in labelled)

    def with_id(part: _Part) -> _Part:
        if part.has_id:
            return part
        index = part.index
        if index is None:
            rows = _rows(part)
            if reference is not truth and not alike:
                raise _no_order(file=part.name)
            if rows != len(labels):
                raise InputError(
                    f"it holds {rows} values without labels, where the index of {reference.name} has"
                    f" {len(labels)}",
                    file=part.name,
                    expected="as many values, which are then taken in the order of that index",
                    remedy="pass the predictions of exactly these examples, or give them an index",
                )
            index = labels
        elif not part.labelled:
            _require_known(part, reference)
        return replace(part, columns={**part.columns, "id": index})

    errors: list[InputError] = []
    found: list[_Part] = []
    for part in parts:
        with together(errors):
            found.append(with_id(part))
    if truth is not None:
        with together(errors):
            truth = with_id(truth)
    refuse_all(errors)
    return found, truth


def _require_known(part: _Part, reference: _Part) -> None:
    """Refuse a default index whose labels are none of those beside it: it was lost, not meant.

    Raises
    ------
    InputError
        With the two ways to give it labels.
    """
    import pyarrow.compute as pc

    unknown = pc.invert(pc.is_in(part.index, reference.index))
    count = pc.sum(unknown).as_py() or 0
    if count:
        raise InputError(
            f"its index is the default one (0, 1, 2 ...), and {count} of its labels are not in the index of"
            f" {reference.name}",
            file=part.name,
            expected="the same labels: rows are matched by their index, as pandas does",
            remedy="keep the index: pd.Series(values, index=X_test.index); or pass plain arrays (.to_numpy()), which"
            " are taken in the order of the true values",
        )


def _rows(part: _Part) -> int:
    return len(cast("Sized", next(iter(part.columns.values()), ())))


def _table(
    part: _Part, options: Options, classes: Sequence[object] | None, *, predictions: bool = True
) -> Table:
    import pyarrow as pa

    def read(choose: Choose) -> Columns:
        if all(isinstance(column, (pa.Array, pa.ChunkedArray)) for column in part.columns.values()):
            lengths = {len(column) for column in part.columns.values()}  # type: ignore[arg-type]
            if len(lengths) == 1:
                return read_table(_without_nan(pa.table(dict(part.columns))), part.name, choose)
        return read_arrays(part.columns, part.name, choose, classes=classes)

    table = table_of(read, part.name, part.model, options, predictions=predictions)
    if table.read.rows == 0:
        raise empty_file(part.name)
    return replace(table, positional="id" not in table.roles.columns)


def _without_nan(table: pa.Table) -> pa.Table:
    """Make empty cells of the numbers that are none: in memory they stand for what is missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for place, field in enumerate(table.schema):
        if pa.types.is_floating(field.type):
            column = table.column(place)
            gaps = pc.is_nan(column)
            if pc.any(gaps).as_py():
                table = table.set_column(place, field, pc.if_else(gaps, pa.scalar(None, field.type), column))
    return table


# --- what libraries give ----------------------------------------------------------------------------------------------


def _of(value: object, library: str) -> bool:
    return type(value).__module__.partition(".")[0] == library


def _is_frame(value: object) -> bool:
    """Say whether a value is a table of several columns, of whatever library."""
    if isinstance(value, (Mapping, str, list, tuple, np.ndarray)) or value is None:
        return False
    if _of(value, "pyarrow"):
        return not type(value).__name__.endswith(("Array", "Scalar"))
    if type(value).__name__ in ("Series", "Index", "Expr"):
        return False
    if hasattr(type(value), "columns") and not hasattr(value, "predict"):
        return True
    return hasattr(value, "__arrow_c_stream__") and not hasattr(value, "__array__")


def _frame(source: Any, name: str) -> tuple[pa.Table, pd.Index | None]:
    """Return a data frame of any library as an Arrow table, and its index where it has one.

    Raises
    ------
    InputError
        Where it cannot be read, or its rows have no order and no id.
    """
    import narwhals as nw
    import pyarrow as pa

    try:
        if _of(source, "pyarrow"):
            return _arrow(source), None
        if _of(source, "dask"):
            known = source.known_divisions
            source = source.compute()
            # Without divisions each piece counts its rows from 0.
            source = source if known else source.reset_index(drop=True)
        if _of(source, "pandas"):
            return _pandas(source)
        frame = nw.from_native(source, pass_through=True)
        if isinstance(frame, nw.LazyFrame):
            names = frame.collect_schema().names()
            if _of(source, "pyspark") and _ID_NAMES.isdisjoint(names) and not are_counts(names):
                raise InputError(
                    "there is no column 'id', and the rows of a Spark frame have no order",
                    file=name,
                    column="id",
                    expected="the example's id in every row",
                    remedy="add a column id: rows are never matched by their order",
                )
            frame = frame.collect()
        return (frame.to_arrow() if isinstance(frame, nw.DataFrame) else pa.table(source)), None
    except (pa.ArrowException, nw.exceptions.NarwhalsError, ValueError, TypeError) as error:
        raise _unreadable(name, (str(error) or type(error).__name__).splitlines()[0][:160]) from None


def _arrow(source: pa.Table | pa.RecordBatch | pa.RecordBatchReader) -> pa.Table:
    """Return a table, a record batch, a stream of them, a data set or a scanner as a table."""
    import pyarrow as pa

    if isinstance(source, pa.Table):
        return source
    if isinstance(source, pa.RecordBatch):
        return pa.Table.from_batches([source])
    return source.read_all() if hasattr(source, "read_all") else source.to_table()


def _pandas(frame: pd.DataFrame) -> tuple[pa.Table, pd.Index | None]:
    """Take a frame of pandas; levels of its index that are columns of ours (model, fold ...) become columns."""
    import pyarrow as pa

    frame = frame.rename(columns=str)
    known = {*spellings(MODEL), *IDENTITY_COLUMNS} - set(frame.columns)
    levels = [level for level in frame.index.names if level in known]
    index: pd.Index | None = frame.index
    if levels:
        rest = frame.index.nlevels - len(levels)
        frame = frame.reset_index(level=levels)
        index = frame.index if rest else None
    return pa.Table.from_pandas(frame, preserve_index=False), index


def _unreadable(name: str, why: str) -> InputError:
    return InputError(
        f"the data frame cannot be read ({why})",
        file=name,
        expected="every column once, and one type a column: text, numbers or booleans",
        remedy="rename repeated columns, and convert each column to one type",
    )


def _column(values: Any) -> tuple[object, pd.Index | None]:
    """Return a column that Arrow can take, and its index where it has one: series of any library, arrays, lists."""
    if _of(values, "dask") and hasattr(values, "compute"):
        known = getattr(values, "known_divisions", False)
        values = values.compute()
        if not known and hasattr(values, "index"):
            values = values.reset_index(drop=True)
    if _is_frame(values):
        table, index = _frame(values, "<data frame>")
        columns = [column.to_numpy(zero_copy_only=False) for column in table.columns]
        return (columns[0] if len(columns) == 1 else np.column_stack(columns)), index
    if _of(values, "pandas"):
        import pyarrow as pa

        index = getattr(values, "index", None)
        try:
            return pa.Array.from_pandas(values), index
        except (pa.ArrowException, TypeError, ValueError):
            return list(values), index  # said by whoever reads it, with its place
    if hasattr(values, "to_arrow"):
        return values.to_arrow(), None
    if isinstance(values, (list, tuple)):
        return (np.asarray(values) if _dimensions(values) == 2 else values), None
    if isinstance(values, np.ndarray) or hasattr(values, "__arrow_array__") or _of(values, "pyarrow"):
        return values, None
    if hasattr(values, "detach"):  # a tensor that may lie elsewhere and remember how it was made
        values = values.detach().cpu()
    array = np.asarray(values)
    return (array if array.ndim else np.asarray([values])), None


def _is_labelled(index: pd.Index) -> bool:
    """Say whether an index says more than the position."""
    if index.nlevels > 1 or index.dtype.kind not in "iu":
        return len(index) > 0
    return not np.array_equal(index.to_numpy(), np.arange(len(index)))


def _texts(index: pd.Index) -> pa.Array:
    r"""Return the labels of an index as text; those of several levels with a slash between, their own as ``\/``."""
    import pyarrow as pa
    import pyarrow.compute as pc

    levels = []
    for level in range(index.nlevels):
        array = pa.Array.from_pandas(index.get_level_values(level))
        if isinstance(array, pa.ChunkedArray):
            array = array.combine_chunks()
        levels.append(as_text(array))
    if len(levels) == 1:
        return levels[0]
    escaped = [pc.replace_substring(pc.replace_substring(text, "\\", "\\\\"), "/", "\\/") for text in levels]
    return pc.binary_join_element_wise(*escaped, "/")
