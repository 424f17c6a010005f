"""Changes since earlier runs of a series."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from evalreport.texts import Message

ALARMS = ("worse_than_accepted", "slice_fell", "data_changed")
"""Codes of the warnings about the alarms of an audit."""
AUDIT_WARNINGS = (*ALARMS, "few_accepted_nights", "nights_depend", "runs_differ")
"""Codes of all warnings that follow from a history."""

Status = Literal["both", "same", "new", "gone"]
"""Which of two runs hold a model; ``same``: with the same answers to the same examples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryRecord:
    """The change of one model's value since an earlier run of the series: ``difference`` is now - then.

    ``reference`` is ``accepted`` or ``last``, ``run`` and ``time`` say which run that was. ``paired``: both runs on
    the same examples. ``text`` names the compared examples; the p-value is that of one look.
    ``n`` and ``reference_n`` are the rows of both runs. ``status``: the model is in ``both``, gives the ``same``
    answers to the same examples, or is ``new`` or ``gone`` (then without values).
    """

    reference: Literal["accepted", "last"]
    run: int
    time: str
    model: str
    metric: str
    average: str | None
    label: str | None
    value: float | None
    reference_value: float | None
    difference: float | None
    level: float
    low: float | None
    high: float | None
    interval_method: str | None
    test: str | None
    p_value: float | None
    paired: bool
    text: Message
    reason: Message | None
    n: int | None = None
    reference_n: int | None = None
    status: Status = "both"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """One question that an audit asks about its accepted run, and the answer.

    ``question``: ``worse`` (this run, and the runs since the accepted one), ``worse_this_run`` (this run alone, as a
    plain test would), ``slice``, ``examples``, ``labels``, ``classes``, ``predicted_labels``, ``scores``, ``missing``.
    ``about`` names a model or slice. ``p_adjusted`` is adjusted for all runs and for the questions of its kind;
    ``alarm``: it is at or below 1 - confidence, and the change is one for the worse where it has a direction.
    Of ``worse`` on other examples the rule with the smaller adjusted p-value is there: ``run_alarm`` with z and its
    one-sided p-value, ``effect_size`` this run's value less the mean of the accepted ones; or ``night_alarm`` with the
    evidence e and 1 / e, ``effect_size`` the mean of the runs since less that of the accepted ones (or less the floor).
    ``run`` is the newest accepted run, ``look`` how often the series was compared with the accepted ones.
    """

    question: str
    about: str
    run: int
    look: int
    test: str | None = None
    statistic: float | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    effect: str | None = None
    effect_size: float | None = None
    low: float | None = None
    high: float | None = None
    alarm: bool
    text: Message
    reason: Message | None = None
    details: Mapping[str, int | float] = field(default_factory=dict)
    """Further sizes by name: psi, wasserstein ...; of a slice its value ``then`` and ``now``, and ``n_then`` and
    ``n_now`` examples where these are not the same; of ``worse`` the value ``now`` on the examples that are compared,
    ``then``, on other examples the mean of the accepted runs, and ``change_low`` and ``change_high``, limits of
    now - then (with what runs differ by themselves), ``moved`` -1 or 1 where
    that is three errors of the alarm or more; of ``worse`` on other examples also ``accepted_nights`` and
    ``nights`` (how many runs are compared), ``change_look`` (the look at which a drop most likely began), ``t`` and
    ``horizon`` (the number of this comparison, and of runs a year), ``reference``, ``z``, ``df``, ``p_run`` (with
    ``now_at_shares`` against ``reference``, where the classes' shares changed and the values with them),
    ``between_runs`` (the standard deviation between runs that is allowed for), ``least_between_runs``,
    ``estimated_between_runs``, ``evidence``, ``lag1_correlation`` and ``lag1_p_value``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceRecord:
    """A model's value on the new examples of one run, and the evidence since the accepted runs.

    ``value`` and ``standard_error`` are the metric on the ``n_new`` units (examples or clusters) of this run that
    no earlier one held, ``at_shares`` both again with the classes weighted as in the accepted runs, where they differ:
    these are compared. ``value_since`` is the mean of the runs since the ``accepted`` ones, ``n_since`` their
    units, ``low`` and ``high`` limits that hold over all looks at once for independent normal runs;
    ``values_accepted`` and ``values_since`` are the values of these runs as they are, in order,
    ``errors_accepted`` and ``errors_since`` their standard errors (half the interval of a run over 1.96, where
    known). With the first model
    of a run, for all: ``id_sample``, digests of some new ids, by which later runs know them; ``compared``, how many
    runs of the series were compared so far; ``horizon``, how many runs a year has (365, 52 or 12; null where
    nothing was compared); ``answers``, a digest of all answers where the examples are those of the accepted run.
    """

    model: str
    metric: str
    run: int
    look: int
    unit: Literal["example", "cluster"]
    n_new: int = 0
    value: float | None = None
    n_since: int = 0
    value_since: float | None = None
    level: float
    low: float | None = None
    high: float | None = None
    standard_error: float | None = None
    at_shares: tuple[float, ...] = ()
    accepted: tuple[int, ...] = ()
    values_accepted: tuple[float, ...] = ()
    values_since: tuple[float, ...] = ()
    errors_accepted: tuple[float, ...] = ()
    errors_since: tuple[float, ...] = ()
    id_sample: tuple[str, ...] = ()
    compared: int = 0
    horizon: int | None = None
    answers: str | None = None
    reason: Message | None = None
