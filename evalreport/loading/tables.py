"""One source that has been read, with the part that each of its columns plays."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from evalreport.errors import InputError
from evalreport.loading.roles import (
    Roles,
    about_truth,
    require_usable,
    roles_of_counts,
    roles_of_wide,
    understand,
)
from evalreport.options import Options
from evalreport.predictions.cells import Kind, combined, from_texts, in_chunks, keep, without
from evalreport.predictions.column_names import are_counts
from evalreport.predictions.spelling import MISSING_WORDS, parse_labels
from evalreport.predictions.table import Notes
from evalreport.schema.inputs import FoundRecord
from evalreport.schema.warnings import WarningRecord, warning
from evalreport.sources.reading import Columns, Dialect, Source
from evalreport.texts import Message, Value, plain


@dataclass(frozen=True, slots=True)
class Table:
    """One source, read: ``model`` is the name that its file gives, used where it has no column ``model``."""

    name: str
    model: str
    roles: Roles
    read: Columns
    positional: bool = False
    """Arrays of the API without ids: rows are known by their position."""
    part: bool = False
    """Other tables may hold more rows of the same model: parts in one folder."""
    notes: Notes = field(default_factory=Notes)
    """How the file was understood, where that is not plain."""

    @property
    def shown_name(self) -> str:
        """What results call it: the same wherever the folder lies and however it was named."""
        return self.name if self.name.startswith("<") else PurePath(self.name).name

    def fault(self, row: int, column: str | None, code: str, /, **values: Value) -> InputError:
        """Return the error about one row, with the line on which it stands."""
        line, _ = self.read.locate(row, None)
        return InputError.of(code, file=self.name, line=line, column=column, **values)


def table_of(source: Source, options: Options, *, predictions: bool) -> Table:
    """Read the columns of a source that the options have a use for; without ``predictions`` those of true values.

    Raises
    ------
    InputError
        A file that cannot be read, or headers that cannot be used.
    """
    roles: list[Roles] = []

    def choose(names: tuple[str, ...]) -> Mapping[str, Kind]:
        if not predictions and names == ("y_pred",):  # the one column of an array
            role = Roles({"y_true": "y_pred"}, {}, (), {})
        elif predictions and options.wide:
            role = roles_of_wide(names, file=source.name)
        elif predictions and are_counts(names):
            role = roles_of_counts(names, file=source.name, options=options)
        else:
            role = understand(
                names, file=source.name, options=options if predictions else about_truth(options)
            )
            if predictions:
                require_usable(role, names, source.name)
        roles.append(role)
        return role.kinds()

    columns = source.read(choose)
    role = roles[-1].without(columns.left_out)
    role, of_ids = _with_nameless_id(role, columns)
    role, columns = _with_lists_apart(role, columns, source.name)
    columns, of_words = _without_missing_words(columns, role, options)
    positional = source.in_memory and not {"id", "dataset"} & set(role.columns)
    return Table(
        source.name, source.model, role, columns, positional=positional, part=source.part,
        notes=Notes((*_dialect_found(columns.dialect), *of_ids), of_words),
    )  # fmt: skip


def _dialect_found(dialect: Dialect | None) -> Iterator[FoundRecord]:
    """Say what is unusual about how a file is written."""
    if dialect is not None and dialect.delimiter == ";":
        yield FoundRecord(what="separator", value=plain(";"), why=Message("found.semicolon"))
    if dialect is not None and dialect.decimal_comma:
        yield FoundRecord(what="decimal mark", value=plain(","), why=Message("found.decimal_comma"))


_LIST = re.compile(r"\[[^\[\]]*\]")
"""A list of numbers as text: of JSON, Python or NumPy."""


def _with_lists_apart(roles: Roles, read: Columns, read_from: str) -> tuple[Roles, Columns]:
    """Divide a column of probabilities whose cells are lists of one length into one column for each place.

    Raises
    ------
    InputError
        The lists have unlike lengths.
    """
    import pyarrow as pa

    header = roles.one_probability
    if header is None:
        return roles, read
    array = combined(read.arrays[header])
    texts = array.dictionary.to_pylist()
    if not texts or not all(_LIST.fullmatch(text.strip()) for text in texts):
        return roles, read
    lists = [re.split(r"[,\s]+", text.strip()[1:-1].strip()) for text in texts]
    if len({len(cells) for cells in lists}) != 1:
        raise InputError.of("unlike_lists", file=read_from, column=header)
    pieces = {}
    for place, cells in enumerate(zip(*lists, strict=True)):
        codes = pa.DictionaryArray.from_arrays(array.indices, from_texts(cells))
        pieces[f"{header.strip()}[{place}]"] = keep(codes, "number")
    metadata = tuple(name for name in roles.metadata if name != header)
    arrays = {name: column for name, column in read.arrays.items() if name != header} | pieces
    divided = replace(roles, metadata=metadata, one_probability=None, unlabelled=tuple(pieces))
    return divided, replace(read, arrays=arrays)


def _with_nameless_id(roles: Roles, read: Columns) -> tuple[Roles, tuple[FoundRecord, ...]]:
    """Take a column without a name for the id where it tells the rows of each model apart."""
    header = roles.nameless
    if header is None or not _tells_apart(read, header, roles.columns.get("model")):
        return roles, ()
    named = replace(roles, columns={**roles.columns, "id": header}, nameless=None)
    return named, (
        FoundRecord(what="ids", value=Message("found.nameless.value"), why=Message("found.nameless.why")),
    )


def _tells_apart(read: Columns, header: str, models: str | None) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    ids = in_chunks(read.arrays[header])
    if ids.null_count:
        return False
    if models is None:
        return bool(pc.count_distinct(ids).as_py() == len(ids))
    model = combined(read.arrays[models])
    pairs = pa.table({"id": ids, "model": model.dictionary_decode()})
    several = pc.count_distinct(model.indices).as_py() > 1
    # Numbered through over all models, the rows are no examples that these share.
    numbered_through = several and pc.count_distinct(ids).as_py() == len(ids)
    return not numbered_through and pairs.group_by(["id", "model"]).aggregate([]).num_rows == len(ids)


def _without_missing_words(
    read: Columns, roles: Roles, options: Options
) -> tuple[Columns, tuple[WarningRecord, ...]]:
    """Empty the cells of labels and outcomes that hold a word for a missing value, unless it is known to be a label."""
    named = parse_labels(options.labels)
    quoted = read.dialect is not None and read.dialect.quotes_text
    words = [word for word in MISSING_WORDS if word not in named]
    arrays = dict(read.arrays)
    texts: set[str] = set()
    judged = {roles.columns.get("outcome"), roles.columns.get("gold")}
    one = () if roles.one_probability is None else (roles.one_probability,)
    for header in (*roles.labels, *one, *roles.costs.values(), *roles.numbers.values()):
        array = combined(arrays[header])
        if quoted and header in roles.labels and header not in judged:
            texts |= {text for text in array.dictionary.to_pylist() if text.strip() in words}
        else:
            arrays[header] = without(array, words)
    remarks = [warning("quoted_words", about=tuple(sorted(texts)), words=sorted(texts))] if texts else []
    return replace(read, arrays=arrays), tuple(remarks)
