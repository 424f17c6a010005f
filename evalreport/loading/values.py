"""What the values of columns decide once all tables are read: words for nothing, ``correct``, prefixes of labels."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from evalreport.errors import InputError, refuse_all, together
from evalreport.loading.dressed_columns import mapped
from evalreport.loading.probabilities import scale_of
from evalreport.loading.tables import Table, emptied, word_counts
from evalreport.options import Options, Scale
from evalreport.predictions.arrays import Floats
from evalreport.predictions.cells import (
    as_numbers,
    combined,
    dictionary_codes,
    dictionary_numbers,
    floats,
    from_numpy,
    keep,
    say_the_same,
    used_only,
)
from evalreport.predictions.spelling import (
    DOUBTFUL_WORDS,
    IGNORED,
    are_ignored,
    is_number,
    one_spelling,
    outcome_words,
    parse_labels,
)
from evalreport.predictions.table import Notes
from evalreport.schema.inputs import FoundRecord
from evalreport.texts import Message, parts, plain, quoted

MOST_CLASSES_OF_CORRECT = 1000


def with_values_settled(
    tables: Sequence[Table], truth: Table | None, options: Options, *, may_lack_truth: bool
) -> tuple[list[Table], Table | None, Notes]:
    """Settle the columns whose meaning depends on the values of all tables, and say how.

    Parameters
    ----------
    tables, truth
        The tables of predictions, and the table of true values where it is one of its own.
    may_lack_truth
        Whether no table need have true values.

    Raises
    ------
    InputError
        Where two columns of a table could be the same one, or ``correct`` could be truth as well as judgement.
    """
    errors: list[InputError] = []
    apart = truth is not None or any("y_true" in table.roles.columns for table in tables)
    settled: list[Table] = []
    notes: list[FoundRecord] = []
    for table in tables:
        with together(errors):
            own, records = _with_correct(_without_rivals(table), options, has_truth=apart)
            settled.append(own)
            notes += records
    if truth is not None:
        with together(errors):
            truth = _without_rivals(truth)
    refuse_all(errors)
    if not apart and not any("y_true" in table.roles.columns for table in settled):
        named = [_with_named_truth(table) for table in settled]
        settled = [table for table, _ in named]
        notes += [record for _, records in named for record in records]
        if may_lack_truth is False and options.task not in ("outcome", "scores"):
            _refuse_without_truth(settled)
    every = [*settled, *([] if truth is None else [truth])]
    every = _without_doubtful_words(every, options)
    every, records = _without_prefixes(every, options)
    notes += records
    if options.probabilities is not None:
        every = [_as_shares(table, options.probabilities) for table in every]
    settled, truth = every[: len(settled)], None if truth is None else every[-1]
    notes += _missing_found(every)
    distinct = tuple(record for k, record in enumerate(notes) if record not in notes[:k])
    return settled, truth, Notes(distinct)


# --- two columns that could be the same -------------------------------------------------------------------------------


def _without_rivals(table: Table) -> Table:
    """Leave out columns that say what the column that was taken says.

    Raises
    ------
    InputError
        They differ, so that either may be meant.
    """
    arrays, roles = table.read.arrays, table.roles
    unused = dict(roles.unused)
    for standard, others in roles.rivals.items():
        first = roles.columns.get(standard) or roles.probabilities[standard.removeprefix("p_")]
        for other in others:
            if not say_the_same(arrays[first], arrays[other]):
                names = {"first": first.strip(), "other": other.strip(), "standard": standard}
                raise table.header_fault(other.strip(), "two_columns_for_one", **names)
            unused[other] = Message("unused.same_values", meaning=standard, other=first.strip())
    return replace(table, roles=replace(roles, rivals={}, unused=unused))


# --- correct: the true label, or whether the answer is right ----------------------------------------------------------


def _with_correct(table: Table, options: Options, *, has_truth: bool) -> tuple[Table, list[FoundRecord]]:
    """Give ``correct`` beside predictions its part: truth, judgement or a note about them.

    Raises
    ------
    InputError
        It could be either.
    """
    roles = table.roles
    header = roles.correct
    if header is None:
        return table, []
    roles = replace(roles, correct=None)
    part = _part_of_correct(table, header, options, has_truth=has_truth)
    if part is None:
        noted = table.with_arrays({header: keep(table.read.arrays[header], "metadata")})
        return replace(noted, roles=replace(roles, metadata=(*roles.metadata, header))), []
    roles = replace(roles, columns={**roles.columns, part: header})
    if part == "outcome":
        return replace(table, roles=roles), []
    return replace(table, roles=roles), [_truth_found(header, "found.correct_is_truth")]


def _truth_found(header: str, why: str) -> FoundRecord:
    return FoundRecord(what="y_true", value=plain(header.strip()), why=Message(why, column=header.strip()))


def _part_of_correct(table: Table, header: str, options: Options, *, has_truth: bool) -> str | None:
    """Return the standard column that ``correct`` is; None: a note about the predictions."""
    roles, arrays = table.roles, table.read.arrays
    predicted = roles.columns.get("y_pred")
    judged = combined(arrays[header])
    values = _labels_of(judged)
    answers = set() if predicted is None else _labels_of(combined(arrays[predicted]))
    answers |= set(one_spelling(roles.probabilities).values())
    words = {*outcome_words(values), "0", "1"}
    says_right = all(value.casefold() in words for value in values)
    asked = options.task in ("binary", "multiclass", "regression", "clustering")
    if has_truth:
        truth = roles.columns.get("y_true")
        if asked or predicted is None or truth is None:
            return None
        labels = answers | _labels_of(combined(arrays[truth]))
        if len(labels) > MOST_CLASSES_OF_CORRECT or 2 * len(labels) > max(table.read.rows, 40):
            return "outcome"  # texts that were judged, not labels
        if not says_right or not _says_where_right(table, predicted, truth, judged):
            raise _either(
                table, header, predicted, "a note that differs from where the predictions are right"
            )
        return None
    numbers = all(map(is_number, values | answers)) and not says_right
    if values & answers or (numbers and answers):
        return "y_true"
    if says_right:
        return "outcome"
    assert predicted is not None or roles.probabilities
    raise _either(table, header, predicted or next(iter(roles.probabilities.values())), "the true labels")


def _labels_of(array: pa.DictionaryArray) -> set[str]:
    return set(one_spelling(used_only(array).dictionary.to_pylist()).values())


def _says_where_right(table: Table, predicted: str, truth: str, judged: pa.DictionaryArray) -> bool:
    """Say whether a judgement is true exactly where the predicted label is the true one."""
    columns = [combined(table.read.arrays[header]) for header in (predicted, truth)]
    spelling = one_spelling([text for array in columns for text in array.dictionary.to_pylist()])
    names = [np.array([*(spelling[t] for t in array.dictionary.to_pylist()), ""]) for array in columns]
    labels = [own[dictionary_codes(array)] for own, array in zip(names, columns, strict=True)]
    texts = judged.dictionary.to_pylist()
    words = {**outcome_words(texts), "0": 0.0, "1": 1.0}
    says = np.array([*(words.get(one_spelling([t])[t].casefold(), np.nan) for t in texts), np.nan])
    said = says[dictionary_codes(judged)]
    return bool(((labels[0] == labels[1]) == (said == 1))[~np.isnan(said)].all())


def _either(table: Table, header: str, predicted: str, instead: str) -> InputError:
    judged = header.strip()
    return table.header_fault(
        judged, "correct_is_either", judged=judged, predicted=predicted.strip(), instead=instead
    )


# --- the true label under the name of what was predicted --------------------------------------------------------------


def _with_named_truth(table: Table) -> tuple[Table, list[FoundRecord]]:
    """Take the one column beside ``.pred_class`` of tidymodels that holds the predicted labels for the true ones."""
    roles = table.roles
    predicted = roles.columns.get("y_pred", "")
    header = next(iter(like_truth(table)), None)
    if header is None or not predicted.strip().startswith(".pred") or len(like_truth(table)) > 1:
        return table, []
    metadata = tuple(name for name in roles.metadata if name != header)
    named = replace(roles, columns={**roles.columns, "y_true": header}, metadata=metadata)
    table = table.with_arrays({header: keep(table.read.arrays[header], "labels")})
    return replace(table, roles=named), [_truth_found(header, "found.named_truth")]


def like_truth(table: Table) -> list[str]:
    """Return the further columns whose values are labels that the predictions hold, two of them at least."""
    roles, arrays = table.roles, table.read.arrays
    answers = set(one_spelling(roles.probabilities).values())
    if "y_pred" in roles.columns:
        answers |= _labels_of(combined(arrays[roles.columns["y_pred"]]))
    alike = []
    for header in roles.metadata:
        array = combined(arrays[header])
        if pa.types.is_dictionary(array.type) and len(array.dictionary) <= MOST_CLASSES_OF_CORRECT:
            labels = _labels_of(array)
            alike += [header] if len(labels & answers) >= 2 and len(labels - answers) <= 1 else []
    return alike


_PAIRS = ({"0", "1"}, {"false", "true"}, {"no", "yes"}, {"n", "y"}, {"neg", "pos"}, {"negative", "positive"})


def _refuse_without_truth(tables: Sequence[Table]) -> None:
    """Refuse predictions without true values where a further column may hold these.

    Raises
    ------
    InputError
        With the columns.
    """
    for table in tables:
        roles = table.roles
        predicted = {"y_pred", "score"} & set(roles.columns) or roles.probabilities or roles.one_probability
        other = {"y_true", "outcome", "value", "y_set"} & set(roles.columns) or roles.numbers
        if not predicted or other:
            continue
        candidates = like_truth(table) or [
            header
            for header in roles.metadata
            if {label.casefold() for label in _labels_of(combined(table.read.arrays[header]))} in _PAIRS
        ]
        if candidates:
            names = [header.strip() for header in candidates]
            labels = _labels_of(combined(table.read.arrays[candidates[0]]))
            judged = all(label.casefold() in {*outcome_words(labels), "0", "1"} for label in labels)
            code, name = "no_truth_but_judged" if judged else "no_truth_but", shlex.quote(names[0])
            raise InputError.of(
                code, file=table.name, column="y_true", candidates=names[:5], candidate=names[0], name=name
            )


# --- words for nothing ------------------------------------------------------------------------------------------------


def _without_doubtful_words(tables: list[Table], options: Options) -> list[Table]:
    """Empty cells of labels that hold ``?``, ``-`` or ``missing`` among two other true labels or more, and -100."""
    named = parse_labels(options.labels)
    words = [word for word in DOUBTFUL_WORDS if word not in named]
    true = _texts(tables, "y_true")
    rest = {label.strip() for label in true} - {*DOUBTFUL_WORDS}
    of_labels = words if len(rest) >= 2 else []
    predicted = {label for table in tables for label in table.roles.probabilities} | _texts(tables, "y_pred")
    marked = options.task != "regression" and IGNORED not in named and are_ignored(rest, predicted)
    ignored = [IGNORED] if marked else []
    settled = []
    for table in tables:
        of = {"outcome": words, "gold": words, "y_pred": of_labels, "y_true": [*of_labels, *ignored]}
        gone = dict.fromkeys(table.roles.answers.values(), of_labels)
        gone |= {header: of[name] for name, header in table.roles.columns.items() if name in of}
        settled.append(emptied(table, gone))
    return settled


def _texts(tables: Iterable[Table], column: str) -> set[str]:
    """Return the labels that a column holds in any of the tables."""
    arrays = (combined(table.read.arrays[h]) for table in tables for h in _headers(table, column))
    return {text for array in arrays for text in used_only(array).dictionary.to_pylist()}


def _headers(table: Table, column: str) -> list[str]:
    named = [table.roles.columns[column]] if column in table.roles.columns else []
    return [*named, *(table.roles.answers.values() if column == "y_pred" else ())]


# --- labels with a prefix ---------------------------------------------------------------------------------------------


_PREFIXES = (re.compile(r"__label__(.+)"), re.compile(r"LABEL_(\d+)"))
"""What fastText writes before each label, and the names of classes in models of Hugging Face that were given none."""


def _without_prefixes(tables: list[Table], options: Options) -> tuple[list[Table], list[FoundRecord]]:
    """Write the labels of fastText and of unnamed classes as the true labels are written, where all are among these."""
    true, predicted = _texts(tables, "y_true"), _texts(tables, "y_pred")
    if not true or not predicted:
        return tables, []
    named = parse_labels(options.labels)
    for pattern in _PREFIXES:
        for columns, some, others in (("y_pred", predicted, true), ("y_true", true, predicted)):
            if not all(pattern.fullmatch(text.strip()) for text in some) or named & some:
                continue
            plain_labels = {text: pattern.sub(r"\1", text.strip()) for text in some}
            spelling = set(one_spelling(others).values())
            meant = set(one_spelling(plain_labels.values()).values())
            if columns == "y_pred" and not meant <= spelling:
                continue
            if columns == "y_true" and (not spelling <= meant or any(pattern.fullmatch(t) for t in others)):
                continue
            example = min(plain_labels)
            why = Message("found.prefix", label=example, meant=plain_labels[example])
            record = FoundRecord(what="labels", value=plain(columns), why=why)
            return [_relabelled(table, columns, plain_labels) for table in tables], [record]
    return tables, []


def _relabelled(table: Table, column: str, spelling: Mapping[str, str]) -> Table:
    arrays = table.read.arrays
    return table.with_arrays(
        {h: keep(mapped(combined(arrays[h]), spelling), "labels") for h in _headers(table, column)}
    )


# --- probabilities in percent, and their logarithms -------------------------------------------------------------------


def _as_shares(table: Table, scale: Scale) -> Table:
    """Write the probabilities of a table that are percent or natural logarithms as numbers from 0 to 1.

    Raises
    ------
    InputError
        They are not what the option says.
    """
    roles, arrays = table.roles, dict(table.read.arrays)
    numbers = {h: floats(combined(arrays[h])) for h in (*roles.probabilities.values(), *roles.unlabelled)}
    lone = roles.one_probability
    if lone is not None:
        numbers[lone] = dictionary_numbers(combined(arrays[lone]))
    if not numbers:
        return table
    every = np.concatenate(list(numbers.values()))
    if scale_of(every) != scale:
        first = next(iter(numbers)).strip()
        ends = (np.nanmin(every), np.nanmax(every)) if (~np.isnan(every)).any() else (0.0, 0.0)
        low, high = (f"{end:.6g}" for end in ends)
        raise InputError.of("other_scale", file=table.name, column=first, scale=scale, low=low, high=high)

    def shares_of(values: Floats) -> Floats:
        return values / 100 if scale == "percent" else np.exp(values)

    for header, values in numbers.items():
        if header == lone:
            array = combined(arrays[header])
            shares = shares_of(floats(as_numbers(array.dictionary))).tolist()
            spelled = dict(zip(array.dictionary.to_pylist(), map(repr, shares), strict=True))
            arrays[header] = keep(mapped(array, spelled), "metadata")
        else:
            arrays[header] = from_numpy(shares_of(values), ~np.isnan(values))
    return table.with_arrays(arrays)


# --- what was taken, said once ----------------------------------------------------------------------------------------


_SHOWN = ("id", "y_true", "y_pred", "score", "outcome", "gold", "fold")


def columns_found(
    tables: Sequence[Table], truth: Table | None, asked: Collection[str | None] = ()
) -> list[FoundRecord]:
    """Say which headers were taken for standard columns by another name, those apart that were ``asked`` for."""
    taken: dict[str, dict[str, None]] = {}
    for table in [*tables, *([] if truth is None else [truth])]:
        roles = table.roles
        pairs = [(name, roles.columns[name]) for name in _SHOWN if name in roles.columns]
        pairs += [(f"p_{label}", header) for label, header in roles.probabilities.items()]
        for name, header in pairs:
            # A wide table's column is called like its model.
            own = header.strip() in {table.model, *asked}
            if not own and header.strip().casefold() != name.casefold():
                taken.setdefault(name, {})[header.strip()] = None
    shown = [Message("found.column", standard=n, headers=list(headers)) for n, headers in taken.items()]
    why = Message("found.columns")
    return [FoundRecord(what="columns", value=parts(*shown), why=why)] if shown else []


def _missing_found(tables: Sequence[Table]) -> list[FoundRecord]:
    """Say how many cells were taken as missing, and which words they held."""
    counts = word_counts(tables)
    if not counts:
        return []
    words = [
        Message("found.missing.word", word=quoted(word), column=column, n=n)
        for (column, word), n in sorted(counts.items())
    ]
    value = Message("found.missing.value", n=counts.total())
    return [FoundRecord(what="missing", value=value, why=Message("found.missing.why", words=words))]
