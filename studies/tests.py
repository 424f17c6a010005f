"""Measure type I error and power of the tests in their layouts; writes docs/tests.json and docs/tests.md.

Run by ``make study-tests``; about a quarter of an hour on two cores. Same seed, same tables for any number of jobs.
``--only seeds`` measures the part about training seeds anew and keeps the others.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from studies import seeds
from studies.algorithms import ALPHA, TESTED, N, measure
from studies.discordance import MCNEMAR, OF_F1, f1_size, mcnemar_size
from studies.learners import LEARNERS

DOCS = Path(__file__).resolve().parent.parent / "docs"

DISCORDANCE = ((50, 0.1), (50, 0.2), (50, 0.4), (200, 0.1), (200, 0.2), (1000, 0.1))
F1_CELLS = ((50, 0.5), (100, 0.5), (300, 0.5), (300, 0.1))


def study(*, replications: int, n_resamples: int, seed: int, jobs: int) -> dict[str, Any]:
    """Run every part; the result is what docs/tests.json holds."""
    print("enumerating McNemar's tests ...", file=sys.stderr, flush=True)
    exact = [{"n": n, "discordance": d, **mcnemar_size(n, d)} for n, d in DISCORDANCE]
    print("simulating differences of F1 ...", file=sys.stderr, flush=True)
    with ProcessPoolExecutor(jobs) as pool:
        found = [
            pool.submit(f1_size, n, share, replications=replications, n_resamples=n_resamples, seed=seed)
            for n, share in F1_CELLS
        ]
        f1 = [
            {"n": n, "prevalence": share, **future.result()}
            for (n, share), future in zip(F1_CELLS, found, strict=True)
        ]
    print("training algorithms on folds ...", file=sys.stderr, flush=True)
    null, power = measure(replications=replications, seed=seed, jobs=jobs)
    return {
        "alpha": ALPHA,
        "replications": replications,
        "resamples": n_resamples,
        "seed": seed,
        "mcnemar": exact,
        "f1": f1,
        "algorithms": [
            {
                "layout": layout,
                "test": test,
                "type_1": {learner: rates[layout, test] for learner, rates in null.items()},
                "power": {learner: rates[layout, test] for learner, rates in power.items()},
            }
            for layout, tests in TESTED.items()
            for test in tests
        ],
        "seeds": of_seeds(replications=replications, seed=seed, jobs=jobs),
    }


def of_seeds(*, replications: int, seed: int, jobs: int) -> list[dict[str, Any]]:
    """Run the part about training seeds."""
    print("training two models with several seeds ...", file=sys.stderr, flush=True)
    return seeds.measure(replications=replications, seed=seed, jobs=jobs)


def page(found: Mapping[str, Any]) -> str:
    """Write the tables as Markdown."""
    count = found["replications"]
    error = 2 * (ALPHA * (1 - ALPHA) / count) ** 0.5
    lines = [
        "# How often the tests reject",
        "",
        f"Measured by `make study-tests` (seed {found['seed']}) at a level of {ALPHA:g}. A test that keeps its level",
        f"rejects in {100 * ALPHA:g} % of the cases in which nothing is to be found. Two Monte Carlo errors of",
        f"{count:,} data sets are {error:.3f}. The report prints the rates beside the tests of folds.",
        "",
        "## Two learning algorithms",
        "",
        f"{N} examples; each algorithm is trained on a block of features of its own, and both blocks have the same",
        "distribution, so that at every training size both algorithms are equally good. Power: the classes of the",
        "first block lie further apart (0.2 for naive Bayes, 0.3 for the tree), half as many data sets. Powers are",
        "not adjusted for the size of the tests. On one test set the question here is about the algorithms; about",
        "the two models at hand McNemar's tests keep their level, as the exact table below shows.",
        "",
    ]
    learners = list(LEARNERS)
    powers = [name for name in LEARNERS if name in found["algorithms"][0]["power"]]
    head = ["layout", "test", *learners, *(f"power, {name}" for name in powers)]
    rows = [
        [
            row["layout"],
            f"`{row['test']}`",
            *(_rate(row["type_1"][name], error) for name in learners),
            *(f"{row['power'][name]:.3f}" for name in powers),
        ]
        for row in found["algorithms"]
    ]
    lines += [*_table(head, rows), "", "Bold: more than two Monte Carlo errors above the level.", ""]
    lines += ["## McNemar's tests", "", "Exact: every outcome weighed by its chance.", ""]
    head = ["n", "discordance", *(f"`{name}`" for name in MCNEMAR)]
    lines += _table(
        head,
        [[row["n"], row["discordance"], *(_rate(row[t], 0) for t in MCNEMAR)] for row in found["mcnemar"]],
    )
    lines += [
        "",
        "## Difference of F1",
        "",
        "Two exchangeable models of recall 0.8 and false alarm rate 0.1.",
        "",
    ]
    head = ["n", "prevalence", *(f"`{name}`" for name in OF_F1)]
    lines += _table(
        head, [[row["n"], row["prevalence"], *(_rate(row[t], error) for t in OF_F1)] for row in found["f1"]]
    )
    if "seeds" in found:
        lines += [*_seeds_page(found["seeds"], error)]
    return "\n".join(lines) + "\n"


def _seeds_page(rows: Iterable[Mapping[str, Any]], error: float) -> list[str]:
    head = ["second model", "seeds", "named", "sd of training", *(f"`{name}`" for name in seeds.TESTS)]
    lines = [
        [
            "the same algorithm" if row["second"] == "same" else "another, equally good",
            row["seeds"],
            "alike (paired)" if row["paired"] else "unlike (unpaired)",
            f"{row['sd']:g}",
            *(_rate(row[name], error) for name in seeds.TESTS),
            f"{row['better']:.3f}",
            f"{row['covered']:.3f}",
        ]
        for row in rows
    ]
    return [
        "",
        "## Training seeds",
        "",
        f"Through the public API: {seeds.N} examples with chances of their own (mean 0.8), and two models trained with",
        "several seeds each, of which every training moves the accuracy. Nothing is to be found. `seeds_t` leads;",
        "the bootstrap is over examples alone. Verdict: how often a model is called better. Coverage: how often the",
        "interval of `seeds_t` holds the true difference, 0.",
        "",
        *_table([*head, "verdict", "coverage"], lines),
    ]


def _rate(rate: float, error: float) -> str:
    return f"**{rate:.3f}**" if rate > ALPHA + error else f"{rate:.3f}"


def _table(head: Iterable[object], rows: Iterable[Iterable[object]]) -> list[str]:
    titles = [str(cell) for cell in head]
    lines = [titles, ["---"] * len(titles), *([str(cell) for cell in row] for row in rows)]
    return ["| " + " | ".join(line) + " |" for line in lines]


def main() -> int:
    """Run the study and write its pages."""
    parser = argparse.ArgumentParser(prog="python -m studies.tests", description=__doc__)
    parser.add_argument("--replications", type=int, default=1000, help="data sets of a simulated cell")
    parser.add_argument(
        "--resamples", type=int, default=500, help="swaps and bootstrap replicates of a data set"
    )
    parser.add_argument("--seed", type=int, default=20262, help="seed of every data set")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--output", type=Path, default=DOCS, help="folder to write to")
    parser.add_argument(
        "--only", choices=("seeds",), help="measure this part anew, keep the others as they are"
    )
    given = parser.parse_args()
    if given.only is None:
        found = study(
            replications=given.replications, n_resamples=given.resamples, seed=given.seed, jobs=given.jobs
        )
    else:
        found = json.loads((given.output / "tests.json").read_text(encoding="utf-8"))
        found["seeds"] = of_seeds(replications=given.replications, seed=given.seed, jobs=given.jobs)
    given.output.mkdir(parents=True, exist_ok=True)
    text = json.dumps(found, indent=1, sort_keys=True) + "\n"
    (given.output / "tests.json").write_text(text, encoding="utf-8")
    (given.output / "tests.md").write_text(page(found), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
