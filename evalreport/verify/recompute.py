"""Recompute what a results.json says from the inputs that it names, and say what agrees figure by figure."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from evalreport.analysis import analysed, evaluate
from evalreport.errors import InputError, UsageError
from evalreport.extensions import load as load_extension
from evalreport.gates.conditions import asks_an_audit
from evalreport.gates.outcomes import judge
from evalreport.history.connection import History
from evalreport.history.recorded_inputs import InputState, input_states, recorded_options
from evalreport.history.run_differences import Present
from evalreport.loading.load import load
from evalreport.options import AnyPath, Options, is_number
from evalreport.schema.inputs import JsonObject
from evalreport.schema.recorded import EARLIER, Recorded
from evalreport.schema.results import Results, to_json
from evalreport.sources.files import Found, aggregate_in
from evalreport.sources.recorded import at_hand, recorded_files
from evalreport.texts import Message, Text, say

RELATIVE = 1e-9
ABSOLUTE = 1e-14
"""Other processors and other versions of libraries round the last digits otherwise; nothing that is read changes."""

# What tells the records of a list apart; the rest of a record is what it says.
IDENTITY = (
    *(
        "path",
        "model",
        "a",
        "b",
        "about",
        "question",
        "reference",
        "source",
        "metric",
        "average",
        "label",
        "slice",
    ),
    *(
        "reference_value",
        "test",
        "estimator",
        "loss",
        "curve",
        "criterion",
        "quantity",
        "method",
        "effect",
        "name",
    ),
    *(
        "dataset",
        "repeat",
        "fold",
        "replicate",
        "seed",
        "true",
        "predicted",
        "what",
        "id",
        "gate",
        "code",
        "part",
    ),
)
# Sentences of the program, which another version may word otherwise.
WORDED = frozenset({"text", "reason", "caution", "why", "formula", "measure"})
OF_AUDITS = ("audit", "evidence", "history")
"""Lists of results that only an audit fills."""
OF_AUDITS_ALOUD = frozenset(("worse_than_accepted", "slice_fell", "data_changed"))

Kind = Literal["exact", "rounded", "differs", "worded", "one side"]
Outcome = Literal["agrees", "differs", "cannot be had"]
Progress = Callable[[str, float], None]


@dataclass(frozen=True, slots=True)
class Leaf:
    """One value that both say, or one of them.

    Attributes
    ----------
    number
        Whether it is a figure; else it is a word.
    kind
        ``worded``: a sentence that is put otherwise; ``one side``: only one of the two has it.
    """

    where: str
    number: bool
    kind: Kind
    said: object = None
    found: object = None


def leaves(said: object, found: object, where: str = "") -> Iterator[Leaf]:
    """Compare two values and everything inside them.

    Records of a list are matched by what they are about, so that one that is missing is one difference.

    Examples
    --------
    >>> [leaf.kind for leaf in leaves({"n": 500, "value": 0.5}, {"n": 500, "value": 0.5 + 1e-12})]
    ['exact', 'rounded']
    """
    if isinstance(said, dict) and isinstance(found, dict):
        for name in sorted({*said, *found}):
            place = f"{where}.{name}" if where else name
            if name in said and name in found:
                yield from leaves(said[name], found[name], place)
            elif said.get(name) == [] or found.get(name) == []:
                continue  # an empty list says no more than none
            else:
                yield Leaf(place, False, "one side", said.get(name), found.get(name))
    elif isinstance(said, list) and isinstance(found, list):
        of_records = all(isinstance(entry, dict) for entry in (*said, *found))
        yield from (_records if of_records else _values)(said, found, where)
    else:
        yield _leaf(said, found, where)


def _records(said: Sequence[JsonObject], found: Sequence[JsonObject], where: str) -> Iterator[Leaf]:
    old, new = _by_identity(said), _by_identity(found)
    for key in (*old, *(key for key in new if key not in old)):
        place = f"{where}[{_spoken(old.get(key) or new[key], where)}]"
        if key in old and key in new:
            yield from leaves(old[key], new[key], place)
        else:
            yield Leaf(place, False, "one side", _there(old.get(key)), _there(new.get(key)))
    shared = [key for key in old if key in new]
    if shared != [key for key in new if key in old]:
        yield Leaf(say("verify.order", where=where), False, "differs", "another order", "this order")


def _values(said: Sequence[object], found: Sequence[object], where: str) -> Iterator[Leaf]:
    if len(said) != len(found):
        yield Leaf(f"{where}: how many", True, "differs", len(said), len(found))
    for place, (one, other) in enumerate(zip(said, found, strict=False)):
        yield from leaves(one, other, f"{where}[{place}]")


def _by_identity(records: Sequence[JsonObject]) -> dict[tuple[str, int], JsonObject]:
    """Give each record a key of what it is about; several of one kind are counted."""
    keyed: dict[tuple[str, int], JsonObject] = {}
    counts: dict[str, int] = {}
    for record in records:
        names = [name for name in _names(record) if name in record and not is_number(record[name])]
        about = json.dumps([[name, record[name]] for name in names], sort_keys=True)
        counts[about] = counts.get(about, 0) + 1
        keyed[about, counts[about]] = record
    return keyed


def _spoken(record: JsonObject, where: str) -> str:
    """Say what a record is about: its names, those that are null left out."""
    parts = []
    for name in _names(record):
        value = record.get(name)
        if isinstance(value, dict):
            value = "=".join(str(part) for part in value.values())
        elif isinstance(value, list):
            value = ", ".join(map(str, value))
        if value is not None and value != "" and not is_number(value):
            parts.append(f"{name} {value}" if name in ("repeat", "fold", "seed", "label") else str(value))
    return " ".join(parts) or where


def _names(record: JsonObject) -> Sequence[str]:
    """Return what tells a record apart; method and code of a verdict are what it says."""
    return [name for name in IDENTITY if name not in ("method", "code") or "verdict" not in record]


def _there(record: object) -> str | None:
    return None if record is None else "a record"


def _leaf(said: Any, found: Any, where: str) -> Leaf:
    if is_number(said) and is_number(found):
        if said == found:
            return Leaf(where, True, "exact")
        near = abs(said - found) <= max(ABSOLUTE, RELATIVE * max(abs(said), abs(found)))
        return Leaf(where, True, "rounded" if near else "differs", said, found)
    number = is_number(said) or is_number(found)
    if type(said) is type(found) and said == found:
        return Leaf(where, False, "exact")
    name = where.rsplit(".", 1)[-1]
    texts = all(value is None or isinstance(value, str) for value in (said, found))
    return Leaf(where, number, "worded" if name in WORDED and texts else "differs", said, found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What came of it.

    Attributes
    ----------
    exact, rounded
        How many figures agree, to the last bit and but for rounding.
    words
        How many words, texts and flags agree.
    differences
        What does not agree, with what was said and what was recomputed.
    worded
        Sentences that this version puts otherwise; where the versions are the same they are differences.
    versions
        Name: the version that is recorded, and the one here.
    unchecked
        What could not be recomputed, with what it takes.
    counted
        Whether the files that counts were made of give the same counts; None where these are not there.
    """

    name: str
    inputs: tuple[InputState, ...]
    versions: Mapping[str, tuple[str | None, str | None]]
    exact: int = 0
    rounded: int = 0
    words: int = 0
    differences: tuple[Leaf, ...] = ()
    worded: tuple[Leaf, ...] = ()
    unchecked: tuple[Text, ...] = ()
    counted: bool | None = None

    @property
    def outcome(self) -> Outcome:
        """Whether all was recomputed and agrees; a difference counts before what could not be had."""
        if any(state.state == "missing" for state in self.inputs):
            return "cannot be had"
        if self.differences or any(state.state == "changed" for state in self.inputs):
            return "differs"
        return "cannot be had" if self.unchecked else "agrees"


def verify(
    recorded: Recorded,
    folder: AnyPath,
    *,
    history: History | None = None,
    series: str = "default",
    jobs: int = 1,
    progress: Progress | None = None,
) -> Verification:
    """Recompute recorded results.

    Parameters
    ----------
    folder
        Stands for the MODELS of the recorded run, a folder or an address: inputs are found there by their recorded
        paths, those of addresses by what follows the part that all of these have in common.
    history, series
        Where the audit was recorded, for what it says about earlier runs; None: that is left out, and said.

    Raises
    ------
    UsageError
        The recorded options are none that this version can follow.
    HistoryError
        The history cannot be read.
    """
    with at_hand(recorded.content, folder) as here:
        return _verified(recorded, here, history, series, jobs, progress)


def _verified(
    recorded: Recorded,
    folder: Path,
    history: History | None,
    series: str,
    jobs: int,
    progress: Progress | None,
) -> Verification:
    content, near = recorded.content, folder
    folder = load_extension("aggregate below")(folder, {row["sha256"] for row in content["inputs"]}) or folder
    inputs = input_states(content, folder)
    partly = _checked(recorded, inputs, ())
    if not inputs or any(state.state == "missing" for state in inputs):
        why = () if inputs else (Message("verify.no_input"),)
        return replace(partly, unchecked=why)
    options = recorded_options(content, folder)
    try:
        source = aggregate_in(folder) or recorded_files(content["inputs"], folder, options.truth)
        found, unchecked = _recomputed(recorded, source, options, history, series, jobs, progress)
    except InputError as error:
        if any(state.state == "changed" for state in inputs):
            return replace(partly, unchecked=(Message("verify.changed_input", why=str(error)),))
        raise
    except UsageError as error:
        raise UsageError(f"{recorded.name}: the recorded options do not fit the inputs: {error}") from error
    compared = tuple(leaves(*_comparable(content, found, bool(unchecked))))
    counted = None if aggregate_in(folder) is None else load_extension("aggregated again")(folder, near)
    if counted is False:
        counts = Leaf(str(Message("verify.counts")), False, "differs", "other counts", "those of the files")
        compared = (counts, *compared)
    return replace(_checked(recorded, inputs, compared, unchecked), counted=counted)


# --- inputs ---------------------------------------------------------------------------------------------------------


# --- recomputing ----------------------------------------------------------------------------------------------------


def _recomputed(
    recorded: Recorded,
    source: Found | Path,
    options: Options,
    history: History | None,
    series: str,
    jobs: int,
    progress: Progress | None,
) -> tuple[Results, tuple[Text, ...]]:
    """Run the recorded analysis again; say what of it needs a history that is not there."""
    loaded = load(source, options=options)
    if loaded.multiplicity is None and any(row["what"] == "counts" for row in recorded.content["found"]):
        # The rows were counted by an engine: what needs single examples is not among the results.
        loaded = load(source, options=options, engine="duckdb")
    results = evaluate(loaded, options=options, jobs=jobs, progress=progress)
    earlier = _about_earlier(recorded.content)
    if not earlier:
        return judge(results, options.gates), ()
    if history is not None:
        return load_extension("audited again")(
            recorded, Present(results, analysed(loaded), options), history, series
        ), ()
    gates = [gate for gate in options.gates if not _of_audits(gate, recorded.content)]
    return judge(results, gates), (Message("verify.needs_history", what=earlier),)


def _about_earlier(content: JsonObject) -> str:
    """Count the records that an audit's history is behind; empty: there are none."""
    counts = {name: len(content.get(name, ())) for name in OF_AUDITS}
    counts["gates"] = sum(_of_audits(gate, content) for gate in content["options"].get("gates", ()))
    return ", ".join(f"{number} of {name}" for name, number in counts.items() if number)


def _of_audits(gate: str, content: JsonObject) -> bool:
    return asks_an_audit(gate, models=content["models"])


# --- comparing ------------------------------------------------------------------------------------------------------


def _comparable(content: JsonObject, found: Results, partly: bool) -> tuple[object, object]:
    """Return what is said and what was recomputed, without what is no figure of the analysis."""
    said, new = dict(content), json.loads(to_json(found))
    for side in (said, new):
        side.pop("environment", None)  # versions are said apart
        # A file that was not read is none of the inputs, so nothing is known of it here.
        side["warnings"] = [row for row in side.get("warnings", ()) if row["code"] != "ignored_file"]
        if partly:
            for name in OF_AUDITS:
                side.pop(name, None)
            side["gates"] = [row for row in side.get("gates", ()) if not _of_audits(row["gate"], content)]
            side["warnings"] = [row for row in side["warnings"] if row["code"] not in OF_AUDITS_ALOUD]
    if said["schema"] == EARLIER:
        said["schema"] = new["schema"]
        for name, later in (("verdicts", ("code", "params")), ("warnings", ("params",))):
            new[name] = [{key: v for key, v in row.items() if key not in later} for row in new.get(name, ())]
    if _version(said) != _version(new):
        for side in (said, new):
            side["signature"] = side["signature"].partition("; ")[2]
    return said, new


def _version(side: JsonObject) -> str:
    return str(side["signature"]).partition("; ")[0]


def _checked(
    recorded: Recorded,
    inputs: tuple[InputState, ...],
    compared: Iterable[Leaf],
    unchecked: tuple[Text, ...] = (),
) -> Verification:
    """Count what agrees, and gather what does not."""
    from evalreport.provenance import environment

    here, there = environment(), dict(recorded.content.get("environment", {}))
    versions = {name: (there.get(name), here.get(name)) for name in sorted({*here, *there})}
    same = there.get("evalreport") == here["evalreport"]
    counts: Counter[str] = Counter()
    differences: list[Leaf] = []
    worded: list[Leaf] = []
    for leaf in compared:
        if leaf.kind in ("exact", "rounded"):
            counts[leaf.kind if leaf.number else "words"] += 1
        elif leaf.kind == "differs" or same:
            differences.append(leaf)
        else:
            worded.append(leaf)
    if recorded.attached is not None and recorded.attached != recorded.bytes_:
        where = str(Message("verify.attachment"))
        differences.insert(0, Leaf(where, False, "differs", "other bytes", "those of results.json"))
    return Verification(
        name=recorded.name,
        inputs=inputs,
        versions=versions,
        exact=counts["exact"],
        rounded=counts["rounded"],
        words=counts["words"],
        differences=tuple(differences),
        worded=tuple(worded),
        unchecked=unchecked,
    )
