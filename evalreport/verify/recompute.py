"""Recomputing a results.json from the inputs that it names, and comparing every value; what versions changed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from evalreport.analysis import analysed, evaluate
from evalreport.errors import InputError, UsageError, is_address
from evalreport.extensions import load as load_extension
from evalreport.gates.conditions import asks_an_audit
from evalreport.gates.outcomes import decide_gates
from evalreport.headline import with_headline
from evalreport.history.connection import History
from evalreport.history.recorded_inputs import InputState, input_states, recorded_options
from evalreport.history.run_differences import Present
from evalreport.loading.load import load
from evalreport.options import AnyPath, Options, is_number
from evalreport.predictions.direction import directed
from evalreport.provenance import environment
from evalreport.report.sections.reproducibility import command
from evalreport.schema.audit import AUDIT_WARNINGS
from evalreport.schema.inputs import JsonObject
from evalreport.schema.recorded import Recorded, results_of
from evalreport.schema.results import SENTENCES, Results, to_json
from evalreport.schema.warnings import WarningRecord
from evalreport.sources.files import Found, aggregate_in, copies_of_addresses, find_files
from evalreport.sources.recorded import at_hand, recorded_files
from evalreport.texts import Message, Text, say
from evalreport.verify.documents import Document, compare_documents, documents_in, not_compared_in

RELATIVE = 1e-9
ABSOLUTE = 1e-14
"""Tolerances: other processors and versions of libraries round the last digits differently."""

IDENTITY = (
    "path", "model", "a", "b", "about", "question", "reference", "source", "metric", "average", "label", "slice",
    "reference_value", "test", "estimator", "loss", "curve", "criterion", "quantity", "method", "effect", "name",
    "dataset", "repeat", "fold", "replicate", "seed", "true", "predicted", "what", "id", "gate", "code", "part",
)  # fmt: skip
"""Fields that identify a record within its list; the others are its content."""
IGNORED = "ignored_file"
"""The code of the warning about a file in the folder that was not read."""
ALWAYS_RECORDED = frozenset({"evalreport", "python", "numpy", "scipy"})
"""What every run names in its environment."""
OF_AUDITS = ("audit", "evidence", "history", "changes")
"""Lists of records that only an audit fills."""

Kind = Literal["exact", "rounded", "differs", "one side"]
Outcome = Literal["agrees", "differs", "cannot be had"]
Progress = Callable[[str, float], None]


@dataclass(frozen=True, slots=True)
class Leaf:
    """The comparison of one value, recorded and recomputed.

    Attributes
    ----------
    number
        Whether it is a number; else it is a text or a flag.
    kind
        ``one side``: only one of the two has it.
    """

    where: str
    number: bool
    kind: Kind
    recorded: object = None
    recomputed: object = None


def leaves(recorded: object, recomputed: object, where: str = "") -> Iterator[Leaf]:
    """Compare two values of JSON and everything inside them.

    The records of a list are matched by the fields that identify them, so a missing record is one difference.

    Examples
    --------
    >>> [leaf.kind for leaf in leaves({"n": 500, "value": 0.5}, {"n": 500, "value": 0.5 + 1e-12})]
    ['exact', 'rounded']
    """
    if isinstance(recorded, dict) and isinstance(recomputed, dict):
        for name in sorted({*recorded, *recomputed}):
            inner = f"{where}.{name}" if where else name
            if name in recorded and name in recomputed:
                yield from leaves(recorded[name], recomputed[name], inner)
            elif recorded.get(name) == [] or recomputed.get(name) == []:
                continue  # an empty list is the same as none
            else:
                yield Leaf(inner, False, "one side", recorded.get(name), recomputed.get(name))
    elif isinstance(recorded, list) and isinstance(recomputed, list):
        of_records = all(isinstance(entry, dict) for entry in (*recorded, *recomputed))
        yield from (_records if of_records else _values)(recorded, recomputed, where)
    else:
        yield _leaf(recorded, recomputed, where)


def _records(recorded: Sequence[JsonObject], recomputed: Sequence[JsonObject], where: str) -> Iterator[Leaf]:
    old, new = _by_identity(recorded), _by_identity(recomputed)
    for key in (*old, *(key for key in new if key not in old)):
        inner = f"{where}[{_name_of(old.get(key) or new[key], where)}]"
        if key in old and key in new:
            yield from leaves(old[key], new[key], inner)
        else:
            sides = ("a record" if key in side else None for side in (old, new))
            yield Leaf(inner, False, "one side", *sides)
    shared = [key for key in old if key in new]
    if shared != [key for key in new if key in old]:
        yield Leaf(say("verify.order", where=where), False, "differs", "another order", "this order")


def _values(recorded: Sequence[object], recomputed: Sequence[object], where: str) -> Iterator[Leaf]:
    if len(recorded) != len(recomputed):
        yield Leaf(f"{where}: how many", True, "differs", len(recorded), len(recomputed))
    for number, (one, other) in enumerate(zip(recorded, recomputed, strict=False)):
        yield from leaves(one, other, f"{where}[{number}]")


def _by_identity(records: Sequence[JsonObject]) -> dict[tuple[str, int], JsonObject]:
    """Give each record a key of its identifying fields; records with the same fields are numbered."""
    keyed: dict[tuple[str, int], JsonObject] = {}
    counts: dict[str, int] = {}
    for record in records:
        names = [name for name in _identifying(record) if name in record and not is_number(record[name])]
        fields = json.dumps([[name, record[name]] for name in names], sort_keys=True)
        counts[fields] = counts.get(fields, 0) + 1
        keyed[fields, counts[fields]] = record
    return keyed


def _name_of(record: JsonObject, where: str) -> str:
    """Name a record by its identifying fields that are not null."""
    parts = []
    for name in _identifying(record):
        value = record.get(name)
        if isinstance(value, dict):
            value = "=".join(str(part) for part in value.values())
        elif isinstance(value, list):
            value = ", ".join(map(str, value))
        if value is not None and value != "" and not is_number(value):
            parts.append(f"{name} {value}" if name in ("repeat", "fold", "seed", "label") else str(value))
    return " ".join(parts) or where


def _identifying(record: JsonObject) -> Sequence[str]:
    """Return the identifying fields of a record; method and code of a verdict are its content."""
    return [name for name in IDENTITY if name not in ("method", "code") or "verdict" not in record]


def _leaf(old: object, new: object, where: str) -> Leaf:
    if is_number(old) and is_number(new):
        if old == new:
            return Leaf(where, True, "exact")
        near = abs(old - new) <= max(ABSOLUTE, RELATIVE * max(abs(old), abs(new)))
        return Leaf(where, True, "rounded" if near else "differs", old, new)
    number = is_number(old) or is_number(new)
    if type(old) is type(new) and old == new:
        return Leaf(where, False, "exact")
    return Leaf(where, number, "differs", old, new)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What was checked beside inputs, figures and documents, and what was not.

    Attributes
    ----------
    attached
        Whether the folder's PDF was compared, by its attachment.
    not_compared
        What was not compared, and why.
    on_word
        What cannot follow from inputs and options: there is only the word of the results, or of a document.
    """

    attached: bool = False
    not_compared: tuple[Message, ...] = ()
    on_word: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The result of recomputing a results.json.

    Attributes
    ----------
    agreeing
        The number of values that agree, by how: figures to the last bit (``exact``), figures up to rounding
        (``rounded``), texts and flags (``words``).
    differences
        Values that do not agree.
    versions
        The recorded version of each library, and the one here.
    unchecked
        The parts that could not be recomputed, and what they need.
    of_counts
        Whether the inputs are those of an aggregate.
    counted
        Whether the files behind a table of counts give the same counts; None: the files are not there.
    documents
        The comparison of each other document in the same folder.
    scope
        What else was checked, and what was not.
    command
        The command with the recorded options, under which everything was computed again; empty: nothing was.
    """

    name: str
    inputs: tuple[InputState, ...]
    versions: Mapping[str, tuple[str | None, str | None]]
    agreeing: Mapping[str, int] = field(default_factory=Counter)
    differences: tuple[Leaf, ...] = ()
    unchecked: tuple[Text, ...] = ()
    of_counts: bool = False
    counted: bool | None = None
    documents: tuple[Document, ...] = ()
    scope: Scope = Scope()
    command: str = ""

    @property
    def figures(self) -> int:
        """The number of figures that agree."""
        return self.agreeing["exact"] + self.agreeing["rounded"]

    @property
    def outcome(self) -> Outcome:
        """Whether everything was recomputed and agrees; a difference counts before a missing part."""
        changed = any(state.state == "changed" for state in self.inputs)
        if changed or self.differences or any(document.state == "differs" for document in self.documents):
            return "differs"
        if any(state.state == "missing" for state in self.inputs):
            return "cannot be had"
        in_part = self.unchecked or any(document.state == "charts" for document in self.documents)
        return "cannot be had" if in_part else "agrees"


def verify(
    recorded: Recorded,
    folder: AnyPath,
    *,
    history: History | None = None,
    series: str = "default",
    criteria: AnyPath | None = None,
    templates: Path | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Verification:
    """Recompute recorded results.

    Parameters
    ----------
    folder
        The folder or address in which inputs are found by their recorded paths, those of addresses by the part after
        their common beginning.
    history, series
        The history that recorded the audit, for comparisons with earlier runs; None: they are not checked.
    criteria
        The file of the criteria that the run must have followed.
    templates
        The folder of templates that the documents in the output folder were made with.

    Raises
    ------
    UsageError
        This version cannot follow the recorded options.
    HistoryError
        The history cannot be read.
    """
    with at_hand(recorded.content, folder) as here:
        listed = here if not is_address(folder) else None
        verification = _verified(recorded, here, listed, history, series, jobs, progress)
    if criteria is not None:
        verification = replace(
            verification,
            differences=(*_other_criteria(recorded.content, criteria), *verification.differences),
        )
    if recorded.folder is None:
        return verification
    documents = compare_documents(documents_in(recorded.folder), results_of(recorded.content), templates)
    pictures = not_compared_in(recorded.folder)
    unread = (Message("verify.scope.pictures", names=pictures),) if pictures else ()
    scope = verification.scope
    titles = dict.fromkeys(document.title for document in documents if document.title is not None)
    return replace(
        verification,
        documents=documents,
        scope=replace(
            scope,
            not_compared=(*scope.not_compared, *unread),
            on_word=(*scope.on_word, *(Message("verify.titled", title=title) for title in titles)),
        ),
    )


def _other_criteria(content: JsonObject, path: AnyPath) -> tuple[Leaf, ...]:
    """Return how results differ from the criteria of a file: in their digest, and in each thing that was changed.

    That the changes are all of them follows from the options and the inputs, which are compared elsewhere.
    """
    wanted = load_extension("digest of criteria")(path)
    declared = content.get("declared") or {}
    followed = declared.get("digest")
    if followed != wanted:
        return (Leaf("declared.digest", False, "differs", followed, wanted),)
    return tuple(
        Leaf(f"declared.changed[{place}]", False, "differs", change, "as declared")
        for place, change in enumerate(declared.get("changed", ()))
    )


def _verified(
    recorded: Recorded,
    folder: Path,
    listed: Path | None,
    history: History | None,
    series: str,
    jobs: int,
    progress: Progress | None,
) -> Verification:
    """Recompute results; ``listed`` is the folder where files that were not read are looked for, None: they are not."""
    content, near = recorded.content, folder
    folder = load_extension("aggregate below")(folder, {row["sha256"] for row in content["inputs"]}) or folder
    inputs = input_states(content, folder)
    partly = _checked(recorded, inputs, ())
    if not inputs or any(state.state == "missing" for state in inputs):
        why = () if inputs else (Message("verify.no_input"),)
        return replace(partly, unchecked=why)
    options = recorded_options(content, folder)
    ignored = () if listed is None else _ignored_files(listed, options)
    says_so = any(row["code"] == IGNORED for row in content.get("warnings", ()))
    try:
        source = aggregate_in(folder) or recorded_files(
            content["inputs"], folder, options.truth, ignored if says_so else ()
        )
        recomputed, unchecked = _recomputed(recorded, source, options, history, series, jobs, progress)
    except InputError as error:
        if any(state.state == "changed" for state in inputs):
            return replace(partly, unchecked=(Message("verify.changed_input", why=str(error)),))
        raise
    except UsageError as error:
        raise UsageError(f"{recorded.name}: the recorded options do not fit the inputs: {error}") from error
    unlisted = {IGNORED} if listed is None else set()
    compared = (*_versions(content), *leaves(*_comparable(content, recomputed, bool(unchecked), unlisted)))
    of_counts = aggregate_in(folder) is not None
    counted = load_extension("aggregated again")(folder, near) if of_counts else None
    if counted is False:
        counts = Leaf(str(Message("verify.counts")), False, "differs", "other counts", "those of the files")
        compared = (counts, *compared)
    not_compared: tuple[Message, ...] = ()
    if listed is None and says_so:
        not_compared = (Message("verify.scope.at_address"),)
    elif ignored and not says_so:
        names = tuple(name for row in ignored for name in row.about)
        not_compared = (Message("verify.scope.not_read", n=len(names), names=names[:3]),)
    return replace(
        _checked(recorded, inputs, compared, unchecked),
        of_counts=of_counts,
        counted=counted,
        scope=Scope(
            attached=recorded.attached is not None, not_compared=not_compared, on_word=_earlier_looks(content)
        ),
        command=command(results_of(content)),
    )


def _earlier_looks(content: JsonObject) -> tuple[Message, ...]:
    """Say of which looks, and of whose decisions, there is only the word of the results."""
    looks = content.get("looks") or {}
    n = len(looks.get("earlier", ()))
    carried = [
        row["about"]
        for row in content.get("verdicts", ())
        if row.get("decided_at") is not None and row["decided_at"] < looks.get("look", 0)
    ]
    if n == 0:
        return ()
    if not carried:
        return (Message("verify.earlier_looks", n=n),)
    pairs = [" / ".join(about) for about in carried]
    return (Message("verify.earlier_decisions", n=n, pairs=pairs),)


def _ignored_files(folder: Path, options: Options) -> tuple[WarningRecord, ...]:
    """Return the warnings about files in a folder that no run reads."""
    try:
        with copies_of_addresses() as copies:
            files = find_files(folder, options.truth, copies)
    except InputError:
        return ()
    return tuple(row for row in files.warnings if row.code == IGNORED)


def _versions(content: JsonObject) -> Iterator[Leaf]:
    """Compare the versions that results name with one another; nothing is excused by them."""
    there = dict(content.get("environment", {}))
    for name in sorted(environment()):
        if name in ALWAYS_RECORDED and name not in there:
            yield Leaf(f"environment.{name}", False, "one side", None, "a version")
    signed = _version(content).removeprefix("evalreport ")
    if "evalreport" in there and signed != there["evalreport"]:
        yield Leaf("environment.evalreport", False, "differs", there["evalreport"], signed)


def _recomputed(
    recorded: Recorded,
    source: Found | Path,
    options: Options,
    history: History | None,
    series: str,
    jobs: int,
    progress: Progress | None,
) -> tuple[Results, tuple[Text, ...]]:
    """Run the recorded analysis again; return also the parts that need a history."""
    loaded = load(source, options=options)
    if loaded.multiplicity is None and any(
        row["what"] == "counts" for row in recorded.content.get("found", ())
    ):
        # An engine counted the rows, so that the results hold nothing that needs single examples.
        loaded = load(source, options=options, engine="duckdb")
    options = directed(options, loaded.found)
    content = recorded.content
    of_series = content.get("primary_because") == str(Message("primary.of_series"))
    kept = content["primary_metric"] if of_series else None
    recorded_results = results_of(content)
    look = load_extension("look of results")(recorded_results, options)
    results = evaluate(
        loaded, options=options, jobs=jobs, progress=progress, primary_of_series=kept, look_of=look
    )
    earlier = _about_earlier(recorded.content)
    if not earlier:
        results = decide_gates(results, options.gates)
        criteria = load_extension("criteria of results")(recorded_results, options, loaded)
        results = results if criteria is None else criteria.mark(results)
        return _with_recorded_headline(results, content), ()
    if history is not None:
        return load_extension("audited again")(
            recorded, Present(results, analysed(loaded), options), history, series
        ), ()
    gates = [gate for gate in options.gates if not _of_audits(gate, recorded.content)]
    return with_headline(decide_gates(results, gates)), (Message("verify.needs_history", what=earlier),)


def _with_recorded_headline(results: Results, content: JsonObject) -> Results:
    """Add the headline; the first audit of a series differs from a run in its headline alone."""
    first = with_headline(results, first_of_series=True)
    text = (content.get("headline") or {}).get("text")
    return first if first.headline is not None and first.verdict == text else with_headline(results)


def _about_earlier(content: JsonObject) -> str:
    """Return the numbers of records that depend on a history, in words; empty: there are none."""
    counts = {name: len(content.get(name, ())) for name in OF_AUDITS}
    counts["gates"] = sum(_of_audits(gate, content) for gate in content["options"].get("gates", ()))
    return ", ".join(f"{number} of {name}" for name, number in counts.items() if number)


def _of_audits(gate: str, content: JsonObject) -> bool:
    return asks_an_audit(gate, models=content["models"])


def _comparable(
    content: JsonObject, found: Results, partly: bool, unlisted: set[str]
) -> tuple[object, object]:
    """Return the recorded and the recomputed results without environment.

    Parameters
    ----------
    partly
        Whether parts need a history that was not named.
    unlisted
        Codes of warnings that cannot be raised again.
    """
    old, new = dict(content), json.loads(to_json(found))
    for side in (old, new):
        side.pop("environment", None)  # versions are compared apart
        side["changes"] = [row for row in side.get("changes", ()) if row["kind"] != "version"]
        unknown = unlisted | (set(AUDIT_WARNINGS) if partly else set())
        for name in ("warnings", "checks", "findings"):
            if unknown and name in side:
                side[name] = [row for row in side[name] if row["code"] not in unknown]
        if "findings" in side:  # owners and dates are filled in by people, in a file that is not named
            side["findings"] = [
                {name: value for name, value in row.items() if name not in ("owner", "due")}
                for row in side["findings"]
            ]
        if partly:
            for name in (*OF_AUDITS, "findings", "headline", SENTENCES):
                side.pop(name, None)
            side["gates"] = [row for row in side.get("gates", ()) if not _of_audits(row["gate"], content)]
    if _version(old) != _version(new):
        for side in (old, new):
            side["signature"] = str(side["signature"]).partition("; ")[2]
    return old, new


def _version(side: JsonObject) -> str:
    return str(side["signature"]).partition("; ")[0]


def _checked(
    recorded: Recorded,
    inputs: tuple[InputState, ...],
    compared: Iterable[Leaf],
    unchecked: tuple[Text, ...] = (),
) -> Verification:
    """Count the values that agree, and list those that do not."""
    here, there = environment(), dict(recorded.content.get("environment", {}))
    versions = {name: (there.get(name), here.get(name)) for name in sorted({*here, *there})}
    counts: Counter[str] = Counter()
    differences: list[Leaf] = []
    for leaf in compared:
        if leaf.kind in ("exact", "rounded"):
            counts[leaf.kind if leaf.number else "words"] += 1
        else:
            differences.append(leaf)
    if recorded.attached is not None and recorded.attached != recorded.bytes_:
        where = str(Message("verify.attachment"))
        differences.insert(0, Leaf(where, False, "differs", "other bytes", "those of results.json"))
    return Verification(
        name=recorded.name,
        inputs=inputs,
        versions=versions,
        agreeing=counts,
        differences=tuple(differences),
        unchecked=unchecked,
        scope=Scope(attached=recorded.attached is not None),
    )
