"""Criteria that are declared before a run: writing them, following them, and naming what was changed since.

The true values are known by a digest, which no prediction is needed for.
"""

from __future__ import annotations

import csv
import hashlib
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import repeat
from pathlib import Path
from typing import Any

from evalreport.errors import InputError, UsageError
from evalreport.files import toml_of
from evalreport.gates.conditions import parse as parse_gate
from evalreport.keys import Key
from evalreport.loading.load import load
from evalreport.loading.tables import Table, table_of
from evalreport.metrics.quantities import parse as parse_metric
from evalreport.metrics.registry import METRICS, Quantity
from evalreport.options import EXPECTED, KEYS, AnyPath, Options, check_ranges, check_types, plain
from evalreport.predictions.column_names import TASK
from evalreport.predictions.table import Predictions
from evalreport.questions.looks.options import MOST_LOOKS
from evalreport.questions.looks.records import DeclaredRecord
from evalreport.registry import unknown_name
from evalreport.schema.inputs import JsonObject
from evalreport.schema.metrics import MetricRecord
from evalreport.schema.results import Results
from evalreport.schema.warnings import warning
from evalreport.sources.database import one_database
from evalreport.sources.files import copies_of_addresses, find_files
from evalreport.sources.formats import source_of
from evalreport.texts import Message, Text
from evalreport.warnings import with_warnings

DECLARED = ("metrics", "margin", "gates", "slices", "correction", "confidence", "looks", "n_max", "baseline")
"""Fields of ``Options`` that criteria declare."""
EXTENDED = ("gates", "slices")
"""Fields to which flags add: what was declared stays."""
FACTS = ("models", "declared", "truth_sha256")
_KEYS: Mapping[str, Key] = {key.name: key for key in KEYS if key.field in DECLARED}


@dataclass(frozen=True, slots=True)
class Criteria:
    """Declared criteria: the keys of the file, as plain values."""

    keys: JsonObject

    @property
    def options(self) -> dict[str, Any]:
        """The declared fields of ``Options``."""
        return {
            _KEYS[name].field: plain(_KEYS[name], value) for name, value in self.keys.items() if name in _KEYS
        }

    @property
    def digest(self) -> str:
        """SHA-256 of the keys as JSON, sorted, without spaces."""
        text = json.dumps(dict(self.keys), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


def declared(
    options: Options, models: Sequence[str], *, truth: str, time: str, given: Sequence[str]
) -> Criteria:
    """Declare criteria.

    Parameters
    ----------
    options
        With the fields of ``DECLARED``.
    truth
        The file of true values, or prediction files that hold them; no prediction is read.
    time
        When they are declared, in ISO 8601.
    given
        The fields that were named; correction and confidence are declared in any case.

    Raises
    ------
    UsageError
        A metric, a gate or a baseline that cannot be.
    InputError
        True values that cannot be read.
    """
    check_types(options)
    check_ranges(options)
    if isinstance(models, str) or not all(isinstance(name, str) for name in models):
        raise UsageError("models must be a list of names")
    names = [name.strip() for name in models if name.strip()]
    if not names:
        raise UsageError("models are declared by their names: --models a,b")
    if options.baseline is not None and options.baseline not in names:
        raise UsageError(unknown_name("model", options.baseline, names))
    if options.looks is not None and not 1 <= options.looks <= MOST_LOOKS:
        raise UsageError(f"looks must be a whole number from 1 to {MOST_LOOKS}, not {options.looks}")
    for spelled in options.metrics:
        stem = spelled.partition("[")[0]
        if stem not in METRICS and stem.rpartition("_")[0] not in METRICS and stem[:4] != "pass":
            raise UsageError(unknown_name("metric", stem, list(METRICS)))
    for gate in options.gates:
        parse_gate(gate, models=names)
    wanted = {*given, "correction", "confidence"}
    keys: dict[str, Any] = {
        name: list(value) if isinstance(value := getattr(options, key.field), tuple) else value
        for name, key in _KEYS.items()
        if key.field in wanted
    }
    keys |= {"models": sorted(names), "declared": time, "truth_sha256": truth_of_files(truth, options)}
    return Criteria(keys)


def as_toml(criteria: Criteria) -> bytes:
    """Write criteria as TOML."""
    lines = [str(Message("criteria.preamble")), "[criteria]"]
    lines += [f"{name} = {_toml(value)}" for name, value in criteria.keys.items()]
    lines.append(f'digest = "{criteria.digest}"')
    return ("\n".join(lines) + "\n").encode()


def _toml(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, str):
        # The escapes of JSON are TOML's, but for DEL, which is written as it is only in JSON.
        return json.dumps(value).replace("\x7f", "\\u007f")
    return repr(value)


def read_criteria(path: Path) -> Criteria:
    """Read criteria and check their digest.

    Raises
    ------
    UsageError
        No such file, or one that was changed after it was declared.
    """
    content = toml_of(path)
    table = content.get("criteria")
    if set(content) != {"criteria"} or not isinstance(table, dict):
        raise UsageError(f"{path}: expected one table [criteria], as `evalreport declare -o FILE` writes it")
    for name, value in table.items():
        if name in _KEYS and not EXPECTED[_KEYS[name].kind][1](value):
            raise UsageError(f"{path}: key {name!r}: expected {EXPECTED[_KEYS[name].kind][0]}")
        if name not in _KEYS and name not in (*FACTS, "digest"):
            raise UsageError(f"{path}: {unknown_name('key', name, [*_KEYS, *FACTS, 'digest'])}")
    models = table.get("models")
    if not isinstance(models, list) or not all(isinstance(name, str) for name in models):
        raise UsageError(f"{path}: key 'models': expected a list of texts")
    for name in ("declared", "truth_sha256", "digest"):
        if not isinstance(table.get(name), str):
            raise UsageError(f"{path}: key {name!r}: expected a text in quotes")
    criteria = Criteria({name: value for name, value in table.items() if name != "digest"})
    if criteria.digest != table["digest"]:
        raise UsageError(
            f"{path}: the criteria are not those that were declared: their digest is {criteria.digest[:12]}..., the"
            f" file says {str(table['digest'])[:12]}...; declare anew, into another file, before new examples"
        )
    return criteria


def digest_of(path: AnyPath) -> str:
    """Return the digest of a file of criteria, which is checked."""
    return read_criteria(Path(path)).digest


def with_criteria(values: Mapping[str, object], flags: Mapping[str, object]) -> dict[str, object]:
    """Return the options of a run with those that its criteria declare; a flag wins, and adds gates and slices.

    Parameters
    ----------
    values
        By field, flags included.
    flags
        Those of them that were given by flags or keywords.
    """
    path = values.get("criteria")
    if path is None:
        return dict(values)
    criteria = read_criteria(Path(str(path))).options
    for name in EXTENDED:
        if name in criteria and name in flags:
            criteria[name] = tuple(dict.fromkeys((*criteria[name], *_listed(flags[name]))))
    return {
        **values,
        **criteria,
        **{k: v for k, v in flags.items() if k not in EXTENDED or k not in criteria},
    }


def _listed(value: object) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Followed:
    """Criteria that a run follows, the options that it has, and the digest of its truth."""

    criteria: Criteria
    options: Options
    truth: str

    def mark(self, results: Results) -> Results:
        """Return results that say what was declared, what was changed since, and what is exploratory."""
        keys = self.criteria.keys
        changed = tuple(self._changed(results))
        record = DeclaredRecord(
            declared=str(keys["declared"]), digest=self.criteria.digest, changed=changed, criteria=dict(keys)
        )
        models, gates = set(keys["models"]), set(keys.get("gate", ()))
        quantities = self._quantities(results)
        primary_declared = quantities is None or any(q.spelled == results.primary_metric for q in quantities)

        def undeclared(row: MetricRecord) -> bool:
            other = quantities is not None and Quantity.of(row) not in quantities
            return other or row.model not in models or not self._sliced(row)

        added = (
            (warning("criteria_changed", date=record.date, changed=changed, n=len(changed)),)
            if changed
            else ()
        )
        results = with_warnings(results, added, looked=("criteria_changed",), first=False)
        return replace(
            results,
            declared=record,
            gates=tuple(replace(gate, exploratory=gate.gate not in gates) for gate in results.gates),
            verdicts=tuple(
                replace(v, exploratory=not primary_declared or not set(v.about) <= models)
                for v in results.verdicts
            ),
            metrics=tuple(
                replace(row, exploratory=True) if undeclared(row) else row for row in results.metrics
            ),
        )

    def _quantities(self, results: Results) -> set[Quantity] | None:
        """Return the declared metrics; None where none was named, neither then nor now."""
        names = self.criteria.options.get("metrics", ())
        if not names:
            return set() if self.options.metrics else None
        return {parse_metric(name, results.task, results.classes) for name in names}  # type: ignore[arg-type]

    def _sliced(self, row: MetricRecord) -> bool:
        """Say whether a record is within a slice that was declared, or within none."""
        if row.slice is None or row.slice.column == TASK:
            return True
        columns = {str(name).partition(":")[0] for name in self.criteria.keys.get("slice", ())}
        return row.slice.column in columns or any(
            f"[{row.slice.column}=" in gate for gate in self.criteria.keys.get("gate", ())
        )

    def _changed(self, results: Results) -> list[Text]:
        changed: list[Text] = []
        was = {name: getattr(Options(), name) for name in DECLARED} | self.criteria.options
        names = {key.field: name for name, key in _KEYS.items()}
        for field in (field.name for field in fields(Options) if field.name in names):
            name, now, then = names[field], getattr(self.options, field), was[field]
            if field in EXTENDED:
                changed += [Message("criteria.added", what=name, name=one) for one in now if one not in then]
            elif now != then:
                changed.append(Message("criteria.other", name=name, now=_shown(now), was=_shown(then)))
        models = set(self.criteria.keys["models"])
        changed += [
            Message("criteria.added", what="model", name=m) for m in results.models if m not in models
        ]
        changed += [Message("criteria.gone", name=m) for m in sorted(models - set(results.models))]
        if self.truth != self.criteria.keys["truth_sha256"]:
            changed.append(Message("criteria.truth"))
        return changed


def _shown(value: object) -> str:
    if value is None or value == ():
        return str(Message("criteria.none"))
    if isinstance(value, tuple):
        return ", ".join(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def followed(options: Options, predictions: Predictions) -> Followed | None:
    """Return the criteria that a run follows; None without ``--criteria``."""
    if options.criteria is None:
        return None
    truth = truth_digest(predictions) if options.truth is None else truth_of_files(options.truth, options)
    return Followed(read_criteria(Path(options.criteria)), options, truth)


def followed_again(results: Results, options: Options, predictions: Predictions) -> Followed | None:
    """Return the criteria that recorded results followed, from the results alone."""
    if results.declared is None:
        return None
    truth = truth_digest(predictions) if options.truth is None else truth_of_files(options.truth, options)
    return Followed(Criteria(results.declared.criteria), options, truth)


MODEL = "truth"


def truth_digest(predictions: Predictions) -> str:
    """Return the SHA-256 of the lines ``id TAB truth LF``, in a suite ``task TAB id TAB truth LF``, sorted by bytes.

    Labels are spelled as in ``classes``, numbers as the shortest text that reads back, without ``.0``.
    """
    truth, tasks = predictions.y_true, predictions.tasks
    ids = predictions.ids.to_pylist()
    names = [ids[place] for place in predictions.example]
    if truth is None:
        labels: Iterable[str] = repeat("", predictions.n)
    elif truth.dtype.kind == "f":
        labels = (_number(float(value)) for value in truth)
    else:
        classes = (*predictions.classes, "")
        labels = (classes[code] for code in truth)
    if tasks is not None and tasks.categories is not None:
        names = [f"{tasks.categories[code]}\t{name}" for code, name in zip(tasks.values, names, strict=True)]
    lines = {
        f"{name}\t{label}\n".encode("utf-8", "surrogatepass")
        for name, label in zip(names, labels, strict=True)
    }
    return hashlib.sha256(b"".join(sorted(lines))).hexdigest()


def truth_of_files(source: AnyPath, options: Options) -> str:
    """Return the digest of the true values in a file of them, or in prediction files, whose answers are not read.

    Raises
    ------
    InputError
        Files that cannot be read, or without ids.
    """
    with copies_of_addresses() as copies, one_database():
        found = find_files(source, None, copies)
        files = found.files if found.truth is None else (found.truth,)
        tables = [table_of(source_of(file), options, predictions=False) for file in files]
        rows = dict.fromkeys(row for table in tables for row in _rows(table))
    with tempfile.TemporaryDirectory() as folder:
        # Read as a run reads it, so that labels and ids are spelled alike.
        path = Path(folder) / f"{MODEL}.csv"
        suite = any(len(row) == 3 for row in rows)
        column = "outcome" if all(row[-1] == "" for row in rows) else "y_true"
        with path.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            writer.writerow(
                [*(["task"] if suite else []), "id", column, "y_pred"][: 4 if column == "y_true" else -1]
            )
            for *key, label in rows:
                writer.writerow([*key, *((label, label) if column == "y_true" else ("0",))])
        plain = replace(Options(), task=options.task, positive=options.positive)
        return truth_digest(load(str(path), options=plain))


def _rows(table: Table) -> Iterator[tuple[str, ...]]:
    headers = table.roles.columns
    if "id" not in headers:
        raise InputError(
            "the true values have no ids", file=table.name, expected="a column id, as in the prediction files",
            remedy="name the examples in a column id",
        )  # fmt: skip
    wanted = [*(["task"] if "task" in headers else []), "id", *(["y_true"] if "y_true" in headers else [])]
    columns = [_texts(table.read.arrays[headers[name]].to_pylist()) for name in wanted]
    if "y_true" not in headers:
        columns.append([""] * table.read.rows)
    return zip(*columns, strict=True)


def _texts(values: list[object]) -> list[str]:
    return ["" if v is None else _number(v) if isinstance(v, float) else str(v) for v in values]


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
