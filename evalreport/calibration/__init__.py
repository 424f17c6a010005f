"""Probabilities against outcomes: level, spread, shape, error and grades; arrays in, numbers out."""
