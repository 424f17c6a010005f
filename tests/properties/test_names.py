"""Names are names: no figure depends on what models and classes are called."""

from __future__ import annotations

import numpy as np
import pytest

from tests.samples.cases import every
from tests.samples.pairs import labels, run

RANDOM = np.random.default_rng(10)
TRUTH = RANDOM.integers(0, 6, 400)
SAID = {
    name: np.where(RANDOM.random(400) < share, RANDOM.integers(0, 6, 400), TRUTH)
    for name, share in (("a", 0.3), ("b", 0.36), ("c", 0.4))
}


def figures(names: str, models: str) -> dict[frozenset[str], tuple[float | None, ...]]:
    """Return p values and widths by pair of models, classes and models renamed."""
    words = np.array(list(names))
    source = labels(words[TRUTH], **{models["abc".index(m)]: words[said] for m, said in SAID.items()})
    results = run(source, metrics=("f1_macro",))
    back = dict(zip(models, "abc", strict=True))
    found = {}
    for r in results.comparisons:
        key = frozenset([back[r.a], back[r.b], r.test])
        found[key] = (r.p_value, r.p_adjusted or 0.0, abs(r.difference), r.high - r.low)
    return found


@pytest.mark.parametrize(
    ("names", "models"), every(3, [("wzuyxv", "abc"), ("uvwxyz", "xyz"), ("zyxwvu", "abc")])
)
def test_names_move_no_drawn_figure(names: str, models: str) -> None:
    """Six classes and three models under other names, in another alphabetical order: the same figures.

    The swaps are too many to enumerate here, so draws that followed the order of names would differ.
    """
    plain, renamed = figures("uvwxyz", "abc"), figures(names, models)
    assert plain.keys() == renamed.keys()
    for key, expected in plain.items():
        assert renamed[key] == pytest.approx(expected, rel=1e-9), key
