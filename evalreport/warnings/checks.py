"""A check: a function that yields warnings, the facts that it needs, and the state of each of its codes.

The parameters of a check are the facts that it needs, by name: ``predictions``, ``sample`` (it is then asked once a
sample), ``rows``, ``options``, the answer to a question by the question's name ... A fact that is missing, or one of
``needs`` that does not hold, makes the check not applicable, with that reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from evalreport.schema.warnings import CheckRecord, State, WarningRecord
from evalreport.texts import Message
from evalreport.warnings.needs import Facts, facts_of, is_about_a_model, met

Raise = Callable[..., Iterable[WarningRecord]]


@dataclass(frozen=True, slots=True)
class Check:
    """What some codes need, and the function that gives them.

    Attributes
    ----------
    codes
        The codes, all with the same needs.
    raised
        The function; None: they are raised elsewhere, while files are read or by an audit.
    needs
        Names of conditions (``NEEDS``) beside the function's parameters.
    of_models
        Whether they are about single models.
    """

    codes: tuple[str, ...]
    raised: Raise | None
    needs: tuple[str, ...]
    of_models: bool

    @property
    def asks(self) -> tuple[str, ...]:
        """The facts that it needs: the names of the function's parameters."""
        return () if self.raised is None else facts_of(self.raised)


CHECKS: list[Check] = []
"""Every check of a run."""


def check(*codes: str, needs: Sequence[str] = (), of_models: bool = False) -> Callable[[Raise], Raise]:
    """Register a function that yields the warnings of some codes; twice where its codes have needs of their own."""

    def register(raised: Raise) -> Raise:
        CHECKS.append(Check(codes, raised, tuple(needs), of_models))
        return raised

    return register


def looked_for(*codes: str, needs: Sequence[str] = (), of_models: bool = False) -> None:
    """Register codes that are raised elsewhere."""
    CHECKS.append(Check(codes, None, tuple(needs), of_models))


def raised_by(
    checks: Sequence[Check], facts: Facts, of_samples: Sequence[Facts], first: Sequence[str]
) -> Iterator[WarningRecord]:
    """Yield the warnings of all checks; of a code only where its check is applicable.

    Parameters
    ----------
    facts
        Those of the run.
    of_samples
        Those of each sample: one of all models, or one a model with examples of its own.
    first
        The checks whose warnings come first, each by a code; of a sample those that are no mere information lead.
    """
    place = {code: k for k, code in enumerate(first)}
    functions: dict[Raise, list[Check]] = {}
    for own in checks:
        if own.raised is not None:
            functions.setdefault(own.raised, []).append(own)
    order = {
        f: min((place[code] for c in of_f for code in c.codes if code in place), default=None)
        for f, of_f in functions.items()
    }
    leading = [f for f, at in sorted(order.items(), key=lambda o: o[1] or 0) if at is not None]
    others = [f for f, at in order.items() if at is None]

    def given(function: Raise, known: Facts) -> list[WarningRecord]:
        codes = {code for c in functions[function] if _lacks(c, [known]) is None for code in c.codes}
        values = {name: known[name] for name in facts_of(function)} if codes else {}
        return [w for w in function(**values) if w.code in codes] if codes else []

    for position, of_sample in enumerate(of_samples):
        about = {**facts, **of_sample}
        asked = [f for f in leading if "sample" in facts_of(f) or position == 0]
        yield from sorted((w for f in asked for w in given(f, about)), key=lambda w: w.level == "info")
        yield from (w for f in others if "sample" in facts_of(f) for w in given(f, about))
    yield from (w for f in others if "sample" not in facts_of(f) for w in given(f, facts))


def check_records(
    checks: Sequence[Check], facts: Facts, of_samples: Sequence[Facts], raised: Sequence[WarningRecord]
) -> tuple[CheckRecord, ...]:
    """Return the state of every code: once a run, or once a model where it is about models.

    A code that was raised fired. Else it passed where its check had something to look at, and if not it says why.
    """
    views: list[Facts] = [{**facts, **own} for own in of_samples]
    models = facts["predictions"].models  # type: ignore[attr-defined]
    by_code: dict[str, list[Check]] = {}
    for own in checks:
        for code in own.codes:
            by_code.setdefault(code, []).append(own)
    records: list[CheckRecord] = []
    for code, of_code in sorted(by_code.items()):
        fired = [w for w in raised if w.code == code]
        if any(c.of_models for c in of_code):
            named = {name for w in fired for name in w.about} & {m.name for m in models}
            for model in models:
                hit = model.name in named or (bool(fired) and not named)
                lacks = _lacking(of_code, [{**view, "model": model} for view in views])
                records.append(_state(code, hit, lacks, (model.name,)))
        else:
            about = tuple(dict.fromkeys(name for w in fired for name in w.about))
            records.append(_state(code, bool(fired), _lacking(of_code, views), about))
    return tuple(records)


def _state(code: str, fired: bool, lacks: str | None, about: tuple[str, ...]) -> CheckRecord:
    reason = None if fired or lacks is None else Message(f"check_lacks.{lacks}")
    state: State = "fired" if fired else "passed" if lacks is None else "not_applicable"
    return CheckRecord(
        code=code, title=Message(f"caution_head.{code}"), state=state, reason=reason, about=about
    )


def _lacking(checks: Sequence[Check], views: Sequence[Facts]) -> str | None:
    """Return the first fact or condition that the checks of a code lack; None where one of them has all."""
    first: str | None = None
    for own in checks:
        lacks = _lacks(own, views)
        if lacks is None:
            return None
        first = first or lacks
    return first


def _lacks(own: Check, views: Sequence[Facts]) -> str | None:
    missing = next((fact for fact in own.asks if all(view.get(fact) is None for view in views)), None)
    if missing is not None:
        return missing
    return next((name for name in own.needs if not _holds(name, views)), None)


def _holds(name: str, views: Sequence[Facts]) -> bool:
    """Say whether a condition holds in some sample; of single models where none is named, of any of them."""
    if is_about_a_model(name) and "model" not in views[0]:
        models = views[0]["predictions"].models  # type: ignore[attr-defined]
        return any(met(name, {**view, "model": model}) for view in views for model in models)
    return any(met(name, view) for view in views)
