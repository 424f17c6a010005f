"""A plan that cannot be carried out is refused with exit code 2 and one message that says what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from evalreport.errors import InputError
from evalreport.refit.examples import read_examples
from evalreport.refit.plans import DataSource
from tests.refit.conftest import BAYES, TREE
from tests.samples.refits import refused

Write = Callable[..., Path]


@pytest.mark.parametrize(
    "scheme, estimator, message",
    [
        ('name = "kfld"', TREE, "unknown scheme 'kfld'; did you mean kfold?"),
        ('name = "kfold"\nfold = 3', TREE, "[scheme]: unknown key 'fold'; did you mean folds?"),
        ('name = "kfold"\nfolds = 1', TREE, "[scheme]: folds = 1: expected `int` >= 2"),
        (
            'name = "bootstrap"\nreplicates = 9223372036854775808',
            TREE,
            "replicates = 9223372036854775808: expected `int` <= 1000000",
        ),
        ('name = "kfold"\nfolds = "5"', TREE, "folds = '5': expected `int`, got `str`"),
        ('name = "kfold"\nreplicates = 5', TREE, "the scheme kfold has no 'replicates'; it takes folds,"),
        ('name = "kfold"\nfolds = 61', TREE, "n_splits=61 greater than the number of samples: n_samples=60"),
        (
            'name = "stratified-kfold"\nfolds = 30',
            TREE,
            "The least populated class in y has only 20 members, which is less than n_splits=30",
        ),
        ('name = "holdout"\ntest = 1.5', TREE, "test = 1.5: expected `float` < 1.0"),
        ('name = "holdout"\nselect = "f1"', TREE, "unknown select 'f1'"),
        ('name = "nested"', TREE, "the scheme nested searches a grid: add a table [estimator.grid]"),
        ('name = "leave-group-out"', TREE, "needs the column of groups: [data] group"),
        ('name = "time-ordered"', TREE, "needs the column of time: [data] time"),
        (
            'name = "kfold"',
            TREE.replace("Tree", "Treee"),
            "sklearn.tree has no 'DecisionTreeeClassifier'; did you mean DecisionTreeClassifier",
        ),
        (
            'name = "kfold"',
            TREE.replace("sklearn.tree", "sklearn.trees"),
            "there is no module 'sklearn.trees'",
        ),
        ('name = "kfold"', TREE.replace(":", "."), "expected 'module:name', such as"),
        ('name = "kfold"', TREE + TREE, "two estimators have a model 'tree'"),
        (
            'name = "kfold"',
            TREE + "parameters = {max_dept = 3}\n",
            "estimator 'tree': sklearn.tree:DecisionTreeClassifier cannot be made: TypeError",
        ),
        (
            'name = "holdout"',
            TREE + "grid = {max_dept = [3]}\n",
            "estimator 'tree': unknown parameter 'max_dept'; did you mean max_depth",
        ),
        (
            'name = "holdout"',
            TREE + "complexity = {parameter = 'max_depth', values = [1, 1]}\n",
            "the same complexity appears twice",
        ),
        ('name = "complexity-curve"', TREE, "varies a parameter: add a table [estimator.complexity]"),
        (
            'name = "kfold"',
            TREE.replace("Classifier", "Regressor"),
            "estimator 'tree' is a regressor, but the task is binary",
        ),
        (
            'name = "kfold"',
            TREE.replace("import =", "imports ="),
            "unknown key 'imports'; did you mean import?",
        ),
        (
            'name = "kfold"',
            '[[estimator]]\nname = "x"\nimport = "sklearn.tree:plot_tree"\n',
            "cannot be made",
        ),
        (
            'name = "kfold"',
            '[[estimator]]\nname = "x"\nimport = "collections:OrderedDict"\n',
            "estimator 'x': OrderedDict has no method 'fit'",
        ),
        ('name = "kfold"', "estimator = 3", "estimator"),
    ],
)
def test_a_bad_scheme_or_estimator_is_named(plan: Write, capsys, scheme, estimator, message):
    """Unknown names with what was meant, values out of range, examples too few for the scheme."""
    assert message in refused(plan(scheme, estimator), capsys)


@pytest.mark.parametrize(
    "code, message",
    [
        ("import nothing_of_the_kind\n", "module 'failing_{n}' cannot be imported: ModuleNotFoundError"),
        ("raise OSError('no licence')\n", "cannot be imported: OSError: no licence (failing_{n}.py, line 1)"),
        (
            "def model():\n    raise ValueError('bad day')\n",
            "cannot be made: ValueError: bad day (failing_{n}.py",
        ),
        ("model = 3\n", "failing_{n}:model is not a class or function that makes an estimator"),
    ],
)
def test_the_users_own_module_that_fails_is_named(folder, plan: Write, capsys, code, message):
    """An import that fails or a factory that raises: the file and line of the user's code."""
    number = abs(hash(code)) % 10**8
    (folder / f"failing_{number}.py").write_text(code)
    own = f'[[estimator]]\nname = "own"\nimport = "failing_{number}:model"\n'
    assert message.format(n=number) in refused(plan('name = "kfold"', own), capsys)


def test_a_plan_that_is_no_toml_or_not_there(folder: Path, capsys):
    """The file and what is wrong with it."""
    path = folder / "plan.toml"
    assert "cannot be read (No such file" in refused(path, capsys)
    path.write_text("[data\n")
    assert "not valid TOML" in refused(path, capsys)
    path.write_bytes(b"seed = 1 # \xff")
    assert "is not UTF-8" in refused(path, capsys)
    path.write_text("[data]\nfile = 'examples.csv'\n")
    assert "[data] lacks 'target'" in refused(path, capsys)
    path.write_text("[data]\nfile = 'examples.csv'\ntarget = 'label'\n")
    assert "[scheme] lacks 'name'" in refused(path, capsys)
    path.write_text("[data]\nfile = 'examples.csv'\ntarget = 'label'\n[scheme]\nname = 'kfold'\n")
    assert "the plan names no estimator" in refused(path, capsys)


def test_times_that_have_no_order_are_named(plan: Write, capsys):
    """Names of wards are no times."""
    path = plan('name = "holdout"', data='time = "ward"')
    assert "column 'ward': 'w0' is neither a number nor a date" in refused(path, capsys)


def test_columns_that_mean_something_beside_predictions_are_not_kept(folder: Path, plan: Write, capsys):
    """A metadata column called score would be taken for the model's."""
    path = folder / "examples.csv"
    path.write_text(path.read_text().replace("ward", "score"))
    said = refused(plan('name = "kfold"', data='keep = ["score"]'), capsys)
    assert "the column 'score' would mean something else beside predictions" in said


def test_two_estimators_cannot_make_one_model(plan: Write, capsys):
    """A value made a model and an estimator of that very name."""
    varied = TREE + "complexity = {parameter = 'max_depth', values = [1, 2], as_models = true}\n"
    other = BAYES.replace('"bayes"', '"tree (max_depth=2)"')
    assert "two estimators have a model 'tree (max_depth=2)'" in refused(
        plan('name = "kfold"', varied, other), capsys
    )


def test_a_path_that_the_system_refuses_is_no_file(tmp_path: Path):
    """A name of 5,000 characters: bad input, not a defect."""
    with pytest.raises(InputError, match="no such file"):
        read_examples(DataSource(file=Path("x" * 5000 + ".csv"), target="y"), tmp_path)
