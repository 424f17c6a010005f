"""The validated table of predictions that every analysis reads, its subsets and its slices."""
