"""Suites: which files make one, the mean over fixed tasks with its interval and tests, and what the report says."""
