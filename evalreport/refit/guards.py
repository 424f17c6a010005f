"""Warnings about a division of the examples, before anything is fitted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from evalreport.refit.examples import Examples, same_features
from evalreport.refit.splits import Fit
from evalreport.schema.warnings import WarningRecord, warning
from evalreport.texts import Message

FEW_IN_A_FOLD = 30


def guards(examples: Examples, fits: Sequence[Fit]) -> tuple[WarningRecord, ...]:
    """Return the warnings that the examples and the fits give reason for."""
    tested = [fit for fit in fits if fit.part == "test"]
    return (*_duplicates(examples, tested), *_small_folds(tested), *_missing_classes(examples, fits))


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


def _missing_classes(examples: Examples, fits: Sequence[Fit]) -> Iterator[WarningRecord]:
    """Warn of folds and of training rows that lack a class."""
    if examples.labels is None:
        return
    codes = examples.labels.codes
    count = len(np.unique(codes))
    folds = [fit.test for fit in fits if "fold" in fit.keys and len(fit.test) > 1]
    lacking = sum(len(np.unique(codes[rows])) < count for rows in folds)
    if lacking:
        tested = sum(fit.part == "test" for fit in fits)
        text = Message("planned_folds.lack_class", n=lacking, total=tested)
        yield WarningRecord(code="class_missing_in_fold", text=text)
    lacking = sum(len(np.unique(codes[fit.train])) < count for fit in fits)
    if lacking:
        yield warning("class_missing_in_training", n=lacking, total=len(fits))
