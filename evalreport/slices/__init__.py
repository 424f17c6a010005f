"""Slices: every metric on subgroups of the examples, how they differ, and where the order of models turns round."""
