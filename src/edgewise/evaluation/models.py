"""The models that `edgewise race` knows by name.

A model is asked for as `name[:edge][@preset]`: `olm`, `mbbm:0.05`, `olm@paper`, `mbbm:0.1@paper`. Peers, learners of
other libraries, go by the library's name and theirs: `capymoa-arf`.
"""

from __future__ import annotations

import difflib
import importlib.util
import os
import shutil
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

import edgewise

PRESETS = ("paper",)

# A library of peers -> the module here that has its adapters.
LIBRARIES = {
    "capymoa": "edgewise.evaluation.capymoa_peer",
    "river": "edgewise.evaluation.river_peer",
    "vowpalwabbit": "edgewise.evaluation.vowpal_wabbit",
}


class Entry(NamedTuple):
    """A kind of model: what `edgewise models` prints, and how one is made."""

    algorithm: str
    description: str
    estimator: str  # the name of a class in `edgewise`, or among the adapters of a library
    settings: dict[str, Any]
    takes_edge: bool = False
    ranks: bool = False  # learns label sets and ranks the labels, instead of guessing one
    bandit: bool = False  # is told right or wrong, never the label
    library: str | None = None  # whose it is, if it is a peer
    sized: bool = True  # has a number of learners

    def build(self, n_learners: int, seed: int | None, preset: str | None = None, **further: Any) -> Any:
        home = edgewise if self.library is None else import_module(LIBRARIES[self.library])
        estimator = getattr(home, self.estimator)
        settings = {**self.settings, **further, "random_state": seed}
        if self.sized:
            settings["n_estimators"] = n_learners
        return estimator(**settings) if preset is None else estimator.preset(preset, **settings)

    def missing(self) -> str | None:
        """What a peer lacks on this machine, in words; None if it can race."""
        if self.library is None:
            return None
        if not _installed(self.library):
            return f"{self.library} is not installed (pip install edgewise[peers])"
        if self.library == "capymoa" and not _has_java():
            return "CapyMOA needs Java 17 or newer, and there is no java on the PATH and no JAVA_HOME"
        return None


MODELS: dict[str, Entry] = {
    "olm": Entry(
        "AdaBoost.OLM (Jung et al. 2017, Algorithm 2)",
        "adaptive boosting with edgewise's defaults; needs no edge",
        "AdaBoostOLM",
        {},
    ),
    "olm-drift": Entry(
        "AdaBoost.OLM for streams that change",
        "as olm, and trees whose error rises begin anew; remembers the last labels",
        "AdaBoostOLM",
        {"drift": "restart"},
    ),
    "olm-exponential": Entry(
        "AdaBoost.OLM (Jung et al. 2017, Appendix D.1)",
        "adaptive boosting on the exponential loss",
        "AdaBoostOLM",
        {"loss": "exponential"},
    ),
    "olm-hinge": Entry(
        "AdaBoost.OLM (Jung et al. 2017, Appendix D.2)",
        "adaptive boosting on the square hinge loss",
        "AdaBoostOLM",
        {"loss": "square_hinge"},
    ),
    "mbbm": Entry(
        "OnlineMBBM (Jung et al. 2017, Algorithm 1)",
        "boost by majority, optimal for a known edge; mbbm:0.05 sets the edge (0.1 if not given)",
        "OnlineMBBM",
        {},
        takes_edge=True,
    ),
    "oza": Entry(
        "online AdaBoost (Oza 2005)",
        "Poisson resampling by the errors of earlier learners",
        "OzaBoost",
        {},
    ),
    "ova": Entry(
        "OvA (Jung et al. 2017, Appendix E)",
        "one binary booster per class",
        "OneVsAllOLM",
        {},
    ),
    "adaova": Entry(
        "AdaOVA (Jung et al. 2017, Appendix E)",
        "every learner is a group of one binary tree per class",
        "AdaOVA",
        {},
    ),
    "trees": Entry(
        "Hoeffding trees (Domingos, Hulten 2000)",
        "the trees alone, averaged: what boosting has to beat",
        "HoeffdingForest",
        {},
    ),
    "bmr-rank": Entry(
        "OnlineBMR (Jung, Tewari 2018, Algorithm 2)",
        "ranks label sets: boost by majority on the rank loss; bmr-rank:0.05 sets the edge",
        "OnlineBMR",
        {"loss": "rank", "vote": "label"},
        takes_edge=True,
        ranks=True,
    ),
    "bmr-hinge": Entry(
        "OnlineBMR (Jung, Tewari 2018, Algorithm 2)",
        "ranks label sets: boost by majority on the hinge loss; bmr-hinge:0.05 sets the edge",
        "OnlineBMR",
        {"loss": "hinge"},
        takes_edge=True,
        ranks=True,
    ),
    "olmr": Entry(
        "Ada.OLMR (Jung, Tewari 2018, Algorithm 3)",
        "ranks label sets: adaptive boosting, needs no edge",
        "AdaOLMR",
        {},
        ranks=True,
    ),
    "adabandit": Entry(
        "AdaBandit (Zhang et al. 2018, Algorithm 3)",
        "told only right or wrong: adaptive boosting, needs no edge",
        "AdaBandit",
        {},
        bandit=True,
    ),
    "banditbbm": Entry(
        "BanditBBM (Zhang et al. 2018, Algorithm 2)",
        "told only right or wrong: boost by majority; banditbbm:0.05 sets the edge (0.1 if not given)",
        "BanditBBM",
        {},
        takes_edge=True,
        bandit=True,
    ),
    "binbandit": Entry(
        "BanditBoost (Chen et al. 2014)",
        "told only right or wrong: binary learners for each class",
        "BinBandit",
        {},
        bandit=True,
    ),
}


def _capymoa(learner: str, algorithm: str, description: str, sized: bool = True) -> Entry:
    settings = {"learner": learner} if sized else {"learner": learner, "n_estimators": None}
    return Entry(algorithm, description, "CapyMOAPeer", settings, library="capymoa", sized=sized)


def _river(learner: str, algorithm: str) -> Entry:
    return Entry(algorithm, "river's, in Python", "RiverPeer", {"learner": learner}, library="river")


PEERS: dict[str, Entry] = {
    "capymoa-tree": _capymoa(
        "HoeffdingTree", "Hoeffding tree (Domingos, Hulten 2000)", "a single tree of MOA's, in Java", sized=False
    ),
    "capymoa-oza": _capymoa("OzaBoost", "online boosting (Oza, Russell 2001)", "MOA's, in Java"),
    "capymoa-smooth": _capymoa("OnlineSmoothBoost", "online smooth boosting (Chen et al. 2012)", "MOA's, in Java"),
    "capymoa-arf": _capymoa(
        "AdaptiveRandomForestClassifier", "adaptive random forest (Gomes et al. 2017)", "MOA's, in Java"
    ),
    "capymoa-srp": _capymoa("StreamingRandomPatches", "streaming random patches (Gomes et al. 2019)", "MOA's, in Java"),
    "capymoa-lb": _capymoa("LeveragingBagging", "leveraging bagging (Bifet et al. 2010)", "MOA's, in Java"),
    "capymoa-sgbt": _capymoa(
        "StreamingGradientBoostedTrees",
        "streaming gradient boosted trees (Gunasekara et al. 2024)",
        "MOA's, in Java; a booster for each class, votes are labels",
    ),
    "river-arf": _river("ARFClassifier", "adaptive random forest (Gomes et al. 2017)"),
    "river-srp": _river("SRPClassifier", "streaming random patches (Gomes et al. 2019)"),
    "river-lb": _river("LeveragingBaggingClassifier", "leveraging bagging (Bifet et al. 2010)"),
    "vw": Entry(
        "online logistic regression, one against all",
        "Vowpal Wabbit's --oaa",
        "VowpalWabbitPeer",
        {},
        library="vowpalwabbit",
        sized=False,
    ),
    "vw-pairs": Entry(
        "the same on pairs of features as well",
        "Vowpal Wabbit's --oaa with -q ::",
        "VowpalWabbitPeer",
        {"pairs": True},
        library="vowpalwabbit",
        sized=False,
    ),
    "vw-squarecb": Entry(
        "SquareCB (Foster, Rakhlin 2020)",
        "told only right or wrong: Vowpal Wabbit's contextual bandit",
        "VowpalWabbitBandit",
        {"explorer": "squarecb"},
        bandit=True,
        library="vowpalwabbit",
        sized=False,
    ),
    "vw-epsilon": Entry(
        "epsilon-greedy",
        "told only right or wrong: Vowpal Wabbit's contextual bandit",
        "VowpalWabbitBandit",
        {"explorer": "epsilon"},
        bandit=True,
        library="vowpalwabbit",
        sized=False,
    ),
}
KNOWN = MODELS | PEERS


@dataclass(frozen=True)
class ModelSpec:
    """A model asked for by name; `str(spec)` is the name in tables, files and pictures."""

    name: str
    edge: float | None = None
    preset: str | None = None
    rate: float | None = None  # of exploration, for a bandit

    @classmethod
    def parse(cls, text: str, preset: str | None = None) -> ModelSpec:
        """Read a model as the command line names it.

        Parameters
        ----------
        text : str
            `name[:edge][@preset]`.
        preset : str, optional
            Used where the text names none.

        Returns
        -------
        ModelSpec
            The model asked for.
        """
        rest, at, own_preset = text.strip().partition("@")
        name, colon, edge_text = rest.partition(":")
        if name not in KNOWN:
            raise ValueError(f"unknown model {name!r}; {suggestion(name, KNOWN)}")
        if at and own_preset not in PRESETS:
            raise ValueError(f"{text}: unknown preset {own_preset!r}; there is: {', '.join(PRESETS)}")
        if colon and not KNOWN[name].takes_edge:
            takers = ", ".join(known for known, entry in KNOWN.items() if entry.takes_edge)
            raise ValueError(f"{text}: {name} takes no edge; those that do: {takers}")
        if KNOWN[name].library is not None:
            if at:
                raise ValueError(f"{text}: {name} is not edgewise's and has no preset")
            preset = None
        return cls(name, _edge(edge_text, text) if colon else None, own_preset if at else preset)

    def make(self, n_learners: int, seed: int | None) -> Any:
        """The model.

        Parameters
        ----------
        n_learners : int
            Number of weak learners.
        seed : int, optional
            Its `random_state`.

        Returns
        -------
        model
            A new one.
        """
        further = {} if self.edge is None else {"edge": self.edge}
        if KNOWN[self.name].bandit and self.rate is not None:
            further["exploration"] = self.rate
        return KNOWN[self.name].build(n_learners, seed, self.preset, **further)

    def __str__(self) -> str:
        edge = "" if self.edge is None else f":{self.edge:g}"
        return f"{self.name}{edge}" + (f"@{self.preset}" if self.preset else "")


def suggestion(name: str, known: Any) -> str:
    """Words for an error message: the names closest to a mistyped one, or all there are."""
    close = difflib.get_close_matches(name.lower(), list(known), n=3, cutoff=0.6)
    return f"did you mean {' or '.join(close)}?" if close else f"known: {', '.join(known)}"


def _edge(text: str, whole: str) -> float:
    try:
        edge = float(text)
    except ValueError:
        edge = float("nan")
    if not 0 < edge < 1:
        raise ValueError(f"{whole}: the edge {text!r} is not a number between 0 and 1")
    return edge


def _installed(library: str) -> bool:
    return importlib.util.find_spec(library) is not None


def _has_java() -> bool:
    return bool(os.environ.get("JAVA_HOME") or shutil.which("java"))
