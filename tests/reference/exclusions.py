"""The reference quantities that nothing of ours is compared with, each with its reason."""

from __future__ import annotations

from collections.abc import Mapping

OTHER_PLACE = "compared in its own test of this folder"
NOT_OFFERED = "evalreport offers no such number"
DERIVED = "follows from a number that is compared"

# quantity -> reason. A quantity is named exactly, or by a beginning that ends with `*`.
NOT_COMPARED: Mapping[str, str] = {
    # tests of this folder with a comparison of their own
    "bootstrap intervals of*": OTHER_PLACE,
    "proportion Wald interval": OTHER_PLACE,
    "proportion Wilson interval": OTHER_PLACE,
    "proportion Agresti-Coull interval (adds z^2/2)": OTHER_PLACE,
    "proportion Clopper-Pearson interval": OTHER_PLACE,
    "proportion Jeffreys interval (equal tails)": OTHER_PLACE,
    "two-sided normal critical values": OTHER_PLACE,
    "paired table of right/wrong": OTHER_PLACE,
    # other intervals of a proportion or of a paired difference
    "accuracy Wilson interval with continuity correction": NOT_OFFERED,
    "accuracy plus-four interval*": NOT_OFFERED,
    "accuracy mid-P interval": NOT_OFFERED,
    "sensitivity Wilson interval with continuity correction": NOT_OFFERED,
    "sensitivity plus-four interval*": NOT_OFFERED,
    "sensitivity mid-P interval": NOT_OFFERED,
    "specificity Wilson interval with continuity correction": NOT_OFFERED,
    "specificity plus-four interval*": NOT_OFFERED,
    "specificity mid-P interval": NOT_OFFERED,
    "precision Wilson interval with continuity correction": NOT_OFFERED,
    "precision plus-four interval*": NOT_OFFERED,
    "precision mid-P interval": NOT_OFFERED,
    "error_rate Wilson interval with continuity correction": NOT_OFFERED,
    "error_rate plus-four interval*": NOT_OFFERED,
    "error_rate mid-P interval": NOT_OFFERED,
    "proportion Wilson interval with continuity correction": NOT_OFFERED,
    "proportion plus-four interval*": NOT_OFFERED,
    "proportion mid-P interval": NOT_OFFERED,
    "paired difference, Wald interval": NOT_OFFERED,
    "paired difference, Bonett-Price*": NOT_OFFERED,
    "paired difference, Agresti-Min*": NOT_OFFERED,
    # measures that are no metric of ours
    "g_mean": NOT_OFFERED,
    "lr_plus": NOT_OFFERED,
    "lr_minus": NOT_OFFERED,
    "macro_f1_of_averages": "the other definition of macro F1: ours is the mean of the class F1s",
    "weighted_kappa": NOT_OFFERED,
    "pr_auc_trapezoid_from1": NOT_OFFERED,
    "brier_skill": NOT_OFFERED,
    "brier_murphy": NOT_OFFERED,
    "ece_15": NOT_OFFERED,
    "calibration_in_the_large": NOT_OFFERED,
    "spiegelhalter": NOT_OFFERED,
    "rmse_polish_literal": "a typing slip of the lecture, kept in the source to show that it is not followed",
    "rse_relative_squared": NOT_OFFERED,
    "explained_variance": NOT_OFFERED,
    "pearson": NOT_OFFERED,
    "spearman": NOT_OFFERED,
    "rmsle": NOT_OFFERED,
    "smape": NOT_OFFERED,
    "wape": NOT_OFFERED,
    "agreement of two models' predicted labels": NOT_OFFERED,
    "gini": DERIVED,
    "no_information_rate": DERIVED,
    "DeLong covariance of two AUCs": DERIVED,
    # other tests and corrections
    "DeLong test as if the AUCs were independent": "the predictions are paired, and so is our test",
    "Wilcoxon signed rank on squared_error, normal approximation with*": NOT_OFFERED,
    "Wilcoxon signed rank on absolute_error, normal approximation with*": NOT_OFFERED,
    "Wilcoxon signed rank on squared_error, exact*": "ours is exact up to n = 50; here n = 148",
    "Wilcoxon signed rank on absolute_error, exact*": "ours is exact up to n = 50; here n = 148",
    "Hodges-Lehmann estimate*": OTHER_PLACE,
    "Diebold-Mariano*": NOT_OFFERED,
    "hochberg-adjusted*": NOT_OFFERED,
    "hommel-adjusted*": NOT_OFFERED,
    "BY-adjusted*": NOT_OFFERED,
    "bonferroni-adjusted p values of the exact McNemar tests": "ours adjusts the recommended mid-p tests",
    "holm-adjusted p values of the exact McNemar tests": "ours adjusts the recommended mid-p tests",
    "BH-adjusted p values of the exact McNemar tests": "ours adjusts the recommended mid-p tests",
    "bonferroni-adjusted p values of the pairwise Wilcoxon*": "ours adjusts t tests, or exact signed ranks",
    "holm-adjusted p values of the pairwise Wilcoxon*": "ours adjusts t tests, or exact signed ranks",
    "BH-adjusted p values of the pairwise Wilcoxon*": "ours adjusts t tests, or exact signed ranks",
    "bonferroni-adjusted p values of a list*": OTHER_PLACE,
    "holm-adjusted p values of a list*": OTHER_PLACE,
    "BH-adjusted p values of a list*": OTHER_PLACE,
    # folds, data sets and independent test sets
    "difference of two proportions as if independent*": "the predictions are paired; read in test_layouts",
    "pooled two-proportion z test as if independent": "the predictions are paired; read in test_layouts",
    "diff_wald": OTHER_PLACE,
    "diff_newcombe": OTHER_PLACE,
    "diff_*": NOT_OFFERED,
    "pooled_z": OTHER_PLACE,
    "fisher_exact": NOT_OFFERED,
    "5x2cv*": OTHER_PLACE,
    "tests on a list of fold differences": OTHER_PLACE,
    "average_ranks": OTHER_PLACE,
    "friedman_uncorrected": "ours is corrected for ties",
    "friedman*": OTHER_PLACE,
    "iman_davenport_uncorrected": "ours is corrected for ties",
    "iman_davenport*": OTHER_PLACE,
    "kendall_w": NOT_OFFERED,
    "quade": NOT_OFFERED,
    "nemenyi*": OTHER_PLACE,
    "conover*": OTHER_PLACE,
    "siegel*": NOT_OFFERED,
    "vs_best_*": NOT_OFFERED,
    "shaffer_p": NOT_OFFERED,
    "bergmann_hommel_p": NOT_OFFERED,
    "mean and standard deviation of the fold*": OTHER_PLACE,
    "the ten differences*": DERIVED,
    "the five variances*": DERIVED,
    "corrected resampled t test on fold*": "ours takes the exact ratio of test to training examples",
    "Wilcoxon signed rank on fold_*": "ours has no continuity correction",
    "Wilcoxon signed rank on auc*": "ours has no continuity correction",
}


def reason(quantity: str) -> str | None:
    """Return why a quantity is not compared, or None where it has to be."""
    if quantity in NOT_COMPARED:
        return NOT_COMPARED[quantity]
    for beginning, why in NOT_COMPARED.items():
        if beginning.endswith("*") and quantity.startswith(beginning[:-1]):
            return why
    return None
