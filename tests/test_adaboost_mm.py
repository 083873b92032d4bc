"""The adaptive batch boosters: their twins, their bounds, their stops, their predictions."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import AdaBoostClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import edgewise as ew
from edgewise import reference
from edgewise.reference import cost_tree
from edgewise.theory.cost_matrices import first_costs, pairwise_step
from tests.simulated_learners import Grudging, Guessing, Memory
from tests.small_streams import mixed_stream

BOOSTERS = [ew.AdaBoostMM, ew.AdaBoostM1, ew.AdaBoostMH, ew.SAMME]
BY_LOSS = partial(ew.AdaBoostMM, weighting="loss")
TWINS = [
    (ew.AdaBoostMM, reference.adaboost_mm),
    (BY_LOSS, partial(reference.adaboost_mm, by_loss=True)),
    (ew.AdaBoostM1, reference.adaboost_m1),
    (ew.AdaBoostMH, reference.adaboost_mh),
    (ew.SAMME, reference.samme),
]


def within_bounds(model):
    """The training error of no round exceeds its bound."""
    return (model.train_errors_ <= model.bounds_).all()


def stages_agree(model, X, y, sample_weight=None):
    """The errors told are those of the staged predictions."""
    staged = [np.average(stage != y, weights=sample_weight) for stage in model.staged_predict(X)]
    return np.allclose(staged, model.train_errors_, rtol=0, atol=1e-12)


# Twins


def plain_learner(tree, X, weights):
    """The tree with 4 leaves in plain Python, on these rows."""
    rows = tree.prepare(X, weights)
    codes = rows.codes.tolist()

    def learn(costs):
        grown = cost_tree.grow(codes, rows.bins.n_bins.tolist(), rows.bins.nominal.tolist(), costs, 4, 1)
        return [cost_tree.predict(grown, row) for row in zip(*codes, strict=True)]

    return learn


@pytest.mark.plain
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize(("booster", "twin"), TWINS, ids=["MM", "MM by loss", "M1", "MH", "SAMME"])
def test_booster_is_its_twin(booster, twin, k, weighted):
    """The same trees, edges, weights, errors and bounds on numeric and nominal features with missing values."""
    X, y = mixed_stream(n=60, k=k, seed=k)
    labels = np.unique(y, return_inverse=True)[1].tolist()
    weights = np.random.default_rng(k).uniform(0.2, 3.0, 60) if weighted else np.ones(60)
    tree = ew.CostTree(max_leaves=4, max_bins=6)
    rounds = 6
    model = booster(tree, rounds).fit(X, y, sample_weight=weights if weighted else None)
    played, perfect = twin(labels, k, weights.tolist(), plain_learner(tree, X, weights), rounds)
    if not played:
        assert model.stopped_ == "edge"
        assert len(model.estimators_) == 1
        return
    edges, alphas, errors, bounds, votes = zip(*played, strict=True)
    n = len(played)
    assert len(model.estimators_) == n + perfect
    assert model.stopped_ == ("perfect" if perfect else "rounds" if n == rounds else "edge")
    np.testing.assert_allclose(model.edges_[:n], edges, rtol=1e-9)
    np.testing.assert_allclose(model.estimator_weights_[:n], alphas, rtol=1e-9)
    np.testing.assert_allclose(model.train_errors_[:n], errors, atol=1e-12)
    np.testing.assert_allclose(model.bounds_[:n], bounds, rtol=1e-9)
    for learner, vote in zip(model.estimators_, votes, strict=False):
        assert learner.predict(X).tolist() == list(vote)


@pytest.mark.plain
def test_costs_by_steps_are_equation_7():
    """Multiplied up over 300 rounds, the costs are those of (7) at the scores, up to a rounding for each round."""
    rng = np.random.default_rng(0)
    n, k = 20, 4
    labels, weights = rng.integers(0, k, n), rng.random(n)
    scores = np.zeros((n, k))
    costs = first_costs(labels, weights, k, 1.0 - k, 1.0)
    log_scale = 0.0
    for _ in range(300):
        votes, alpha, scale = rng.integers(0, k, n), rng.uniform(0.0, 1.0), rng.uniform(0.5, 1.0)
        pairwise_step(costs, labels, votes, math.exp(alpha), math.exp(-alpha), scale)
        scores[np.arange(n), votes] += alpha
        log_scale += math.log(scale)
    expected = weights[:, None] * np.exp(scores - scores[np.arange(n), labels][:, None] + log_scale)
    expected[np.arange(n), labels] = 0.0
    expected[np.arange(n), labels] = -expected.sum(axis=1)
    np.testing.assert_allclose(costs, expected, rtol=1e-12)


# Bounds


@pytest.mark.parametrize("booster", [*BOOSTERS, BY_LOSS])
@pytest.mark.parametrize("seed", range(3))
def test_error_stays_within_the_bound_in_every_round(booster, seed):
    X, y = mixed_stream(n=200, k=2 + seed, seed=seed)
    weights = np.random.default_rng(seed).exponential(size=200)
    for tree in (ew.CostTree(2), ew.CostTree(5), ew.CostTree(30), DecisionTreeClassifier(max_depth=2)):
        if isinstance(tree, DecisionTreeClassifier):
            rows = np.nan_to_num(X.values)
        else:
            rows = X
        for given in (None, weights):
            model = booster(tree, 30).fit(rows, y, sample_weight=given)
            assert within_bounds(model)
            assert stages_agree(model, rows, y, given)


@pytest.mark.parametrize("booster", [*BOOSTERS, BY_LOSS])
@pytest.mark.parametrize("name", ["balance", "car"])
def test_bound_on_real_data(booster, name):
    X, y = ew.datasets.load(name)
    for leaves in (2, 5, 32):
        model = booster(ew.CostTree(leaves), 60).fit(X, y)
        assert within_bounds(model)
        assert stages_agree(model, X, y)


@pytest.mark.parametrize("booster", [ew.AdaBoostMM, BY_LOSS, ew.AdaBoostMH, ew.AdaBoostM1])
@pytest.mark.parametrize("k", [2, 3, 7])
def test_bound_with_simulated_learners(booster, k):
    rng = np.random.default_rng(k)
    X, y = np.arange(300.0)[:, None], np.arange(300) % k
    for learner in (Grudging(0.2, seed=1), Guessing(0.6), Grudging(0.05)):
        model = booster(learner, 40, random_state=rng.integers(100)).fit(X, y)
        assert within_bounds(model)
        assert stages_agree(model, X, y)


@pytest.mark.parametrize("k", [2, 3, 7])
def test_mm_needs_no_more_than_its_edge(k):
    """A learner of edge gamma brings the error to 0 within the rounds in which the bound falls below 1/n."""
    X, y = np.arange(200.0)[:, None], np.arange(200) % k
    gamma = 0.3
    rounds = math.ceil(math.log((k - 1) * 200) / -math.log(math.sqrt(1 - gamma**2))) + 1
    model = ew.AdaBoostMM(Grudging(gamma), rounds).fit(X, y)
    assert (model.edges_ >= gamma - 1e-9).all()
    assert model.bounds_[-1] < 1 / 200
    assert model.train_errors_[-1] == 0.0


def test_weights_by_loss_keep_the_papers_bound_and_learn_faster():
    X, y = make_classification(1000, 10, n_informative=8, n_classes=8, n_clusters_per_class=1, random_state=0)
    by_edge, by_loss = ew.AdaBoostMM(ew.CostTree(4), 60).fit(X, y), BY_LOSS(ew.CostTree(4), 60).fit(X, y)
    assert (by_loss.bounds_ <= 7 * np.cumprod(np.sqrt(1 - by_loss.edges_**2)) * (1 + 1e-12)).all()
    assert by_loss.train_errors_[-1] < by_edge.train_errors_[-1]
    two = y < 2
    by_edge, by_loss = (b(ew.CostTree(2), 20).fit(X[two], y[two]) for b in (ew.AdaBoostMM, BY_LOSS))
    np.testing.assert_allclose(by_edge.estimator_weights_, by_loss.estimator_weights_)  # two labels: the same


def test_mm_goes_on_where_m1_and_mh_stop():
    """Small trees, many classes: the paper's point, Figure 1(b)."""
    X, y = make_classification(2000, 10, n_informative=8, n_classes=8, n_clusters_per_class=1, random_state=0)
    models = {b: b(ew.CostTree(4), 150).fit(X[:1000], y[:1000]) for b in (ew.AdaBoostMM, ew.AdaBoostM1, ew.AdaBoostMH)}
    errors = {b: 1 - model.score(X[1000:], y[1000:]) for b, model in models.items()}
    assert models[ew.AdaBoostMM].stopped_ == "rounds"
    assert models[ew.AdaBoostM1].stopped_ == models[ew.AdaBoostMH].stopped_ == "edge"
    assert errors[ew.AdaBoostMM] < min(errors[ew.AdaBoostM1], errors[ew.AdaBoostMH]) - 0.2


@pytest.mark.slow
@pytest.mark.parametrize(("name", "train_rows"), [("letter", 16_000), ("pendigits", 7_494)])
def test_figure_1b_on_real_data(name, train_rows):
    """Trees of 5 leaves: MM ends far below M1 and MH, which stop early; docs/batch.md has all six sets."""
    if ew.datasets.where(name) == "not here":
        pytest.skip(f"{name} is not here; set EDGEWISE_DATA to a folder that holds it")
    X, y = ew.datasets.load(name)
    errors = {}
    for booster in (ew.AdaBoostMM, ew.AdaBoostM1, ew.AdaBoostMH):
        model = booster(ew.CostTree(5), 200).fit(X[:train_rows], y[:train_rows])
        assert within_bounds(model)
        errors[booster] = 1 - model.score(X[train_rows:], y[train_rows:])
    assert errors[ew.AdaBoostMM] < 0.5 * min(errors[ew.AdaBoostM1], errors[ew.AdaBoostMH])


# Stops


@pytest.mark.parametrize("booster", BOOSTERS)
def test_a_perfect_learner_ends_the_run_and_decides(booster):
    X, y = np.arange(12.0)[:, None], np.repeat([0, 1, 2], 4)
    model = booster(ew.CostTree(3), 50).fit(X, y)
    assert model.stopped_ == "perfect"
    assert len(model.estimators_) == 1
    assert model.train_errors_.tolist() == [0.0]
    assert model.edges_.tolist() == [1.0]
    assert np.isfinite(model.estimator_weights_).all()
    assert model.bounds_.tolist() == [0.0]
    assert (model.predict(X) == y).all()


def test_a_perfect_learner_outvotes_all_before_it():
    class Late(Grudging):
        calls = 0

        def fit_costs(self, X, costs):
            Late.calls += 1
            self.edge = 0.3 if Late.calls < 6 else 1.0
            return super().fit_costs(X, costs)

    X, y = np.arange(60.0)[:, None], np.arange(60) % 3
    model = ew.AdaBoostMM(Late(), 50).fit(X, y)
    assert model.stopped_ == "perfect"
    assert len(model.estimators_) == 6
    assert model.train_errors_[-2] > 0.0
    assert model.train_errors_[-1] == model.bounds_[-1] == 0.0
    assert (model.predict(X) == y).all()


@pytest.mark.parametrize("booster", BOOSTERS)
def test_a_learner_without_edge_ends_the_run(booster):
    """The features say nothing: the first learner is kept, or the later one left out."""
    X, y = np.zeros((40, 2)), np.arange(40) % 4
    model = booster(ew.CostTree(5), 20).fit(X, y)
    assert model.stopped_ == "edge"
    assert len(model.estimators_) == len(model.bounds_) == len(model.train_errors_)
    assert within_bounds(model)
    assert np.unique(model.predict(X)).size == 1
    # AdaBoost.MH counts it as an edge to name any label, since most of its answers are then a right no.
    if booster is not ew.AdaBoostMH:
        assert model.estimator_weights_.tolist() == [1.0]
        assert model.bounds_.tolist() == [1.0]


# Predictions


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("k", [2, 4])
def test_stages_are_truncated_runs(booster, k):
    X, y = mixed_stream(n=300, k=k, seed=1)
    new, _ = mixed_stream(n=100, k=k, seed=2)
    model = booster(ew.CostTree(4), 12).fit(X, y)
    stages = [stage.copy() for stage in model.staged_predict(new)]
    assert len(stages) == len(model.estimators_)
    for rounds in range(1, len(stages) + 1):
        shorter = booster(ew.CostTree(4), rounds).fit(X, y)
        assert (shorter.predict(new) == stages[rounds - 1]).all()
        assert shorter.bounds_.tolist() == model.bounds_[:rounds].tolist()
    assert (stages[-1] == model.predict(new)).all()


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("k", [2, 4])
def test_probabilities_and_scores_say_what_predict_says(booster, k):
    X, y = mixed_stream(n=300, k=k, seed=3)
    model = booster(ew.CostTree(4), 15).fit(X, y)
    guesses = np.searchsorted(model.classes_, model.predict(X))
    scores, chances = model.decision_function(X), model.predict_proba(X)
    assert scores.shape == ((300,) if k == 2 else (300, k))
    by_score = (scores > 0).astype(int) if k == 2 else scores.argmax(axis=1)
    assert (by_score == guesses).all()
    assert (chances.argmax(axis=1) == guesses).all()
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert (chances >= 0.0).all()


def test_mm_probabilities_are_those_of_its_loss():
    """Without features the best scores are log(p) / 2 up to a constant: votes of each class, as often as it helps."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [600, 300, 100])
    X = rng.normal(size=(1000, 1))
    model = ew.AdaBoostMM(ew.CostTree(1), 400).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X[:1])[0], [0.6, 0.3, 0.1], atol=0.02)


@pytest.mark.parametrize("booster", BOOSTERS)
def test_runs_repeat(booster):
    X, y = mixed_stream(n=200, k=3, seed=5)
    one, other = (booster(ew.CostTree(5), 20).fit(X, y) for _ in range(2))
    assert one.edges_.tolist() == other.edges_.tolist()
    rows = np.nan_to_num(X.values)
    tree = DecisionTreeClassifier(max_features=1, max_leaf_nodes=6)
    one, other = (booster(tree, 10, random_state=7).fit(rows, y) for _ in range(2))
    third = booster(tree, 10, random_state=8).fit(rows, y)
    assert one.edges_.tolist() == other.edges_.tolist()
    assert one.edges_.tolist() != third.edges_.tolist()


def test_rows_of_weight_zero_do_not_exist():
    X, y = mixed_stream(n=200, k=3, seed=6)
    weights = np.where(np.arange(200) % 3 == 0, 0.0, 2.5)
    one = ew.AdaBoostMM(ew.CostTree(4), 10).fit(X, y, sample_weight=weights)
    other = ew.AdaBoostMM(ew.CostTree(4), 10).fit(X[weights > 0], y[weights > 0])
    np.testing.assert_allclose(one.edges_, other.edges_, rtol=1e-9)
    assert (one.predict(X) == other.predict(X)).all()


def test_frames_and_tables_are_one(tmp_path):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, y = mixed_stream(n=200, k=3, seed=8)
    columns = {}
    for j, feature in enumerate(X.features):
        column = X.values[:, j]
        if feature.categories is None:
            columns[feature.name] = column.tolist()
        else:
            columns[feature.name] = [None if np.isnan(v) else feature.categories[int(v)] for v in column]
    expected = ew.AdaBoostMM(ew.CostTree(5), 15).fit(X, y)
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns, strict=False)):
        model = ew.AdaBoostMM(ew.CostTree(5), 15).fit(frame, y)
        np.testing.assert_allclose(model.edges_, expected.edges_, rtol=1e-9)
        assert (model.predict(frame) == expected.predict(X)).all()
        assert (model.predict(frame[:7]) == expected.predict(X[:7])).all(), "categories are known by name"


# Learners


@pytest.mark.parametrize("booster", BOOSTERS)
def test_classifiers_that_take_weights(booster):
    X, y = make_classification(400, 8, n_informative=6, n_classes=3, random_state=1)
    for learner in (DecisionTreeClassifier(max_depth=3), GaussianNB()):
        model = booster(learner, 10, random_state=0).fit(X, y)
        assert within_bounds(model)
        assert model.score(X, y) > 0.6
        assert isinstance(model.estimators_[0], type(learner))


def test_samme_is_scikit_learns():
    """On the same learner: the same errors and weights, round for round."""
    X, y = make_classification(500, 8, n_informative=6, n_classes=4, n_clusters_per_class=1, random_state=3)
    tree = DecisionTreeClassifier(max_depth=2)
    ours, peer = ew.SAMME(tree, 15, random_state=0).fit(X, y), AdaBoostClassifier(tree, n_estimators=15).fit(X, y)
    np.testing.assert_allclose(ours.estimator_weights_, peer.estimator_weights_, rtol=1e-9)
    np.testing.assert_allclose((1 - ours.edges_) * 3 / 4, peer.estimator_errors_, rtol=1e-9)
    for mine, theirs in zip(ours.staged_predict(X), peer.staged_predict(X), strict=True):
        assert (mine == theirs).all()


def test_reduction_loses_nothing_where_all_mistakes_cost_the_same():
    """AdaBoost.M1 hands its weights to a weighted learner as they are; scikit-learn's tree is then a peer."""
    X, y = make_classification(300, 6, n_informative=4, random_state=2)
    seen = []

    class Spy(DecisionTreeClassifier):
        def fit(self, X, y, sample_weight=None):
            seen.append((np.asarray(y), sample_weight / sample_weight.sum()))
            return super().fit(X, y, sample_weight=sample_weight)

    model = ew.AdaBoostM1(Spy(max_depth=1), 5, random_state=0).fit(X, y)
    D = np.full(300, 1 / 300)
    for learner, alpha, (labels, weights) in zip(model.estimators_, model.estimator_weights_, seen, strict=True):
        assert (labels == y).all()
        np.testing.assert_allclose(weights, D, rtol=1e-9)
        D = D * np.exp(np.where(learner.predict(X) == y, -alpha, alpha))
        D /= D.sum()


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize(
    "learner",
    [KNeighborsClassifier(), make_pipeline(StandardScaler(), DecisionTreeClassifier()), "a tree", ew.CostTree],
    ids=["no weights", "pipeline", "text", "class"],
)
def test_learners_that_can_take_neither(booster, learner):
    with pytest.raises(ValueError, match=r"(?s)estimator=.*takes costs .*or weighted examples"):
        booster(learner, 5).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("answers", [[0, 3], [-1, 0], [0.0, 1.0], [0], [[0, 1]]])
def test_learners_that_answer_nonsense(answers):
    class Nonsense(Memory):
        def fit_costs(self, X, costs):
            return self

        def predict(self, X):
            return np.array(answers)

    with pytest.raises(
        ValueError, match=r"Nonsense\(\) predicts .*: a whole number below 2 is needed for each of 2 rows"
    ):
        ew.AdaBoostMM(Nonsense(), 5).fit([[0.0], [1.0]], [0, 1])


# Bad input


@pytest.mark.parametrize("booster", BOOSTERS)
def test_bad_input(booster):
    X, y = np.arange(12.0).reshape(6, 2), [0, 1, 0, 1, 0, 1]
    for rounds in (0, -3, 2.0, True, None):
        with pytest.raises(ValueError, match=r"n_estimators=.*: a whole number of at least 1"):
            booster(n_estimators=rounds).fit(X, y)
    with pytest.raises(ValueError, match=r"y has 1 class \(\['a'\]\): at least 2 classes"):
        booster().fit(X, ["a"] * 6)
    with pytest.raises(ValueError, match="1 class"):
        booster().fit(X, y, sample_weight=[1, 0, 1, 0, 1, 0])
    with pytest.raises(ValueError, match="5 labels: one for each of the 6 rows"):
        booster().fit(X, y[:5])
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        booster().fit(X, y, sample_weight=[1, 1, 1, 1, 1, -1])
    with pytest.raises(ValueError, match=r"[Uu]nknown label type"):
        booster().fit(X, np.linspace(0.1, 0.7, 6))
    with pytest.raises(ValueError, match="infinit"):
        booster().fit(np.where(X == 3, np.inf, X), y)
    with pytest.raises(ValueError, match=r"weighting='best': one of edge, loss is needed"):
        ew.AdaBoostMM(weighting="best").fit(X, y)
    model = booster(ew.CostTree(2), 3).fit(X, y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="3 features"):
        model.predict(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="1 class"):
        model.fit(np.zeros((6, 5)), [0] * 6)
    assert (model.predict(X) == before).all(), "bad input leaves the model as it was"


def test_columns_must_be_in_the_same_order():
    X, y = mixed_stream(n=50, k=2)
    model = ew.AdaBoostMM(n_estimators=2).fit(X, y)
    turned = ew.Table(X.values[:, ::-1], X.features[::-1])
    with pytest.raises(ValueError, match="X has its columns in another order: this model was fitted with n0, n1"):
        model.predict(turned)


def test_columns_must_be_of_the_same_kind():
    X = np.array([["a", 1.0], ["b", 2.0]] * 5, object)
    model = ew.AdaBoostMM(n_estimators=2).fit(X, [0, 1] * 5)
    with pytest.raises(ValueError, match="is numeric here but nominal before"):
        model.predict(np.ones((2, 2)))
