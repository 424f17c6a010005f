"""One sentence for each code of a warning, which names every model, metric and class that it is raised for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from evalreport.schema.warnings import WarningRecord
from evalreport.texts import Message, coded, has, joined, listed, plain, shortened
from evalreport.texts.visible import visible

MOST_NAMES = 6
"""Subjects beside the first that a sentence names; more are counted."""
SUBJECTS = (
    ("metric", "model"),
    ("label", "model"),
    ("model",),
    ("models",),
    ("metric",),
    ("label",),
    ("column",),
)
"""The parameters that say what a warning is about, the first ones that it has."""
IMPLIED = {
    "constant_scores": "constant_model",
    "class_never_predicted": "constant_model",
    "few_flagged": "constant_model",
}
"""A caution of a model that another one of it, where that is raised, says already."""


def one_of_a_code(
    warnings: Iterable[WarningRecord],
    text: Callable[[WarningRecord], str] = lambda warning: str(warning.text),
) -> list[WarningRecord]:
    """Join the warnings of one code and level into one: the first sentence, and of whom or what else it is true.

    Parameters
    ----------
    text
        Writes a warning, such as with the short names of a report.

    Returns
    -------
    list of WarningRecord
        In the order of the first of each code; ``about`` names all.

    Examples
    --------
    >>> from evalreport.schema.warnings import warning
    >>> flat = [warning("constant_scores", about=(m,), model=m) for m in ("a", "b", "c")]
    >>> [str(w.text) for w in one_of_a_code(flat)]
    ['a, b and c each give every example the same score.']
    """
    groups: dict[tuple[str, str], list[WarningRecord]] = {}
    warnings = list(warnings)
    raised = {(w.code, _params(w).get("model")) for w in warnings}
    for warning in warnings:
        if (IMPLIED.get(warning.code), _params(warning).get("model")) in raised:
            continue
        groups.setdefault((warning.code, warning.level), []).append(warning)
    return [_joined(group, text) for group in groups.values()]


def _joined(group: Sequence[WarningRecord], text: Callable[[WarningRecord], str]) -> WarningRecord:
    first, *others = group
    about = tuple(dict.fromkeys(name for warning in group for name in warning.about))
    if not others:
        return replace(first, text=plain(text(first)))
    alike = all(_beside(w) == _beside(first) for w in others)
    of_all = _of_all(group) if alike else None
    if of_all is not None:
        return replace(first, text=plain(text(replace(first, text=of_all))), about=about)
    subjects = [s for s in map(_subject, others) if s != _subject(first)]
    named = list(dict.fromkeys(s for s in subjects if s))
    if not named or len(named) < len(set(subjects)):
        further = Message("caution.more", text=text(first), n=len(others))
    else:
        key = "also" if alike else "also_otherwise"
        further = Message(f"caution.{key}", text=text(first), names=shortened(named, MOST_NAMES))
    return replace(first, text=plain(text(replace(first, text=further))), about=about)


def _of_all(group: Sequence[WarningRecord]) -> Message | None:
    """Return the one sentence about all models of warnings that differ in their model alone, where there is one."""
    code, params = coded(joined(group[0].text)[0])
    key = f"caution.of_all.{code.removeprefix('warning.').replace('.', '_')}"
    models = list(dict.fromkeys(str(_params(w).get("model")) for w in group))
    if not has(key) or len(models) < len(group):
        return None
    rest = {name: value for name, value in params.items() if name != "model"}
    if any({n: v for n, v in _params(w).items() if n != "model"} != rest for w in group):
        return None
    return Message(
        key, models=shortened([visible(m) for m in models], MOST_NAMES), **rest | {"n": len(models)}
    )


def _params(warning: WarningRecord) -> dict[str, object]:
    return coded(joined(warning.text)[0])[1]


def _keys(params: dict[str, object]) -> tuple[str, ...]:
    return next((keys for keys in SUBJECTS if all(key in params for key in keys)), ())


def _subject(warning: WarningRecord) -> str:
    """Name what a warning is about: a model, or a metric or a class of one."""
    params = _params(warning)
    values = [params[key] for key in _keys(params)]
    names = [listed(value) if isinstance(value, (tuple, list)) else str(value) for value in values]
    if _keys(params)[:1] == ("label",):
        names[0] = str(Message("caution.class", label=names[0]))
    if len(names) == 2:
        return str(Message("caution.of_model", what=visible(names[0]), model=visible(names[1])))
    return visible(names[0]) if names else ""


def _beside(warning: WarningRecord) -> dict[str, object]:
    """Return the parameters that say nothing of whom a warning is about: its numbers and reasons."""
    params = _params(warning)
    return {key: value for key, value in params.items() if key not in _keys(params)}
