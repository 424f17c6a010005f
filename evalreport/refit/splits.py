"""Dividing examples by a scheme into training and test rows, and warnings about the division.

Splits depend on the seed, the scheme, and the examples' target and groups alone. scikit-learn's splitters are used
except for time without ties and for growing samples.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from evalreport.engine.draws import stream
from evalreport.errors import UsageError
from evalreport.refit.examples import Examples, Rows, same_features
from evalreport.refit.plans import Scheme
from evalreport.schema.warnings import WarningRecord, warning
from evalreport.texts import Message


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
    fits = tuple(map(_compact, _SPLITS[scheme.name](examples, scheme, seed)))
    for fit in fits:
        if len(fit.train) == 0 or len(fit.test) == 0:
            raise UsageError(
                f"the scheme {scheme.name} leaves a fit without {'test' if len(fit.train) else 'training'}"
                f" examples: {examples.n} examples are too few"
            )
        if examples.groups is not None and fit.part == "test":
            alone = np.setdiff1d(fit.test, fit.train)
            crossing = np.intersect1d(examples.groups[fit.train], examples.groups[alone])
            assert not len(crossing)
    return fits


def _compact(fit: Fit) -> Fit:
    """Store rows as 32 bits to save memory; shared arrays stay shared."""
    return replace(
        fit, train=fit.train.astype(np.int32, copy=False), test=fit.test.astype(np.int32, copy=False)
    )


def seed_of(seed: int, purpose: str, *numbers: int) -> int:
    """Return a seed of 32 bits for one purpose, independent of all other purposes.

    Examples
    --------
    >>> seed_of(0, "split", 1) == seed_of(0, "split", 1) != seed_of(0, "split", 2)
    True
    """
    key = (zlib.crc32(purpose.encode()), *numbers)
    return int(np.random.SeedSequence(seed, spawn_key=key).generate_state(1)[0])


def inner_folds(
    examples: Examples, rows: Rows, *, folds: int, seed: int, stratify: bool
) -> list[tuple[Rows, Rows]]:
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
    UsageError
        There are too few rows for the folds.
    """
    if examples.times is not None:
        return list(_in_time(examples.times[rows], folds, 0))
    units = rows if examples.groups is None else examples.groups[rows]
    grouped = examples.groups is not None or len(np.unique(rows)) < len(rows)
    codes = None if examples.labels is None else examples.labels.codes[rows]
    return list(
        _in_folds(
            len(rows),
            folds,
            seed,
            codes=codes if stratify else None,
            groups=units if grouped else None,
            classes=examples.classes,
        )
    )


def _rest(n: int, rows: Rows) -> Rows:
    kept = np.ones(n, dtype=bool)
    kept[rows] = False
    return np.flatnonzero(kept)


def _folds(examples: Examples, scheme: Scheme, seed: int) -> Iterator[Fit]:
    assert scheme.repeats is not None
    assert scheme.folds is not None
    codes = _stratum(examples, scheme)
    for repeat in range(1, scheme.repeats + 1):
        parts = _in_folds(
            examples.n,
            scheme.folds,
            seed_of(seed, "split", repeat),
            codes=codes,
            groups=examples.groups,
            classes=examples.classes,
        )
        for fold, (train, test) in enumerate(parts, start=1):
            yield Fit(keys={"repeat": repeat, "fold": fold}, train=train, test=test)


def _in_folds(
    n: int,
    folds: int,
    seed: int,
    *,
    codes: Rows | None,
    groups: Rows | None,
    classes: tuple[str, ...] = (),
) -> Iterator[tuple[Rows, Rows]]:
    """Divide n rows into folds, stratified by ``codes`` and with whole ``groups``, if given."""
    from sklearn import model_selection

    if n < folds:
        raise UsageError(f"{folds} folds need at least {folds} examples, but there are {n}")
    if groups is not None and len(np.unique(groups)) < folds:
        raise UsageError(
            f"{folds} folds need at least {folds} groups, but there are {len(np.unique(groups))}"
        )
    if codes is not None:
        rarest = min(np.unique(codes), key=lambda code: (np.count_nonzero(codes == code), code))
        members = np.count_nonzero(codes == rarest)
        if members < folds:
            raise UsageError(
                f"stratified folds need every class in each: the class {classes[rarest]!r} has {members}"
                f" member{'' if members == 1 else 's'}, fewer than {folds} folds"
            )
    name = "StratifiedGroupKFold" if groups is not None else "StratifiedKFold"
    if codes is None:
        name = "GroupKFold" if groups is not None else "KFold"
    splitter = getattr(model_selection, name)(n_splits=folds, shuffle=True, random_state=seed)
    yield from splitter.split(np.zeros(n), codes, groups)


def _five_by_two(examples: Examples, scheme: Scheme, seed: int) -> Iterator[Fit]:
    return _folds(examples, replace(scheme, repeats=5, folds=2), seed)


def _leave_one_out(examples: Examples, _scheme: Scheme, _seed: int) -> Iterator[Fit]:
    if examples.n < 2:
        raise UsageError("leave-one-out needs at least 2 examples, but there is 1")
    for row in range(examples.n):
        test = np.array([row])
        yield Fit(keys={"repeat": 1, "fold": row + 1}, train=_rest(examples.n, test), test=test)


def _leave_group_out(examples: Examples, _scheme: Scheme, _seed: int) -> Iterator[Fit]:
    assert examples.groups is not None
    names = np.unique(examples.groups)
    if len(names) < 2:
        raise UsageError("leave-group-out needs at least 2 groups, but there is 1")
    for fold, group in enumerate(names, start=1):
        test = np.flatnonzero(examples.groups == group)
        yield Fit(keys={"repeat": 1, "fold": fold}, train=_rest(examples.n, test), test=test)


def _time_ordered(examples: Examples, scheme: Scheme, _seed: int) -> Iterator[Fit]:
    assert examples.times is not None
    assert scheme.folds is not None
    assert scheme.gap is not None
    for fold, (train, test) in enumerate(_in_time(examples.times, scheme.folds, scheme.gap), start=1):
        yield Fit(keys={"repeat": 1, "fold": fold}, train=train, test=test, sized=True)


def _in_time(times: Rows, folds: int, gap: int) -> Iterator[tuple[Rows, Rows]]:
    """Divide by distinct points of time, so that rows of the same time are never on both sides."""
    from sklearn.model_selection import TimeSeriesSplit

    distinct, code = np.unique(times, return_inverse=True)
    first = len(distinct) - len(distinct) // (folds + 1) * folds
    if len(distinct) < folds + 1 or first <= gap:
        raise UsageError(
            f"{folds} folds in time, with a gap of {gap}, leave no earlier time to train on: there are"
            f" {len(distinct)} different times"
        )
    for before, after in TimeSeriesSplit(n_splits=folds, gap=gap).split(distinct):
        yield np.flatnonzero(np.isin(code, before)), np.flatnonzero(np.isin(code, after))


def _stratum(examples: Examples, scheme: Scheme) -> Rows | None:
    if not scheme.stratify:
        return None
    if examples.labels is None:
        raise UsageError(f"stratify divides within classes, but the task is {examples.task}")
    return examples.labels.codes


def _held_out(examples: Examples, scheme: Scheme, seed: int, repeat: int) -> tuple[Rows, Rows]:
    """Divide into a training part and a held-out part."""
    from sklearn import model_selection

    assert scheme.test is not None
    if examples.times is not None:
        return _last_part(examples.times, scheme.test)
    codes, groups = _stratum(examples, scheme), examples.groups
    units = examples.n if groups is None else len(np.unique(groups))
    held = int(np.ceil(units * scheme.test))
    if units < 2 or held >= units:
        things = "examples" if groups is None else "groups"
        raise UsageError(f"holding out {scheme.test:g} of {units} {things} leaves none to train on")
    if codes is not None:
        counts = np.bincount(codes)
        if counts.min() < 2 or held < len(counts) or units - held < len(counts):
            raise UsageError(
                f"stratify needs at least 2 members of every class and a place for each of the"
                f" {len(counts)} classes on both sides; the rarest class has {counts.min()}"
            )
    name = "StratifiedShuffleSplit" if codes is not None else "ShuffleSplit"
    name = "GroupShuffleSplit" if groups is not None else name
    splitter = getattr(model_selection, name)(
        n_splits=1, test_size=scheme.test, random_state=seed_of(seed, "split", repeat)
    )
    train, test = next(splitter.split(np.zeros(examples.n), codes, groups))
    return np.sort(train), np.sort(test).astype(np.int32)


def _last_part(times: Rows, share: float) -> tuple[Rows, Rows]:
    """Hold out about this share of the latest examples, with all rows of one time on the same side."""
    order = np.sort(times)
    first = order[max(1, int(np.floor(len(times) * (1 - share))))]
    if first == order[0]:
        first = order[np.searchsorted(order, first, side="right") % len(order)]
    return np.flatnonzero(times < first), np.flatnonzero(times >= first)


def _holdout(examples: Examples, scheme: Scheme, seed: int) -> Iterator[Fit]:
    train, test = _held_out(examples, scheme, seed, 1)
    yield Fit(keys={}, train=train, test=test, sized=True)


def _repeated_holdout(examples: Examples, scheme: Scheme, seed: int) -> Iterator[Fit]:
    assert scheme.repeats is not None
    for repeat in range(1, scheme.repeats + 1):
        train, test = _held_out(examples, scheme, seed, repeat)
        yield Fit(keys={"repeat": repeat}, train=train, test=test, sized=True)


def _seeds(examples: Examples, scheme: Scheme, seed: int) -> Iterator[Fit]:
    """Yield the same division repeatedly, so that fits differ by the estimators' randomness alone."""
    assert scheme.repeats is not None
    train, test = _held_out(examples, scheme, seed, 1)
    for number in range(1, scheme.repeats + 1):
        yield Fit(keys={"seed": number}, train=train, test=test)


def _learning_curve(examples: Examples, scheme: Scheme, seed: int) -> Iterator[Fit]:
    """Yield nested samples of growing size from one training part."""
    assert scheme.repeats is not None
    assert scheme.sizes is not None
    for repeat in range(1, scheme.repeats + 1):
        train, test = _held_out(examples, scheme, seed, repeat)
        order = _shuffled(train, examples, scheme, seed, repeat)
        sizes = sorted({_size(size, len(train)) for size in scheme.sizes})
        for size in sizes:
            if size > len(train):
                raise UsageError(f"sizes: {size} training examples, but the training part has {len(train)}")
            yield Fit(keys={"repeat": repeat}, train=np.sort(order[:size]), test=test, sized=True)


def _size(size: float, n: int) -> int:
    return int(size) if isinstance(size, (int, np.integer)) else max(2, round(float(size) * n))


def _shuffled(train: Rows, examples: Examples, scheme: Scheme, seed: int, repeat: int) -> Rows:
    """Shuffle the training rows; if stratified, so that every beginning has the classes in proportion."""
    generator = stream(seed, "growing samples", repeat)
    order = generator.permutation(train)
    codes = _stratum(examples, scheme)
    if codes is None:
        return order
    rank = np.empty(len(order))
    for code in np.unique(codes[order]):
        members = np.flatnonzero(codes[order] == code)
        rank[members] = (np.arange(len(members)) + 0.5) / len(members)
    return order[np.argsort(rank, kind="stable")]


def _bootstrap(examples: Examples, scheme: Scheme, seed: int) -> Iterator[Fit]:
    """Yield bootstrap samples of the training part, which all predict the held-out part."""
    assert scheme.replicates is not None
    train, test = _held_out(examples, scheme, seed, 1)
    for replicate in range(1, scheme.replicates + 1):
        sample = _sample(train, examples, seed, replicate)
        yield Fit(keys={"replicate": replicate}, train=sample, test=test)


def _bootstrap_oob(examples: Examples, scheme: Scheme, seed: int) -> Iterator[Fit]:
    """Yield the fit on all rows, which predicts them, then bootstrap samples of all rows, which predict all rows."""
    assert scheme.replicates is not None
    everything = np.arange(examples.n, dtype=np.int32)
    yield Fit(keys={}, train=everything, test=everything, part="train")
    for replicate in range(1, scheme.replicates + 1):
        sample = _sample(everything, examples, seed, replicate)
        yield Fit(keys={"replicate": replicate}, train=sample, test=everything)


def _sample(rows: Rows, examples: Examples, seed: int, replicate: int) -> Rows:
    """Draw a bootstrap sample of the rows, or of whole groups, in the rows' order."""
    generator = stream(seed, "bootstrap sample", replicate)
    if examples.groups is None:
        return np.sort(generator.choice(rows, size=len(rows)))
    groups = examples.groups[rows]
    names = np.unique(groups)
    drawn = np.bincount(
        np.searchsorted(names, generator.choice(names, size=len(names))), minlength=len(names)
    )
    return np.repeat(rows, drawn[np.searchsorted(names, groups)])


_SPLITS: Mapping[str, Callable[[Examples, Scheme, int], Iterator[Fit]]] = {
    "holdout": _holdout,
    "repeated-holdout": _repeated_holdout,
    "kfold": _folds,
    "stratified-kfold": _folds,
    "repeated-kfold": _folds,
    "repeated-stratified-kfold": _folds,
    "leave-one-out": _leave_one_out,
    "leave-group-out": _leave_group_out,
    "time-ordered": _time_ordered,
    "5x2cv": _five_by_two,
    "nested": _folds,
    "bootstrap": _bootstrap,
    "bootstrap-oob": _bootstrap_oob,
    "seeds": _seeds,
    "learning-curve": _learning_curve,
    "complexity-curve": _repeated_holdout,
}


def counts_in_sample(fit: Fit, n: int) -> npt.NDArray[np.intp]:
    """Return how often each of n rows is in the training sample."""
    return np.bincount(fit.train, minlength=n)


FEW_IN_A_FOLD = 30


def guards(examples: Examples, fits: Sequence[Fit]) -> tuple[WarningRecord, ...]:
    """Return the warnings that the examples and the fits give reason for."""
    tested = [fit for fit in fits if fit.part == "test"]
    return (
        *_duplicates(examples, tested),
        *_small_folds(tested),
        *_missing_in_fold(examples, tested),
        *_missing_in_training(examples, fits),
    )


def _duplicates(examples: Examples, fits: Sequence[Fit]) -> Iterator[WarningRecord]:
    """Warn of test examples whose features stand, value by value, among the training examples as well."""
    code = same_features(examples)
    if len(np.unique(code)) == examples.n:
        return
    hit = np.zeros(examples.n, dtype=bool)
    count = 0
    for fit in fits:
        alone = np.setdiff1d(fit.test, fit.train)
        twins = alone[np.isin(code[alone], code[fit.train])]
        hit[twins] = True
        count += bool(len(twins))
    if not count:
        return
    first = examples.ids[int(np.argmax(hit))]
    yield warning(
        "duplicates_across_split",
        n=int(hit.sum()), total=examples.n, example=first, fits=count, all_fits=len(fits),
    )  # fmt: skip


def _small_folds(fits: Sequence[Fit]) -> Iterator[WarningRecord]:
    sizes = [len(fit.test) for fit in fits if "fold" in fit.keys]
    # Folds of leave-one-out are never used alone.
    if sizes and 1 < min(sizes) < FEW_IN_A_FOLD:
        text = Message("planned_folds.small", n=min(sizes), least=FEW_IN_A_FOLD)
        yield WarningRecord(code="small_folds", text=text)


def _missing_in_fold(examples: Examples, fits: Sequence[Fit]) -> Iterator[WarningRecord]:
    if examples.labels is None:
        return
    classes = np.unique(examples.labels.codes)
    lacking = [
        fit
        for fit in fits
        if "fold" in fit.keys
        and len(fit.test) > 1
        and len(np.unique(examples.labels.codes[fit.test])) < len(classes)
    ]
    if lacking:
        text = Message("planned_folds.lack_class", n=len(lacking), total=len(fits))
        yield WarningRecord(code="class_missing_in_fold", text=text)


def _missing_in_training(examples: Examples, fits: Sequence[Fit]) -> Iterator[WarningRecord]:
    if examples.labels is None:
        return
    count = len(np.unique(examples.labels.codes))
    lacking = sum(len(np.unique(examples.labels.codes[fit.train])) < count for fit in fits)
    if lacking:
        yield warning("class_missing_in_training", n=lacking, total=len(fits))
