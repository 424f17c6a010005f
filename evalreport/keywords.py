"""The options as keywords of the functions of the package, for type checkers and for ``help``.

Written by ``make docs`` from the declarations in options.py; do not edit.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Literal, TypedDict


class RunKeywords(TypedDict, total=False):
    """The options of a run.

    task : ["binary", "multiclass", "regression", "outcome", "scores", "clustering", "sums", "intervals", "sets"]
        Kind of task, not a column (default: inferred from the data and reported; clustering only if
        named).
    positive : str
        Positive class of a binary task (default: inferred and reported).
    threshold : float
        Positive where p >= X, for models without y_pred (default 0.5 on probabilities, none on scores).
    join : ["error", "intersect", "independent"]
        What to do where models do not have the same ids (default error; independent: separate test
        sets).
    missing : ["refuse", "drop", "wrong"]
        Empty outcomes and predictions: refuse them (default), drop the example for every model, or
        count them as wrong (an outcome within [0, 1]: 0; a label: one outside all classes).
    average : ["tasks", "examples"]
        For a suite (column task): the mean of the tasks' values, each counting the same (default), or
        over all examples.
    wide : bool
        One column a model: the first column (or id, dataset), optionally y_true, and every further
        column a model; without y_true the cells are values of data sets.
    labels : str | Sequence[str]
        Labels that would otherwise be read as missing values, such as NA: separated by commas, quoted
        as in CSV; repeatable.
    probabilities : ["percent", "log"]
        How probabilities are written that are no numbers from 0 to 1: percent (0 to 100), or log
        (natural logarithms, at most 0).
    encoding : str
        The encoding of CSV and JSON Lines that are not UTF-8 (the default), such as latin-1 or cp1252.
    attempts_by : str
        The column that names the question of each row: rows of one value are attempts at it, where no
        column attempt numbers them.
    outcome : str
        Column of outcomes graded elsewhere, 0/1 or any number.
    value : str
        Column of scores, one a row for a model on a data set; with --wide what its values are, such as
        rmse.
    class_order : str
        The order of the classes, separated by commas (quoted as in CSV), the lowest first:
        low,mid,high.
    level : float
        Level of the intervals in the columns y_low and y_high, such as 0.9.
    sort_quantiles : bool
        Sort quantiles or limits that cross within a row, in place of refusing them.
    lower_is_better : bool
        Smaller outcomes or values are better (default: where their column is named after a loss, such
        as rmse or val_loss).
    higher_is_better : bool
        Larger outcomes or values are better, although their column is named after a loss.
    baseline : str
        Compare every model with this one (default: every pair of models).
    metrics : str | Sequence[str]
        The first is the primary metric, which the verdict is about; only those named are computed
        (default: all that the data allow). Spelled f1, f1_macro, recall[class=3]; see `evalreport list
        metrics`.
    intervals : str | Sequence[str]
        Names (default: the recommended one, normal, bootstrap_percentile and bootstrap_bca; of a single
        class or slice the recommended one and normal).
    tests : str | Sequence[str]
        Names (default: the recommended test and the ones usually shown beside it).
    confidence : float
        Confidence level of the intervals (default 0.95).
    resamples : int
        Bootstrap replicates (default 2000).
    seed : int
        Seed of every random draw (default 0).
    correction : ["holm", "bh", "bonferroni", "none"]
        Correction of the verdict's p-values for several comparisons (default holm).
    margin : float
        Smallest difference that matters, in the primary metric's units; without it nothing is called
        equivalent or non-inferior.
    cluster : str
        Resample and compute standard errors by whole clusters.
    weight : str
        Example weights.
    order : ["time"]
        Time: the examples follow one another in the column time, and neighbours may be alike; values,
        differences, tests and gates allow for it.
    horizon : int
        How many steps ahead the forecasts are: from 2 on the Diebold-Mariano test stands beside (with
        --order time).
    gates : str | Sequence[str]
        'forest.accuracy >= 0.90', 'forest.f1_macro - logreg.f1_macro > -0.01', 'n >= 500',
        'forest.recall[sex=f] >= 0.75' within a slice, 'new.accuracy >= 0.95 * old.accuracy'.
    fixed_class_counts : bool
        Resample within the true classes: only where the design fixed how many examples of each there
        are.
    between_runs : float
        Of audits: how much runs differ by themselves, as the standard deviation of the primary metric
        (default: by the accepted runs).
    thresholds : str
        Decision curves over this range of thresholds of the probability (default step 0.01); without it
        none.
    cost_ratio : float
        Cost of a false negative over that of a false positive; also finds the cheapest threshold.
    what_if_threshold : float
        Say how many cases would change sides at this threshold.
    finds : str
        Shares of the positives found, such as 0.95,0.8: columns of the table of thresholds in place of
        60 and 90 %.
    alarms : str
        Shares of false alarms, such as 0.05: columns of the table of thresholds in place of 1 and 10 %.
    grade : str
        Rating grades for the calibration table; without it deciles of risk.
    noise : float
        Variance of the noise in the true values, to separate bias from noise (regression).
    kohavi_wolpert : bool
        Also decompose 0-1 loss after Kohavi and Wolpert (always: after Domingos).
    gold_sampled : bool
        The answers that people judged (column gold) were drawn at random: do not withhold the verdict
        where they look selected.
    judge_scale : str
        The judge's scale, then people's, such as 1:10,1:5: the judge's outcomes are mapped onto
        people's scale; one alone is that of both (default: compared by their ranges, and nothing is
        said of a bias where they differ).
    slices : str | Sequence[str]
        Every metric by the values of this column; age:4 or age:18,40,65 makes bins, date:month periods,
        city:10 keeps the ten most frequent values, sex*region takes two columns at once.
    costs : str | Sequence[str]
        A column of numbers of at least 0 that is weighed against quality, with its unit (cost, latency
        and tokens are taken by name).
    looks : int
        How often this comparison may be repeated in all; the error is spent over the looks (with
        --looks-file, or --look).
    looks_file : str | PathLike[str]
        The file that remembers the looks; made at the first one. The same inputs again are the same
        look.
    n_max : int
        With --looks: the number of examples planned at the last look (default: equal steps).
    pushes : bool
        With --looks: the models change from look to look, as in a pull request: every look has the same
        level.
    look : int
        With --looks, without a file: which look this is; every look then has the same level.
    criteria : str | PathLike[str]
        What `evalreport declare` wrote before the run: its keys are the options; what was changed
        since, and what is exploratory, is said.
    """

    task: (
        Literal[
            "binary",
            "multiclass",
            "regression",
            "outcome",
            "scores",
            "clustering",
            "sums",
            "intervals",
            "sets",
        ]
        | None
    )
    positive: str | None
    threshold: float | None
    join: Literal["error", "intersect", "independent"]
    missing: Literal["refuse", "drop", "wrong"]
    average: Literal["tasks", "examples"]
    wide: bool
    labels: str | Sequence[str]
    probabilities: Literal["percent", "log"] | None
    encoding: str | None
    attempts_by: str | None
    outcome: str | None
    value: str | None
    class_order: str | None
    level: float | None
    sort_quantiles: bool
    lower_is_better: bool
    higher_is_better: bool
    baseline: str | None
    metrics: str | Sequence[str]
    intervals: str | Sequence[str]
    tests: str | Sequence[str]
    confidence: float
    resamples: int
    seed: int
    correction: Literal["holm", "bh", "bonferroni", "none"]
    margin: float | None
    cluster: str | None
    weight: str | None
    order: Literal["time"] | None
    horizon: int | None
    gates: str | Sequence[str]
    fixed_class_counts: bool
    between_runs: float | None
    thresholds: str | None
    cost_ratio: float | None
    what_if_threshold: float | None
    finds: str | None
    alarms: str | None
    grade: str | None
    noise: float | None
    kohavi_wolpert: bool
    gold_sampled: bool
    judge_scale: str | None
    slices: str | Sequence[str]
    costs: str | Sequence[str]
    looks: int | None
    looks_file: str | PathLike[str] | None
    n_max: int | None
    pushes: bool
    look: int | None
    criteria: str | PathLike[str] | None


class ReportKeywords(TypedDict, total=False):
    """The options of a report.

    formats : str | Sequence[str]
        Any of html,pdf,json,md,csv,tex,card, separated by commas (default: html,pdf,json,md); csv:
        tables of plain numbers; tex: the main table and a paragraph on methods for a paper; card: a
        section of a model card.
    figures : ["svg", "png"]
        Also write each chart as a file of this kind into figures/ (default: charts are in the report
        alone).
    detail : ["brief", "full"]
        Level of detail of the PDF (default brief).
    templates : str | PathLike[str]
        Folder searched before the built-in templates.
    title : str
        Title of the report.
    sign_off : str | Sequence[str]
        A line of the PDF's block to sign, such as "Name, role"; with it the PDF also has the flow of
        cases and the checklists.
    time : str
        Time of the run, such as 2025-03-01T02:00:00+01:00 (default: SOURCE_DATE_EPOCH, else now; UTC
        unless it says otherwise).
    """

    formats: str | Sequence[str]
    figures: Literal["svg", "png"] | None
    detail: Literal["brief", "full"]
    templates: str | PathLike[str] | None
    title: str | None
    sign_off: str | Sequence[str]
    time: str | None
