"""The pages of the study of tests, written from docs/tests.json alone."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from research.studies import seeds
from research.studies.algorithms import ALPHA, N
from research.studies.bars import MOST
from research.studies.cells import error as monte_carlo
from research.studies.discordance import MCNEMAR, OF_F1
from research.studies.families import MODELS
from research.studies.learners import LEARNERS
from research.studies.sliced import EACH, SLICES

Rows = Sequence[Mapping[str, Any]]


def page(found: Mapping[str, Any]) -> str:
    """Write the tables as Markdown."""
    count = found["replications"]
    error = 2 * (ALPHA * (1 - ALPHA) / count) ** 0.5
    lines = [
        "# How often the tests reject",
        "",
        *_paragraph(
            f"Measured by `make study-tests` (evalreport {found['version']}, seed {found['seed']}) at a level of"
            f" {ALPHA:g}. A test that keeps its level rejects in {100 * ALPHA:g} % of the cases in which nothing is"
            f" to be found. Two Monte Carlo errors of {count:,} data sets are {error:.3f}; where a ± stands, it is"
            " one Monte Carlo error of that rate. The report prints the rates beside the tests of folds, and warns in"
            " the situations in which a rate misses."
        ),
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
    lines += _seeds_page(found["seeds"], error)
    for key, section in SECTIONS.items():
        lines += section(found[key])
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


# --- situations of single promises ----------------------------------------------------------------------------------


def _points_page(rows: Rows) -> list[str]:
    nulls = [row for row in rows if row["kind"] != "power"]
    (power,) = (row for row in rows if row["kind"] == "power")
    return [
        "",
        "## Equal values at unlike operating points",
        "",
        *_paragraph(
            "Both models have the same value of the metric that is named; given the class they answer independently."
            " Leads: the test that a run decides by (score tests of precision, F1 and balanced accuracy, the"
            " intervals of areas, MCC and kappa), beside the studentised swap test."
        ),
        "",
        *_table(
            ["models", "n", "limit", "leads", "`permutation`"],
            [
                [
                    row["name"],
                    row["n"],
                    f"{row['limit']:g}",
                    _share(row, "leading"),
                    "" if row["kind"] == "scores" else _share(row, "permutation"),
                ]
                for row in nulls
            ],
        ),
        "",
        *_paragraph(
            f"Power where one balanced accuracy is better by 0.09 (n = {power['n']}): what leads"
            f" {_share(power, 'leading')}, `permutation` {_share(power, 'permutation')}."
        ),
    ]


def _ties_page(rows: Rows) -> list[str]:
    return [
        "",
        "## Ties",
        "",
        *_paragraph(
            "Through the public API: two models get one of five marks on each of n data sets, drawn alike."
            " Wilcoxon's test is exact to 50 data sets, and so keeps its level with ties and zeros too."
        ),
        "",
        *_table(["n", "`wilcoxon`"], [[row["n"], _share(row, "wilcoxon")] for row in rows]),
    ]


def _slices_page(rows: Rows) -> list[str]:
    still, fallen = rows
    return [
        "",
        "## Slices",
        "",
        *_paragraph(
            f"Through the public API: {SLICES} slices of {EACH} examples, right in 0.9. Where nothing differs,"
            f" any slice is flagged in {_share(still, 'flagged')} of {still['data_sets']:,} data sets. Where"
            f" one is right in 0.6, it is found in {_share(fallen, 'found')} and another one flagged in"
            f" {_share(fallen, 'flagged')} of {fallen['data_sets']:,}."
        ),
    ]


def _gates_page(found: Mapping[str, Rows]) -> list[str]:
    return [
        "",
        "## Gates at the bar",
        "",
        *_paragraph(
            "The true value is the bar of the gate `>=` itself. Proportions, exact: every outcome weighed by"
            f" its chance, the largest of all numbers of examples to {MOST}."
        ),
        "",
        *_table(
            ["bar", "passes", "at n", "fails", "at n"],
            [
                [
                    f"{row['bar']:g}",
                    f"{row['passes']:.4f}",
                    row["passes_at"],
                    f"{row['fails']:.4f}",
                    row["fails_at"],
                ]
                for row in found["enumerated"]
            ],
        ),
        "",
        "Simulated, about 0.025 on either side:",
        "",
        *_table(
            ["metric", "n", "passes", "fails"],
            [
                [row["name"], row["n"], _share(row, "passes"), _share(row, "fails")]
                for row in found["simulated"]
            ],
        ),
    ]


def _families_page(rows: Rows) -> list[str]:
    found = ", ".join(
        f"{_share(row, 'any better')} ({row['metric']}, {row['data_sets']:,} data sets)" for row in rows
    )
    return [
        "",
        "## Many models",
        "",
        *_paragraph(
            f"Through the public API: {MODELS} equally good models, every pair compared, p-values adjusted by"
            f" Holm. Any model is called better than any other in {found}."
        ),
    ]


def _unequal_page(rows: Rows) -> list[str]:
    head = [
        "units",
        "margin",
        "decided",
        "equivalent",
        "gate passes",
        "gate fails",
        "value missed",
        "difference missed",
    ]
    keys = ("decided", "equivalent", "gate passes", "gate fails", "missed", "difference missed")
    return [
        "",
        "## Unequal clusters and weights",
        "",
        *_paragraph(
            "Clusters of 400 down to 10 examples, intraclass correlation 0.05; 1,000"
            " examples with log-normal weights. Decided: where the models are equal. Equivalent:"
            " where their difference is the margin. The gate's bar is the true value. Missed: what the leading"
            " 95 % intervals do not hold."
        ),
        "",
        *_table(
            head,
            [
                [
                    row["name"],
                    f"{row['margin']:g}",
                    *(_share(row, key) if _asked(row, key) else "" for key in keys),
                ]
                for row in rows
            ],
        ),
    ]


def _asked(row: Mapping[str, Any], key: str) -> bool:
    """Whether a question is put to a cell: a verdict of equal models, equivalence of models that lie apart."""
    return {"decided": not row["ahead"], "equivalent": bool(row["ahead"])}.get(key, True)


_KINDS = {
    "suite": "{size} tasks",
    "clusters": "{size} tasks, clusters of 1 to 9",
    "attempts": "{size} questions, {of:g} attempts each",
    "judge": "{size} human outcomes, a judge with sensitivity {of:g}",
}


def _language_page(rows: Rows) -> list[str]:
    """Put each layout with equal models beside the same with models that lie apart."""
    found = []
    for kind, text in _KINDS.items():
        own = [row for row in rows if row["kind"] == kind]
        for equal in (row for row in own if not row["apart"]):
            (apart,) = (r for r in own if r["apart"] and (r["size"], r["of"]) == (equal["size"], equal["of"]))
            found.append(
                [text.format(**equal), f"{equal['data_sets']:,}", _share(equal, "decided"),
                 f"{apart['apart']:.3g}", _share(apart, "right"), _share(apart, "wrong")]
            )  # fmt: skip
    return [
        "",
        "## Suites, attempts, judges",
        "",
        *_paragraph(
            "Through the public API, the populations of [coverage.md](coverage.md). Decided: how often two equally"
            " good models are told apart. Power: how often the better of two that lie apart is called better, and"
            " how often worse (a fifth as many data sets). The judge accepts wrong answers of the second model more"
            " often, by 0.1."
        ),
        "",
        *_table(["layout", "data sets", "decided", "apart", "called better", "called worse"], found),
    ]


SECTIONS: Mapping[str, Any] = {
    "operating_points": _points_page,
    "ties": _ties_page,
    "slices": _slices_page,
    "gates": _gates_page,
    "families": _families_page,
    "unequal": _unequal_page,
    "language": _language_page,
}
"""The parts about single promises, in the order of the page."""


def _paragraph(text: str) -> list[str]:
    return textwrap.wrap(text, 118, break_long_words=False, break_on_hyphens=False)


def _share(row: Mapping[str, Any], key: str) -> str:
    """Write a rate with its Monte Carlo error."""
    return f"{row[key]:.3f} ± {monte_carlo(row[key], row['data_sets']):.3f}"
