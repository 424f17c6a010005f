"""Which level a look has after the looks before it."""

from __future__ import annotations

import pytest

from evalreport.looks.levels import Declared, Level, are_spent, next_level, planned_levels


def declared(looks: int, *, n_max: int | None = None, pushes: bool = False) -> Declared:
    """Declare looks that spend 5 %."""
    return Declared(looks=looks, n_max=n_max, pushes=pushes, alpha=0.05)


def series(plan: Declared, steps: list[tuple[int, bool]]) -> list[Level]:
    """Take looks, each at a number of examples that were added or not."""
    found: list[Level] = []
    for n, added in steps:
        found.append(next_level(found, n, plan, added=added))
    return found


def test_added_examples_spend_by_the_boundary() -> None:
    """Equal steps of five looks have the published levels, and spend everything at the last."""
    found = series(declared(5), [(200 * k, True) for k in range(1, 6)])
    assert [round(one.level, 4) for one in found] == [0.0, 0.0008, 0.0074, 0.0220, 0.0423]
    assert {one.rule for one in found} == {"added"}
    assert found[-1].spent == pytest.approx(0.05)
    assert are_spent(found, declared(5))


def test_pushes_share_the_error_equally() -> None:
    """Every push has alpha / L from the first on, whatever was added."""
    found = series(declared(5, pushes=True), [(100, True), (200, True), (200, False)])
    assert [one.level for one in found] == pytest.approx([0.01] * 3)
    assert [one.spent for one in found] == pytest.approx([0.01, 0.02, 0.03])
    assert {one.rule for one in found} == {"other"}


@pytest.mark.parametrize("changed_at", [2, 3, 4, 5])
def test_after_another_change_the_levels_add_up_to_alpha(changed_at: int) -> None:
    """Once something else changed every later look shares what is left; with the spent part they are at most alpha."""
    found = series(declared(5), [(200 * k, k != changed_at) for k in range(1, 6)])
    assert [one.rule for one in found] == ["added"] * (changed_at - 1) + ["other"] * (6 - changed_at)
    spent_before = found[changed_at - 2].spent
    assert spent_before + sum(one.level for one in found[changed_at - 1 :]) <= 0.05 + 1e-12
    assert found[changed_at - 1].level <= 0.01 + 1e-12
    assert all(one.level > 0 for one in found)


def test_at_the_largest_number_of_examples_the_last_look_is_taken() -> None:
    """Beyond n_max the share is 1: everything is spent although looks were left."""
    plan = declared(5, n_max=1000)
    found = series(plan, [(250, True), (1200, True)])
    assert found[-1].spent == 0.05
    assert are_spent(found, plan)
    assert planned_levels(found, plan) == []


def test_the_last_declared_look_spends_the_rest_before_n_max() -> None:
    """The last look has a share of 1, however few examples came."""
    assert series(declared(2, n_max=1000), [(100, True), (200, True)])[-1].spent == 0.05


def test_planned_looks_lead_to_the_declared_number() -> None:
    """The looks to come are at equal steps to n_max, or go on as before."""
    plan = declared(4, n_max=1000)
    assert [one.n for one in planned_levels(series(plan, [(400, True)]), plan)] == [600, 800, 1000]
    plan = declared(4)
    assert [one.n for one in planned_levels(series(plan, [(100, True), (200, True)]), plan)] == [300, 400]
