"""The records of results.json that only an audit has: what it asks of its accepted run, and the evidence it keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from evalreport.texts import Text


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """One question that an audit asks about its accepted run, and the answer.

    ``question``: ``worse`` (over all looks since the accepted run), ``worse_this_run`` (this look alone, as a plain
    test would), ``slice``, ``examples``, ``labels``, ``classes``, ``predicted_labels``, ``scores``, ``missing``,
    ``column``. ``about`` names a model, slice or column. ``p_adjusted`` is adjusted for all looks and for the questions
    of its kind; ``alarm``: it is at or below 1 - confidence, and the change is one for the worse where it has a
    direction. Of ``worse`` over nights, ``statistic`` is the evidence e, ``p_value`` 1 / e and ``effect_size`` the mean
    of the nights since less that of the accepted ones (or less the floor). ``run`` is the newest accepted run, ``look``
    how often the series was compared with the accepted ones.
    """

    question: str
    about: str
    run: int
    look: int
    test: str | None
    statistic: float | None
    p_value: float | None
    p_adjusted: float | None
    effect: str | None
    effect_size: float | None
    low: float | None
    high: float | None
    alarm: bool
    text: Text
    reason: Text | None
    details: Mapping[str, float] = field(default_factory=dict)
    """Further sizes by name: psi, wasserstein ...; of ``worse`` over nights ``accepted_nights``, ``nights``,
    ``change_look`` (the look at which a drop most likely began), ``lag1_correlation`` and ``lag1_p_value``."""


@dataclass(frozen=True, slots=True)
class EvidenceRecord:
    """What a run adds to the evidence of a model since the accepted runs, and where that stands.

    ``value`` and ``standard_error`` are the metric on the ``n_new`` units (examples or clusters) of this run that no
    earlier one held: a night. ``value_since`` is the mean of the nights since the ``accepted`` runs, ``n_since`` their
    units, ``low`` and ``high`` limits that hold over all looks at once for independent normal nights;
    ``values_accepted`` and ``values_since`` are the nights that the alarm compares, in order. ``id_sample`` holds
    digests of some new ids (with the first model of a run, for all), by which later runs know them.
    """

    model: str
    metric: str
    run: int
    look: int
    unit: Literal["example", "cluster"]
    n_new: int
    value: float | None
    n_since: int
    value_since: float | None
    level: float
    low: float | None
    high: float | None
    standard_error: float | None = None
    accepted: tuple[int, ...] = ()
    values_accepted: tuple[float, ...] = ()
    values_since: tuple[float, ...] = ()
    id_sample: tuple[str, ...] = ()
    reason: Text | None = None
