"""Off-policy evaluation: by hand, by enumeration, as Open Bandit Pipeline has it, and from a log on disk."""

from __future__ import annotations

import itertools
import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import edgewise
from edgewise.data.table import as_table
from edgewise.evaluation.decision_log import DecisionLog, LoggedDecisions, read_log
from edgewise.evaluation.off_policy import (
    direct_method,
    doubly_robust,
    evaluate_policy,
    greedy,
    importance_weights,
    inverse_propensity,
    sampling,
    self_normalized,
)
from tests.small_streams import mixed_stream
from tests.test_decision_log import Shown

METHODS = (inverse_propensity, self_normalized, direct_method, doubly_robust)

# 12 decisions among 3 labels: probabilities of the logger, label shown, reward, policy, reward model.
PROBABILITIES = [
    [0.24, 0.6, 0.16], [0.71, 0.18, 0.11], [0.05, 0.42, 0.53], [0.36, 0.33, 0.31], [0.08, 0.06, 0.86],
    [0.87, 0.05, 0.08], [0.26, 0.59, 0.15], [0.54, 0.13, 0.33], [0.78, 0.13, 0.09], [0.76, 0.05, 0.19],
    [0.11, 0.22, 0.67], [0.28, 0.35, 0.37],
]  # fmt: skip
ACTIONS = [0, 1, 1, 1, 2, 0, 0, 0, 0, 0, 0, 2]
REWARDS = [1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0]
POLICY = [
    [0.2, 0.1, 0.7], [0.1, 0.1, 0.8], [0.0, 0.8, 0.2], [0.3, 0.6, 0.1], [0.6, 0.0, 0.4], [0.4, 0.0, 0.6],
    [0.3, 0.6, 0.1], [0.3, 0.4, 0.3], [0.3, 0.5, 0.2], [0.1, 0.7, 0.2], [0.1, 0.7, 0.2], [0.7, 0.2, 0.1],
]  # fmt: skip
MODEL = [
    [0.4, 0.3, 0.9], [0.9, 0.5, 0.8], [0.9, 0.8, 0.6], [0.7, 0.1, 0.3], [0.5, 0.1, 0.2], [0.2, 0.2, 0.4],
    [0.3, 0.9, 0.0], [0.6, 0.6, 0.7], [0.3, 1.0, 0.6], [0.7, 0.1, 0.4], [0.2, 0.9, 0.4], [0.2, 0.8, 0.2],
]  # fmt: skip
# What obp 0.4.1 says of them: InverseProbabilityWeighting, SelfNormalizedInverseProbabilityWeighting, DirectMethod,
# DoublyRobust.
OPEN_BANDIT_PIPELINE = [0.18396171012450083, 0.23380811505447277, 0.5433333333333333, 0.4252479276709007]


def logged(probabilities, actions, rewards, X=None, classes=None) -> LoggedDecisions:
    p, a = np.array(probabilities, float), np.array(actions)
    n, k = p.shape
    return LoggedDecisions(
        ids=np.arange(n),
        X=as_table(np.zeros((n, 1)) if X is None else X),
        classes=np.arange(k) if classes is None else np.asarray(classes),
        actions=a,
        propensities=p[np.arange(n), a],
        probabilities=p,
        rewards=np.array(rewards, float),
    )


LOG = logged(PROBABILITIES, ACTIONS, REWARDS)


def by_hand():
    """The four estimates in exact fractions, decision by decision."""
    exact = [[[Fraction(str(x)) for x in row] for row in table] for table in (PROBABILITIES, POLICY, MODEL)]
    weights, weighted, modeled, corrected = [], [], [], []
    for p, pi, q, a, r in zip(*exact, ACTIONS, REWARDS, strict=True):
        weight = pi[a] / p[a]
        earned = sum(share * value for share, value in zip(pi, q, strict=True))
        weights.append(weight)
        weighted.append(weight * r)
        modeled.append(earned)
        corrected.append(earned + weight * (r - q[a]))
    n = len(ACTIONS)
    return [sum(weighted) / n, sum(weighted) / sum(weights), sum(modeled) / n, sum(corrected) / n], weights, weighted


def test_as_calculated_by_hand():
    values, weights, weighted = by_hand()
    estimates = evaluate_policy(LOG, POLICY, MODEL)
    assert [estimate.value for estimate in estimates] == pytest.approx([float(value) for value in values], rel=1e-14)
    effective = float(sum(weights) ** 2 / sum(weight**2 for weight in weights))
    for estimate in estimates:
        assert estimate.effective_decisions == pytest.approx(effective, rel=1e-14)
        assert estimate.largest_weight == pytest.approx(float(max(weights)), rel=1e-14)
    first = estimates[0]
    spread = sum((value - values[0]) ** 2 for value in weighted) / 11
    assert first.standard_error == pytest.approx(math.sqrt(spread / 12), rel=1e-14)
    assert first.high - first.value == pytest.approx(1.959963984540054 * first.standard_error, rel=1e-14)
    assert first.low + first.high == pytest.approx(2 * first.value, rel=1e-14)
    second = sum((w * (r - values[1])) ** 2 for w, r in zip(weights, REWARDS, strict=True))
    assert estimates[1].standard_error == pytest.approx(math.sqrt(second) / float(sum(weights)), rel=1e-14)


def test_as_open_bandit_pipeline_has_it():
    estimates = evaluate_policy(LOG, POLICY, MODEL)
    assert [estimate.value for estimate in estimates] == pytest.approx(OPEN_BANDIT_PIPELINE, rel=1e-14)
    assert [e.method for e in evaluate_policy(LOG, POLICY)] == [e.method for e in estimates[:2]]


@pytest.mark.parametrize("model", [np.zeros((2, 3)), np.array([[0.9, 0.1, 0.4], [0.0, 1.0, 1.0]])])
def test_unbiased_by_enumeration_over_all_that_could_have_been_shown(model):
    """Inverse propensity always; doubly robust whatever the reward model says."""
    probabilities = np.array([[0.2, 0.5, 0.3], [0.85, 0.05, 0.1]])
    rewards = np.array([[0, 1, 0], [0, 0, 1]])
    policy = np.array([[0.6, 0.1, 0.3], [0.0, 0.25, 0.75]])
    truth = (policy * rewards).sum(axis=1).mean()
    means = np.zeros(2)
    for actions in itertools.product(range(3), repeat=2):
        chance = probabilities[0, actions[0]] * probabilities[1, actions[1]]
        log = logged(probabilities, actions, rewards[[0, 1], actions])
        means += chance * np.array(
            [inverse_propensity(log, policy).value, doubly_robust(log, policy, model).value],
        )
    assert means == pytest.approx([truth, truth], abs=1e-15)


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 40), k=st.integers(2, 6))
@settings(max_examples=40, deadline=None)
def test_relations_that_always_hold(seed, n, k):
    rng = np.random.default_rng(seed)
    probabilities = rng.dirichlet(np.ones(k), n)
    actions = np.array([rng.choice(k, p=p) for p in probabilities])
    rewards = rng.integers(0, 2, n)
    log, policy = logged(probabilities, actions, rewards), rng.dirichlet(np.ones(k), n)
    # the policy that made the log
    own = evaluate_policy(log, probabilities)
    assert [estimate.value for estimate in own] == pytest.approx([rewards.mean()] * 2)
    assert own[0].effective_decisions == pytest.approx(n)
    # a ratio of sums stays within the rewards, and does not change when all weights do
    value = self_normalized(log, policy).value
    assert rewards.min() - 1e-12 <= value <= rewards.max() + 1e-12
    # doubly robust with nothing to correct, with nothing known
    certain = np.repeat(rewards[:, None], k, axis=1)
    assert doubly_robust(log, policy, certain).value == pytest.approx(direct_method(log, policy, certain).value)
    nothing = np.zeros((n, k))
    assert doubly_robust(log, policy, nothing).value == pytest.approx(inverse_propensity(log, policy).value)
    # a limit on the weights
    assert importance_weights(log, policy, max_weight=0.5).max() <= 0.5
    assert inverse_propensity(log, policy, max_weight=0.5).value <= inverse_propensity(log, policy).value + 1e-12


@pytest.mark.parametrize("method", METHODS)
def test_the_interval_holds_the_truth_as_often_as_it_says(method):
    """1,000 logs of 400 decisions: 90% intervals, whose count of hits is binomial; four standard deviations."""
    rng = np.random.default_rng(3)
    n, k, runs = 400, 4, 1000
    expected = rng.uniform(0.1, 0.9, (5, k))  # of the reward, by kind of example and label
    policy_of = rng.dirichlet(np.ones(k), 5)
    truth = (policy_of * expected).sum(axis=1).mean()
    hits = 0
    for _ in range(runs):
        kinds = rng.integers(0, 5, n)
        probabilities = np.full((n, k), 0.2 / (k - 1))
        probabilities[np.arange(n), kinds % k] = 0.8
        actions = (rng.random(n)[:, None] > probabilities.cumsum(axis=1)[:, :-1]).sum(axis=1)
        log = logged(probabilities, actions, rng.random(n) < expected[kinds, actions])
        model = (expected[kinds],) if method in (direct_method, doubly_robust) else ()
        estimate = method(log, policy_of[kinds], *model, risk=0.1)
        hits += estimate.low <= truth <= estimate.high
    assert abs(hits / runs - 0.9) <= 4.0 * math.sqrt(0.09 / runs)


class Fixed:
    """A model as scikit-learn has them, with the classes in an order of its own."""

    classes_ = np.array(["b", "a"])

    def predict(self, X):
        return np.where(np.asarray(X)[:, 0] > 0, "b", "a")

    def predict_proba(self, X):
        return np.where(np.asarray(X)[:, :1] > 0, [[0.9, 0.1]], [[0.3, 0.7]])


def test_models_as_policies_and_reward_models():
    log = logged([[0.5, 0.5]] * 4, [0, 1, 1, 0], [1, 0, 1, 1], X=[[-1.0], [1.0], [1.0], [1.0]], classes=["a", "b"])
    shown = np.array([[1, 0], [0, 1], [0, 1], [0, 1]], float)
    drawn = np.array([[0.7, 0.3], [0.1, 0.9], [0.1, 0.9], [0.1, 0.9]])
    np.testing.assert_array_equal(greedy(Fixed(), log), shown)
    np.testing.assert_array_equal(sampling(Fixed(), log), drawn)
    assert evaluate_policy(log, Fixed(), Fixed()) == evaluate_policy(log, shown, drawn)
    three = logged([[0.4, 0.3, 0.3]], [0], [1], X=[[1.0]], classes=["a", "b", "c"])
    np.testing.assert_array_equal(sampling(Fixed(), three), [[0.1, 0.9, 0.0]])
    with pytest.raises(ValueError, match="knows a class 'b' that the log does not"):
        greedy(Fixed(), logged([[0.5, 0.5]], [0], [1], X=[[1.0]], classes=["a", "c"]))


def test_from_a_log_on_disk(tmp_path):
    path = tmp_path / "log.jsonl"
    p = np.array(PROBABILITIES)
    with DecisionLog(path, ["x", "y", "z"]) as log:
        for number, action in enumerate(ACTIONS):
            log.write(Shown(number, "xyz"[action], p[number, action], p[number], [float(number)]))
        for number in reversed(range(12)):
            log.feedback(number, bool(REWARDS[number]))
    assert evaluate_policy(read_log(path), POLICY, MODEL) == evaluate_policy(LOG, POLICY, MODEL)


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_a_policy_that_was_never_deployed_on_the_log_of_a_bandit(tmp_path, ending):
    """AdaBandit decides and is logged, feedback comes late and out of order; another model is judged by that log."""
    X, y = mixed_stream(1500, k=3)
    rng = np.random.default_rng(1)
    model = edgewise.AdaBandit(n_estimators=3, exploration=0.3, max_pending=2000, random_state=1)
    rival = edgewise.HoeffdingForest(n_estimators=3, random_state=2).fit(X[:500], y[:500])
    path = tmp_path / f"decisions.{ending}"
    with edgewise.DecisionLog(path, np.unique(y)) as log:
        waiting: list[tuple[int, bool]] = []
        for row in range(500, 1500):
            decision = model.decide(X[row], classes=np.unique(y))
            log.write(decision)
            waiting.append((decision.id, bool(decision.label == y[row])))
            while waiting and rng.random() < 0.55:
                number, right = waiting.pop(rng.integers(len(waiting)))
                model.feedback(number, right)
                log.feedback(number, right)
    logged = edgewise.read_log(path).answered()
    assert len(logged) == 1000 - len(waiting) > 900
    truth = np.mean(rival.predict(logged.X) == y[500 + logged.ids])
    for estimate in edgewise.off_policy.evaluate_policy(logged, rival, rival):
        if estimate.method != "direct method":  # which believes the rival about itself
            assert abs(estimate.value - truth) < 4.0 * estimate.standard_error


def test_what_cannot_be_evaluated():
    with pytest.raises(ValueError, match=r"the policy has shape \(12, 2\): 12 decisions among 3 classes"):
        inverse_propensity(LOG, np.full((12, 2), 0.5))
    with pytest.raises(ValueError, match=r"the reward model has shape \(3,\)"):
        direct_method(LOG, POLICY, [0.0, 0.0, 1.0])
    for bad in (0.5, np.nan):
        wrong = np.array(POLICY)
        wrong[4] = [bad, bad, bad]
        with pytest.raises(ValueError, match="row 4"):
            inverse_propensity(LOG, wrong)
    with pytest.raises(ValueError, match="sum to 1"):
        inverse_propensity(LOG, np.array([[1.5, -0.5, 0.0]] * 12))
    with pytest.raises(ValueError, match="max_weight=0"):
        inverse_propensity(LOG, POLICY, max_weight=0)
    with pytest.raises(ValueError, match="risk=1"):
        inverse_propensity(LOG, POLICY, risk=1)
    unanswered = logged(PROBABILITIES, ACTIONS, [np.nan, *REWARDS[1:]])
    with pytest.raises(ValueError, match=r"1 of 12 decisions have no feedback: use log.answered\(\)"):
        evaluate_policy(unanswered, POLICY)
    with pytest.raises(ValueError, match="no decisions"):
        inverse_propensity(LOG[[]], np.zeros((0, 3)))
    with pytest.raises(ValueError, match="may show 1 in decision 0, which was logged with probability 0"):
        inverse_propensity(logged([[1.0, 0.0]], [0], [1]), [[0.5, 0.5]])
    with pytest.raises(ValueError, match="never shows a label that was shown"):
        self_normalized(logged([[0.5, 0.5]], [0], [1]), [[0.0, 1.0]])


def test_an_estimate_says_what_it_rests_on():
    told = str(inverse_propensity(LOG, POLICY))
    assert told.startswith("inverse propensity: 0.1840, between ")
    assert "12 decisions worth" in told


def test_the_page_on_bandits_runs_as_it_is(tmp_path, monkeypatch, capsys):
    """docs/bandits.md, its examples in their order, given what they leave to the reader."""
    page = (Path(__file__).parent.parent / "docs" / "bandits.md").read_text()
    examples = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(examples) == 3
    monkeypatch.chdir(tmp_path)
    X, y = mixed_stream(60, k=3)
    any_label = np.full((1, 3), 1.0 / 3.0)
    names = {"x": X[0], "X": X, "y": y, "labels": np.unique(y), "policy": any_label, "reward_model": any_label}
    for example in examples:
        exec(compile(example, "bandits.md", "exec"), names)
    assert names["model"].rounds_ == 61
    assert capsys.readouterr().out.count("1 decisions worth 1") == 4
