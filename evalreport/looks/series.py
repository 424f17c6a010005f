"""The looks at one comparison: counted, or remembered in a file that no kill loses and no two runs write at once."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from msgspec import Struct, structs, to_builtins

from evalreport.errors import InputError, OutputError, UsageError
from evalreport.files import change_whole, content_of, strict_json
from evalreport.looks.answers import BYTES_OF_A_KEY, Answers, Keys, answers_of
from evalreport.looks.levels import Declared, Level, are_spent, next_level, planned_levels
from evalreport.options import Options
from evalreport.predictions.table import Predictions
from evalreport.questions.looks.options import MOST_LOOKS, SPENT
from evalreport.questions.looks.records import EarlierLook, KeptVerdict, Look, LookRecord, PlannedLook, Rule
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.schema.lookups import PairRecords, comparison_between, is_metric
from evalreport.schema.recorded import converted
from evalreport.schema.results import Results

SCHEMA = "evalreport/looks/1"
SAME_ALWAYS = ("looks", "n_max", "pushes", "confidence", "correction", "margin", "baseline")
"""Options that one series of looks has from its first look on."""
SAME_LEVEL = 1e-9
"""Levels are computed again when the file is read; they may differ by rounding."""


class TakenLook(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A look in the file; ``decided`` holds what this and earlier looks decided."""

    n: int
    rule: Rule
    level: float
    spent: float
    examples: str
    digests: Mapping[str, str]
    decided: tuple[KeptVerdict, ...] = ()


class Series(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of a looks file; ``ids`` are the hashed ids of the last look."""

    schema: Literal["evalreport/looks/1"] = "evalreport/looks/1"
    looks: int
    n_max: int | None
    pushes: bool
    confidence: float
    correction: str
    margin: float | None
    baseline: str | None
    metric: str
    taken: tuple[TakenLook, ...] = ()
    ids: str = ""

    @property
    def declared(self) -> Declared:
        """How the error is spent."""
        return Declared(looks=self.looks, n_max=self.n_max, pushes=self.pushes, alpha=1 - self.confidence)


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
            n=answers.n, digests=answers.digests, examples=answers.examples_digest,
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
    same: bool = False

    def look(self, predictions: Predictions, metric: str) -> Look:
        """Return this look: the last one again where examples and answers are the same, else the next.

        Raises
        ------
        UsageError
            All looks are spent, or the series was begun with other options.
        InputError
            The file is no looks file, or its levels do not follow from its looks.
        """
        self.before = _content(self.path)
        series = self._series(metric)
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
            if are_spent(_levels(taken), series.declared):
                raise UsageError(SPENT.format(looks=f"{self.path}: {len(taken)} of {series.looks} looks"))
            within = answers.within(_keys_of(series)) if taken else None
            old = within.digests if within is not None else {}
            unchanged = {name for name in old if taken and old[name] == taken[-1].digests.get(name)}
            added = not taken or (
                within is not None
                and within.examples_digest == taken[-1].examples
                and unchanged == set(answers.models) == set(taken[-1].digests)
                and answers.n > taken[-1].n
            )
            level = next_level(_levels(taken), answers.n, series.declared, added=added)
            this = TakenLook(**asdict(level), examples=answers.examples_digest, digests=answers.digests)
            before = taken
            kept = tuple(one for one in taken[-1].decided if set(one.about) <= unchanged) if taken else ()
        return Look(record=_record(series, before, this), kept=kept)

    def _series(self, metric: str) -> Series:
        """Return the series of the file; a new one where there is none.

        Raises
        ------
        UsageError
            It was begun with other options.
        """
        wanted: dict[str, Any] = {name: getattr(self.options, name) for name in SAME_ALWAYS} | {
            "metric": metric
        }
        if self.before is None:
            return Series(**wanted)
        series = series_of(self.before, str(self.path))
        for name, value in wanted.items():
            found = getattr(series, name)
            if found != value:
                raise UsageError(
                    f"{self.path}: the looks were begun with {name} {_shown(found)}, not {_shown(value)}: keep it, or"
                    " declare a new series in another file before new examples"
                )
        return series

    def keep(self, results: Results) -> None:
        """Write this look into the file, unless it is there.

        Raises
        ------
        OutputError
            The file cannot be written, or another run has taken a look meanwhile.
        """
        series, answers, record = self.series, self.answers, results.looks
        assert series is not None
        assert answers is not None
        assert record is not None
        this = TakenLook(
            n=record.n, rule=record.rule, level=record.level, spent=record.spent,
            examples=answers.examples_digest, digests=answers.digests, decided=decided_in(results),
        )  # fmt: skip
        if self.same:
            return
        ids = base64.b64encode(answers.keys.astype("<u8").tobytes()).decode()
        written = _json(structs.replace(series, taken=(*series.taken, this), ids=ids))

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


def recorded_look(results: Results) -> Look | None:
    """Return the look that results record, with the verdicts of earlier looks that they keep."""
    if results.looks is None:
        return None
    kept = tuple(one for one in decided_in(results) if one.decided_at < results.looks.look)
    return Look(record=results.looks, kept=kept)


def decided_in(results: Results) -> tuple[KeptVerdict, ...]:
    """Return the decided pairs of a run with looks, each as the look that decided it recorded it."""
    look, pairs = results.looks, PairRecords.of(results)
    assert look is not None
    found = []
    for verdict in results.verdicts:
        if verdict.decided_at is None:
            continue
        difference = verdict.difference
        if difference is None:
            about = partial(_is_about, verdict.metric)
            row = comparison_between(pairs, *verdict.about, about=about, decided=False)
            difference = None if row is None else row.difference
        if difference is None:
            continue
        found.append(
            KeptVerdict(
                about=verdict.about, verdict=verdict.verdict, level=verdict.level, low=verdict.low, high=verdict.high,
                method=verdict.method, difference=difference, decided_at=verdict.decided_at,
                n=results.n if verdict.n is None else verdict.n,
            )
        )  # fmt: skip
    return tuple(found)


def _is_about(metric: str, row: ComparisonRecord) -> bool:
    return is_metric(row, metric)


def series_of(content: bytes, name: str) -> Series:
    """Read and check a looks file.

    Raises
    ------
    InputError
        It is no such file, or its levels do not follow from its looks.
    """

    def refused(why: str) -> InputError:
        return InputError(
            why,
            file=name,
            expected=f"a file that `evalreport run --looks-file` wrote ({SCHEMA})",
            remedy="restore it from a copy, or begin a new series in another file before new examples",
        )

    try:
        series = converted(strict_json(content), Series)
    except ValueError as error:
        raise refused(f"is no looks file ({str(error)[:160]})") from None
    many = len(series.taken) > series.looks
    if many or not (1 <= series.looks <= MOST_LOOKS and 0 < series.confidence < 1):
        raise refused("is no looks file: its looks or its confidence are out of range")
    levels: list[Level] = []
    for one in series.taken:
        grown = not levels or one.n > levels[-1].n
        follows = one.n >= 1 and (one.rule == "other" or grown) and not are_spent(levels, series.declared)
        level = next_level(levels, one.n, series.declared, added=one.rule == "added") if follows else None
        if (
            level is None
            or level.rule != one.rule
            or abs(level.level - one.level) > SAME_LEVEL
            or abs(level.spent - one.spent) > SAME_LEVEL
        ):
            raise refused(f"look {len(levels) + 1} does not follow from the looks before it")
        levels.append(level)
    try:
        _keys_of(series)
    except ValueError:
        raise refused("its ids are damaged") from None
    return series


def _keys_of(series: Series) -> Keys:
    try:
        found = base64.b64decode(series.ids, validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from None
    if len(found) % BYTES_OF_A_KEY:
        raise ValueError("cut")
    return np.frombuffer(found, "<u8").astype(np.uint64)


def _levels(taken: Sequence[TakenLook]) -> list[Level]:
    return [Level(n=one.n, rule=one.rule, level=one.level, spent=one.spent) for one in taken]


def _record(series: Series, before: Sequence[TakenLook], this: TakenLook) -> LookRecord:
    planned = planned_levels(_levels([*before, this]), series.declared)
    return LookRecord(
        look=len(before) + 1, looks=series.looks, rule=this.rule, level=this.level, spent=this.spent, n=this.n,
        digests=dict(this.digests), examples=this.examples, n_max=series.n_max, pushes=series.pushes,
        earlier=tuple(
            EarlierLook(look=k, rule=one.rule, n=one.n, level=one.level, spent=one.spent, decided=len(one.decided))
            for k, one in enumerate(before, 1)
        ),
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
