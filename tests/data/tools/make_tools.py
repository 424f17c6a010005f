"""Write tools/: predictions as other tools write them by themselves, and the right answers by scikit-learn.

Run in an environment of its own: ``pip install pandas==3.1.1 polars==2.1.0 pyarrow==25.0.1 openpyxl==3.1.5
scikit-learn==1.9.1 xgboost==3.2.0 lightgbm==4.7.0 catboost==1.2.10 datasets==5.2.0 duckdb==2.0.1``; then
``Rscript make_tools.R`` writes what R writes.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import catboost
import datasets
import duckdb
import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import xgboost
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, classification_report, roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)

OUTPUT = Path(__file__).resolve().parent
TRAINED, TESTED = slice(0, 200), slice(200, 240)
RNG = np.random.default_rng(7)
X = RNG.normal(size=(240, 3))
SIGNAL = X @ [1.0, -1.0, 0.5]
SPAM = SIGNAL + RNG.logistic(size=240) > 0
MAIL = np.where(SPAM, "spam", "ham")
LEVEL = np.array(["high", "low", "mid"])[np.digitize(SIGNAL + RNG.normal(size=240), [-0.7, 0.7])]
EXPECTED: dict[str, dict[str, float]] = {}


def place(name: str, right: dict[str, float] | None = None) -> Path:
    """Return where a file is written, and keep its right answers."""
    path = OUTPUT / name
    path.parent.mkdir(exist_ok=True)
    if right is not None:
        EXPECTED[name] = right
    return path


def answers(truth: np.ndarray, predicted: np.ndarray, positive: np.ndarray | None = None) -> dict[str, float]:
    """Return accuracy, and ROC AUC where there are scores, as scikit-learn computes them."""
    right = {"accuracy": accuracy_score(truth, predicted)}
    if positive is not None:
        right["roc_auc"] = roc_auc_score(truth == np.unique(truth)[1], positive)
    return right


def of_frames() -> None:
    """Write a frame of labels and probabilities with pandas, polars and DuckDB."""
    model = LogisticRegression().fit(X[TRAINED], MAIL[TRAINED])
    truth, predicted, chance = MAIL[TESTED], model.predict(X[TESTED]), model.predict_proba(X[TESTED])[:, 1]
    right = answers(truth, predicted, chance)
    frame = pd.DataFrame({"y_true": truth, "y_pred": predicted, "p_spam": chance})
    frame.to_csv(place("pandas/index.csv", right))
    frame.to_csv(place("pandas/europe.csv", right), sep=";", decimal=",")
    frame.to_csv(place("pandas/tabs.tsv", right), sep="\t")
    frame.to_csv(place("pandas/tabs.csv"), sep="\t")
    frame.to_csv(place("pandas/utf16.csv"), encoding="utf-16")
    frame.to_csv(place("pandas/compressed.csv.zip"))
    frame.set_axis([f"mail{n}" for n in range(40)]).to_parquet(place("pandas/index.parquet", right))
    frame.astype({"y_true": "category", "y_pred": "category"}).to_feather(
        place("pandas/category.feather", right)
    )
    frame.to_json(place("pandas/records.jsonl", right), orient="records", lines=True)
    frame.to_json(place("pandas/records.json"), orient="records")
    frame.to_excel(place("pandas/index.xlsx", right))
    gaps = frame.convert_dtypes()
    gaps.loc[3, "y_pred"] = pd.NA
    gaps.to_csv(place("pandas/gap.csv"), na_rep="<NA>")
    flags = pd.DataFrame({"actual": truth == "spam", "predicted": predicted == "spam"})
    flags.to_csv(place("pandas/booleans.csv", {"accuracy": right["accuracy"]}))
    numbered = pl.from_pandas(frame).with_row_index()
    enum = pl.Enum(["ham", "spam"])
    numbered = numbered.with_columns(pl.col("y_true").cast(enum), pl.col("y_pred").cast(pl.Categorical))
    numbered.write_parquet(place("polars/enum.parquet", right))
    numbered.write_csv(place("polars/index.csv", right))
    numbered.write_ndjson(place("polars/lines.ndjson"))
    numbered.write_ipc(place("polars/enum.arrow", right))
    numbered.write_ipc_stream(place("polars/stream.arrows"))
    mails = frame.assign(id=[f"mail{n}" for n in range(40)])
    duckdb.from_df(mails).write_csv(str(place("duckdb/plain.csv", right)))
    wide = frame[["y_true"]].assign(logreg=predicted, always="ham")
    wide.to_csv(place("pandas/wide.csv", {"accuracy": right["accuracy"]}))


def of_scikit_learn() -> None:
    """Write arrays, probabilities of three classes, and what cross-validation and searches return."""
    model = RandomForestClassifier(20, random_state=0).fit(X[TRAINED], LEVEL[TRAINED])
    truth, predicted, chances = LEVEL[TESTED], model.predict(X[TESTED]), model.predict_proba(X[TESTED])
    right = answers(truth, model.classes_[chances.argmax(axis=1)])
    pd.DataFrame(chances, columns=model.classes_).assign(y_true=truth).to_csv(
        place("scikit_learn/classes.csv")
    )
    pd.DataFrame(chances).assign(y_true=truth).to_csv(place("scikit_learn/numbered.csv"))
    np.savez(place("scikit_learn/proba.npz", right), y_true=truth, y_prob=chances, classes=model.classes_)
    np.savez(place("scikit_learn/objects.npz"), y_true=truth.astype(object), y_pred=predicted.astype(object))
    np.savez(place("scikit_learn/unnamed.npz"), truth, predicted)
    codes = np.c_[np.arange(40), SPAM[TESTED], SIGNAL[TESTED] > 0]
    np.savetxt(place("scikit_learn/savetxt.csv"), codes[:, 1:], delimiter=",", fmt="%d")
    np.savetxt(place("scikit_learn/remark.csv"), codes, delimiter=",", fmt="%d", header="id,y_true,y_pred")
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    plain = LogisticRegression()
    found = cross_validate(plain, X, MAIL, cv=folds)
    mean = {"mean_value": float(found["test_score"].mean())}
    pd.DataFrame(found).to_csv(place("scikit_learn/cross_validate.csv", mean))
    every = cross_val_predict(plain, X, MAIL, cv=folds)
    pd.DataFrame({"y_true": MAIL, "y_pred": every}).to_csv(
        place("scikit_learn/cross_val_predict.csv", answers(MAIL, every))
    )
    np.save(place("scikit_learn/cross_val_score.npy"), cross_val_score(plain, X, MAIL, cv=folds))
    search = GridSearchCV(plain, {"C": [0.01, 1.0]}, cv=folds).fit(X, MAIL)
    pd.DataFrame(search.cv_results_).to_csv(place("scikit_learn/cv_results.csv"))
    report = classification_report(truth, predicted, output_dict=True)
    pd.DataFrame(report).T.to_csv(place("scikit_learn/report.csv"))


def of_boosters() -> None:
    """Write what the predict of XGBoost, LightGBM and CatBoost returns."""
    truth = SPAM[TESTED].astype(int)
    trained = xgboost.DMatrix(X[TRAINED], SPAM[TRAINED])
    booster = xgboost.train({"objective": "binary:logistic", "nthread": 1}, trained, 10)
    chance = booster.predict(xgboost.DMatrix(X[TESTED]))
    pd.DataFrame({"y_true": truth, "y_pred": chance}).to_csv(place("boosters/xgboost_pred.csv"))
    data = lightgbm.Dataset(X[TRAINED], SPAM[TRAINED])
    light = lightgbm.train({"objective": "binary", "verbose": -1, "num_threads": 1}, data, 10).predict(
        X[TESTED]
    )
    right = answers(truth, light >= 0.5, light)
    pd.DataFrame({"y_true": truth, "y_prob": light}).to_csv(place("boosters/lightgbm_prob.csv", right))
    codes = np.unique(LEVEL, return_inverse=True)[1]
    trained = xgboost.DMatrix(X[TRAINED], codes[TRAINED])
    three = xgboost.train({"objective": "multi:softprob", "num_class": 3, "nthread": 1}, trained, 10)
    chances = three.predict(xgboost.DMatrix(X[TESTED]))
    right = answers(LEVEL[TESTED], np.unique(LEVEL)[chances.argmax(axis=1)])
    frame = pd.DataFrame({"y_true": LEVEL[TESTED], "y_prob": list(chances)})
    frame.to_parquet(place("boosters/xgboost_softprob.parquet", right))
    given = {"iterations": 10, "verbose": 0, "thread_count": 1, "allow_writing_files": False}
    predicted = catboost.CatBoostClassifier(**given).fit(X[TRAINED], LEVEL[TRAINED]).predict(X[TESTED])
    right = answers(LEVEL[TESTED], predicted.ravel())
    np.savez(place("boosters/catboost.npz", right), y_true=LEVEL[TESTED], y_pred=predicted.astype(str))


def of_hugging_face() -> None:
    """Write the answers of a pipeline in three ways, and a data set with class labels."""
    model = LogisticRegression().fit(X[TRAINED], SPAM[TRAINED])
    chance, truth = model.predict_proba(X[TESTED])[:, 1], SPAM[TESTED]
    words, predicted = np.where(truth, "POSITIVE", "NEGATIVE"), np.where(chance > 0.5, "POSITIVE", "NEGATIVE")
    right = answers(words, predicted, chance)
    piped = [
        {"label": str(label), "score": float(max(p, 1 - p))}
        for label, p in zip(predicted, chance, strict=True)
    ]
    lines("hugging_face/raw.jsonl", piped)
    beside = [{"y_true": str(true), **row} for true, row in zip(words, piped, strict=True)]
    lines("hugging_face/label.jsonl", beside)
    renamed = [{"y_true": r["y_true"], "y_pred": r["label"], "score": r["score"]} for r in beside]
    lines("hugging_face/y_pred.jsonl", renamed, right)
    all_scores = [
        {
            "y_true": str(true),
            "prediction": [{"label": "POSITIVE", "score": p}, {"label": "NEGATIVE", "score": 1 - p}],
        }
        for true, p in zip(words, chance.tolist(), strict=True)
    ]
    lines("hugging_face/top_k.jsonl", all_scores)
    label = datasets.ClassLabel(names=["ham", "spam"])
    features = {"id": "string", "label": label, "prediction": label, "p_spam": "float64"}
    features = {k: datasets.Value(v) if isinstance(v, str) else v for k, v in features.items()}
    content = {
        "id": [f"mail{n}" for n in range(40)],
        "label": truth.astype(int).tolist(),
        "prediction": (chance > 0.5).astype(int).tolist(),
        "p_spam": chance.tolist(),
    }
    found = datasets.Dataset.from_dict(content, features=datasets.Features(features))
    found.to_parquet(str(place("hugging_face/class_label.parquet", right)))
    EXPECTED["hugging_face_disk"] = right
    found.save_to_disk(str(OUTPUT / "hugging_face_disk"))
    datasets.DatasetDict({"test": found.select(range(3))}).save_to_disk(str(OUTPUT / "hugging_face_splits"))


def lines(name: str, rows: list[dict[str, object]], right: dict[str, float] | None = None) -> None:
    """Write rows as JSON Lines."""
    place(name, right).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def main() -> None:
    """Write all of it."""
    for folder in (
        "pandas",
        "polars",
        "duckdb",
        "scikit_learn",
        "boosters",
        "hugging_face",
        "hugging_face_disk",
    ):
        shutil.rmtree(OUTPUT / folder, ignore_errors=True)
    shutil.rmtree(OUTPUT / "hugging_face_splits", ignore_errors=True)
    of_frames()
    of_scikit_learn()
    of_boosters()
    of_hugging_face()
    text = json.dumps(EXPECTED, indent=1, sort_keys=True)
    (OUTPUT / "expected.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
