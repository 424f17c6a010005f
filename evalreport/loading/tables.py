"""One source that has been read, with the part that each of its columns plays."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePath

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evalreport.errors import InputError
from evalreport.loading.dressed_columns import LIST, lists_apart, names_of_classes, with_plain_numbers
from evalreport.loading.roles import (
    Roles,
    about_truth,
    require_usable,
    roles_of_counts,
    roles_of_wide,
    understand,
)
from evalreport.options import Options
from evalreport.predictions.arrays import Arrow
from evalreport.predictions.cells import (
    Kind,
    combined,
    dictionary_codes,
    flags,
    in_chunks,
    narrowed,
    used_only,
    without,
)
from evalreport.predictions.column_names import are_counts, usual_case
from evalreport.predictions.spelling import (
    BLANKS,
    DOUBTFUL_WORDS,
    MISSING_WORDS,
    is_no_number,
    is_number,
    parse_labels,
)
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
    words: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """Cells that hold a word for a missing value, by header and word."""

    @property
    def shown_name(self) -> str:
        """What results call it: the same wherever the folder lies and however it was named."""
        return self.name if self.name.startswith("<") else PurePath(self.name).name

    def with_arrays(self, changed: Mapping[str, Arrow]) -> Table:
        """Return the table with some columns in place of its own."""
        return replace(self, read=replace(self.read, arrays={**self.read.arrays, **changed}))

    def header_fault(self, column: str | None, code: str, /, **values: Value) -> InputError:
        """Return the error about a column, or about all; data in memory have no line of headers."""
        line = None if self.name.startswith("<") else 1
        return InputError.of(code, file=self.name, line=line, column=column, **values)

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
            about = options if predictions else about_truth(options)
            role = understand(names, file=source.name, options=about)
            if predictions:
                require_usable(role, names, source.name)
        roles.append(role)
        return role.kinds()

    columns = source.read(choose)
    role = roles[-1].without(columns.left_out)
    if role.joined:
        columns = _with_joined_ids(columns, role)
    role, of_ids = _with_nameless_id(role, columns)
    role, columns = _with_lists_apart(role, columns, source.name)
    if options.attempts_by is not None and predictions and "id" in role.columns:
        role, columns = _with_attempts_numbered(role, columns)
    columns, of_words, words = _without_missing_words(columns, role, options, source)
    columns, role, of_numbers = with_plain_numbers(columns, role, source, options)
    positional = source.in_memory and not {"id", "dataset"} & set(role.columns)
    return Table(
        source.name, source.model, role, columns, positional=positional, part=source.part, words=words,
        notes=Notes((*_dialect_found(columns.dialect), *of_ids, *of_numbers), of_words),
    )  # fmt: skip


def _with_joined_ids(read: Columns, roles: Roles) -> Columns:
    """Write ids from the texts of several columns, with a bar between them."""
    texts = [combined(read.arrays[header]) for header in roles.joined]
    plain = [text.dictionary_decode() if pa.types.is_dictionary(text.type) else text for text in texts]
    joined = pc.binary_join_element_wise(*(text.cast(pa.string()) for text in plain), " | ")
    return replace(read, arrays={**read.arrays, roles.columns["id"]: joined})


def _dialect_found(dialect: Dialect | None) -> Iterator[FoundRecord]:
    """Say what is unusual about how a file is written."""
    if dialect is not None and dialect.delimiter == ";":
        yield FoundRecord(what="separator", value=plain(";"), why=Message("found.semicolon"))
    if dialect is not None and dialect.decimal_comma:
        yield FoundRecord(what="decimal mark", value=plain(","), why=Message("found.decimal_comma"))


def _with_lists_apart(roles: Roles, read: Columns, read_from: str) -> tuple[Roles, Columns]:
    """Divide a column of probabilities whose cells are lists of one length into one column for each place.

    Raises
    ------
    InputError
        The lists have unlike lengths.
    """
    header = roles.one_probability
    if header is None:
        return roles, read
    array = combined(read.arrays[header])
    texts = array.dictionary.to_pylist()
    if not texts or not all(LIST.fullmatch(text.strip()) for text in texts):
        return roles, read
    pieces = lists_apart(array, header.strip(), read_from)
    metadata = tuple(name for name in roles.metadata if name != header)
    arrays = {name: column for name, column in read.arrays.items() if name != header} | pieces
    names = _class_names(roles, read, len(pieces))
    divided = replace(roles, metadata=metadata, one_probability=None)
    if names is None:
        return replace(divided, unlabelled=tuple(pieces)), replace(read, arrays=arrays)
    probabilities = {**roles.probabilities, **dict(zip(names, pieces, strict=True))}
    return replace(divided, probabilities=probabilities), replace(read, arrays=arrays)


def _class_names(roles: Roles, read: Columns, count: int) -> tuple[str, ...] | None:
    """Return the names of the classes that a column ``labels`` beside the lists holds, one list in every row."""
    header = next((name for name in roles.metadata if usual_case(name) == "labels"), None)
    if header is None or usual_case(roles.one_probability or "") != "probabilities":
        return None
    return names_of_classes(used_only(combined(read.arrays[header])).dictionary.to_pylist(), count)


def _with_nameless_id(roles: Roles, read: Columns) -> tuple[Roles, tuple[FoundRecord, ...]]:
    """Take a column without a name for the id where it tells the rows of each model apart."""
    header = roles.nameless
    if header is None or not _tells_apart(read, header, roles.columns.get("model")):
        return roles, ()
    named = replace(roles, columns={**roles.columns, "id": header}, nameless=None)
    value, why = Message("found.nameless.value"), Message("found.nameless.why")
    return named, (FoundRecord(what="ids", value=value, why=why),)


ATTEMPTS = "number of the attempt"
"""The header of attempts that were numbered here: no file has it."""


def _with_attempts_numbered(roles: Roles, read: Columns) -> tuple[Roles, Columns]:
    """Number the rows of one id and model in their order, unless a column numbers the attempts already."""
    if "attempt" in roles.columns:
        return roles, read
    ids = combined(in_chunks(read.arrays[roles.columns["id"]]).dictionary_encode())
    question = dictionary_codes(ids).astype(np.int64)
    if "model" in roles.columns:
        model = dictionary_codes(combined(read.arrays[roles.columns["model"]])).astype(np.int64) + 1
        question = question * (int(model.max(initial=0)) + 1) + model
    order = np.argsort(question, kind="stable")
    starts = np.flatnonzero(np.diff(question[order], prepend=-2))
    number = np.empty(len(question), dtype=np.int32)
    number[order] = np.arange(len(question)) - np.repeat(starts, np.diff([*starts, len(question)]))
    names = pa.array([str(place + 1) for place in range(int(number.max(initial=0)) + 1)], pa.string())
    column = narrowed(pa.DictionaryArray.from_arrays(pa.array(number), names))
    columns = {**roles.columns, "attempt": ATTEMPTS}
    return replace(roles, columns=columns), replace(read, arrays={**read.arrays, ATTEMPTS: column})


def _tells_apart(read: Columns, header: str, models: str | None) -> bool:
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
    read: Columns, roles: Roles, options: Options, source: Source
) -> tuple[Columns, tuple[WarningRecord, ...], dict[tuple[str, str], int]]:
    """Empty the cells of labels and outcomes that hold a word for a missing value, unless it is known to be a label.

    Also how many cells held which word, by header; of columns of numbers their source is read once more for it.
    """
    named = parse_labels(options.labels)
    quoted = read.dialect is not None and read.dialect.quotes_text
    words = [word for word in MISSING_WORDS if word not in named]
    arrays = dict(read.arrays)
    texts: set[str] = set()
    counts: dict[tuple[str, str], int] = {}
    judged = {roles.columns.get("outcome"), roles.columns.get("gold")}
    one = () if roles.one_probability is None else (roles.one_probability,)
    for header in (*roles.labels, *one, *roles.costs.values(), *roles.numbers.values()):
        array = combined(arrays[header])
        if quoted and header in roles.labels and header not in judged:
            texts |= {array.dictionary[code].as_py() for code in _codes_of(array.dictionary, words)}
            counts |= _first_word(read, header)
        else:
            counts |= _counted(array, header, words)
            arrays[header] = without(array, words)
    for header in roles.metadata:
        array = combined(arrays[header])
        if pa.types.is_dictionary(array.type) and _are_numbers_but(array.dictionary, words):
            arrays[header] = without(array, words)
    if options.missing != "refuse":
        numbers = [header for header, kind in roles.kinds().items() if kind == "number"]
        written = [header for header in numbers if _first_word(read, header)]
        texts_of = source.read(lambda _: dict.fromkeys(written, "labels")).arrays if written else {}
        for header in written:
            counts |= _counted(combined(texts_of[header]), header, (*MISSING_WORDS, *DOUBTFUL_WORDS))
    remarks = [warning("quoted_words", about=tuple(sorted(texts)), words=sorted(texts))] if texts else []
    return replace(read, arrays=arrays), tuple(remarks), counts


def _are_numbers_but(texts: pa.Array, words: Collection[str]) -> bool:
    """Say whether texts are numbers, and beside them words for a missing one: R's NA in a column of ages."""
    gone = set(_codes_of(texts, words))
    return 0 < len(gone) < len(texts) and all(
        is_number(text) for code, text in enumerate(texts.to_pylist()) if code not in gone
    )


def _counted(array: pa.DictionaryArray, header: str, words: Collection[str]) -> dict[tuple[str, str], int]:
    """Count the cells that hold each of some words."""
    held = _codes_of(array.dictionary, words)
    if not held:
        return {}
    cells = np.bincount(dictionary_codes(array) + 1, minlength=len(array.dictionary) + 1)
    counts: Counter[tuple[str, str]] = Counter()
    for code in held:
        counts[header.strip(), array.dictionary[code].as_py().strip(BLANKS)] += int(cells[code + 1])
    return {key: n for key, n in counts.items() if n}


def _codes_of(texts: pa.Array, words: Collection[str]) -> list[int]:
    """Return the places of those texts that are one of some words, apart from blanks around them."""
    # No array is made of the words: that would import pandas, if it is there.
    any_of = f"^({'|'.join(map(re.escape, words))})$"
    plain = pc.utf8_trim(texts, characters=BLANKS)
    return np.flatnonzero(flags(pc.match_substring_regex(plain, any_of))).tolist()


_NEAR = 100_000
"""Rows within which the word of an empty cell is looked up in the file."""


def _first_word(read: Columns, header: str) -> dict[tuple[str, str], int]:
    """Count the empty cells of a column that is kept without its words, under the word of the first one."""
    array = read.arrays.get(header)
    if array is None or not array.null_count or not read.rows:
        return {}
    row = int(np.argmax(flags(in_chunks(array).is_null())))
    word = read.locate(row, header)[1].strip(BLANKS) if row < _NEAR and header in read.names else ""
    return {(header.strip(), word): array.null_count} if word and is_no_number(word) else {}


def emptied(table: Table, gone: Mapping[str, Collection[str]]) -> Table:
    """Empty the cells of some columns that hold one of the words for a missing value, and count them."""
    arrays, counts = {}, dict(table.words)
    for header, words in gone.items():
        array = combined(table.read.arrays[header])
        if counted := _counted(array, header, words):
            counts |= counted
            arrays[header] = without(array, words)
    return replace(table.with_arrays(arrays), words=counts)


def word_counts(tables: Iterable[Table]) -> Counter[tuple[str, str]]:
    """Return how many cells of all tables hold which word for a missing value, by header and word."""
    counts: Counter[tuple[str, str]] = Counter()
    for table in tables:
        counts.update(table.words)
    return counts
