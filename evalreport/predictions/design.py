"""How the predictions were made (one test set, folds, replicates ...), read from the key columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa

from evalreport.engine.blocks import Places
from evalreport.engine.numbering import numbered
from evalreport.errors import InputError
from evalreport.predictions.arrays import Indices, required
from evalreport.predictions.column_names import IDENTITY_COLUMNS
from evalreport.predictions.subsets import tested
from evalreport.predictions.table import Column, Design
from evalreport.texts import Message, parts, quoted

Keys = Mapping[str, Column]


class Blame(Protocol):
    """Makes the error about a cell, which says where the cell stands."""

    def __call__(self, cell: int, code: str, /, *, ids: str, repeat: str = "") -> InputError:
        """Return the error of one kind about one cell."""


FEW = 5
"""Up to one misplaced id in this number is a mistake; with more of them the files mean another design."""


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of a table: the key columns that distinguish fits, and the example of each cell.

    Attributes
    ----------
    keys
        The key columns, (n,) each.
    example
        (n,) position of each cell's id in ``ids``; None where rows are scores, and no example shows whether folds are a
        partition.
    owner
        (n,) code of each cell's model, where every model has its own test set; else None.
    """

    keys: Keys
    example: Places | None
    n: int
    ids: pa.Array
    owner: Indices | None = None


@dataclass(frozen=True, slots=True)
class FoundDesign:
    """A design, why it is that, and whether training seeds divide the examples each in its own way, as repeats do."""

    design: Design
    why: Message
    seeds_are_repeats: bool = False


@dataclass(frozen=True, slots=True)
class _Visits:
    """Tested cells, (m,) codes each: ``group`` is a repeat (of one model, where each has its own test set)."""

    cell: Indices
    example: Indices
    group: Indices
    fold: Indices
    seed: Indices
    owner: Indices


def without_a_place(_cell: int, code: str, /, *, ids: str, repeat: str = "") -> InputError:
    """Return the error about a cell of a table that no file holds as it is."""
    return InputError.of(code, column="id", ids=ids, repeat=repeat)


def with_seeds_as_repeats(keys: Keys) -> dict[str, Column]:
    """Return the key columns with the seed in the column ``repeat``, beside the repeat where there are several."""
    seed, repeat = keys["seed"], keys.get("repeat")
    rest = {name: column for name, column in keys.items() if name != "seed"}
    if repeat is None or len(np.unique(repeat.values)) < 2:
        return {**rest, "repeat": seed}
    seeds, repeats = seed.categories or (), repeat.categories or ()
    both = np.where(
        (seed.values < 0) | (repeat.values < 0), -1, repeat.values.astype(np.int64) * len(seeds) + seed.values
    )
    used, codes = np.unique(both, return_inverse=True)
    names = tuple(f"{repeats[c // len(seeds)]}, seed {seeds[c % len(seeds)]}" for c in used if c >= 0)
    return {**rest, "repeat": Column((codes - int(used[0] < 0)).astype(np.int32), names)}


def design_of(cells: Cells, blame: Blame) -> FoundDesign:
    """Find the design of a table from its key columns and examples.

    Raises
    ------
    InputError
        As ``find_design``, made by ``blame``.
    """
    codes = {
        name: cells.keys[name].values.astype(np.int64) for name in IDENTITY_COLUMNS if name in cells.keys
    }
    is_tested = tested(cells.keys, cells.n)
    counts = {name: len(np.unique(code[is_tested & (code >= 0)])) for name, code in codes.items()}
    if counts.get("dataset", 0) > 1:
        return FoundDesign("datasets", Message("found.design.datasets", n=counts["dataset"]))
    if counts.get("replicate", 0) > 0:
        return FoundDesign("bootstrap", Message("found.design.replicates", n=counts["replicate"]))
    folds, repeats, seeds = (counts.get(name, 0) for name in ("fold", "repeat", "seed"))
    if max(folds, repeats, seeds) < 2:
        return FoundDesign("test-set", Message("found.design.test_set"))
    visits = _visits(cells, codes, np.flatnonzero(is_tested))
    if folds < 2 and repeats < 2:
        return _seeds(cells, visits, seeds, blame)
    own = seeds > 1 and cells.example is not None and _each_its_own(cells, visits, seeds, blame)
    if own:
        visits = _with_seeds_in_groups(visits)
    design = _folds(cells, visits, folds, blame) if folds > 1 else _repeats(repeats)
    if seeds < 2:
        return design
    of_seeds = (
        Message("found.design.seeds_are_repeats") if own else Message("found.design.mean_of_seeds", n=seeds)
    )
    return FoundDesign(design.design, parts(design.why, of_seeds), own)


def _visits(cells: Cells, codes: Mapping[str, Indices], kept: Indices) -> _Visits:
    zero = np.zeros(len(kept), dtype=np.int64)
    repeat, fold, seed = (
        codes[name][kept] + 1 if name in codes else zero for name in ("repeat", "fold", "seed")
    )
    owner = zero if cells.owner is None else cells.owner[kept]
    example = zero if cells.example is None else cells.example[kept].astype(np.int64)
    return _Visits(kept, numbered((owner, example)), numbered((owner, repeat)), fold, seed, owner)


def _with_seeds_in_groups(visits: _Visits) -> _Visits:
    group = numbered((visits.group, visits.seed))
    return _Visits(visits.cell, visits.example, group, visits.fold, np.zeros_like(group), visits.owner)


def _seeds(cells: Cells, visits: _Visits, seeds: int, blame: Blame) -> FoundDesign:
    """Every seed tests every example, or the seeds are hold-outs."""
    why = Message("found.design.seeds", n=seeds)
    if cells.example is None:
        return FoundDesign("seeds", why)
    if _covered(cells, _with_seeds_in_groups(visits), "seed", blame):
        return FoundDesign("seeds", why)
    return FoundDesign("repeated-holdout", Message("found.design.seeds_apart", n=seeds), True)


def _each_its_own(cells: Cells, visits: _Visits, seeds: int, blame: Blame) -> bool:
    """Say whether the seeds divide the examples differently.

    Raises
    ------
    InputError
        Where they divide all but a few alike.
    """
    place = numbered((visits.group, visits.example))
    once, first = np.unique(numbered((place, visits.fold, visits.seed)), return_index=True)
    with_fold = numbered((place, visits.fold))[first]
    alike = np.bincount(with_fold, minlength=len(once)) == seeds
    unlike = np.unique(place[first][~alike[with_fold]])
    if not len(unlike):
        return False
    if len(unlike) * FEW > int(place.max()) + 1:
        return True
    lost = np.flatnonzero(np.isin(place, unlike))
    raise blame(int(visits.cell[lost[0]]), "seeds_divide_unlike", ids=_ids(cells, visits, lost, "is", "are"))


def _repeats(repeats: int) -> FoundDesign:
    return FoundDesign("repeated-holdout", Message("found.design.repeats", n=repeats))


def _folds(cells: Cells, visits: _Visits, folds: int, blame: Blame) -> FoundDesign:
    """Tell cross-validation, whose folds divide the examples, from repeated hold-out."""
    repeats = len(np.unique(visits.group)) // len(np.unique(visits.owner))
    two = _two_folds(visits)
    if cells.example is None:
        why = Message("found.design.folds", repeats=repeats, folds=folds)
        return FoundDesign("5x2cv" if two is not None and repeats == 5 else "cross-validation", why)
    if not _once(cells, visits, blame) or not _covered(cells, visits, "repeat", blame):
        return FoundDesign(
            "repeated-holdout", Message("found.design.no_partition", repeats=repeats, folds=folds)
        )
    why = Message("found.design.partition", repeats=repeats, folds=folds)
    if two is None or repeats == 1:
        return FoundDesign("cross-validation", why)
    large, small = two
    if large - small > max(2, (large + small) // 10):
        return FoundDesign(
            "repeated-holdout", Message("found.design.no_halves", why=why, large=large, small=small)
        )
    return FoundDesign("5x2cv" if repeats == 5 else "cross-validation", why)


def _two_folds(visits: _Visits) -> tuple[int, int] | None:
    """Return the examples of the larger and of the smaller fold where every repeat has two; those furthest apart."""
    fit = numbered((visits.group, visits.fold))
    of_group = visits.group[np.unique(fit, return_index=True)[1]]
    if (np.bincount(of_group) != 2).any():
        return None
    sizes = np.bincount(fit[np.unique(numbered((fit, visits.example)), return_index=True)[1]])
    by_group = sizes[np.argsort(of_group, kind="stable")].reshape(-1, 2)
    worst = by_group[np.argmax(np.abs(by_group[:, 0] - by_group[:, 1]))]
    return int(worst.max()), int(worst.min())


def _once(cells: Cells, visits: _Visits, blame: Blame) -> bool:
    """Say whether no repeat tests an example in two folds.

    Raises
    ------
    InputError
        Where a few examples are tested twice: neither a division nor hold-outs.
    """
    place = numbered((visits.group, visits.example))
    fit = numbered((place, visits.fold))
    in_folds = np.bincount(place[np.unique(fit, return_index=True)[1]])
    lost = np.flatnonzero(in_folds[place] > 1)
    few = len(np.unique(visits.example[lost]))
    if few == 0:
        return True
    if few * FEW > max(int(visits.example.max()) + 1, FEW):
        return False
    ids, repeat = _ids(cells, visits, lost, "stands", "stand"), _repeat(cells, visits, lost[-1], "one repeat")
    raise blame(int(visits.cell[lost[-1]]), "in_two_folds", ids=ids, repeat=repeat)


def _covered(cells: Cells, visits: _Visits, column: str, blame: Blame) -> bool:
    """Say whether every repeat (or seed) tests every example.

    Raises
    ------
    InputError
        Where a few examples are left out.
    """
    place = np.unique(numbered((visits.group, visits.example)), return_index=True)[1]
    groups, examples = (int(codes.max()) + 1 for codes in (visits.group, visits.example))
    seen = np.zeros((groups, examples), dtype=np.bool_)
    seen[visits.group[place], visits.example[place]] = True
    of_group, of_example = np.zeros(groups, dtype=np.int64), np.zeros(examples, dtype=np.int64)
    of_group[visits.group], of_example[visits.example] = visits.owner, visits.owner
    wanted = of_group[:, None] == of_example
    left_out = np.argwhere(wanted & ~seen)
    if not len(left_out):
        return True
    if len(left_out) * FEW > int(wanted.sum()):
        return False
    first = left_out[0, 0]
    witness = np.flatnonzero(np.isin(visits.example, left_out[left_out[:, 0] == first, 1]))
    here = int(np.flatnonzero(visits.group == first)[0])
    ids, repeat = (
        _ids(cells, visits, witness, "is", "are"),
        _repeat(cells, visits, here, f"a {column}", column),
    )
    raise blame(
        int(visits.cell[witness[0]]),
        "not_tested_with_a_seed" if column == "seed" else "not_tested_in_a_repeat",
        ids=ids,
        repeat=repeat,
    )


def _ids(cells: Cells, visits: _Visits, places: Indices, one: str, several: str) -> str:
    """Name the ids of some visits, the first few of them, with the verb that follows."""
    codes = dict.fromkeys(int(code) for code in required(cells.example)[visits.cell[places]])
    names = ", ".join(quoted(cells.ids[code].as_py()) for code in list(codes)[:3])
    if len(codes) == 1:
        return f"the id {names} {one}"
    return f"{len(codes)} ids, {'first ' if len(codes) > 3 else ''}{names}, {several}"


def _repeat(
    cells: Cells, visits: _Visits, place: int | np.int64, otherwise: str, column: str = "repeat"
) -> str:
    """Name the repeat (or seed) of a visit, where the files name several."""
    held = cells.keys.get(column)
    if held is None or held.categories is None or len(held.categories) < 2:
        return otherwise
    return f"the {column} {quoted(held.categories[int(held.values[visits.cell[place]])])}"
