"""Weights over examples and what works on them: draws, cells, moments, ranks, derivatives.

A metric is a function of weights (``..., n``) over examples. This room holds the arithmetic that turns weights
into the sufficient statistics of the three families (margins of confusion tables, weighted sums of columns,
weights along sorted scores) and the derivative with respect to one example's weight.
"""
