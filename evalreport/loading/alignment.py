"""Rows of several models -> canonical cells (example x fit), and each model's row for each cell."""

from __future__ import annotations

import itertools
import unicodedata
from dataclasses import dataclass, field
from functools import partial
from typing import NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evalreport.engine.blocks import ROWS_AT_ONCE, Places, looked_up, places_type
from evalreport.errors import InputError, refuse_all
from evalreport.loading.ids import code_ids
from evalreport.loading.repeated import repeated
from evalreport.loading.rows import Rows, fault, file_of, first_of, location_of, origin_of
from evalreport.options import Join
from evalreport.predictions.arrays import Arrow, Indices, Mask
from evalreport.predictions.cells import category_column, from_numpy
from evalreport.predictions.column_names import IDENTITY_COLUMNS
from evalreport.predictions.spelling import alikes, shown_apart
from evalreport.predictions.table import Column, Notes
from evalreport.schema.inputs import FlowRecord, FoundRecord
from evalreport.schema.warnings import warning
from evalreport.texts import Message, plain, quoted

_SECOND_IDENTITY = ("train_size", "complexity")


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """Where each model's prediction of each cell stands.

    Attributes
    ----------
    ids
        The distinct ids in use, sorted by code point (Arrow strings).
    example
        (C,) position of each cell's id in ``ids``.
    rows
        (models, C) index into ``Rows``, -1 where the model lacks the cell; of 32 bits where that is enough.
    keys
        The columns that tell one fit from another, by row of ``Rows`` (not by cell).
    group
        (rows,) number of the (id, dataset) of each row: what one true value belongs to.
    """

    ids: pa.Array
    example: Places
    rows: Places
    keys: dict[str, Column]
    group: Places
    notes: Notes = field(default_factory=Notes)


def align(rows: Rows, *, join: Join) -> Alignment:
    """Match the rows of all models by id and by the columns that say which fit predicted them.

    Raises
    ------
    InputError
        Where one model has two rows for one cell, or (join ``error``) not all models have the same cells.
    """
    keys = {name: category_column(rows.columns[name]) for name in IDENTITY_COLUMNS if name in rows.columns}
    ids, code = rows.coded or _coded_data_sets(rows, keys)
    telling = {
        name: column for name, column in keys.items() if name != "seed" or not _one_seed_each(rows, column)
    }
    alike = _spelled_twice(ids)
    rows_by_model, of_series = _cells(rows, code, telling, independent=join == "independent")
    group = _pack([(code, len(ids))] + ([_with_empty(keys["dataset"])] if "dataset" in keys else []))
    if join == "independent":
        group = _pack([(group, int(group.max()) + 1), (rows.model.astype(np.int64), len(rows.models))])
    notes: tuple[FoundRecord, ...] = ()
    flow = () if join == "independent" else _read(rows, rows_by_model)
    if join == "independent":
        why = Message("found.join.independent", models=len(rows.models), rows=rows_by_model.shape[1])
        notes = (FoundRecord(what="join", value=plain("independent"), why=why),)
    elif (rows_by_model < 0).any() and not of_series:
        shared = (rows_by_model >= 0).all(axis=0)
        of_seeds = rows.ids is not None and set(telling) - {"part"} == {"seed"}
        if of_seeds and (join == "error" or not shared.any()):
            shared, notes = _with_own_seeds(rows, rows_by_model, code, telling, join)
        if not (shared.all() if join == "error" else shared.any()):
            _refuse_missing(rows, rows_by_model, alike)
        if not shared.all():
            counts = zip(rows.models, (rows_by_model >= 0).sum(axis=1).tolist(), strict=True)
            of = [Message("found.join.of_model", model=model, n=n) for model, n in counts]
            why = Message("found.join.intersect", n=int(shared.sum()), of=of)
            notes = (*notes, FoundRecord(what="join", value=plain("intersect"), why=why))
            lost = _number(rows, rows_by_model[:, ~shared].max(axis=0))
            flow = (*flow, FlowRecord(step="left_out", reason="no_row", n=lost)) if flow else ()
            rows_by_model = rows_by_model[:, shared]
    ids, example = used_ids(ids, looked_up(code, rows_by_model.max(axis=0)))
    said = Notes(notes, (warning("ids_look_alike", alike=alike),) if alike else (), flow)
    return Alignment(ids=ids, example=example, rows=rows_by_model, keys=keys, group=group, notes=said)


def _read(rows: Rows, rows_by_model: Places) -> tuple[FlowRecord, ...]:
    """Return how many cases were read, of any model and of each."""
    own = zip(rows.models, rows_by_model, strict=True)
    of_models = (
        FlowRecord(step="read", model=model, n=_number(rows, held[held >= 0])) for model, held in own
    )
    return (FlowRecord(step="read", n=_number(rows, rows_by_model.max(axis=0))), *of_models)


def _number(rows: Rows, held: Places) -> int:
    """Count the examples of some rows, of counts as many as they stand for."""
    return len(held) if rows.times is None else int(rows.times[held].sum())


def _spelled_twice(ids: pa.Array) -> Message | None:
    """Say which ids are one text in two forms of Unicode (é as one character or as two); None where none are."""
    beyond = ids.filter(pc.invert(pc.string_is_ascii(ids)))
    alike = (
        len(beyond) - pc.count_distinct(pc.utf8_normalize(beyond, form="NFC")).as_py() if len(beyond) else 0
    )
    if not alike:
        return None
    first: dict[str, str] = {}
    for text in beyond.to_pylist():
        other = first.setdefault(unicodedata.normalize("NFC", text), text)
        if other != text:
            break
    return Message("found.alike", n=alike, a=ascii(other[:40]), b=ascii(text[:40]))


def _one_seed_each(rows: Rows, seed: Column) -> bool:
    """Say whether every model was trained with one seed, which then tells no fit from another."""
    codes, count = _with_empty(seed)
    return len(np.unique(rows.model.astype(np.int64) * count + codes)) == len(rows.models)


def _with_own_seeds(
    rows: Rows, matrix: Places, code: Places, keys: dict[str, Column], join: Join
) -> tuple[Mask, tuple[FoundRecord, ...]]:
    """Say which cells are in use where models have seeds of their own: those of ids with every seed of every model.

    Seeds of two models with the same names are paired, with other names unpaired.

    Raises
    ------
    InputError
        Where two models share some of their seeds but not all, or (join ``error``) a model lacks an id in a seed.
    """
    given, any_row = matrix >= 0, matrix.max(axis=0)
    seed, names = keys["seed"].values[any_row], keys["seed"].categories or ()
    own = [frozenset(seed[row].tolist()) for row in given]
    if len(set(own)) == 1:
        return np.asarray(given.all(axis=0)), ()
    for i, j in itertools.combinations(range(len(own)), 2):
        if own[i] != own[j] and own[i] & own[j]:
            raise _seeds_in_part_shared(rows, (i, j), own, names)
    parts: list[tuple[Places, int]] = [(code[any_row], int(code.max()) + 1)]
    if "part" in keys:
        codes, count = _with_empty(keys["part"])
        parts.append((codes[any_row], count))
    place = np.unique(_pack(parts), return_inverse=True)[1]
    complete = np.ones(len(place), dtype=np.bool_)
    for model, row in enumerate(given):
        lacking = np.bincount(place[row], minlength=int(place.max()) + 1) < len(own[model])
        if lacking.any() and join == "error":
            raise _lacks_a_seed(rows, model, any_row[lacking[place]])
        complete &= ~lacking[place]
    return complete, (
        FoundRecord(what="seeds", value=plain("unpaired"), why=Message("found.seeds_unpaired")),
    )


def used_ids(ids: pa.Array, code: Places) -> tuple[pa.Array, Places]:
    """Leave out the ids of no cell."""
    seen = np.zeros(len(ids), dtype=np.bool_)
    seen[code] = True
    if seen.all():
        return ids, code
    return ids.filter(from_numpy(seen)), looked_up((np.cumsum(seen) - 1).astype(code.dtype), code)


def _coded_data_sets(rows: Rows, keys: dict[str, Column]) -> tuple[pa.Array, Places]:
    """Return what scores have in place of ids: the names of the data sets, sorted, and each row's position in them."""
    if "dataset" not in keys:
        return pa.array(["0"], pa.string()), np.zeros(rows.n, dtype=np.int64)
    names, codes = keys["dataset"].categories or (), keys["dataset"].values
    datasets = pa.array(["", *names], pa.string()).take(pa.array(codes + 1))
    return code_ids([pa.chunked_array([datasets])])


def _with_empty(column: Column) -> tuple[Indices, int]:
    """Return a column's codes counted from 0 = empty, and how many there are."""
    assert column.categories is not None
    return column.values.astype(np.int64) + 1, len(column.categories) + 1


def _pack(parts: list[tuple[Places, int]]) -> Places:
    """Combine codes into one number that sorts as they do, from left to right; it never overflows."""
    packed, size = parts[0]
    for codes, count in parts[1:]:
        packed = packed.astype(np.int64, copy=False)
        if size * count >= 2**62:
            values, packed = np.unique(packed, return_inverse=True)
            size = len(values)
        packed, size = packed * count + codes, size * count
    return packed


def _cells(rows: Rows, code: Places, keys: dict[str, Column], *, independent: bool) -> tuple[Places, bool]:
    """Number the cells in canonical order, and find each model's row for each of them.

    Also says whether they are points of learning or complexity curves, of which every model may have its own.
    """
    parts: list[tuple[Places, int]] = [(code, int(code.max()) + 1), *map(_with_empty, keys.values())]
    if independent:
        parts.append((rows.model.astype(np.int64), len(rows.models)))
    matrix = _by_model(rows, parts)
    second = [name for name in _SECOND_IDENTITY if name in rows.columns]
    of_series = matrix is None and bool(second)
    if of_series:
        # A learning curve: the same example, predicted after training on more and more rows.
        ranks = {name: _ranks(rows.columns[name]) for name in second}
        of_fits, parts = parts, [*parts, *ranks.values()]
        matrix = _by_model(rows, parts)
        for name in second if matrix is not None else ():
            others = [ranks[other] for other in second if other != name]
            if rows.columns[name].null_count and _by_model(rows, of_fits + others) is None:
                _refuse_off_the_curve(rows, name)
    if matrix is None:
        _refuse_twice(rows, _pack(parts))
    return matrix, of_series


def _by_model(rows: Rows, parts: list[tuple[Places, int]]) -> Places | None:
    """Return the (models, cells) rows, or None where a model has two rows for a cell."""
    if len(parts) == 1:
        cell, count = parts[0]
    else:
        values, cell = np.unique(_pack(parts), return_inverse=True)
        count = len(values)
    matrix: Places = np.full(len(rows.models) * count, -1, dtype=places_type(rows.n))
    # Some rows at a time: fresh memory for all of them costs more than the work.
    for start in range(0, rows.n, ROWS_AT_ONCE):
        some = slice(start, min(start + ROWS_AT_ONCE, rows.n))
        matrix[rows.model[some].astype(np.int64) * count + cell[some]] = np.arange(some.start, some.stop)
    if np.count_nonzero(matrix >= 0) < rows.n:
        return None
    by_model = matrix.reshape(len(rows.models), count)
    if rows.coded is None or len(parts) > 1:
        return by_model
    # Among the ids there are those of the file of true values: one that no model predicts is no cell.
    predicted = (by_model >= 0).any(axis=0)
    return by_model if predicted.all() else by_model[:, predicted]


def _ranks(array: Arrow) -> tuple[Indices, int]:
    values = array.to_numpy(zero_copy_only=False)
    distinct, codes = np.unique(values, return_inverse=True)
    return codes.astype(np.int64), len(distinct)


def _refuse_twice(rows: Rows, packed: Places) -> NoReturn:
    """Name the first row whose model, id and fit have stood before, and the row where they did."""
    pair = _pack([(packed, int(packed.max()) + 1), (rows.model.astype(np.int64), len(rows.models))])
    again, first = repeated(pair)
    row = int(again[0])
    before = int(first[row])
    column, what, name = "dataset", "data set", ""
    if rows.ids is not None:
        column, what, name = "id", "id", f" {rows.quoted_id(row)}"
    (here, _), (there, _) = origin_of(rows, row), origin_of(rows, before)
    if here is not there:
        code = "row_twice_in_parts" if here.part and there.part else "row_twice_in_two_files"
    else:
        judged = rows.ids is not None and "outcome" in rows.columns and "attempt" not in rows.columns
        code = "row_twice_of_answers" if judged else "row_twice"
    header = here.roles.columns.get("id", "id").strip()
    said = {"header": header, "what": what, "name": name, "before": location_of(rows, before)}
    raise fault(rows, row, column, code, count=len(again), **said)


def _seeds_in_part_shared(
    rows: Rows, models: tuple[int, int], own: list[frozenset[int]], names: tuple[str, ...]
) -> InputError:
    """Say which seeds two models share, and which only one of them has."""
    first, second = (own[m] for m in models)
    a, b = (quoted(rows.models[m]) for m in models)
    common, apart = (_names_of_seeds(some, names) for some in (first & second, first ^ second))
    refused = partial(InputError.of, "seeds_partly_shared", file=file_of(rows, models[1]), column="seed")
    return refused(a=a, b=b, common=common, apart=apart)


def _names_of_seeds(codes: frozenset[int], names: tuple[str, ...]) -> str:
    return first_of(sorted(quoted(names[code]) if code >= 0 else "(empty)" for code in codes), 5)


def _lacks_a_seed(rows: Rows, model: int, witnesses: Places) -> InputError:
    """Name the ids that a model does not predict with each of its seeds."""
    some = dict.fromkeys(rows.quoted_id(int(row)) for row in witnesses)
    refused = partial(InputError.of, "seed_lacking", file=file_of(rows, model), column="id")
    return refused(model=rows.models[model], n=len(some), ids=first_of(some, 3))


def _refuse_off_the_curve(rows: Rows, name: str) -> NoReturn:
    """Name the first row that has no position on the curve of the other rows."""
    empty = np.flatnonzero(rows.columns[name].is_null().to_numpy(zero_copy_only=False))
    raise fault(rows, int(empty[0]), name, "off_the_curve", count=len(empty), name=name)


def _refuse_missing(rows: Rows, matrix: Places, alike: Message | None) -> None:
    """Say of each model that lacks rows which others have how many, with the first ids; which ids look ``alike``.

    Raises
    ------
    InputError
        Where one lacks any; the model that lacks most comes first.
    """
    lacking = (matrix < 0).sum(axis=1)
    order = np.argsort(-lacking, kind="stable").tolist()
    refuse_all([_missing(rows, matrix, model, alike) for model in order if lacking[model]])


def _missing(rows: Rows, matrix: Places, model: int, alike: Message | None) -> InputError:
    absent = np.flatnonzero(matrix[model] < 0)
    witnesses = matrix[:, absent].max(axis=0)
    names = [_described(rows, int(row)) for row in witnesses[:4]]
    extra = np.flatnonzero((matrix[model] >= 0) & (matrix < 0).any(axis=0))
    things = "rows" if any(name in rows.columns for name in IDENTITY_COLUMNS) else "ids"
    table, other = (origin_of(rows, int(row))[0].name for row in (matrix[model].max(), witnesses[0]))
    refused = partial(InputError.of, "rows_lacking", file=table, column="id", model=rows.models[model])
    return refused(
        lacking=len(absent),
        total=matrix.shape[1],
        things=things,
        names=first_of(names, 3),
        source=other,
        shared=int((matrix >= 0).all(axis=0).sum()),
        own=_own_id(rows, witnesses, matrix[model][extra]),
        alike=f"; {alike}" if alike else "",
    )


_COMPARED = 10_000
"""Ids of each side among which those that look alike are sought."""


def _own_id(rows: Rows, witnesses: Places, extra: Places) -> str | Message:
    """Name an id that a model has and others lack: one that looks like an id that it lacks, with what differs."""
    if rows.ids is None or not len(extra):
        return ""
    lacking, own = (rows.ids.take(from_numpy(some[:_COMPARED])).to_pylist() for some in (witnesses, extra))
    a, (b, name) = next(iter(alikes(lacking, own).items()), ("", ("", "")))
    if not name:
        return Message("found.own_id", own=quoted(own[0]))
    how = Message(f"found.differ.{name}")
    return Message("found.own_id_alike", own=shown_apart(b, name), other=shown_apart(a, name), how=how)


def _described(rows: Rows, row: int) -> str:
    fit = [
        f"{name} {rows.columns[name][row].as_py()}"
        for name in IDENTITY_COLUMNS
        if name in rows.columns and rows.columns[name][row].as_py() is not None
    ]
    own = [] if rows.ids is None else [rows.quoted_id(row)]
    return own[0] + (f" ({', '.join(fit)})" if fit else "") if own else ", ".join(fit)
