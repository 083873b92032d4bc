"""One peer over one stream of label sets: `python -m benchmarks.accuracy.ranking_peer JOB.json`.

It runs with the Python of .venv-peers. The job names the peer, an .npz file with the rows, a file for the scores
[n, k], here the probabilities of each label, and one for the CPU seconds. Streams are predicted, then learned, row by
row; features are standardized by running means for linear models. Peers of the kind "batch" learn the training rows at
once and never learn the test rows. Settings are the libraries' defaults unless said.
"""

from __future__ import annotations

import json
import sys
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.shared.measuring import cpu

TREES = 100


def river_scores(model: Any, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    examples = [dict(enumerate(row)) for row in X.tolist()]
    labels = [f"l{label}" for label in range(Y.shape[1])]
    sets = [dict(zip(labels, row, strict=True)) for row in Y.astype(bool).tolist()]
    scores = np.full(Y.shape, 0.5)
    for t, (x, y) in enumerate(zip(examples, sets, strict=True)):
        if t:  # river meets the labels in the first row
            guess = model.predict_proba_one(x)
            scores[t] = [guess[label].get(True, 0.0) for label in labels]
        model.learn_one(x, y)
    return scores


def river_model(name: str, seed: int) -> Any:
    from river import forest, linear_model, multioutput, preprocessing, tree

    how, what = name.split()
    base = {
        "logistic": lambda: linear_model.LogisticRegression(),
        "tree": lambda: tree.HoeffdingTreeClassifier(grace_period=50),
        "forest": lambda: forest.ARFClassifier(n_models=10, seed=seed),
    }[what]()
    model = {"BR": multioutput.PerOutputClassifier, "chain": multioutput.ClassifierChain}[how](base)
    return preprocessing.StandardScaler() | model if what == "logistic" else model


def sgd_scores(X: np.ndarray, Y: np.ndarray, seed: int) -> np.ndarray:
    """scikit-learn's logistic regression by stochastic gradient descent, one for each label, one row at a time."""
    from sklearn.linear_model import SGDClassifier
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler()
    models = [SGDClassifier(loss="log_loss", random_state=seed) for _ in range(Y.shape[1])]
    scores = np.zeros(Y.shape)
    for t in range(len(Y)):
        if t:
            x = scaler.transform(X[t : t + 1])
            scores[t] = [model.decision_function(x)[0] for model in models]
        x = scaler.partial_fit(X[t : t + 1]).transform(X[t : t + 1])
        for label, model in enumerate(models):
            model.partial_fit(x, Y[t : t + 1, label], classes=[0, 1])
    return scores


def batch_scores(name: str, X: np.ndarray, Y: np.ndarray, train: int, seed: int) -> np.ndarray:
    from sklearn.dummy import DummyClassifier
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.multioutput import ClassifierChain
    from sklearn.preprocessing import StandardScaler

    class Logistic(LogisticRegression):
        """Also learns from rows of one class alone, as some labels of mediamill never come in training."""

        def fit(self, X: Any, y: Any) -> Any:
            self.lone_ = None
            if len(np.unique(y)) == 1:
                self.lone_ = DummyClassifier().fit(X, y)
                self.classes_ = np.array([0, 1])
                return self
            return super().fit(X, y)

        def predict_proba(self, X: Any) -> np.ndarray:
            if self.lone_ is None:
                return super().predict_proba(X)
            return np.tile([1.0, 0.0] if self.lone_.classes_[0] == 0 else [0.0, 1.0], (len(X), 1))

        def predict(self, X: Any) -> np.ndarray:
            return self.predict_proba(X).argmax(axis=1)

    scores = np.full(Y.shape, 0.5)
    if name == "random forest":
        forest = RandomForestClassifier(TREES, random_state=seed).fit(X[:train], Y[:train])
        each = forest.predict_proba(X[train:])
        for label, (p, found) in enumerate(zip(each, forest.classes_, strict=True)):
            scores[train:, label] = p[:, list(found).index(1)] if 1 in found else 0.0
        return scores
    scaled = StandardScaler().fit(X[:train]).transform(X)
    if name == "BR logistic":
        for label in range(Y.shape[1]):
            model = Logistic(max_iter=1000).fit(scaled[:train], Y[:train, label])
            scores[train:, label] = model.predict_proba(scaled[train:])[:, 1]
        return scores
    chains = [
        ClassifierChain(Logistic(max_iter=1000), order="random", random_state=number).fit(scaled[:train], Y[:train])
        for number in range(10)
    ]
    scores[train:] = np.mean([chain.predict_proba(scaled[train:]) for chain in chains], axis=0)
    return scores


def main(path: str) -> None:
    job = json.loads(Path(path).read_text())
    with np.load(job["rows"]) as held:
        X, Y, train = held["X"], held["Y"].astype(np.int64), int(held["train"])
    library, _, name = job["model"].partition(" ")
    warnings.simplefilter("ignore")
    if library == "river":
        model = river_model(name, job["seed"])
        used, scores = cpu(river_scores, model, X, Y)
    elif library == "sklearn":
        used, scores = cpu(sgd_scores, X, Y, job["seed"])
    else:
        used, scores = cpu(batch_scores, name, X, Y, train, job["seed"])
    package = "river" if library == "river" else "scikit-learn"
    np.save(job["scores"], scores)
    Path(job["answer"]).write_text(json.dumps({"cpu_s": used, "versions": {package: version(package)}}))


if __name__ == "__main__":
    main(sys.argv[1])
