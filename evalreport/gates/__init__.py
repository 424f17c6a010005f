"""Conditions on results, and their outcomes: pass, fail or undecided."""
