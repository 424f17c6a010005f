"""Recompute the figures of a report, and compare two reports."""
