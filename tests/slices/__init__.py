"""Slices: equal to runs on their rows, compared by independent computations, flagged at the stated rate."""
