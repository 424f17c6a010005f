"""Looks that are remembered, and criteria that are declared before a run."""
