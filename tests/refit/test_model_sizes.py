"""Import paths and parameters as estimators: how many parameters they have."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from evalreport.refit.examples import Examples
from evalreport.refit.model_sizes import count_parameters, vc_dimension


def test_numbers_of_parameters_follow_by_hand(examples: Examples):
    """Leaves of a tree, coefficients of least squares, n / k of neighbours, the trace of ridge's hat matrix."""
    from sklearn.neighbors import KNeighborsRegressor

    X, y, rows = examples.features, examples.features[:, 0], np.arange(60)
    tree = DecisionTreeRegressor(max_depth=2).fit(X, y)
    assert count_parameters(tree, X, rows, 0) == tree.get_n_leaves() == 4
    assert count_parameters(LinearRegression().fit(X, y), X, rows, 0) == 3
    assert count_parameters(KNeighborsRegressor(5).fit(X, y), X, rows, 0) == 12
    assert count_parameters(GaussianNB().fit(X, examples.target), X, rows, 2) is None
    ridge = Ridge(alpha=3.0).fit(X, y)
    centred = X - X.mean(axis=0)
    # Hastie et al. (2009), equation 3.50: the trace of X (X'X + alpha I)^-1 X', and 1 for the intercept.
    hat = centred @ np.linalg.solve(centred.T @ centred + 3.0 * np.eye(2), centred.T)
    assert count_parameters(ridge, X, rows, 0) == pytest.approx(np.trace(hat) + 1, rel=1e-12)
    piped = make_pipeline(StandardScaler(), Ridge(alpha=3.0)).fit(X, y)
    scaled = StandardScaler().fit_transform(X)
    hat = scaled @ np.linalg.solve(scaled.T @ scaled + 3.0 * np.eye(2), scaled.T)
    assert count_parameters(piped, X, rows, 0) == pytest.approx(np.trace(hat) + 1, rel=1e-12)


def test_vc_dimensions_of_half_spaces(examples: Examples):
    """Half-spaces of p features have p + 1 (Vapnik 1995, section 3.6); an estimator can say its own."""
    X, y = examples.features, examples.target
    svm = make_pipeline(StandardScaler(), LinearSVC(random_state=0)).fit(X, y)
    assert vc_dimension(svm) == 3
    assert vc_dimension(LinearSVC(random_state=0, fit_intercept=False).fit(X, y)) == 2
    assert vc_dimension(DecisionTreeClassifier().fit(X, y)) is None
    three_classes = LinearSVC(random_state=0).fit(X, np.arange(60) % 3)
    assert vc_dimension(three_classes) is None
    three_classes.vc_dimension_ = 7
    assert vc_dimension(three_classes) == 7
