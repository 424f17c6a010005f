"""A looks file whose entries follow from one another and from the examples; what a series of looks is about."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import evalreport as er
from evalreport.errors import InputError, UsageError
from evalreport.looks.series import Series, digest_of, series_of
from evalreport.schema.results import Results
from tests.looks.conftest import Table
from tests.samples.cases import crossed, every

Grown = Callable[[int], Table]
Change = Callable[[dict[str, Any]], object]


def look(table: Any, file: Path, looks: int = 3, **options: Any) -> Results:
    """Take a look."""
    given = {"metrics": "accuracy", "resamples": 50} | options
    return er.evaluate(table, looks=looks, looks_file=str(file), **given)


def chained(content: dict[str, Any]) -> dict[str, Any]:
    """Give each entry the digest of the one before it, as somebody who forges with care would."""
    whole = msgspec.convert({**content, "seal": ""}, Series)
    taken: list[Any] = []
    for one in whole.taken:
        head = (
            digest_of(taken[-1])
            if taken
            else digest_of(msgspec.structs.replace(whole, taken=(), ids="", since="", seal=""))
        )
        taken.append(msgspec.structs.replace(one, before=head))
    return msgspec.to_builtins(msgspec.structs.replace(whole, taken=tuple(taken)).sealed)  # type: ignore[no-any-return]


def forge(file: Path, change: Change, *, with_care: bool) -> None:
    """Change the content of a looks file."""
    content = json.loads(file.read_text())
    change(content)
    file.write_text(json.dumps(chained(content) if with_care else content))


def invented(**fields: Any) -> dict[str, Any]:
    """Return a decision that nobody took."""
    decision = {
        "about": ["good", "poor"], "verdict": "worse", "level": 1 - 0.00020, "low": -0.95, "high": -0.85,
        "method": "plus_two", "difference": -0.9, "decided_at": 1, "n": 800,
    }  # fmt: skip
    return decision | fields


def decide(**fields: Any) -> Change:
    """Put an invented decision in the place of the first look's."""
    return lambda content: content["taken"][0].update(
        decided=[invented(**{"level": 1 - content["taken"][0]["level"]} | fields)]
    )


FORGERIES: dict[str, Change] = {
    "an invented decision": decide(),
    "the other direction": lambda content: content["taken"][0]["decided"][0].update(
        verdict="worse", low=-0.3, high=-0.1, difference=-0.2
    ),
    "a limit": lambda content: content["taken"][0]["decided"][0].update(low=0.19),
    "a look before the first": decide(decided_at=-1),
    "a look that never was": decide(decided_at=99),
    "another level": decide(level=0.5),
    "limits around 0": decide(low=-1.0, high=0.5),
    "a model twice": decide(about=["good", "good"]),
    "a model without answers": decide(about=["good", "best"]),
    "other examples": lambda content: content["taken"][0].update(examples="0" * 64),
}


@pytest.fixture(scope="module")
def two_looks(grown: Grown, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The file after two looks."""
    file = tmp_path_factory.mktemp("looks") / "f"
    for n in (800, 850):
        look(grown(n), file)
    return file.read_text()


@pytest.mark.parametrize(("what", "with_care"), crossed(FORGERIES, [True, False]))
def test_a_forged_look_is_refused(
    what: str, with_care: bool, grown: Grown, two_looks: str, tmp_path: Path
) -> None:
    """The chain shows a change; with the chain made anew the look's own examples do."""
    file = tmp_path / "f"
    file.write_text(two_looks)
    content = file.read_text()
    forge(file, FORGERIES[what], with_care=with_care)
    assert file.read_text() != content
    with pytest.raises(InputError, match=r"does not follow|as it says|that it names"):
        look(grown(900), file)


@pytest.mark.parametrize("place", every(2, [0, 1]))
def test_a_look_that_was_cut_out_is_refused(place: int, alike: Grown, tmp_path: Path) -> None:
    """The next one names it."""
    file = tmp_path / "f"
    for n in (100, 150, 200):
        look(alike(n), file, looks=5)
    forge(file, lambda content: content["taken"].pop(place), with_care=False)
    with pytest.raises(InputError, match="does not follow"):
        look(alike(250), file, looks=5)


def test_what_was_declared_cannot_be_changed_later(alike: Grown, tmp_path: Path) -> None:
    """The first look names the digest of what was declared, the metric and the options included."""
    file = tmp_path / "f"
    look(alike(100), file)
    forge(file, lambda content: content.update(metric="mcc"), with_care=False)
    with pytest.raises(InputError, match="look 1 does not follow from the look before it"):
        look(alike(150), file, metrics="mcc")


OTHERS: dict[str, dict[str, Any]] = {
    "positive": {"positive": "0"},
    "seed": {"seed": 3},
    "missing": {"missing": "wrong"},
}


@pytest.mark.parametrize("name", every(2, ["positive", "seed", "tests", "missing"]))
def test_another_hypothesis_is_refused_with_its_name(name: str, alike: Grown, tmp_path: Path) -> None:
    """The same examples under another positive class, seed or test are no look for nothing; nor are more of them."""
    file = tmp_path / "f"
    look(alike(100), file, metrics="recall")
    other = {"tests": "mcnemar_exact"} if name == "tests" else OTHERS[name]
    for n in (100, 150):
        with pytest.raises(UsageError, match=f"the looks were begun with {name} "):
            look(alike(n), file, metrics="recall", **other)


def test_another_threshold_is_another_hypothesis(tmp_path: Path) -> None:
    """Probabilities are the same answers at every threshold, and their accuracy is not the same."""
    rng = np.random.default_rng(1)
    truth = rng.random(200) < 0.5
    table = {
        name: {"id": list(range(200)), "y_true": truth.astype(int).tolist(), "p_1": rng.random(200).tolist()}
        for name in "ab"
    }
    look(table, tmp_path / "f")
    with pytest.raises(UsageError, match="begun with threshold none, not 0.3"):
        look(table, tmp_path / "f", threshold=0.3)


@pytest.mark.parametrize("pushes", [False, True])
def test_true_values_of_old_examples_stay(pushes: bool, grown: Grown, tmp_path: Path) -> None:
    """A truth that was turned round at look 2 is refused by its name, and no decision survives it."""
    look(grown(800), tmp_path / "f", pushes=pushes)
    turned = grown(900)
    for columns in turned.values():
        columns["y_true"] = [1 - int(str(value)) for value in columns["y_true"]]
    with pytest.raises(UsageError, match="of the examples of look 1 the true values have changed since"):
        look(turned, tmp_path / "f", pushes=pushes)


@pytest.mark.parametrize(("option", "said"), [("weight", "the weights"), ("cluster", "the clusters")])
def test_weights_and_clusters_of_old_examples_stay(
    option: str, said: str, alike: Grown, tmp_path: Path
) -> None:
    """Named, where they changed."""

    def table(n: int, last: int) -> Any:
        values = [1 + k % 9 for k in range(n - 1)] + [last]
        return {name: {**columns, "w": values} for name, columns in alike(n).items()}

    look(table(100, 2), tmp_path / "f", **{option: "w"})
    changed = table(150, 2)
    for columns in changed.values():
        columns["w"][99] = 3
    with pytest.raises(UsageError, match=f"of the examples of look 1 {said} have changed since"):
        look(changed, tmp_path / "f", **{option: "w"})


def scored(n: int) -> dict[str, Any]:
    """Return probabilities of two models, one clearly better, with weights and clusters."""
    rng = np.random.default_rng(4)
    truth = rng.random(2000) < 0.4
    columns = {"id": list(range(n)), "y_true": truth[:n].astype(int).tolist(), "w": [1 + k % 3 for k in range(n)],
               "c": [k // 4 for k in range(n)]}  # fmt: skip
    found = {}
    for name, noise in (("good", 0.15), ("poor", 0.45)):
        p = np.clip(0.5 + 0.25 * np.where(truth, 1, -1) + rng.normal(0, noise, 2000), 0.01, 0.99)
        found[name] = {**columns, "p_1": p[:n].round(4).tolist()}
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("metric", "options"),
    [
        ("accuracy", {}), ("f1", {}), ("balanced_accuracy", {}), ("roc_auc", {}), ("log_loss", {}), ("mcc", {}),
        ("average_precision", {}), ("accuracy", {"weight": "w"}), ("accuracy", {"cluster": "c"}),
        ("roc_auc", {"cluster": "c"}), ("accuracy", {"margin": 0.02}), ("accuracy", {"baseline": "poor"}),
    ],
)  # fmt: skip
def test_a_decision_of_every_kind_is_computed_again(metric: str, options: Any, tmp_path: Path) -> None:
    """What was decided at the first look is carried on at the next two, since its examples say so again."""
    found = [look(scored(n), tmp_path / "f", metrics=metric, **options) for n in (900, 1000, 1100)]
    assert found[0].verdicts[0].decided_at == 1
    assert [results.verdicts[0].decided_at for results in found] == [1, 1, 1]
    assert found[2].verdicts[0].low == found[0].verdicts[0].low


def ladder(n: int, *, models: int, labels: bool) -> dict[str, Any]:
    """Return models of which each is a little worse than the one before."""
    rng = np.random.default_rng(5)
    truth = rng.random(2000) < 0.4
    found = {}
    for place in range(models):
        if labels:
            given = {"y_pred": np.where(rng.random(2000) < 0.9 - 0.06 * place, truth, ~truth).astype(int)}
        else:
            lift = (0.3 - 0.06 * place) * np.where(truth, 1, -1)
            given = {"p_1": np.clip(0.5 + lift + rng.normal(0, 0.2, 2000), 0.01, 0.99).round(4)}
        rows = {"id": np.arange(2000), "y_true": truth.astype(int), **given}
        found[f"m{place}"] = {name: values[:n].tolist() for name, values in rows.items()}
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("metric", "correction"),
    [
        ("accuracy", "holm"),
        ("mcc", "bh"),
        ("roc_auc", "holm"),
        ("roc_auc", "none"),
        ("log_loss", "bonferroni"),
    ],
)
def test_of_four_models_each_decision_is_computed_again(metric: str, correction: str, tmp_path: Path) -> None:
    """By its own level, or by a step of the correction, where its interval was cut at 0."""
    decided: list[set[Any]] = []
    for n in (300, 400, 500):
        table = ladder(n, models=4, labels=metric in ("accuracy", "mcc"))
        results = look(table, tmp_path / "f", metrics=metric, correction=correction)
        decided.append({v.about for v in results.verdicts if v.decided_at is not None})
    assert set() < decided[0] <= decided[1] <= decided[2]


def test_a_decision_whose_interval_was_cut_at_0_is_computed_again(tmp_path: Path) -> None:
    """The exact test decides at 0.000001, where plus_two's interval of the same level still holds 0."""
    found = [look(ladder(n, models=2, labels=True), tmp_path / "f", looks=5) for n in (520, 600)]
    assert [v.decided_at for v in found[1].verdicts] == [v.decided_at for v in found[0].verdicts]


@pytest.mark.parametrize("n", [10**20, 0, -5])
def test_numbers_of_examples_out_of_range_are_refused(n: int, alike: Grown, tmp_path: Path) -> None:
    """Also one of 300 digits."""
    look(alike(100), tmp_path / "f")
    for value in (n, 10**299):
        text = json.loads((tmp_path / "f").read_text())
        text["taken"][0]["n"] = value
        with pytest.raises(InputError, match=r"looks\.json"):
            series_of(json.dumps(text).encode(), "looks.json")
