"""What another policy would have earned on logged decisions: off-policy evaluation.

| name here            | estimate of the mean reward        | published in               |
|----------------------|------------------------------------|----------------------------|
| `inverse_propensity` | mean of w r                        | Horvitz, Thompson 1952     |
| `self_normalized`    | sum of w r / sum of w              | Swaminathan, Joachims 2015 |
| `direct_method`      | mean of q(x, pi)                   | Beygelzimer, Langford 2009 |
| `doubly_robust`      | mean of q(x, pi) + w (r - q(x, a)) | Dudik, Langford, Li 2011   |

with w = pi(a|x) / p the weight of a decision that showed a with propensity p and earned r, and
q(x, pi) = sum_a pi(a|x) q(x, a) the reward of the policy pi by the reward model q. Rewards are 1 for a right label
and 0 for a wrong one, so a value is an accuracy.

A policy is a matrix [n, k] of probabilities, or a model that shows the label it predicts (`greedy`; `sampling` is the
policy that draws a label from a model's probabilities). A reward model is a matrix [n, k] or a classifier: the
probability of a label is the expected reward of showing it. Fit it on other rows than those that it is used on.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from edgewise.evaluation.decision_log import LoggedDecisions


class Estimate(NamedTuple):
    """The estimated value of a policy, how sure it is, and on how much it rests."""

    method: str
    value: float
    standard_error: float
    low: float
    """Ends of the confidence interval (normal approximation; the reward model is taken as given)."""
    high: float
    decisions: int
    effective_decisions: float
    """(sum of w)^2 / sum of w^2: as many decisions of equal weight are worth as much (Kish 1965)."""
    largest_weight: float

    def __str__(self) -> str:
        return (
            f"{self.method}: {self.value:.4f}, between {self.low:.4f} and {self.high:.4f}; {self.decisions} decisions "
            f"worth {self.effective_decisions:.0f}, largest weight {self.largest_weight:.3g}"
        )


def evaluate_policy(
    log: LoggedDecisions,
    policy: Any,
    reward_model: Any = None,
    *,
    max_weight: float = math.inf,
    risk: float = 0.05,
) -> list[Estimate]:
    """All estimates that can be made: those with a reward model only if there is one.

    Parameters
    ----------
    log : LoggedDecisions
        What `edgewise.read_log` gave, without decisions that have no feedback.
    policy : array or model
        Probabilities [n, k] of showing each label, or a model whose predictions would be shown.
    reward_model : array or classifier, optional
        Expected rewards [n, k], or a classifier whose probabilities they are.
    max_weight : float
        Largest weight; larger ones are cut off.
    risk : float
        Probability with which the interval may miss.

    Returns
    -------
    list of Estimate
        Two, or four with a reward model.
    """
    matrix = policy_matrix(log, policy)
    estimates = [
        inverse_propensity(log, matrix, max_weight=max_weight, risk=risk),
        self_normalized(log, matrix, max_weight=max_weight, risk=risk),
    ]
    if reward_model is not None:
        rewards = reward_matrix(log, reward_model)
        estimates += [
            direct_method(log, matrix, rewards, risk=risk),
            doubly_robust(log, matrix, rewards, max_weight=max_weight, risk=risk),
        ]
    return estimates


def inverse_propensity(
    log: LoggedDecisions, policy: Any, *, max_weight: float = math.inf, risk: float = 0.05
) -> Estimate:
    """Rewards weighted by w: without bias, noisy where propensities are small. `max_weight` cuts w off, with bias.

    Parameters are those of `evaluate_policy`.

    Returns
    -------
    Estimate
        The mean of w r.
    """
    weights = importance_weights(log, policy, max_weight)
    return _mean("inverse propensity", weights * log.rewards, weights, risk)


def self_normalized(log: LoggedDecisions, policy: Any, *, max_weight: float = math.inf, risk: float = 0.05) -> Estimate:
    """As `inverse_propensity`, divided by the sum of the weights: stays within the rewards, bias of order 1/n.

    Parameters are those of `evaluate_policy`.

    Returns
    -------
    Estimate
        The sum of w r over the sum of w.
    """
    weights = importance_weights(log, policy, max_weight)
    total = float(weights.sum())
    if total == 0.0:
        raise ValueError("the policy never shows a label that was shown: the log says nothing about it")
    value = float(weights @ log.rewards) / total
    # the delta method for a ratio of sums
    error = math.sqrt(float(weights**2 @ (log.rewards - value) ** 2)) / total
    return _estimate("self-normalized", value, error, weights, risk)


def direct_method(log: LoggedDecisions, policy: Any, reward_model: Any, *, risk: float = 0.05) -> Estimate:
    """The mean reward by the reward model; its own error is not in the interval.

    Parameters are those of `evaluate_policy`.

    Returns
    -------
    Estimate
        The mean of q(x, pi).
    """
    weights = importance_weights(log, policy)
    return _mean("direct method", _expected(log, policy, reward_model), weights, risk)


def doubly_robust(
    log: LoggedDecisions, policy: Any, reward_model: Any, *, max_weight: float = math.inf, risk: float = 0.05
) -> Estimate:
    """The reward model, corrected by weighted residuals: without bias if propensities or model are right.

    Parameters are those of `evaluate_policy`.

    Returns
    -------
    Estimate
        The mean of q(x, pi) + w (r - q(x, a)).
    """
    weights = importance_weights(log, policy, max_weight)
    shown = reward_matrix(log, reward_model)[np.arange(len(log)), log.actions]
    terms = _expected(log, policy, reward_model) + weights * (log.rewards - shown)
    return _mean("doubly robust", terms, weights, risk)


def importance_weights(log: LoggedDecisions, policy: Any, max_weight: float = math.inf) -> np.ndarray:
    """w = pi(a|x) / p of each decision, cut off at `max_weight`.

    Parameters are those of `evaluate_policy`.

    Returns
    -------
    array
        Weights [n].
    """
    if not max_weight > 0.0:
        raise ValueError(f"max_weight={max_weight!r}: a positive number")
    if not len(log):
        raise ValueError("no decisions: there is nothing to evaluate on")
    matrix = policy_matrix(log, policy)
    missing = int(np.isnan(log.rewards).sum())
    if missing:
        raise ValueError(f"{missing} of {len(log)} decisions have no feedback: use log.answered()")
    unseen = np.argwhere((matrix > 0.0) & (log.probabilities <= 0.0))
    if unseen.size:
        row, action = unseen[0]
        raise ValueError(
            f"the policy may show {log.classes[action].item()!r} in decision {log.ids[row]}, which was logged with "
            "probability 0: the log says nothing about it"
        )
    return np.minimum(matrix[np.arange(len(log)), log.actions] / log.propensities, max_weight)


def greedy(model: Any, log: LoggedDecisions) -> np.ndarray:
    """The policy [n, k] that shows what the model predicts.

    Parameters
    ----------
    model : classifier
        Its classes are those of the log.
    log : LoggedDecisions
        What `edgewise.read_log` gave, without decisions that have no feedback.

    Returns
    -------
    array
        Probabilities 0 and 1.
    """
    return np.eye(log.classes.size)[_actions(log, model.predict(_examples(log)))]


def sampling(model: Any, log: LoggedDecisions) -> np.ndarray:
    """The policy [n, k] that draws a label from the model's probabilities; 0 for classes that it lacks.

    Parameters are those of `greedy`.

    Returns
    -------
    array
        Probabilities [n, k].
    """
    matrix = np.zeros((len(log), log.classes.size))
    matrix[:, _actions(log, model.classes_)] = np.asarray(model.predict_proba(_examples(log)))
    return matrix


def policy_matrix(log: LoggedDecisions, policy: Any) -> np.ndarray:
    """The probabilities [n, k] with which a policy shows each label: a matrix as it is, a model's `greedy` choice.

    Parameters are those of `evaluate_policy`.

    Returns
    -------
    array
        Probabilities [n, k].
    """
    if hasattr(policy, "predict"):
        policy = greedy(policy, log)
    elif hasattr(policy, "predict_proba"):
        policy = sampling(policy, log)
    matrix = _matrix(log, policy, "the policy")
    bad = np.flatnonzero((matrix < 0.0).any(axis=1) | (np.abs(matrix.sum(axis=1) - 1.0) > 1e-6))
    if bad.size:
        raise ValueError(f"the policy has {matrix[bad[0]]} in row {bad[0]}: probabilities that sum to 1 are needed")
    return matrix


def reward_matrix(log: LoggedDecisions, reward_model: Any) -> np.ndarray:
    """Expected rewards [n, k]: a matrix as it is, or a classifier's probabilities.

    Parameters are those of `evaluate_policy`.

    Returns
    -------
    array
        Rewards [n, k].
    """
    if hasattr(reward_model, "predict_proba"):
        reward_model = sampling(reward_model, log)
    return _matrix(log, reward_model, "the reward model")


def _expected(log: LoggedDecisions, policy: Any, reward_model: Any) -> np.ndarray:
    """q(x, pi) of each decision."""
    return (policy_matrix(log, policy) * reward_matrix(log, reward_model)).sum(axis=1)


def _examples(log: LoggedDecisions) -> Any:
    """X for a model: an array, which any library takes, unless there are nominal features."""
    numeric = all(feature.categories is None for feature in log.X.features)
    return log.X.values if numeric else log.X


def _actions(log: LoggedDecisions, labels: Any) -> list[int]:
    """Positions of labels among the classes of the log."""
    codes = {label: code for code, label in enumerate(log.classes.tolist())}
    shown = np.asarray(labels).tolist()
    for label in shown:
        if label not in codes:
            raise ValueError(f"the model knows a class {label!r} that the log does not: {list(codes)!r}")
    return [codes[label] for label in shown]


def _matrix(log: LoggedDecisions, values: Any, what: str) -> np.ndarray:
    matrix = np.asarray(values, np.float64)
    if matrix.shape != (len(log), log.classes.size):
        raise ValueError(
            f"{what} has shape {matrix.shape}: {len(log)} decisions among {log.classes.size} classes were logged"
        )
    if not np.isfinite(matrix).all():
        raise ValueError(f"{what} has a value that is not finite in row {np.argwhere(~np.isfinite(matrix))[0][0]}")
    return matrix


def _mean(method: str, terms: np.ndarray, weights: np.ndarray, risk: float) -> Estimate:
    error = float(terms.std(ddof=1) / math.sqrt(terms.size)) if terms.size > 1 else math.inf
    return _estimate(method, float(terms.mean()), error, weights, risk)


def _estimate(method: str, value: float, error: float, weights: np.ndarray, risk: float) -> Estimate:
    if not 0.0 < risk < 1.0:
        raise ValueError(f"risk={risk!r}: a probability between 0 and 1")
    width = NormalDist().inv_cdf(1.0 - risk / 2.0) * error
    squares = float(weights @ weights)
    effective = float(weights.sum()) ** 2 / squares if squares else 0.0
    return Estimate(
        method, value, error, value - width, value + width, weights.size, effective, float(weights.max(initial=0.0))
    )
