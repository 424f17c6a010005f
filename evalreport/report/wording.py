"""The sentences of the report, in one place: what is said, apart from the mark-up and the numbers."""

from __future__ import annotations

from evalreport.numbers import in_words
from evalreport.report.naming import listed

CHIPS = {
    "better": "better",
    "worse": "worse",
    "undecided": "not distinguishable",
    "equivalent": "equivalent",
    "non-inferior": "not worse",
    "caution": "caution",
}
TASKS = {
    "binary": "Binary classification",
    "multiclass": "Classification",
    "regression": "Regression",
    "outcome": "Outcomes judged elsewhere",
    "scores": "Scores by data set",
}
DESIGNS = {
    "test-set": "one test set",
    "cross-validation": "cross-validation",
    "5x2cv": "5 × 2 cross-validation",
    "repeated-holdout": "repeated holdout",
    "bootstrap": "bootstrap replicates",
    "datasets": "several data sets",
    "seeds": "several training seeds",
}
CORRECTIONS = {"holm": "Holm", "bh": "Benjamini-Hochberg", "bonferroni": "Bonferroni", "none": "unadjusted"}

LETTERS = "Models that share a letter are not distinguishable; that does not make them equal."
EACH_ALONE = (
    "The brackets of the differences are for each pair by itself; the letters are adjusted for their number."
)
BORDERLINE = "; borderline: the simultaneous interval reaches over 0, the verdict follows the test"
NOT_EQUAL = (
    "“Not distinguishable” means that the test does not settle which model is better; it does not mean that "
    "the models are equally good. Equivalence is stated only against a margin declared beforehand."
)
OVERLAP = (
    "Compare two models by the interval of their difference, not by whether their own intervals overlap: "
    "the models were tested on the same examples, and overlap is no test."
)
CONDITIONAL = (
    "All intervals and tests are about these fitted models and examples drawn like these. They say nothing of "
    "what training again would change."
)
OVERLAP_APART = (
    "Compare two models by the interval of their difference, not by whether their own intervals overlap: "
    "intervals that overlap a little may belong to clearly different models."
)
BY_FOLDS = (
    "What is computed over folds (the corrected t interval, the corrected resampled t and 5 × 2 cv tests) is about "
    "the algorithms, trained on as many examples as here. What is computed over examples is about these fitted "
    "models and says nothing of what training again would change."
)
BY_DATASETS = (
    "All intervals and tests are about data sets drawn like these, not about the examples within one."
)
BY_FITS = (
    "A value is the mean over the fits. Its interval and the tests are about these fits and examples drawn like "
    "these; how much the fits differ among themselves stands apart."
)
SCOPES = {
    "cross-validation": BY_FOLDS,
    "5x2cv": BY_FOLDS,
    "repeated-holdout": BY_FOLDS,
    "datasets": BY_DATASETS,
    "bootstrap": BY_FITS,
    "seeds": BY_FITS,
}
EXPLORATORY = (
    "Only the recommended test of the primary metric belongs to the corrected family; every other p-value is "
    "exploratory and changes no verdict."
)
ROC = (
    "True against false positive rate as the threshold moves. The marker is where a model’s own "
    "decisions lie; the dashed diagonal is guessing."
)
ROC_POINTS = (
    "True against false positive rate of each model’s own decisions; the dashed diagonal is guessing."
)
PR = "Precision against recall. The dashed line is the share of positives, which guessing reaches."
CONFUSION = "Counts, with each cell’s share of its row: rows are the true class, columns the predicted one."
ALONE = "one model"
CONFUSION_OF_MANY = (
    "Rows are the true class, columns the predicted one, numbered from 0 in sorted order; the counts stand in "
    "results.json."
)
OMNIBUS = (
    "These tests ask whether any model differs from any other; they decide no pair. Pairs are tested whatever comes "
    "out here."
)
HISTORY = (
    "A change is now − then, with the interval and the test that lead in a comparison of two models. Each p-value is "
    "that of one look: whoever looks every night will sooner or later see a small one by chance. The gates decide."
)
AUDIT = (
    "p, all looks: adjusted for every look at the same accepted run and for the questions of the same kind; below the "
    "error that --confidence permits it is an alarm. “Worse than accepted?” bets on the examples that are new at each "
    "look; the same examples again are no new evidence. “This look alone” is the plain test: asked every night it errs "
    "sooner or later, so no alarm hangs on it."
)
CRITICAL_DIFFERENCE = (
    "Bars join models that share a letter: the verdicts do not tell them apart. The measure on top is Nemenyi’s "
    "critical difference, for comparison."
)
STRIP = "Fits share training data, so the points are not independent of each other."
SIZES = "Sizes of the difference, first − second model, each with its interval where an honest one is known."
SIZE_NOTES = {
    "odds_ratio_discordant": "Odds of disagreement: of the examples that only one gets right, right by the first : "
    "right by the second.",
    "cohen_g": "Cohen’s g: the first model’s share of these, less one half.",
    "cohen_d": "Cohen’s d: the mean difference in standard deviations of the differences.",
    "rank_biserial": "Rank-biserial: from −1 (the second is always better) to 1.",
    "probability_of_superiority": "Probability of superiority: that the first does better, ties counting one half.",
}
NO_COMPARISON = "With one model there is nothing to compare."
VERIFY = (
    "The same command on files with these digests, the same seed and these versions gives the same "
    "results.json, byte for byte. The PDF carries that file as an attachment. "
    "evalreport verify RESULTS --inputs MODELS recomputes either, figure by figure."
)
METRIC_LIMITS = (
    "Beside the recommended interval stand the normal approximation and the bootstrap, so that a "
    "disagreement shows. A dash means that the method is not honest for that number; the reason stands in results.json."
)
NOT_COMPUTED = "Not computed for any model: "
# By what a metric is given: the title of its family, and what its values come from.
FAMILIES = {
    "labels": ("Decisions", "from the predicted labels"),
    "scores": ("Ranking", "from the order of the scores alone, whatever the threshold"),
    "probabilities": ("Probabilities", "from the probabilities: how good and how well calibrated they are"),
    "values": (
        "Predicted values",
        "from the errors of the predictions, in the units of the truth or relative to it",
    ),
    "outcomes": ("Outcomes", "judged elsewhere, averaged here"),
    "training": ("Penalised criteria", "from training rows: error plus a price for complexity"),
    "other": ("Other metrics", "unknown to this version"),
}
# What the page itself says: its controls, for readers and for assistive tools. {names} are filled in by its script.
CONTROLS = {
    "skip": "Skip to the report",
    "toolbar": "Sections and models",
    "sections": "Sections",
    "contents": "Contents",
    "legend": "Show or hide a model everywhere",
    "all": "show all",
    "dark": "Dark theme",
    "light": "Light theme",
    "filter": "Filter",
    "rows": "{n} of {total} rows",
    "copy": "Copy as",
    "copy_as": "Copy as {format}: {table}",
    "copied": "Copied",
    "by_hand": "The browser did not allow copying: copy the selected text by hand.",
    "close": "Close",
    "beside": "interval",
    "link": "Link to this part",
    "link_figure": "Link to this figure",
    "link_table": "Link to this table",
    "made_by": "Made by evalreport",
    "offline": "Works offline; nothing is loaded from anywhere.",
}
WITHOUT_MODEL = "Without a model"
WITH_COUNTS = "With the counts"
CUT = "The whole stands in the HTML report and in results.json."


WIDEST = "The pair that differs most:"


def audit_headline(loud: int, *, look: int, run: int) -> str:
    """Say how many answers of an audit are alarming."""
    asked = f"Look {look} since run {run} was accepted"
    return f"{asked}: {loud} alarming." if loud else f"{asked}: nothing is alarming."


def disagreements(measure: str) -> str:
    """What the list of examples is, and in which order."""
    return (
        f"The examples on which the answers lie furthest apart ({measure}; then by the probability given to the true "
        "class; then by id). Look at them: they show what tells the models apart, or a wrong label."
        if measure.startswith("pairs")
        else f"The examples on which the answers lie furthest apart ({measure}; then by id)."
    )


def more_metrics(labels: list[str]) -> str:
    """Head a part that is folded away, and name what is in it."""
    return f"{len(labels)} more: {', '.join(labels)}"


def unless_said(remark: str) -> str:
    """A remark that holds for every row that has none of its own."""
    return f"Where no remark stands: {remark}." if remark else ""


def left_out(labels: list[str]) -> str:
    """What a PDF in full detail has no room for."""
    return f"Left out here: {', '.join(labels)}. {CUT}"


def rules_without_model(texts: dict[str, str]) -> str:
    """What the rules do that need no model."""
    return f"{WITHOUT_MODEL}: " + "; ".join(f"“{name}” {text}" for name, text in texts.items()) + "."


def title(n_models: int) -> str:
    """Give the title of a report that was given none."""
    return "Evaluation of one model" if n_models == 1 else f"Comparison of {in_words(n_models)} models"


def best_of_all(leader: str, n_models: int, metric: str) -> str:
    """One model beats every other."""
    which = "better of the two" if n_models == 2 else f"best of the {in_words(n_models)}"
    return f"{leader} is the {which} models on {metric}."


def leads_without(leader: str, extreme: str, metric: str, others: list[str]) -> str:
    """One model leads, but some others are not beaten."""
    return f"{leader} {extreme} {metric}, but {listed(others, 3)} cannot be told apart from it."


def leads_with_equivalents(leader: str, extreme: str, metric: str, others: list[str]) -> str:
    """One model leads, and the others that are not beaten are equivalent by the margin."""
    is_are = "is" if len(others) == 1 else "are"
    return f"{leader} {extreme} {metric}; {listed(others, 3)} {is_are} practically equivalent to it."


def nothing_settled(n_models: int, metric: str) -> str:
    """No other model is beaten by the leader."""
    if n_models == 2:
        return f"The data do not settle which of the two models is better on {metric}."
    return f"The data do not settle which of the {in_words(n_models)} models is best on {metric}."


def better_than_baseline(models: list[str], baseline: str, metric: str) -> str:
    """Some models beat the baseline."""
    verb = "is" if len(models) == 1 else "are"
    return f"{listed(models, 4)} {verb} better than the baseline {baseline} on {metric}."


def none_better_than_baseline(baseline: str, metric: str) -> str:
    """No model beats the baseline."""
    return f"No model is shown to be better than the baseline {baseline} on {metric}."


def no_verdict(metric: str) -> str:
    """Nothing may be decided."""
    return f"No verdict on {metric}: the data do not allow one; the numbers stand below."


def one_model(model: str, metric: str, value: str) -> str:
    """There is one model only."""
    return f"{model} reaches {metric} {value}."


def beats(leader: str, others: list[str], metric: str, p: str, gap: str) -> str:
    """The leader's wins, with the smallest of them."""
    each = f"{p} for each" if "<" in p else p.replace("p = ", "p at most ")
    p_text = p if len(others) == 1 else each
    if len(others) == 1:
        return f"{leader} beats {others[0]} on {metric} by {gap} ({p_text})."
    return f"{leader} beats {listed(others, 4)} on {metric} ({p_text}); the closest, {others[0]}, by {gap}."


def more_pairs(pairs: list[str]) -> str:
    """Further pairs that are not settled."""
    return f"Nor do the data settle {listed(pairs, 4)}."


def none_settled(n_pairs: int) -> str:
    """Not one pair is decided; a sentence on the widest follows."""
    return f"None of the {in_words(n_pairs)} pairs is settled. {WIDEST}"


def all_equivalent(n_models: int, metric: str) -> str:
    """Every pair is equivalent by the margin."""
    which = "The two" if n_models == 2 else f"All {in_words(n_models)}"
    return f"{which} models are practically equivalent on {metric}, by the declared margin."


def every_pair_equivalent(n_pairs: int) -> str:
    """Not one pair differs by more than the margin; a sentence on the widest follows."""
    return f"Each of the {in_words(n_pairs)} pairs is equivalent. {WIDEST}"


def without_chip(text: str) -> str:
    """Leave out of a decision's sentence what the chip before it says."""
    rest = text.removeprefix("Not settled: ")
    return "T" + rest[1:] if rest != text and rest.startswith("the ") else rest


def family(correction: str, n_pairs: int, alpha: str) -> str:
    """How the pairs were corrected."""
    if n_pairs < 2:
        return f"α = {alpha}"
    if correction == "none":
        return f"α = {alpha}, not adjusted for several comparisons"
    return f"{CORRECTIONS.get(correction, correction)}-adjusted over all {n_pairs} pairs, α = {alpha}"
