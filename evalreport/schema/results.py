"""The results of a run, and their JSON."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from os import PathLike
from typing import TYPE_CHECKING

from evalreport.errors import UsageError
from evalreport.questions.declared import RoomLists
from evalreport.registry import unknown_name
from evalreport.schema.audit import AuditRecord, EvidenceRecord, HistoryRecord
from evalreport.schema.comparisons import (
    AgreementRecord,
    ComparisonRecord,
    DisagreementRecord,
    EffectRecord,
    RankingRecord,
    UnanimityRecord,
    VarianceRecord,
)
from evalreport.schema.decisions import GateRecord, HeadlineRecord, TaskVerdictRecord, VerdictRecord
from evalreport.schema.inputs import FlowRecord, FoundRecord, InputRecord, JsonObject
from evalreport.schema.metrics import (
    MEANS_OF_A_COLUMN,
    ConfusionRecord,
    FoldRecord,
    MetricRatioRecord,
    MetricRecord,
    ResidualRecord,
)
from evalreport.schema.warnings import WarningRecord
from evalreport.texts import PLAIN, Message, english, joined, speaking
from evalreport.texts.visible import escaped_json

if TYPE_CHECKING:
    import pandas as pd


SCHEMA = "evalreport/results/2"


@dataclass(frozen=True, slots=True, kw_only=True)
class Results(RoomLists):
    """The results of ``evaluate()``; the field names are the keys of results.json."""

    schema: str = SCHEMA
    signature: str
    options: JsonObject
    task: str
    design: str
    n: int
    classes: tuple[str, ...]
    positive: str | None
    models: tuple[str, ...]
    primary_metric: str | None
    usual_metric: str | None = None
    """The metric that would have been the primary one of the task by itself, where another one is."""
    primary_because: Message | None = None
    """Why the primary metric is not the usual one of the task; None where it is, or where it was named."""
    value_columns: tuple[str, ...] = ()
    """The headers of the columns of outcomes or values, as the files spell them."""
    labels_at_half: tuple[str, ...] = ()
    """Models whose labels are their probabilities cut at 0.5, a threshold that nobody chose."""
    baseline: str | None
    inputs: tuple[InputRecord, ...]
    suite: tuple[str, ...] = ()
    """The tasks of a suite, over which every value is a mean (or over all of their examples)."""
    found: tuple[FoundRecord, ...] = ()
    flow: tuple[FlowRecord, ...] = ()
    """The cases that were read, left out and used; empty where rows are counts or each model has its own."""
    metrics: tuple[MetricRecord, ...] = ()
    folds: tuple[FoldRecord, ...] = ()
    confusion: tuple[ConfusionRecord, ...] = ()
    residuals: tuple[ResidualRecord, ...] = ()
    comparisons: tuple[ComparisonRecord, ...] = ()
    comparisons_left_out: int = 0
    """Pairs on other metrics than the primary one that were not compared, since there are more than 20 models."""
    variance: tuple[VarianceRecord, ...] = ()
    ranking: tuple[RankingRecord, ...] = ()
    effects: tuple[EffectRecord, ...] = ()
    agreement: tuple[AgreementRecord, ...] = ()
    disagreements: tuple[DisagreementRecord, ...] = ()
    unanimity: tuple[UnanimityRecord, ...] = ()
    verdicts: tuple[VerdictRecord, ...] = ()
    second_verdicts: tuple[VerdictRecord, ...] = ()
    """Verdicts on the first companion of the primary metric (``COMPANIONS``): a family of its own, corrected alone."""
    task_verdicts: tuple[TaskVerdictRecord, ...] = ()
    """Verdicts within each task of a suite: a family of its own over tasks and pairs."""
    gates: tuple[GateRecord, ...] = ()
    metric_ratios: tuple[MetricRatioRecord, ...] = ()
    """Ratios of two models' values that gates ask for (``new.accuracy >= 0.95 * old.accuracy``)."""
    headline: HeadlineRecord | None = None
    """The first sentence, which every output prints; None of records that were put together without one."""
    history: tuple[HistoryRecord, ...] = ()
    audit: tuple[AuditRecord, ...] = ()
    evidence: tuple[EvidenceRecord, ...] = ()
    warnings: tuple[WarningRecord, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def shown_metric(self) -> str:
        """The metric that tables and charts begin with: the primary one, or the usual one where none is primary."""
        return self.primary_metric or self.usual_metric or ""

    @property
    def deciding_level(self) -> float:
        """The confidence level of pairs and gates: one minus the look's level, else ``--confidence``."""
        if self.looks is not None:
            return 1 - self.looks.level
        return float(self.options.get("confidence", 0.95))

    @property
    def is_blocked(self) -> bool:
        """Whether the data allow no verdict: no model is then called best or first."""
        return self.headline is not None and self.headline.code == "blocked"

    @property
    def primary_column(self) -> str | None:
        """The user's column whose mean the primary metric is; None for any other metric."""
        return self.value_column if self.shown_metric in MEANS_OF_A_COLUMN else None

    @property
    def value_column(self) -> str:
        """The user's column of outcomes or values, by its header where the models share one."""
        shared = len(self.value_columns) == 1
        return self.value_columns[0] if shared else "outcome" if self.task == "outcome" else "value"

    @property
    def sentences(self) -> Mapping[str, JsonObject]:
        """Code and parameters of every sentence, by its English text; those of verdicts and warnings are with them.

        results.json has them so that saved results are the same again as those of the run.
        """
        kept: dict[str, JsonObject] = {}
        with speaking(english()):
            for message in _messages(self):
                text, code = str(message), _coded(message)
                if not code:
                    continue
                # One text of two codes is the same words in English; the first code in order is kept.
                if text not in kept or (kept[text] != code and _ENCODE(code) < _ENCODE(kept[text])):
                    kept[text] = code
        return kept

    def to_frame(self, name: str) -> pd.DataFrame:
        """Return one of the lists as a flat pandas frame: ``metrics``, ``comparisons``, ``curves``, ``verdicts`` ...

        Metrics have ``low``, ``high`` and ``interval_method`` of the recommended interval, curves a row for each point.

        Raises
        ------
        UsageError
            There is no list of that name, or no pandas.
        """
        from evalreport.schema.frames import frame_of, record_lists

        lists = record_lists(Results)
        if name not in lists:
            raise UsageError(unknown_name("list", name, lists))
        return frame_of(getattr(self, name), lists[name])

    @staticmethod
    def from_json(path: str | PathLike[str]) -> Results:
        """Read a saved results.json, the one of an output folder, or the one inside a report.pdf.

        Raises
        ------
        InputError
            There is no results.json, it is no JSON, or a part has another type, which the message names.
        """
        import evalreport

        return evalreport.saved(path)

    def summary(self) -> str:
        """Return the verdict, the table and the cautions as Markdown: the text of summary.md."""
        import evalreport

        return evalreport.shown(self, "summary")

    def __repr__(self) -> str:
        import evalreport

        return evalreport.shown(self, "screen")

    def _repr_html_(self) -> str:
        """Show the leaderboard in a notebook."""
        import evalreport

        return evalreport.shown(self, "notebook")


SENTENCES = "sentences"
"""The key of results.json that is no field: it follows from the others."""

WITH_CODE = (VerdictRecord, WarningRecord)
"""Records whose sentence is written with its code and parameters."""

_ENCODE = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True).encode
# With an indent the encoder is written in Python, and ten times slower; so records are set on lines here.


def to_json(results: Results) -> bytes:
    """Write results as UTF-8 JSON, a record on each line: sorted keys, no NaN, the same bytes for the same results."""
    names = sorted([*(f.name for f in dataclasses.fields(results)), SENTENCES])
    with speaking(english()):
        entries = [f"{_ENCODE(name)}: {_entry(_plain(getattr(results, name)))}" for name in names]
    text = "{\n " + ",\n ".join(entries) + "\n}\n"
    # A lone surrogate in a name has no UTF-8; written as an escape it is JSON all the same.
    return escaped_json(text).encode("utf-8", "backslashreplace")


def _entry(value: object) -> str:
    if not isinstance(value, list) or not value:
        return _ENCODE(value)
    return "[\n  " + ",\n  ".join(map(_ENCODE, value)) + "\n ]"


def _plain(value: object) -> object:
    if type(value) in _AS_IT_IS:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, Message):
        return str(value)
    if isinstance(value, WITH_CODE):
        return _code_and_params(value.text) | _fields(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _fields(value)
    return value


def _fields(record: object) -> dict[str, object]:
    kind: type = type(record)
    return {name: _plain(getattr(record, name)) for name in _names(kind)}


_AS_IT_IS = frozenset({type(None), str, int, bool})
"""The types of values that are JSON already."""

_WITHOUT_MESSAGES = _AS_IT_IS | {float}
"""The types of most values in records, which hold no message."""


def _messages(value: object) -> Iterator[Message]:
    """Yield the messages in records, except the sentences that are written with their code."""
    if isinstance(value, Message):
        yield value
    elif isinstance(value, (list, tuple)):
        for part in value:
            if type(part) not in _WITHOUT_MESSAGES:
                yield from _messages(part)
    elif dataclasses.is_dataclass(value):
        kind: type = type(value)
        for name in _names(kind):
            part = getattr(value, name)
            if type(part) not in _WITHOUT_MESSAGES and not (name == "text" and isinstance(value, WITH_CODE)):
                yield from _messages(part)


def _code_and_params(text: Message) -> dict[str, object]:
    """Return the code and the parameters of a sentence; of joined sentences the first one's, the others as notes."""
    first, *notes = map(_coded, joined(text))
    return first | ({"notes": notes} if notes else {}) if first else {}


def _coded(text: str | Message) -> dict[str, object]:
    return (
        {"code": text.code, "params": _params(text)}
        if isinstance(text, Message) and text.code != PLAIN
        else {}
    )


def _params(message: Message) -> dict[str, object]:
    """Return the parameters as JSON values; a message among them keeps its own code and parameters."""

    def plain(value: object) -> object:
        if isinstance(value, Message):
            return _coded(value) or str(value)
        if isinstance(value, (list, tuple)):
            return [plain(v) for v in value]
        return _plain(value)

    return {name: plain(value) for name, value in message.params.items()}


@cache
def _names(record: type) -> tuple[str, ...]:
    return tuple(f.name for f in dataclasses.fields(record))
