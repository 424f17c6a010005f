"""What is said about learning algorithms, from files of folds, replicates and curves."""
