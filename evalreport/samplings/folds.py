"""Folds and repeated hold-outs of one data set, whose training sets overlap."""

from __future__ import annotations

import math

from evalreport.samplings.influence import Fits
from evalreport.samplings.sampling import StudentError


def over_folds(fits: Fits, *, overlap: bool = True) -> StudentError:
    """Return the error of a mean over J >= 2 folds, with J - 1 degrees of freedom.

    The variance of the folds' values has the factor 1/J + n_test/n_train, because training sets overlap; without it
    (``overlap``) the folds would be taken as independent, which they are not.

    References
    ----------
    Nadeau and Bengio (2003), Mach Learn 52:239, equation 11.
    """
    j = len(fits.values)
    factor = 1 / j + (fits.test_train_ratio if overlap else 0.0)
    return StudentError(math.sqrt(factor * float(fits.values.var(ddof=1))), j - 1)
