"""Dividing examples by a scheme into training and test rows.

Splits depend on the seed, the scheme, and the examples' target, groups and times alone. scikit-learn's splitters
divide; the latest part, growing samples and bootstrap samples are drawn here.
"""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from evalreport.engine.draws import stream
from evalreport.errors import UsageError
from evalreport.refit.examples import Examples, Rows
from evalreport.refit.plans import SCHEMES, Scheme, Table

Sides: TypeAlias = tuple[Rows, Rows]
"""Rows to train on, and rows to predict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """The training and test rows of one fit.

    Attributes
    ----------
    keys
        ``repeat``, ``fold``, ``replicate``, ``seed``: the numbers that identify this fit, counted from 1.
    train
        (m,) rows to train on; rows that a bootstrap sample drew twice appear twice.
    test
        Rows to predict.
    part
        ``test``, or ``train`` for a resubstitution.
    sized
        Whether the number of training examples is written to the predictions.
    """

    keys: Mapping[str, int]
    train: Rows
    test: Rows
    part: str = "test"
    sized: bool = False


def fits_of(examples: Examples, scheme: Scheme, seed: int) -> tuple[Fit, ...]:
    """Divide the examples by the scheme.

    Parameters
    ----------
    scheme
        With its defaults filled in.

    Raises
    ------
    UsageError
        There are too few examples, or too few members of a class or groups for the folds.
    """
    keys = {name: getattr(scheme, name) for name in SCHEMES[scheme.name]}
    try:
        with warnings.catch_warnings():
            # scikit-learn only warns of a class that has fewer members than there are folds.
            warnings.simplefilter("error", UserWarning)
            fits = tuple(_DIVISIONS[scheme.name](examples, seed, keys))
    except (ValueError, UserWarning) as error:
        raise UsageError(
            f"the scheme {scheme.name} cannot divide the {examples.n} examples: {error}"
        ) from None
    for fit in fits:
        if not len(fit.train) or not len(fit.test):
            raise UsageError(f"the scheme {scheme.name} leaves a fit without training or test examples")
        if examples.groups is not None:
            outside = np.setdiff1d(fit.test, fit.train)
            assert not len(np.intersect1d(examples.groups[fit.train], examples.groups[outside]))
    return fits


def seed_of(seed: int, purpose: str, *numbers: int) -> int:
    """Return a seed of 32 bits for one purpose, independent of all other purposes.

    Examples
    --------
    >>> seed_of(0, "split", 1) == seed_of(0, "split", 1) != seed_of(0, "split", 2)
    True
    """
    key = (zlib.crc32(purpose.encode()), *numbers)
    return int(np.random.SeedSequence(seed, spawn_key=key).generate_state(1)[0])


def inner_folds(examples: Examples, rows: Rows, *, folds: int, seed: int, stratify: bool) -> list[Sides]:
    """Divide the training rows of one fit for a search, with whole groups and in the order of time.

    Parameters
    ----------
    rows
        (m,) rows of ``examples``; copies of a row stay together.

    Returns
    -------
    list of (train, validation)
        Positions in ``rows``.

    Raises
    ------
    ValueError
        There are too few rows for the folds.
    """
    if examples.times is not None:
        return list(_in_time(examples.times[rows], folds, 0))
    units = rows if examples.groups is None else examples.groups[rows]
    grouped = examples.groups is not None or len(np.unique(rows)) < len(rows)
    codes = examples.labels.codes[rows] if stratify and examples.labels is not None else None
    return list(_in_folds(len(rows), folds, seed, codes, units if grouped else None))


def _in_folds(n: int, folds: int, seed: int, codes: Rows | None, groups: Rows | None) -> Iterator[Sides]:
    """Divide n rows into folds, stratified by ``codes`` and with whole ``groups``, if given."""
    from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

    splitter = KFold if groups is None else GroupKFold
    if codes is not None:
        splitter = StratifiedKFold if groups is None else StratifiedGroupKFold
    yield from splitter(n_splits=folds, shuffle=True, random_state=seed).split(np.zeros(n), codes, groups)


def _in_time(times: Rows, folds: int, gap: int) -> Iterator[Sides]:
    """Divide by distinct points of time, so that rows of the same time are never on both sides."""
    from sklearn.model_selection import TimeSeriesSplit

    distinct, code = np.unique(times, return_inverse=True)
    for before, after in TimeSeriesSplit(n_splits=folds, gap=gap).split(distinct):
        yield np.flatnonzero(np.isin(code, before)), np.flatnonzero(np.isin(code, after))


def _stratum(examples: Examples, keys: Table) -> Rows | None:
    if not keys["stratify"]:
        return None
    if examples.labels is None:
        raise ValueError(f"stratify divides within classes, but the task is {examples.task}")
    return examples.labels.codes


def _held_out(examples: Examples, seed: int, keys: Table, repeat: int = 1) -> Sides:
    """Divide into a training part and a held-out part."""
    from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, StratifiedShuffleSplit

    if examples.times is not None:
        return _last_part(examples.times, keys["test"])
    codes = _stratum(examples, keys)
    splitter = ShuffleSplit if codes is None else StratifiedShuffleSplit
    if examples.groups is not None:
        splitter = GroupShuffleSplit
    divide = splitter(n_splits=1, test_size=keys["test"], random_state=seed_of(seed, "split", repeat))
    train, test = next(divide.split(np.zeros(examples.n), codes, examples.groups))
    return np.sort(train), np.sort(test)


def _last_part(times: Rows, share: float) -> tuple[Rows, Rows]:
    """Hold out about this share of the latest examples, with all rows of one time on the same side."""
    order = np.sort(times)
    first = order[max(1, int(np.floor(len(times) * (1 - share))))]
    if first == order[0]:
        first = order[np.searchsorted(order, first, side="right") % len(order)]
    return np.flatnonzero(times < first), np.flatnonzero(times >= first)


def _numbered(sides: Iterable[Sides], repeat: int = 1, *, sized: bool = False) -> Iterator[Fit]:
    for fold, (train, test) in enumerate(sides, start=1):
        # 32 bits save half of the memory of many folds.
        train, test = train.astype(np.int32), test.astype(np.int32)
        yield Fit(keys={"repeat": repeat, "fold": fold}, train=train, test=test, sized=sized)


def _folds(examples: Examples, seed: int, keys: Table) -> Iterator[Fit]:
    codes = _stratum(examples, keys)
    for repeat in range(1, keys["repeats"] + 1):
        sides = _in_folds(examples.n, keys["folds"], seed_of(seed, "split", repeat), codes, examples.groups)
        yield from _numbered(sides, repeat)


def _leave_out(examples: Examples, _seed: int, _keys: Table) -> Iterator[Fit]:
    """Leave out each group, or each example where there are no groups."""
    from sklearn.model_selection import LeaveOneGroupOut, LeaveOneOut

    splitter = LeaveOneOut() if examples.groups is None else LeaveOneGroupOut()
    return _numbered(splitter.split(np.zeros(examples.n), groups=examples.groups))


def _time_ordered(examples: Examples, _seed: int, keys: Table) -> Iterator[Fit]:
    assert examples.times is not None
    return _numbered(_in_time(examples.times, keys["folds"], keys["gap"]), sized=True)


def _holdout(examples: Examples, seed: int, keys: Table) -> Iterator[Fit]:
    train, test = _held_out(examples, seed, keys)
    yield Fit(keys={}, train=train, test=test, sized=True)


def _repeated_holdout(examples: Examples, seed: int, keys: Table) -> Iterator[Fit]:
    for repeat in range(1, keys["repeats"] + 1):
        train, test = _held_out(examples, seed, keys, repeat)
        yield Fit(keys={"repeat": repeat}, train=train, test=test, sized=True)


def _seeds(examples: Examples, seed: int, keys: Table) -> Iterator[Fit]:
    """Yield the same division repeatedly, so that fits differ by the estimators' randomness alone."""
    train, test = _held_out(examples, seed, keys)
    for number in range(1, keys["repeats"] + 1):
        yield Fit(keys={"seed": number}, train=train, test=test)


def _learning_curve(examples: Examples, seed: int, keys: Table) -> Iterator[Fit]:
    """Yield nested samples of growing size from one training part."""
    codes = _stratum(examples, keys)
    for repeat in range(1, keys["repeats"] + 1):
        train, test = _held_out(examples, seed, keys, repeat)
        order = _shuffled(train, codes, stream(seed, "growing samples", repeat))
        for size in sorted({_size(size, len(train)) for size in keys["sizes"]}):
            if size > len(train):
                raise ValueError(f"sizes: {size} training examples, but the training part has {len(train)}")
            yield Fit(keys={"repeat": repeat}, train=np.sort(order[:size]), test=test, sized=True)


def _size(size: float, n: int) -> int:
    return size if isinstance(size, int) else max(2, round(size * n))


def _shuffled(train: Rows, codes: Rows | None, generator: np.random.Generator) -> Rows:
    """Shuffle the training rows; if stratified, so that every beginning has the classes in proportion."""
    order = generator.permutation(train)
    if codes is None:
        return order
    rank = np.empty(len(order))
    for code in np.unique(codes[order]):
        members = np.flatnonzero(codes[order] == code)
        rank[members] = (np.arange(len(members)) + 0.5) / len(members)
    return order[np.argsort(rank, kind="stable")]


def _bootstrap(examples: Examples, seed: int, keys: Table) -> Iterator[Fit]:
    """Yield bootstrap samples of the training part, which all predict the held-out part."""
    train, test = _held_out(examples, seed, keys)
    for replicate in range(1, keys["replicates"] + 1):
        sample = _sample(train, examples, seed, replicate)
        yield Fit(keys={"replicate": replicate}, train=sample, test=test)


def _bootstrap_oob(examples: Examples, seed: int, keys: Table) -> Iterator[Fit]:
    """Yield the fit on all rows, which predicts them, then bootstrap samples of all rows, which predict all rows."""
    rows = np.arange(examples.n)
    yield Fit(keys={}, train=rows, test=rows, part="train")
    for replicate in range(1, keys["replicates"] + 1):
        sample = _sample(rows, examples, seed, replicate)
        yield Fit(keys={"replicate": replicate}, train=sample, test=rows)


def _sample(rows: Rows, examples: Examples, seed: int, replicate: int) -> Rows:
    """Draw a bootstrap sample of the rows, or of whole groups, in the rows' order."""
    generator = stream(seed, "bootstrap sample", replicate)
    if examples.groups is None:
        return np.sort(generator.choice(rows, size=len(rows)))
    groups = examples.groups[rows]
    names = np.unique(groups)
    chosen = np.searchsorted(names, generator.choice(names, size=len(names)))
    drawn = np.bincount(chosen, minlength=len(names))
    return np.repeat(rows, drawn[np.searchsorted(names, groups)])


_DIVISIONS: Mapping[str, Callable[[Examples, int, Table], Iterator[Fit]]] = {
    "holdout": _holdout,
    "repeated-holdout": _repeated_holdout,
    "kfold": _folds,
    "stratified-kfold": _folds,
    "repeated-kfold": _folds,
    "repeated-stratified-kfold": _folds,
    "leave-one-out": _leave_out,
    "leave-group-out": _leave_out,
    "time-ordered": _time_ordered,
    "5x2cv": lambda examples, seed, keys: _folds(examples, seed, {**keys, "repeats": 5, "folds": 2}),
    "nested": _folds,
    "bootstrap": _bootstrap,
    "bootstrap-oob": _bootstrap_oob,
    "seeds": _seeds,
    "learning-curve": _learning_curve,
    "complexity-curve": _repeated_holdout,
}
