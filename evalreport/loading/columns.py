"""What each column of a prediction file means, from its header alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from evalreport.errors import InputError
from evalreport.options import Options
from evalreport.predictions.table import (
    Arrow,
    Codes,
    Column,
    Floats,
    Indices,
    as_numpy,
    from_numpy,
    from_texts,
    missing,
)
from evalreport.texts import Message

if TYPE_CHECKING:
    import pyarrow as pa

Kind = Literal["text", "codes", "number", "metadata", "aside"]
"""How a column is kept: plain text (ids), dictionary codes (labels, keys; metadata, where it can be) or float64.

Metadata that no option names is ``aside``: kept as metadata is, unless it holds very many different texts.
"""

ALIASES: Mapping[str, tuple[str, ...]] = {
    "id": ("sample_id", "example_id", "doc_id", "index"),
    "model": ("algorithm", "system"),
    "y_true": ("target", "label", "actual", "truth"),
    "y_pred": ("prediction", "pred", "predicted"),
    "score": ("y_score", "decision"),
    "repeat": (),
    "fold": (),
    "replicate": ("replica",),
    "inbag": ("in_bag",),
    "part": ("split",),
    "inner_fold": (),
    "params": (),
    "dataset": (),
    "seed": ("run",),
    "train_size": (),
    "test_size": (),
    "complexity": (),
    "n_parameters": (),
    "log_likelihood": (),
    "vc_dimension": (),
    "time": (),
    "outcome": ("correct", "passed"),
    "attempt": ("epoch",),
    "gold": ("human",),
    "value": (),
    "task": ("benchmark",),
}
"""Standard column -> names that are accepted where it is absent."""


def spellings(*standards: str) -> tuple[str, ...]:
    """Return the names that columns may have, the standard one first; those of every column where none is named."""
    return tuple(name for standard in standards or ALIASES for name in (standard, *ALIASES[standard]))


MOST_CLASSES = 1000
PROBABILITY_PREFIXES = ("p_", "proba_", "prob_")
LONE_PROBABILITIES = ("y_prob", "p", "proba", "prob", "probability")
"""Names of the one probability of a binary task, and of an array with a column for each class."""
_OF_AN_ARRAY = re.compile(rf"({'|'.join(LONE_PROBABILITIES)})\[(\d+)\]", re.ASCII)
_NUMBERS_OF_A_FIT = (
    *("inbag", "train_size", "test_size", "complexity", "n_parameters"),
    *("log_likelihood", "vc_dimension"),
)
NUMBER_COLUMNS = frozenset(("score", "value", "count", *_NUMBERS_OF_A_FIT))
IDENTITY_COLUMNS = ("task", "dataset", "repeat", "fold", "replicate", "seed", "part", "inner_fold", "attempt")
KEY_COLUMNS = (*IDENTITY_COLUMNS, "params", "time", *_NUMBERS_OF_A_FIT)
_JUDGED = frozenset(("score", "outcome", "value"))
"""Standard columns that --outcome or --value may take for its own."""
METRIC_COLUMNS = frozenset(
    (
        *("auc", "accuracy", "error_rate", "balanced_accuracy", "precision", "recall", "specificity", "f1"),
        *("f1_macro", "f1_micro", "f1_weighted", "f0_5", "f2", "jaccard", "mcc", "cohen_kappa", "kappa"),
        *("roc_auc", "roc_auc_ovr", "roc_auc_ovo", "average_precision", "pr_auc", "log_loss", "brier"),
        *("ece", "r2", "mse", "rmse", "mae", "medae", "mape", "rae", "rrse", "error", "loss"),
    )
)
"""Names of metrics that may stand for ``value`` where a file holds scores instead of examples."""


@dataclass(frozen=True, slots=True)
class Roles:
    """Which header plays which part.

    Attributes
    ----------
    columns
        Standard name -> header as the file spells it.
    probabilities
        Label, as the header spells it -> header.
    metadata
        Every other header that has a name.
    unused
        Headers that play no part, with the reason.
    asked
        The metadata that an option may name.
    lone
        The header of what may be the one probability of a binary task, which its values and the classes decide; until
        then it is metadata.
    unlabelled
        Headers of the columns of an (n, K) array of probabilities whose classes are not named, in their order.
    answers
        Of a table of counts: each model's name -> the header of its predictions.
    """

    columns: Mapping[str, str]
    probabilities: Mapping[str, str]
    metadata: tuple[str, ...]
    unused: Mapping[str, Message]
    asked: frozenset[str] = frozenset()
    lone: str | None = None
    unlabelled: tuple[str, ...] = ()
    answers: Mapping[str, str] = field(default_factory=dict)

    def kinds(self) -> dict[str, Kind]:
        """Say for every header in use how it is to be kept."""
        kinds: dict[str, Kind] = {h: "metadata" if h in self.asked else "aside" for h in self.metadata}
        kinds |= dict.fromkeys((*self.probabilities.values(), *self.unlabelled), "number")
        kinds |= dict.fromkeys(self.answers.values(), "codes")
        for name, header in self.columns.items():
            kinds[header] = "text" if name == "id" else "number" if name in NUMBER_COLUMNS else "codes"
        return kinds

    def without(self, left_out: Mapping[str, Message]) -> Roles:
        """Leave out the metadata that was not kept, with the reason."""
        kept = tuple(header for header in self.metadata if header not in left_out)
        lone = self.lone if self.lone in kept else None
        return replace(self, metadata=kept, unused={**self.unused, **left_out}, lone=lone)


def understand(names: Sequence[str], *, file: str, options: Options) -> Roles:
    """Find which header plays which part; an alias counts only where the standard name is absent.

    Raises
    ------
    InputError
        Where a header appears twice, a column that an option names is missing, several metrics could be
        the value, or no column can be used.
    """
    stripped = {name.strip(): name for name in names}
    refuse_twice(names, file)
    columns, unused = _standard_columns(stripped, file, options)
    probabilities = _probability_columns(stripped, taken=set(columns.values()), unused=unused)
    if len(probabilities) > MOST_CLASSES:
        raise InputError(
            f"there are columns of {len(probabilities):,} probabilities",
            file=file,
            line=1,
            expected=f"at most {MOST_CLASSES:,} classes",
            remedy="name the columns otherwise if they are no probabilities of classes",
        )
    pieces = {int(m[2]): h for name, h in stripped.items() if (m := _OF_AN_ARRAY.fullmatch(name))}
    unlabelled = tuple(header for _, header in sorted(pieces.items()))
    taken = {*columns.values(), *probabilities.values(), *unlabelled, *unused}
    metadata = tuple(header for name, header in stripped.items() if header not in taken and name)
    asked = frozenset(header for header in metadata if _may_be_asked_for(header.strip(), options))
    lone = next((stripped[name] for name in LONE_PROBABILITIES if stripped.get(name) in metadata), None)
    roles = Roles(columns, probabilities, metadata, unused, asked, lone, unlabelled)
    return _with_metric_as_value(roles, file)


def about_truth(options: Options) -> Options:
    """Return the options for a table of true values: those that rename columns are about predictions."""
    return replace(options, outcome=None, value=None)


def _may_be_asked_for(name: str, options: Options) -> bool:
    """Say whether an option mentions a column, alone or in an expression."""
    said = (*options.slices, *options.gates, options.cluster, options.weight, options.same_input)
    return any(text is not None and name in text for text in said)


_QUERIES = frozenset(("qid", "query", "query_id", "topic", "topic_id"))
_RELEVANCE = frozenset(("rel", "relevance", "relevance_label", "relevance_grade", "qrel"))


def require_usable(roles: Roles, names: Sequence[str], file: str) -> None:
    """Refuse a prediction file in which no column says what a model predicted, and one of rankings.

    Raises
    ------
    InputError
        Where there is neither y_pred, score, p_<label>, outcome nor value; or there are graded documents of queries.
    """
    called = {name.strip().casefold() for name in names}
    probable = roles.probabilities or roles.unlabelled or roles.lone is not None
    usable = probable or {"y_pred", "score", "outcome", "value", "gold"} & set(roles.columns)
    graded = (
        called & _QUERIES and called & _RELEVANCE and not {"y_true", "outcome", "value"} & set(roles.columns)
    )
    if graded or ("rank" in called and not usable):
        raise InputError(
            "these look like rankings: documents of queries with their relevance or rank",
            file=file,
            line=1,
            expected="one prediction for each example: rankings (NDCG, MAP) are planned, not read yet",
            remedy="compute the measure for each query, and write it as outcome with the query as id",
        )
    if usable:
        return  # gold alone is refused with the task
    remedy = "name the column that holds the predictions y_pred (or score, p_<label>, outcome, value)"
    if len(roles.metadata) > 1:
        remedy += "; if they are the probabilities of classes: " + ", ".join(
            f"p_{name.strip()}" for name in roles.metadata[:3]
        )
    if "count" in names:
        remedy = (
            "a table of counts has the answers of each model in a column y_pred.<model>; otherwise " + remedy
        )
    if len(names) == 1 and any(mark in names[0] for mark in ";\t|"):
        remedy = "separate the columns with commas (.csv) or tabs (.tsv)"
    raise InputError(
        f"no usable column among {', '.join(map(repr, list(names)[:12]))}",
        file=file,
        line=None if file.startswith("<") else 1,
        expected="y_pred, score, p_<label>, outcome or value",
        remedy=remedy,
    )


def refuse_twice(names: Sequence[str], file: str) -> None:
    """Refuse headers of which one appears twice."""
    seen: set[str] = set()
    for name in (name.strip() for name in names):
        if name and name in seen:
            raise InputError(
                "the header names this column twice",
                file=file,
                line=1,
                column=name,
                expected="every column once",
                remedy="rename or remove one of the two",
            )
        seen.add(name)


def _standard_columns(
    stripped: Mapping[str, str], file: str, options: Options
) -> tuple[dict[str, str], dict[str, Message]]:
    named = {"outcome": options.outcome, "value": options.value}
    columns: dict[str, str] = {}
    unused: dict[str, Message] = {}
    probable = any(name.startswith(PROBABILITY_PREFIXES) for name in stripped)
    judged = "y_pred" in stripped or "score" in stripped or probable
    for standard, aliases in ALIASES.items():
        asked = named.get(standard)
        if asked is not None:
            if asked not in stripped:
                raise InputError(
                    f"no column {asked!r}, which --{standard} names",
                    file=file,
                    line=1,
                    expected=f"one of {', '.join(stripped)}",
                    remedy=f"name one of these with --{standard}",
                )
            if asked in ALIASES and asked not in _JUDGED:
                raise InputError(
                    f"--{standard} names the column {asked!r}, which has a meaning of its own",
                    file=file,
                    line=1,
                    column=asked,
                    expected=f"a column of {'judgements' if standard == 'outcome' else 'scores'}",
                    remedy=f"name another column with --{standard}, or rename this one",
                )
            columns[standard] = stripped[asked]
            continue
        # `correct` beside predictions is a note about them, not a judgement that replaces them.
        accepted = () if standard == "outcome" and judged else aliases
        # What a person said stands beside what a judge said, or is metadata.
        accepted = () if standard == "gold" and "outcome" not in columns else accepted
        present = [n for n in (standard, *accepted) if n in stripped and n not in named.values()]
        if present:
            columns[standard] = stripped[present[0]]
            for other in present[1:]:
                unused[stripped[other]] = Message("unused.same_meaning", meaning=standard, other=present[0])
    return columns, unused


def _probability_columns(
    stripped: Mapping[str, str], *, taken: set[str], unused: dict[str, Message]
) -> dict[str, str]:
    found: dict[str, str] = {}
    for prefix in PROBABILITY_PREFIXES:
        for name, header in stripped.items():
            label = name.removeprefix(prefix)
            if not name.startswith(prefix) or not label or header in taken:
                continue
            if label in found:
                unused[header] = Message("unused.same_label", other=found[label], label=label)
            else:
                found[label] = header
    return found


def _with_metric_as_value(roles: Roles, file: str) -> Roles:
    """Take a metric's name for ``value`` where the file holds no examples at all."""
    if roles.probabilities or {"y_true", "y_pred", "score", "outcome", "value", "id"} & set(roles.columns):
        return roles
    metrics = [header for header in roles.metadata if header.strip() in METRIC_COLUMNS]
    if not metrics:
        return roles
    if len(metrics) > 1:
        raise InputError(
            f"several columns could be the value: {', '.join(metrics)}",
            file=file,
            line=1,
            expected="one column of values",
            remedy=f"say which, e.g. --value {metrics[0].strip()}",
        )
    rest = tuple(header for header in roles.metadata if header != metrics[0])
    return replace(roles, columns={**roles.columns, "value": metrics[0]}, metadata=rest)


_BLANKS = " \t"  # str.strip() would also take control characters, which float() refuses
_WHOLE = re.compile(r"([+-]?\d+)\.0*", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_TRUTHS = {"true": 1.0, "false": 0.0}


def keep(array: Arrow, kind: Kind) -> pa.Array:
    """Bring an Arrow array of any type into the form in which its kind of column is kept.

    A cell of metadata that holds ``nan`` is empty; a label or a key that is called so keeps its name.

    Parameters
    ----------
    array
        Any Arrow array.
    kind
        ``text``: string; ``codes``, ``metadata``: dictionary of strings; ``number``: double, nan where it is none.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if kind == "text":
        return as_text(array)
    if kind == "number":
        return as_numbers(array)
    encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    dictionary = as_text(encoded.dictionary)
    indices = encoded.indices.cast(pa.int32())
    if dictionary.null_count or len(distinct := dictionary.unique()) < len(dictionary):
        # Some writers put the empty cell, or one text twice, among a dictionary's entries.
        distinct = dictionary.drop_null().unique()
        indices = pc.index_in(dictionary, distinct).take(indices)
        dictionary = distinct
    codes = pa.DictionaryArray.from_arrays(indices, dictionary)
    return _without(codes, EMPTY if kind == "codes" else NOT_GIVEN)


EMPTY = ("",)
NOT_GIVEN = ("", "nan", "NaN", "NAN")
"""Texts of metadata that stand for an empty cell: programs write what is missing as a number that is none."""


def combined(array: Arrow) -> pa.Array:
    """Return a column as one array with one dictionary, where it came in chunks."""
    import pyarrow as pa

    return array.unify_dictionaries().combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def as_text(array: pa.Array) -> pa.Array:
    """Spell every cell as text: 1, 1.0 and "1" are all ``1``, and true is ``True`` as Python writes it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = array.type
    if pa.types.is_dictionary(kind):
        return as_text(array.dictionary_decode())
    if pa.types.is_boolean(kind):
        return pc.if_else(array, "True", "False").cast(pa.string())
    if pa.types.is_floating(kind):
        return _floats_as_text(array)
    if pa.types.is_null(kind):
        return pa.nulls(len(array), pa.string())
    return array.cast(pa.string())


def as_numbers(array: pa.Array, *, truths: bool = False) -> pa.Array:
    """Parse every cell as a number, cell by cell: null where empty, not finite where it is none.

    ``truths``: also true and false in any spelling, as 1 and 0.
    """
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    kind = array.type
    if pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind):
        return array.cast(pa.float64(), safe=False)
    if pa.types.is_boolean(kind) or pa.types.is_null(kind):
        return array.cast(pa.float64())
    text = array.cast(pa.string())
    text = _null_where_empty(text)
    try:
        return text.cast(pa.float64())
    except pa.ArrowInvalid:
        return _numbers_among(text, _TRUTHS if truths else {})


def _null_where_empty(text: pa.Array) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.if_else(pc.equal(text, from_texts([""])[0]), missing(pa.string()), text)


def _numbers_among(text: pa.Array, spelled: Mapping[str, float]) -> pa.Array:
    """Parse the cells that are numbers; what Arrow takes for one besides (nan, inf) is left out by the pattern."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = _null_where_empty(pc.ascii_trim(text, characters=_BLANKS))
    lowered = pc.ascii_lower(text) if spelled else None
    for word, value in spelled.items():
        text = pc.if_else(pc.equal(lowered, word), from_texts([str(value)])[0], text)
    is_one = pc.match_substring_regex(text, f"^({_NUMBER.pattern})$")
    parsed = pc.if_else(is_one, text, from_texts(["nan"])[0]).cast(pa.float64())
    return parsed


def all_numbers(array: pa.Array) -> bool:
    """Say whether every text of a dictionary column is a finite decimal number, as ``is_number`` does of one."""
    return bool(np.isfinite(floats(as_numbers(array.dictionary))).all())


def floats(array: pa.Array) -> Floats:
    """Return a double array as numpy, nan where it is empty (or was no number)."""
    return as_numpy(array, np.nan).astype(np.float64, copy=False)


def dictionary_numbers(array: pa.Array, *, truths: bool = False) -> Floats:
    """Parse a dictionary column as numbers by parsing each distinct text once; nan where empty or none."""
    distinct = floats(as_numbers(array.dictionary, truths=truths))
    return np.append(distinct, np.nan)[dictionary_codes(array)]


def dictionary_codes(array: pa.Array) -> Codes:
    """Return a dictionary column's codes, -1 where empty."""
    return as_numpy(array.indices, -1).astype(np.int32, copy=False)


def whole(label: str) -> str:
    """Spell a whole number without decimals, so that a 1.0 and a 1 are one label.

    Examples
    --------
    >>> whole("1.0"), whole("01"), whole("1.5"), whole("v1.0")
    ('1', '01', '1.5', 'v1.0')
    """
    match = _WHOLE.fullmatch(label.strip(_BLANKS))
    return match.group(1) if match else label.strip(_BLANKS) if is_number(label) else label


def is_number(text: str) -> bool:
    """Say whether a text is a finite decimal number."""
    return _NUMBER.fullmatch(text.strip(_BLANKS)) is not None and abs(float(text)) < float("inf")


def is_whole(text: str) -> bool:
    """Say whether a text is a whole number, with or without zeros after the point."""
    return is_number(text) and float(text).is_integer()


def spelled_alike(labels: Iterable[str]) -> dict[str, str]:
    """Map each label to its one spelling: whole numbers lose their decimals where all labels are numbers."""
    distinct = list(dict.fromkeys(labels))
    if all(is_number(label) for label in distinct):
        return {label: whole(label) for label in distinct}
    return {label: label for label in distinct}


TRUTHS = {"true": "1", "false": "0"}


def one_spelling(labels: Iterable[str]) -> dict[str, str]:
    """Map each label of a task to its one spelling: as ``spelled_alike``, and true and false like 1 and 0 beside them.

    Examples
    --------
    >>> one_spelling(["True", "1", "0.0"]), one_spelling(["TRUE", "False", "True"])
    ({'True': '1', '1': '1', '0.0': '0'}, {'TRUE': 'True', 'False': 'False', 'True': 'True'})
    """
    distinct = list(dict.fromkeys(labels))
    lowered = {label: label.strip(_BLANKS).casefold() for label in distinct}
    truths = [label for label in distinct if lowered[label] in TRUTHS]
    rest = [label for label in distinct if lowered[label] not in TRUTHS]
    if not truths or any(not is_number(label) or float(label) not in (0, 1) for label in rest):
        return spelled_alike(distinct)
    if rest:
        return {label: TRUTHS.get(lowered[label]) or whole(str(float(label))) for label in distinct}
    if len(truths) == len(set(lowered.values())):
        return {label: label for label in distinct}
    return {label: lowered[label].capitalize() for label in distinct}


def in_order(labels: Iterable[str]) -> tuple[str, ...]:
    """Sort distinct labels by value where all are numbers, else as text by code point."""
    distinct = set(labels)
    if all(is_number(label) for label in distinct):
        return tuple(sorted(distinct, key=lambda label: (float(label), label)))
    return tuple(sorted(distinct))


def recode(array: pa.Array, classes: Sequence[str], spelling: dict[str, str]) -> Codes:
    """Return a dictionary column's codes into ``classes``, -1 where empty."""
    place = {label: code for code, label in enumerate(classes)}
    table = [place.get(spelling.get(text, ""), -1) for text in array.dictionary.to_pylist()]
    return np.array([*table, -1], dtype=np.int32)[dictionary_codes(array)]


def category_column(array: pa.Array) -> Column:
    """Return a dictionary column as codes into its sorted categories."""
    array = used_only(array)
    spelling = spelled_alike(array.dictionary.to_pylist())
    categories = in_order(spelling.values())
    return Column(recode(array, categories, spelling), categories)


def used_only(array: pa.Array) -> pa.Array:
    """Drop the dictionary's entries that no row uses."""
    import pyarrow as pa

    codes = dictionary_codes(array)
    seen = np.zeros(len(array.dictionary) + 1, dtype=bool)
    for start in range(0, len(codes), 1 << 16):  # nearly always the first rows use all of them
        seen[codes[start : start + (1 << 16)]] = True
        if seen[:-1].all():
            return array
    kept = np.flatnonzero(seen[:-1])
    place = np.full(len(seen), -1, dtype=np.int32)
    place[kept] = np.arange(len(kept))
    indices = place[codes]
    return pa.DictionaryArray.from_arrays(
        from_numpy(indices, indices >= 0), array.dictionary.take(from_numpy(kept))
    )


def take(column: Column, rows: Indices) -> Column:
    """Return some rows of a column; a row of -1 is empty."""
    values = column.values[rows]
    empty: float = np.nan if column.categories is None else -1
    return Column(np.where(rows < 0, empty, values).astype(column.values.dtype), column.categories)


def _floats_as_text(array: pa.Array) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    array = array.cast(pa.float64())
    text = array.cast(pa.string())
    try:
        whole_text = array.cast(pa.int64()).cast(pa.string())
    except pa.ArrowInvalid:
        is_integral = pc.equal(pc.floor(array), array)
        small = pc.less(pc.abs(array), 2.0**53)
        exact = pc.if_else(pc.and_(is_integral, small), array, 0.0).cast(pa.int64())
        return pc.if_else(pc.and_(is_integral, small), exact.cast(pa.string()), text)
    return whole_text


def _without(codes: pa.DictionaryArray, texts: Sequence[str]) -> pa.DictionaryArray:
    """Make the cells that hold one of some texts empty cells."""
    import pyarrow as pa
    import pyarrow.compute as pc

    gone = pc.is_in(codes.dictionary, value_set=from_texts(texts).cast(codes.dictionary.type))
    if not pc.any(gone).as_py():
        return codes
    indices = pc.if_else(gone.take(codes.indices), missing(pa.int32()), codes.indices)
    return used_only(pa.DictionaryArray.from_arrays(indices, codes.dictionary))
