"""The codes that are raised elsewhere, each with what it needs: while files are read, by an audit, by ``resample``."""

from __future__ import annotations

from evalreport.warnings.checks import looked_for

# While files are read: evalreport/sources and evalreport/loading.
looked_for("trained_on_test", needs=("training_rows",))
looked_for("ignored_file", "quoted_words", needs=("files",))
looked_for("unused_column", "look_alike_column", "ids_look_alike", "one_example", "few_examples")
looked_for("guessed_task", needs=("no_task",))
looked_for("clustering_bootstrap", needs=("clustering",))
looked_for("labels_look_alike", "one_class", "guessed_probability", needs=("classes",))
looked_for("positive_class_guessed", needs=("two_classes", "no_positive"))
looked_for("class_of_a_column", needs=("probabilities",))
looked_for("probabilities_incomplete", needs=("probabilities",), of_models=True)
looked_for("prediction_disagrees_with_probability", needs=("own_labels", "probabilities"), of_models=True)
looked_for(
    "score_is_confidence", "score_disagrees_with_prediction", needs=("own_labels", "scores"), of_models=True
)
looked_for("class_never_predicted", "label_never_true", needs=("labels",), of_models=True)
looked_for("constant_model", of_models=True)
looked_for("fold_sizes_assumed", needs=("scores_of_folds", "folds"))
looked_for("quantiles_sorted", needs=("intervals",))
looked_for("missing_left_out", needs=("left_out",))
looked_for("scores_left_out", needs=("scores_of_folds", "left_out"))
looked_for("missing_is_wrong", needs=("taken_as_wrong",))
looked_for("attempts_left_out", needs=("attempts", "left_out"))
looked_for("unlike_attempts", needs=("attempts",))
looked_for("column_differs_between_attempts", needs=("attempts", "columns"))
looked_for("column_differs_between_models", needs=("models", "columns"))
looked_for("truth_without_prediction", needs=("truth_file",))
looked_for("classes_differ_by_task", needs=("tasks", "classes"))
looked_for("clusters_across_tasks", needs=("tasks", "clusters"))
looked_for("few_for_sums", needs=("counts",))
looked_for("complexity_chosen_on_test", needs=("points",))
# By the commands that know more than one run.
looked_for("criteria_changed", needs=("criteria",))
looked_for("worse_than_accepted", "slice_fell", "data_changed", needs=("audit",))
looked_for("few_accepted_nights", "nights_depend", "runs_differ", needs=("audit",))
looked_for("class_missing_in_training", "duplicates_across_split", needs=("resampling",))
