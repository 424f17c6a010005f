"""The number of parameters of a fitted model, and the VC dimension of its family."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evalreport.refit.examples import Features, Rows, rows_of
from evalreport.refit.plans import Model

HALF_SPACES = frozenset(
    (
        *("LogisticRegression", "LinearSVC", "Perceptron", "SGDClassifier", "RidgeClassifier"),
        "LinearDiscriminantAnalysis",
    )
)
"""Classifiers of two classes that divide the space of features by a hyperplane."""


def count_parameters(model: Model, features: Features, train: Rows, n_classes: int) -> float | None:
    """Return the (effective) number of parameters of a fitted estimator; None: unknown.

    An estimator can state it in ``n_parameters_``. Otherwise: a tree's leaves (K - 1 numbers each for K
    classes), the coefficients of least squares and of logistic regression without penalty, those of the lasso that
    are not 0, the trace of ridge regression's hat matrix, n / k of k nearest neighbours; intercepts count. Of a
    pipeline the last step counts.

    Parameters
    ----------
    features, train
        The feature matrix or data frame, and the rows that the model was fitted on.
    n_classes
        0 in regression.

    References
    ----------
    Hastie, Tibshirani and Friedman (2009), sections 2.3.2 (k nearest neighbours), 3.4.1 (ridge) and 3.4.2 (lasso).
    """
    own = getattr(model, "n_parameters_", None)
    if own is not None:
        return float(own)
    last, before = (model[-1], model[:-1]) if hasattr(model, "steps") else (model, None)
    each = max(n_classes - 1, 1)
    kind = type(last).__name__
    if hasattr(last, "get_n_leaves"):
        return float(last.get_n_leaves() * each)
    if kind in ("KNeighborsClassifier", "KNeighborsRegressor"):
        return float(len(train) / last.n_neighbors * each)
    if kind == "LinearRegression":
        return float(np.asarray(last.coef_).size + bool(last.fit_intercept))
    if kind == "LogisticRegression" and (float("inf") == last.C or getattr(last, "penalty", "") is None):
        return float(last.coef_.size + last.coef_.shape[0] * bool(last.fit_intercept))
    if kind == "Lasso":
        return float(np.count_nonzero(last.coef_) + bool(last.fit_intercept))
    if kind == "Ridge" and np.ndim(last.alpha) == 0:
        rows = rows_of(features, train)
        seen = rows if before is None or len(before) == 0 else before.transform(rows)
        matrix = np.asarray(seen, dtype=np.float64)
        return _ridge(matrix, float(last.alpha), intercept=bool(last.fit_intercept))
    return None


def vc_dimension(model: Model) -> float | None:
    """Return the VC dimension of a fitted classifier's family; None: unknown.

    An estimator can state it in ``vc_dimension_``. Otherwise: half-spaces of p features, p + 1 (p without an
    intercept). A penalty can only make it smaller, so the bound still holds.

    References
    ----------
    Vapnik (1995), section 3.6.
    """
    own = getattr(model, "vc_dimension_", None)
    if own is not None:
        return float(own)
    last = model[-1] if hasattr(model, "steps") else model
    if type(last).__name__ not in HALF_SPACES:
        return None
    coefficients = np.atleast_2d(last.coef_)
    if len(coefficients) > 1:  # several classes
        return None
    return float(coefficients.shape[1] + bool(getattr(last, "fit_intercept", True)))


def _ridge(matrix: npt.NDArray[np.float64], alpha: float, *, intercept: bool) -> float:
    """Return df = sum d^2 / (d^2 + alpha) over the singular values d of the centred matrix, and the intercept."""
    centred = matrix - matrix.mean(axis=0) if intercept else matrix
    squares = np.linalg.svd(centred, compute_uv=False) ** 2
    squares = squares[squares > np.finfo(float).eps * squares.max(initial=0.0)]
    return float((squares / (squares + alpha)).sum() + intercept)
