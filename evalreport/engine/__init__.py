"""Draws of weights over examples, and the statistics under them: cells, moments, ranks, derivatives.

A metric is a function of weights (``..., n``) over examples. The modules here turn weights into the sufficient
statistics of the three families (margins of confusion tables, weighted sums of columns, weights along sorted scores)
and give the derivative with respect to one example's weight.
"""
