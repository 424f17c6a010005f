"""Fitting estimators on folds and bootstrap samples, and writing what they predict."""
