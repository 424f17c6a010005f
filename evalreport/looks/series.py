"""The looks at one comparison: counted, or remembered in a file that no kill loses and no two runs write at once."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
from msgspec import Struct, structs, to_builtins

from evalreport.errors import InputError, OutputError, UsageError
from evalreport.files import change_whole, content_of, strict_json
from evalreport.headline.facts import Facts
from evalreport.looks.answers import FACTS, Answers, Keys, answers_of
from evalreport.looks.decided_again import decided_so
from evalreport.looks.levels import Declared, Level, are_spent, next_level, planned_levels
from evalreport.options import Options
from evalreport.predictions.table import Predictions
from evalreport.provenance import plain_options
from evalreport.questions.looks.options import MOST_EXAMPLES, MOST_LOOKS, SPENT
from evalreport.questions.looks.records import EarlierLook, KeptVerdict, Look, LookRecord, PlannedLook
from evalreport.schema.inputs import JsonObject
from evalreport.schema.recorded import converted
from evalreport.schema.results import Results
from evalreport.texts import Message, say

Pair = tuple[str, str]

SCHEMA: Literal["evalreport/looks/1"] = "evalreport/looks/1"
SAME_ALWAYS = ("looks", "n_max", "pushes", "confidence", "correction", "margin", "baseline")
"""Options that one series of looks has from its first look on."""
NOT_ASKED = frozenset(
    {
        *("looks_file", "look", "criteria", "metrics", "slices", "gates", "truth", "between_runs"),
        *("costs", "grade", "thresholds", "finds", "alarms", "cost_ratio", "what_if_threshold", "noise"),
        "kohavi_wolpert",
    }
)
"""Options that change nothing in the pairs of the primary metric; every other one is a part of the hypothesis."""
SAME_LEVEL = 1e-9
"""Levels are computed again when the file is read; they may differ by rounding."""


class TakenLook(Level, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A look in the file; ``decided`` holds what this and earlier looks decided.

    ``before`` is the digest of the look before it, of the first one that of what was declared.
    """

    examples: str
    facts: Mapping[str, str]
    digests: Mapping[str, str]
    before: str
    decided: tuple[KeptVerdict, ...] = ()


class Series(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of a looks file.

    ``ids`` are the hashed ids of the last look, and ``since`` the look since which each has always been there;
    ``seal`` is the digest of these and of the last look.
    """

    schema: Literal["evalreport/looks/1"]
    looks: int
    n_max: int | None
    pushes: bool
    confidence: float
    correction: str
    margin: float | None
    baseline: str | None
    metric: str
    hypothesis: JsonObject
    taken: tuple[TakenLook, ...] = ()
    ids: str = ""
    since: str = ""
    seal: str = ""

    @property
    def declared(self) -> Declared:
        """How the error is spent."""
        return Declared(looks=self.looks, n_max=self.n_max, pushes=self.pushes, alpha=1 - self.confidence)

    @property
    def head(self) -> str:
        """The digest that the next look names: of the last look, before the first one of what was declared."""
        if self.taken:
            return digest_of(self.taken[-1])
        return digest_of(structs.replace(self, taken=(), ids="", since="", seal=""))

    @property
    def sealed(self) -> Series:
        """The same with the digest of its last look and of its ids."""
        text = f"{self.head} {self.ids} {self.since}"
        return structs.replace(self, seal=hashlib.sha256(text.encode()).hexdigest())

    @property
    def keys(self) -> Keys:
        """The hashed ids of the last look."""
        return _numbers(self.ids, "<u8").astype(np.uint64)

    @property
    def looks_of_keys(self) -> np.ndarray:
        """The look since which each of them has been there."""
        return _numbers(self.since, "u1")

    def ids_of(self, look: int) -> Keys:
        """Return the hashed ids that have been there since a look, or an earlier one."""
        return self.keys[self.looks_of_keys <= look]


def digest_of(record: Struct) -> str:
    """Return the SHA-256 of a record as JSON, sorted, without spaces."""
    text = json.dumps(to_builtins(record), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def hypothesis_of(predictions: Predictions, options: Options) -> JsonObject:
    """Return what a series of looks is about: the task, the positive class, and every option that pairs depend on."""
    asked = {name: value for name, value in plain_options(options).items() if name not in NOT_ASKED}
    facts = {"task": predictions.task, "positive": predictions.positive, "design": predictions.design}
    return {name: value for name, value in (asked | facts).items() if name not in SAME_ALWAYS}


class Counted:
    """A look that the user counts: every one has alpha / looks, and nothing is remembered."""

    def __init__(self, options: Options) -> None:
        self._options = options

    def look(self, predictions: Predictions, _metric: str) -> Look:
        """Return the look."""
        options, answers = self._options, answers_of(predictions, self._options)
        assert options.look is not None
        assert options.looks is not None
        equal = (1 - options.confidence) / options.looks
        record = LookRecord(
            look=options.look, looks=options.looks, rule="other", level=equal, spent=options.look * equal,
            n=answers.n, digests=answers.digests, examples=answers.examples_digest, facts=answers.fact_digests,
        )  # fmt: skip
        return Look(record=record)

    def keep(self, _results: Results) -> None:
        """Remember nothing."""


@dataclass(slots=True)
class Remembered:
    """A series of looks in a file.

    Attributes
    ----------
    before
        The content of the file when this look was begun; None: there was no file.
    """

    path: Path
    options: Options
    before: bytes | None = None
    series: Series | None = None
    answers: Answers | None = field(default=None, repr=False)
    this: TakenLook | None = None
    same: bool = False
    again: bool = False
    """Whether all examples of the last look are there."""

    def look(self, predictions: Predictions, metric: str) -> Look:
        """Return this look: the last one again where examples and answers are the same, else the next.

        Raises
        ------
        UsageError
            All looks are spent, or the series was begun with other options, or about other facts.
        InputError
            The file is no looks file, or a look does not follow from those before it, or from its examples.
        """
        self.before = _content(self.path)
        series = self._series(metric, hypothesis_of(predictions, self.options))
        answers = answers_of(predictions, self.options)
        self.series, self.answers = series, answers
        taken = series.taken
        self.same = bool(taken) and (taken[-1].examples, dict(taken[-1].digests)) == (
            answers.examples_digest,
            answers.digests,
        )
        if self.same:
            this, before = taken[-1], taken[:-1]
            kept = tuple(one for one in this.decided if one.decided_at < len(taken))
        else:
            if are_spent(taken, series.declared):
                raise UsageError(SPENT.format(looks=f"{self.path}: {len(taken)} of {series.looks} looks"))
            within = answers.within(series.keys) if taken else None
            if within is not None:
                self._require_same_facts(within, taken[-1], len(taken))
            self.again = within is not None
            old = within.digests if within is not None else {}
            unchanged = {name for name in old if taken and old[name] == taken[-1].digests.get(name)}
            added = not taken or (
                within is not None
                and unchanged == set(answers.models) == set(taken[-1].digests)
                and answers.n > taken[-1].n
            )
            this, before = _next_look(series, answers, added=added), taken
            kept = tuple(one for one in taken[-1].decided if set(one.about) <= unchanged) if taken else ()
        self._require_examples(series, answers, predictions, kept)
        self.this = this
        return Look(record=_record(series, before, this), kept=kept)

    def _require_same_facts(self, within: Answers, last: TakenLook, look: int) -> None:
        """Refuse other true values, weights or clusters of the examples of the last look.

        Raises
        ------
        UsageError
            With the names of what changed.
        """
        now = within.fact_digests
        changed = [
            str(Message(f"looks.fact.{name}")) for name in FACTS if now.get(name) != last.facts.get(name)
        ]
        if changed:
            raise UsageError(
                f"{self.path}: of the examples of look {look} {' and '.join(changed)} have changed since: that is"
                " another comparison; restore them, or declare a new series in another file before new examples"
            )

    def _require_examples(
        self, series: Series, answers: Answers, predictions: Predictions, kept: Sequence[KeptVerdict]
    ) -> None:
        """Refuse looks that their own examples, where they are all there, contradict.

        Raises
        ------
        InputError
            A look has other examples or answers, or decided a pair otherwise, than the file says.
        """
        if not (self.same or self.again):
            return
        for look, taken in enumerate(series.taken, 1):
            ids = series.ids_of(look)
            within = answers.within(ids)
            if within is None or (len(ids) != taken.n and self.options.cluster is None):
                continue  # examples of this look were taken away since
            if within.examples_digest != taken.examples:
                raise _refused(str(self.path), f"look {look} was not at the examples that it names")
            for verdict in kept:
                if verdict.decided_at == look and not decided_so(
                    verdict, taken.level, predictions, answers.rows_of(ids), series.metric, self.options
                ):
                    raise _refused(
                        str(self.path),
                        f"look {look} did not decide {verdict.about[0]} against {verdict.about[1]} as it says: its"
                        " examples give something else",
                    )

    def _series(self, metric: str, hypothesis: JsonObject) -> Series:
        """Return the series of the file; a new one where there is none.

        Raises
        ------
        UsageError
            It was begun with other options.
        """
        wanted: JsonObject = {name: getattr(self.options, name) for name in SAME_ALWAYS} | {"metric": metric}
        if self.before is None:
            return Series(schema=SCHEMA, **wanted, hypothesis=hypothesis)
        series = series_of(self.before, str(self.path))
        then = {name: getattr(series, name) for name in wanted} | dict(series.hypothesis)
        now = {**wanted, **hypothesis}
        for name in sorted({*then, *now}):
            value_then, value = then.get(name), now.get(name)
            if value_then != value:
                raise UsageError(
                    f"{self.path}: the looks were begun with {name} {_shown(value_then)}, not {_shown(value)}:"
                    " keep it, or declare a new series in another file before new examples"
                )
        return series

    def keep(self, results: Results) -> None:
        """Write this look into the file, unless it is there.

        Raises
        ------
        OutputError
            The file cannot be written, or another run has taken a look meanwhile.
        """
        series, answers, this = self.series, self.answers, self.this
        assert series is not None
        assert answers is not None
        assert this is not None
        if self.same:
            return
        this = structs.replace(this, decided=decided_in(results))
        ids = base64.b64encode(answers.keys.astype("<u8").tobytes()).decode()
        here = np.full(len(answers.keys), len(series.taken) + 1, np.uint8)
        if self.again:
            here[np.isin(answers.keys, series.keys)] = series.looks_of_keys
        since = base64.b64encode(here.tobytes()).decode()
        written = _json(structs.replace(series, taken=(*series.taken, this), ids=ids, since=since).sealed)

        def change(found: bytes | None) -> bytes | None:
            if found != self.before:
                raise OutputError(
                    f"{self.path}: another run has taken a look meanwhile; run again, which counts this look after it"
                )
            return written

        try:
            change_whole(self.path, change)
        except OSError as error:
            raise OutputError(f"{self.path}: the look could not be kept: {error.strerror or error}") from None


Session = Counted | Remembered


def session_of(options: Options) -> Session | None:
    """Return what tells a run its look and keeps it; None without ``--looks``."""
    if options.looks is None:
        return None
    if options.looks_file is None:
        return Counted(options)
    return Remembered(Path(options.looks_file), options)


def recorded_look(results: Results, options: Options) -> Callable[[Predictions, str], Look] | None:
    """Return a function that takes the look of recorded results again; None: they have none.

    It is told to ``evaluate``, and computes from the inputs what follows from them: the number of examples and the
    digests. The level follows from the looks before, as the results name them.
    """
    record = results.looks
    if record is None:
        return None
    if options.look is not None:
        return Counted(options).look
    carried = {v.about for v in results.verdicts if v.decided_at is not None and v.decided_at < record.look}
    return partial(_look_again, record, options, carried)


def _look_again(
    record: LookRecord, options: Options, carried: Set[Pair], predictions: Predictions, metric: str
) -> Look:
    series = _recorded_series(record, options, metric, hypothesis_of(predictions, options))
    answers = answers_of(predictions, options)
    taken = series.taken
    this = _next_look(series, answers, added=_may_be_added(record, taken))
    decided = taken[-1].decided if taken else ()
    kept = tuple(v for v in decided if record.rule == "added" or v.about in carried)
    return Look(record=_record(series, taken, this), kept=kept)


def _next_look(series: Series, answers: Answers, *, added: bool) -> TakenLook:
    """Return the look that follows those of a series; what it decides is not known yet."""
    level = next_level(series.taken, answers.n, series.declared, added=added)
    return TakenLook(
        **structs.asdict(level), examples=answers.examples_digest, facts=answers.fact_digests,
        digests=answers.digests, before=series.head,
    )  # fmt: skip


def _recorded_series(record: LookRecord, options: Options, metric: str, hypothesis: JsonObject) -> Series:
    """Return the looks before a recorded one, each with the level and the digest that follow from those before it."""
    fields: JsonObject = {name: getattr(options, name) for name in SAME_ALWAYS}
    series = Series(schema=SCHEMA, **fields, metric=metric, hypothesis=hypothesis)
    for recorded in record.earlier[: series.looks - 1]:
        one = replace(recorded, n=min(max(recorded.n, 1), MOST_EXAMPLES))
        level = next_level(series.taken, one.n, series.declared, added=_may_be_added(one, series.taken))
        earlier = series.taken[-1].decided if series.taken else ()
        entry = TakenLook(
            **structs.asdict(level), examples=one.examples, facts=one.facts, digests=one.digests, before=series.head,
        )  # fmt: skip
        for verdict in one.verdicts:
            more = structs.replace(entry, decided=(*entry.decided, verdict))
            if _contradiction(more, len(series.taken) + 1, earlier, series) is None:
                entry = more
        series = structs.replace(series, taken=(*series.taken, entry))
    return series


def _may_be_added(one: EarlierLook | LookRecord | TakenLook, taken: Sequence[Level]) -> bool:
    """Say whether a look may be one at which examples were added, as it says."""
    return one.rule == "added" and one.n >= 1 and (not taken or one.n > taken[-1].n)


def decided_in(results: Results) -> tuple[KeptVerdict, ...]:
    """Return the decided pairs of a run with looks, each as the look that decided it recorded it."""
    facts = Facts(results)
    assert results.looks is not None
    verdicts = []
    for verdict in results.verdicts:
        if verdict.decided_at is None:
            continue
        difference = verdict.difference
        if difference is None:
            row = facts.comparison(facts.called(verdict.metric), *verdict.about)
            difference = None if row is None else row.difference
        if difference is None:
            continue
        verdicts.append(
            KeptVerdict(
                about=verdict.about, verdict=verdict.verdict, level=verdict.level, low=verdict.low, high=verdict.high,
                method=verdict.method, difference=difference, decided_at=verdict.decided_at,
                n=results.n if verdict.n is None else verdict.n,
            )
        )  # fmt: skip
    return tuple(verdicts)


def series_of(content: bytes, name: str) -> Series:
    """Read and check a looks file.

    Raises
    ------
    InputError
        It is no such file, or its levels do not follow from its looks.
    """
    refused = partial(_refused, name)
    try:
        series = converted(strict_json(content), Series)
    except ValueError as error:
        raise refused(f"is no looks file ({str(error)[:160]})") from None
    many = len(series.taken) > series.looks
    sizes = [one.n for one in series.taken] + ([] if series.n_max is None else [series.n_max])
    in_range = all(1 <= n <= MOST_EXAMPLES for n in sizes)
    if many or not (in_range and 1 <= series.looks <= MOST_LOOKS and 0 < series.confidence < 1):
        raise refused(
            "is no looks file: its looks, its numbers of examples or its confidence are out of range"
        )
    follow(series, refused)
    try:
        since, keys = series.looks_of_keys, series.keys
    except ValueError:
        raise refused("its ids are damaged") from None
    if series.sealed != series or len(since) != len(keys) or bool((keys[1:] <= keys[:-1]).any()):
        raise refused("its ids are damaged")
    return series


def _refused(name: str, why: str) -> InputError:
    return InputError(
        why,
        file=name,
        expected=f"a file that `evalreport run --looks-file` wrote ({SCHEMA})",
        remedy="restore it from a copy, or begin a new series in another file before new examples",
    )


def follow(series: Series, refused: Callable[[str], InputError]) -> None:
    """Check that each look follows from those before it: its level, its place in the chain, what it carries on.

    Raises
    ------
    InputError
        A look does not.
    """
    levels: list[Level] = []
    head = digest_of(structs.replace(series, taken=(), ids="", since="", seal=""))
    decided: tuple[KeptVerdict, ...] = ()
    for one in series.taken:
        grown = one.rule == "other" or _may_be_added(one, levels)
        follows = one.n >= 1 and grown and not are_spent(levels, series.declared)
        level = next_level(levels, one.n, series.declared, added=one.rule == "added") if follows else None
        if (
            level is None
            or level.rule != one.rule
            or abs(level.level - one.level) > SAME_LEVEL
            or abs(level.spent - one.spent) > SAME_LEVEL
        ):
            raise refused(f"look {len(levels) + 1} does not follow from the looks before it")
        levels.append(level)
        if one.before != head:
            raise refused(
                f"look {len(levels)} does not follow from the look before it: another one stood there"
            )
        why = _contradiction(one, len(levels), decided, series)
        if why is not None:
            raise refused(f"look {len(levels)} does not follow from the looks before it: {why}")
        head, decided = digest_of(one), one.decided


def _contradiction(one: TakenLook, look: int, earlier: Sequence[KeptVerdict], series: Series) -> str | None:
    """Return what is wrong with the decisions that a look names; None: nothing."""
    pairs = [frozenset(verdict.about) for verdict in one.decided]
    if len(set(pairs)) != len(pairs):
        return say("look_wrong.twice")
    most = max(len(one.digests) * (len(one.digests) - 1) / 2, 1)
    for verdict in one.decided:
        shown = " and ".join(verdict.about)
        if not 1 <= verdict.decided_at <= look or len(set(verdict.about)) < 2:
            return say("look_wrong.decided_at", pair=shown, look=verdict.decided_at)
        if verdict.decided_at < look:
            if verdict not in earlier:
                return say("look_wrong.carried_on", pair=shown)
            continue
        if not set(verdict.about) <= set(one.digests):
            return say("look_wrong.no_answers", pair=shown)
        alpha = 1 - verdict.level
        if not one.level / most - SAME_LEVEL <= alpha <= one.level + SAME_LEVEL:
            return say("look_wrong.level", pair=shown)
        if verdict.n < one.n or not _is_decision(verdict, series.margin):
            return say("look_wrong.not_decided", pair=shown)
    return None


def _is_decision(verdict: KeptVerdict, margin: float | None) -> bool:
    """Say whether limits and difference allow the verdict."""
    low, high, d = verdict.low, verdict.high, verdict.difference
    if low is not None and high is not None and not low - SAME_LEVEL <= d <= high + SAME_LEVEL:
        return False
    if verdict.verdict in ("better", "worse"):
        return d != 0 and not (low is not None and high is not None and low < 0 < high)
    if margin is None or verdict.verdict == "undecided":
        return False
    return verdict.verdict != "equivalent" or low is None or high is None or -margin < low <= high < margin


def _numbers(text: str, dtype: str) -> np.ndarray:
    """Return numbers that stand in base 64; a ``ValueError``: they are damaged."""
    return np.frombuffer(base64.b64decode(text, validate=True), dtype)


def _record(series: Series, before: Sequence[TakenLook], this: TakenLook) -> LookRecord:
    planned = planned_levels([*before, this], series.declared)
    taken = {name: value for name, value in structs.asdict(this).items() if name != "decided"}
    earlier = (
        {**structs.asdict(one), "look": k, "decided": len(one.decided), "verdicts": one.decided}
        for k, one in enumerate(before, 1)
    )
    return LookRecord(
        look=len(before) + 1, looks=series.looks, **taken, hypothesis=dict(series.hypothesis), n_max=series.n_max,
        pushes=series.pushes, earlier=tuple(EarlierLook(**one) for one in earlier),
        planned=tuple(
            PlannedLook(look=len(before) + 1 + k, n=one.n, level=one.level, spent=one.spent)
            for k, one in enumerate(planned, 1)
        ),
    )  # fmt: skip


def _json(series: Series) -> bytes:
    return (json.dumps(to_builtins(series), sort_keys=True, indent=1, ensure_ascii=True) + "\n").encode()


def _content(path: Path) -> bytes | None:
    try:
        return content_of(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror}); name another looks file") from None


def _shown(value: object) -> str:
    return "none" if value is None else str(value)
