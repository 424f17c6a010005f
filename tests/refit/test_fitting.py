"""What is written is what the estimator says: against scikit-learn's own loops, for every kind of output."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import evalreport
from evalreport.refit.examples import Examples
from evalreport.refit.resampling import resample
from evalreport.refit.splits import seed_of
from tests.refit.conftest import BAYES, TREE, examples_of
from tests.samples.cases import every

Write = Callable[..., Path]


def made(plan: Path) -> Any:
    """Carry out a plan in this process and return its predictions as an Arrow table."""
    done = resample(plan, output=plan.with_name(f"{plan.stem}-out"))
    assert not done.failures, done.failures[0].traceback
    assert done.predictions is not None
    return pq.read_table(done.predictions)


def of(table: Any, model: str, *columns: str) -> list[Any]:
    """Columns of one model's rows, as lists."""
    rows = [row for row in table.to_pylist() if row["model"] == model]
    return [[row[column] for row in rows] for column in columns]


def splitter(seed: int = 0, folds: int = 5) -> StratifiedKFold:
    """The folds that a stratified plan of one repeat makes."""
    return StratifiedKFold(folds, shuffle=True, random_state=seed_of(seed, "split", 1))


def in_order(ids: list[str], values: list[Any]) -> list[Any]:
    """Values in the order of the file: id e7 is row 7."""
    return [value for _, value in sorted(zip((int(i[1:]) for i in ids), values, strict=True))]


def test_labels_and_probabilities_are_those_of_cross_val_predict(
    folder: Path, plan: Write, examples: Examples
):
    """Gaussian naive Bayes on 5 stratified folds: bit for bit what scikit-learn's own loop predicts."""
    table = made(plan('name = "stratified-kfold"\nfolds = 5', BAYES))
    ids, said, proba, true = of(table, "bayes", "id", "y_pred", "p_yes", "y_true")
    model, X, y = GaussianNB(), examples.features, examples.target
    assert in_order(ids, said) == cross_val_predict(model, X, y, cv=splitter()).tolist()
    expected = cross_val_predict(model, X, y, cv=splitter(), method="predict_proba")[:, 1]
    assert in_order(ids, proba) == expected.tolist()
    assert in_order(ids, true) == y.tolist()


def test_a_decision_function_is_a_score_for_the_positive_class(folder: Path, plan: Write, examples: Examples):
    """LinearSVC gives no probabilities: score is its decision value, negated where the plan turns the classes."""
    svm = '[[estimator]]\nname = "svm"\nimport = "sklearn.svm:LinearSVC"\nparameters = {random_state = 1}\n'
    scheme = 'name = "stratified-kfold"\nfolds = 5'
    expected = cross_val_predict(
        LinearSVC(random_state=1),
        examples.features,
        examples.target,
        cv=splitter(),
        method="decision_function",
    )
    table = made(plan(scheme, svm))
    ids, scores = of(table, "svm", "id", "score")
    assert "p_yes" not in table.column_names
    assert in_order(ids, scores) == expected.tolist()
    turned = made(plan(scheme, svm, data='positive = "no"', name="turned.toml"))
    assert of(turned, "svm", "score")[0] == [-score for score in scores]


def test_numbers_are_regressed(folder: Path, plan: Write):
    """A target of numbers: least squares recovers value = 2 first - second, to rounding."""
    ols = '[[estimator]]\nname = "ols"\nimport = "sklearn.linear_model:LinearRegression"\n'
    table = made(plan('name = "kfold"\nfolds = 3', ols, data='target = "value"'))
    true, said = of(table, "ols", "y_true", "y_pred")
    np.testing.assert_allclose(said, true, atol=1e-12)
    assert not any(name.startswith("p_") for name in table.column_names)


def test_several_imports_make_a_pipeline(folder: Path, plan: Write, examples: Examples):
    """A list of imports is scikit-learn's make_pipeline of them; parameters name the step."""
    both = (
        '[[estimator]]\nname = "lda"\n'
        'import = ["sklearn.preprocessing:StandardScaler",'
        ' "sklearn.discriminant_analysis:LinearDiscriminantAnalysis"]\n'
        'parameters = {lineardiscriminantanalysis__solver = "lsqr"}\n'
    )
    table = made(plan('name = "stratified-kfold"\nfolds = 5', both))
    ids, proba = of(table, "lda", "id", "p_yes")
    model = make_pipeline(StandardScaler(), LinearDiscriminantAnalysis(solver="lsqr"))
    expected = cross_val_predict(
        model, examples.features, examples.target, cv=splitter(), method="predict_proba"
    )
    np.testing.assert_allclose(in_order(ids, proba), expected[:, 1], rtol=1e-12)


def test_text_features_come_as_a_data_frame(folder: Path, plan: Write):
    """A column of text: the user's own pipeline selects columns by name."""
    (folder / "texts_to_numbers.py").write_text(
        "from sklearn.compose import make_column_transformer\n"
        "from sklearn.pipeline import make_pipeline\n"
        "from sklearn.preprocessing import OneHotEncoder\n"
        "from sklearn.linear_model import LogisticRegression\n"
        "def model():\n"
        "    columns = make_column_transformer((OneHotEncoder(), ['ward']), remainder='passthrough')\n"
        "    return make_pipeline(columns, LogisticRegression())\n"
    )
    own = '[[estimator]]\nname = "own"\nimport = "texts_to_numbers:model"\n'
    table = made(plan('name = "holdout"', own, data='features = ["ward", "first"]'))
    assert table.num_rows == 20


def test_a_class_that_the_training_rows_lack_has_probability_0(tmp_path: Path):
    """Three classes, one with a single member: left out, its model gives it 0, and the row still sums to 1."""
    rows = [f"{i},{i % 7},{'abc'[i % 2] if i else 'c'}" for i in range(20)]
    (tmp_path / "few.csv").write_text("id,x,y\n" + "\n".join(rows) + "\n")
    (tmp_path / "plan.toml").write_text(
        f'[data]\nfile = "few.csv"\ntarget = "y"\n[scheme]\nname = "leave-one-out"\n{TREE}'
    )
    table = made(tmp_path / "plan.toml")
    first = next(row for row in table.to_pylist() if row["id"] == "0")
    assert first["p_c"] == 0.0
    assert first["p_a"] + first["p_b"] == 1.0


def test_every_open_random_state_is_seeded_by_the_task(folder: Path, plan: Write, examples: Examples):
    """Of two trees that differ by their name alone each has its own seed; a named one is left as it is."""
    text = TREE.replace(
        "[[estimator]]\n", "[[estimator]]\nparameters = {max_features = 1, splitter = 'random'}\n"
    )
    fixed = TREE.replace('"tree"', '"fixed"') + "parameters = {random_state = 7}\n"
    table = made(plan('name = "stratified-kfold"\nfolds = 5', text, text.replace('"tree"', '"other"'), fixed))
    tree, other = (of(table, name, "p_yes")[0] for name in ("tree", "other"))
    assert tree != other
    ids, proba = of(table, "fixed", "id", "p_yes")
    model = DecisionTreeClassifier(random_state=7)
    expected = cross_val_predict(
        model, examples.features, examples.target, cv=splitter(), method="predict_proba"
    )
    assert in_order(ids, proba) == expected[:, 1].tolist()


@pytest.mark.slow
def test_the_search_chooses_what_grid_search_chooses(folder: Path, plan: Write, examples: Examples):
    """Nested folds: in every outer fold the parameters of GridSearchCV on the same inner folds."""
    grid = (
        TREE + "parameters = {random_state = 0}\ngrid = {max_depth = [1, 2, 3], min_samples_leaf = [1, 5]}\n"
    )
    table = made(plan('name = "nested"\nfolds = 3\ninner_folds = 4\nstratify = true', grid))
    rows = [row for row in table.to_pylist() if row["part"] == "test"]
    chosen = {row["fold"]: json.loads(row["params"]) for row in rows}
    for fold, (train, _) in enumerate(splitter(folds=3).split(examples.features, examples.target), start=1):
        inner = StratifiedKFold(4, shuffle=True, random_state=seed_of(0, "inner folds", fold - 1))
        search = GridSearchCV(
            DecisionTreeClassifier(random_state=0),
            {"max_depth": [1, 2, 3], "min_samples_leaf": [1, 5]},
            cv=inner,
        )
        # GridSearchCV averages over folds, the plan over examples: the same with folds of one size (40 in 4).
        assert chosen[fold] == search.fit(examples.features[train], examples.target[train]).best_params_
    validated = [row for row in table.to_pylist() if row["part"] == "validation"]
    # Each of the 40 training examples of each outer fold is validated once, on one of 4 inner folds.
    assert len(validated) == 3 * 40
    assert {row["inner_fold"] for row in validated} == {1, 2, 3, 4}


def test_held_out_rows_reach_no_search(folder: Path, plan: Write):
    """A spy that notes every row it is fitted on never sees one of the third that is held out."""
    (folder / "spying.py").write_text(
        "import numpy as np\n"
        "from sklearn.tree import DecisionTreeClassifier\n"
        "SEEN = []\n"
        "class Spy(DecisionTreeClassifier):\n"
        "    def fit(self, X, y):\n"
        "        SEEN.extend(X[:, 0].tolist())\n"
        "        return super().fit(X, y)\n"
    )
    spy = '[[estimator]]\nname = "spy"\nimport = "spying:Spy"\ngrid = {max_depth = [1, 2]}\n'
    table = made(plan('name = "holdout"', spy))
    import spying

    examples = examples_of(folder)
    tested = [row["id"] for row in table.to_pylist() if row["part"] == "test"]
    held_out = {examples.features[int(i[1:]), 0] for i in tested}
    assert len(held_out) == 20
    assert len(set(spying.SEEN)) == 40
    assert not held_out & set(spying.SEEN)


@pytest.mark.parametrize(
    "body, said",
    [
        (
            "def predict(self, X): return np.array(['maybe'] * len(X))",
            "'maybe', which the target does not hold",
        ),
        ("def predict(self, X): return np.zeros((len(X), 2))", r"shape \(15, 2\) for 15"),
        (
            "def predict(self, X): return np.array(['yes'] * len(X))\n"
            "    classes_ = ['no', 'yes']\n"
            "    def predict_proba(self, X): return np.full((len(X), 2), np.nan)",
            "not a probability",
        ),
        ("def predict(self, X): raise RuntimeError('out of luck')", "out of luck"),
    ],
)
def test_what_cannot_be_written_is_a_failed_fit(folder: Path, plan: Write, body, said, request):
    """A foreign label, a wrong shape, a nan for a probability, an exception: recorded, and the others are kept."""
    name = f"broken_{abs(hash(request.node.name)) % 10**8}"
    (folder / f"{name}.py").write_text(
        f"import numpy as np\nclass Broken:\n    def fit(self, X, y): return self\n    {body}\n"
    )
    broken = f'[[estimator]]\nname = "broken"\nimport = "{name}:Broken"\n'
    done = resample(plan('name = "kfold"\nfolds = 4', broken, BAYES), output=folder / "out")
    assert len(done.failures) == 4
    assert done.n_fits == 8
    assert all(re.search(said, failure.error) for failure in done.failures), done.failures[0].error
    assert done.failures_file is not None
    assert "Traceback" in done.failures_file.read_text()
    kept = pq.read_table(done.predictions)
    assert set(kept.column("model").to_pylist()) == {"bayes"}


def test_criteria_come_of_a_plan_with_training_predictions(folder: Path, plan: Write):
    """Logistic regression without penalty: AIC, BIC, MDL and the VC bound of its 40 training rows by hand."""
    from sklearn.linear_model import LogisticRegression

    free = (
        '[[estimator]]\nname = "free"\nimport = "sklearn.linear_model:LogisticRegression"\n'
        "parameters = {C = inf}\n"
    )
    done = resample(plan('name = "holdout"\ntrain_predictions = true', free), output=folder / "out")
    results = evalreport.evaluate(
        done.predictions, metrics=["accuracy", "aic", "bic", "vc_bound"], resamples=50
    )
    found = {row.metric: row.value for row in results.metrics}
    examples = examples_of(folder)
    tested = {row["id"] for row in pq.read_table(done.predictions).to_pylist() if row["part"] == "test"}
    rows = [i for i, name in enumerate(examples.ids) if name not in tested]
    X, y = examples.features[rows], examples.target[rows]
    model = LogisticRegression(C=np.inf).fit(X, y)
    likelihood = np.log(model.predict_proba(X)[np.arange(40), (y == "yes").astype(int)]).sum()
    # Two coefficients and the intercept: d = VC = 3; Hastie et al. (2009), equations 7.30 and 7.36; Vapnik (1995).
    assert found["aic"] == pytest.approx(-2 * likelihood / 40 + 2 * 3 / 40, rel=1e-12)
    assert found["bic"] == pytest.approx(-2 * likelihood + 3 * np.log(40), rel=1e-12)
    bound = np.sqrt((3 * (np.log(2 * 40 / 3) + 1) - np.log(0.05 / 4)) / 40)
    assert found["vc_bound"] == pytest.approx((model.predict(X) != y).mean() + bound, rel=1e-12)


def test_estimators_warnings_are_counted_not_scattered(folder: Path, plan: Write, capsys):
    """A warning in every fit is one line with its number, not one on the terminal for each."""
    (folder / "warning_model.py").write_text(
        "import warnings\nfrom sklearn.naive_bayes import GaussianNB\n"
        "class Loud(GaussianNB):\n"
        "    def fit(self, X, y):\n"
        "        warnings.warn('mind the gap', UserWarning)\n"
        "        return super().fit(X, y)\n"
    )
    loud = '[[estimator]]\nname = "loud"\nimport = "warning_model:Loud"\n'
    for number, top in enumerate(["", 'jobs = 2\nbackend = "threads"']):
        path = plan('name = "kfold"\nfolds = 5', loud, top=top, name=f"loud{number}.toml")
        done = resample(path, output=folder / f"out{number}")
        assert done.estimators_warned == ("loud warned in 5 of 5 fits: UserWarning: mind the gap",)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "scheme, estimators, design",
    every(
        6,
        [
            ('name = "holdout"', (TREE, BAYES), "test-set"),
            ('name = "repeated-holdout"\nrepeats = 3', (TREE, BAYES), "repeated-holdout"),
            ('name = "kfold"\nfolds = 5', (TREE, BAYES), "cross-validation"),
            ('name = "leave-one-out"', (TREE, BAYES), "cross-validation"),
            ('name = "5x2cv"', (TREE, BAYES), "5x2cv"),
            ('name = "bootstrap"\nreplicates = 5', (TREE, BAYES), "bootstrap"),
            ('name = "seeds"\nrepeats = 4', (TREE, BAYES), "seeds"),
            ('name = "bootstrap-oob"\nreplicates = 5', (TREE, BAYES), "bootstrap"),
            ('name = "nested"\nfolds = 3', (TREE + "grid = {max_depth = [1, 2]}\n",), "cross-validation"),
        ],
    ),
)
def test_run_reads_what_resample_writes(folder: Path, plan: Write, scheme, estimators, design):
    """Every scheme is found again from its columns, and the record beside it is no prediction file."""
    done = resample(plan(scheme, *estimators), output=folder / "out")
    loaded = evalreport.load(folder / "out")
    assert loaded.design == design
    assert loaded.positive == "yes"
    assert {model.name for model in loaded.models} == set(done.models)
    assert not [w for w in loaded.warnings if w.code in ("ignored_file", "trained_on_test", "unused_column")]
    record = json.loads((folder / "out" / "resample.json").read_text())
    assert record["predictions"]["rows"] == done.n_rows == loaded.n * len(loaded.models)


def test_training_rows_carry_the_number_of_parameters(folder: Path, plan: Write):
    """Hold-out with training predictions: part says which is which, and criteria have what they need."""
    table = made(plan('name = "holdout"\ntrain_predictions = true', TREE))
    rows = table.to_pylist()
    assert {(row["part"], row["train_size"]) for row in rows} == {("train", 40), ("test", 40)}
    assert sum(row["part"] == "train" for row in rows) == 40
    # A tree without limits repeats its training labels: one number for each of its leaves.
    assert all(row["y_true"] == row["y_pred"] for row in rows if row["part"] == "train")
    assert len({row["n_parameters"] for row in rows}) == 1


def test_a_varied_parameter_is_an_axis_or_models_of_their_own(folder: Path, plan: Write):
    """Complexity holds the axis, params the value; with as_models each value is a model."""
    varied = TREE + "complexity = {parameter = 'max_depth', values = [1, 3], complexity = [10, 20]}\n"
    table = made(plan('name = "complexity-curve"\nrepeats = 2', varied))
    seen = {(row["complexity"], row["params"]) for row in table.to_pylist()}
    assert seen == {(10.0, '{"max_depth": 1}'), (20.0, '{"max_depth": 3}')}
    each = TREE + "complexity = {parameter = 'max_depth', values = [1, 3], as_models = true}\n"
    table = made(plan('name = "bootstrap"\nreplicates = 3', each, name="each.toml"))
    assert set(table.column("model").to_pylist()) == {"tree (max_depth=1)", "tree (max_depth=3)"}


def test_the_one_input_stands_beside_the_predictions(folder: Path, plan: Write):
    """With one numeric feature the column x holds it, so that replicates can be drawn against it."""
    path = plan('name = "bootstrap"\nreplicates = 2', BAYES, data='features = ["first"]')
    examples = examples_of(folder, features=("first",))
    for row in made(path).to_pylist():
        assert row["x"] == examples.features[int(row["id"][1:]), 0]
    assert "x" not in made(plan('name = "holdout"', BAYES, name="two.toml")).column_names


def test_a_feature_can_be_kept_as_well(folder: Path, plan: Write):
    """First is learned from and written as it is spelled in the file; the model is the one without keeping it."""
    kept = made(plan('name = "holdout"', BAYES, data='keep = ["first"]'))
    plain = made(plan('name = "holdout"', BAYES, name="plain.toml"))
    assert kept.column("p_yes").equals(plain.column("p_yes"))
    lines = [line.split(",") for line in (folder / "examples.csv").read_text().splitlines()]
    spelled = {line[0]: line[1] for line in lines}
    assert all(row["first"] == spelled[row["id"]] for row in kept.to_pylist())
