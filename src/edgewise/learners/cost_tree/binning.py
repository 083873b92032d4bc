"""From values to codes of one byte: quantile bins of numbers, a bin for each category, one more for what is missing.

Features of few codes go in bundles: their joint code fits in one byte, and a row is added up once for all of them. Two
features of 16 codes, or eight of two, have 256 joint codes. Sums by joint code give the sums of each feature, in whole
numbers to the last bit; a row then costs one addition where it cost two, or eight.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from edgewise.data.table import Table
from edgewise.kernels.compile import entry_point, inlined

# A code is one byte, and one code of each feature stands for a missing value.
MOST_BINS = 255
MOST_CODES = 256


class Bins(NamedTuple):
    """How each feature is cut. Codes of feature f go from 0 to n_bins[f]; the last one stands for missing."""

    nominal: np.ndarray  # [d] Boolean
    n_bins: np.ndarray  # [d]: bins of values
    start: np.ndarray  # [d + 1]: where the feature's codes begin among those of all features
    cuts: np.ndarray  # thresholds of numeric features and, for nominal ones, the code of each category
    cuts_at: np.ndarray  # [d + 1]: where the feature's cuts begin

    @property
    def size(self) -> int:
        """Codes of all features together."""
        return int(self.start[-1])


def find_bins(table: Table, max_bins: int, weights: np.ndarray | None = None) -> Bins:
    """Bins of about equal weight for each numeric feature; exact (a bin for each value) up to `max_bins` values.

    A threshold lies midway between two values that occur, so that rows of equal value never part. Of a nominal feature
    the `max_bins - 1` heaviest categories keep a bin each if there are more than `max_bins`, and the rest share one.
    """
    cuts, n_bins = [], []
    for column, feature in zip(table.values.T, table.features, strict=True):
        known = ~np.isnan(column)
        seen, counted = column[known], None if weights is None else weights[known]
        if feature.categories is None:
            cuts.append(_thresholds(seen, max_bins, counted))
            n_bins.append(cuts[-1].size + 1)
        else:
            cuts.append(_category_codes(seen.astype(np.int64), len(feature.categories), max_bins, counted))
            n_bins.append(int(cuts[-1].max(initial=-1)) + 1)
    return Bins(
        nominal=np.array([feature.categories is not None for feature in table.features]),
        n_bins=np.array(n_bins, np.int64),
        start=np.concatenate([[0], np.cumsum(np.array(n_bins) + 1)]).astype(np.int64),
        cuts=np.concatenate(cuts),
        cuts_at=np.concatenate([[0], np.cumsum([c.size for c in cuts])]).astype(np.int64),
    )


def encode(bins: Bins, table: Table) -> np.ndarray:
    """[d, n] codes; a category without a bin counts as missing."""
    codes = np.empty((table.shape[1], len(table)), np.uint8)
    fill_codes(bins, np.ascontiguousarray(table.values.T), codes)
    return codes


def _thresholds(seen: np.ndarray, max_bins: int, weights: np.ndarray | None) -> np.ndarray:
    if weights is None:
        values, mass = np.unique(seen, return_counts=True)
    else:
        values, places = np.unique(seen, return_inverse=True)
        mass = np.bincount(places, weights)
    if values.size < 2:
        return np.zeros(0)
    last = np.arange(values.size - 1)
    if values.size > max_bins:
        # A bin ends with the first value at which the mass so far reaches its share.
        reached = np.cumsum(mass)
        shares = reached[-1] * np.arange(1, max_bins) / max_bins
        last = np.unique(np.searchsorted(reached, shares).clip(max=values.size - 2))
    below, above = values[last], values[last + 1]
    middle = 0.5 * below + 0.5 * above
    return np.where(middle < above, middle, below)  # neighbors among floats have no middle


def _category_codes(seen: np.ndarray, n_categories: int, max_bins: int, weights: np.ndarray | None) -> np.ndarray:
    mass = np.bincount(seen, weights, minlength=n_categories)
    present = np.flatnonzero(mass > 0.0)
    codes = np.full(n_categories, -1.0)
    if present.size > max_bins:
        argmax = np.sort(present[np.argsort(-mass[present], kind="stable")[: max_bins - 1]])
        codes[present] = max_bins - 1
        codes[argmax] = np.arange(argmax.size)
    else:
        codes[present] = np.arange(present.size)
    return codes


@entry_point
def fill_codes(bins, columns, codes):
    """codes[f, i]: for a number the count of thresholds below it, for a category its code; n_bins[f] if missing."""
    for f in range(columns.shape[0]):
        first, last = bins.cuts_at[f], bins.cuts_at[f + 1]
        for i in range(columns.shape[1]):
            value = columns[f, i]
            code = bins.n_bins[f]
            if value == value:
                if bins.nominal[f]:
                    known = bins.cuts[first + int(value)] if value < last - first else -1.0
                    code = int(known) if known >= 0.0 else code
                else:
                    low, high = first, last
                    while low < high:
                        middle = (low + high) // 2
                        if bins.cuts[middle] < value:
                            low = middle + 1
                        else:
                            high = middle
                    code = low - first
            codes[f, i] = code


class Bundles(NamedTuple):
    """Which features go together. Features with codes enough for themselves are bundles of one."""

    members: np.ndarray  # [d]: features, bundle after bundle
    members_at: np.ndarray  # [g + 1]
    codes: np.ndarray  # [g, n] joint codes: sum over members of code * stride
    stride: np.ndarray  # [d], by feature
    n_codes: np.ndarray  # [d]: codes that occur, by feature
    joint_at: np.ndarray  # [g + 1]: where the bundle's joint sums begin; bundles of one have none


def bundle(bins: Bins, codes: np.ndarray) -> Bundles:
    """Features in order of their codes, as many together as have 256 joint codes at most."""
    n_codes = codes.max(axis=1, initial=0).astype(np.int64) + 1
    members = np.argsort(n_codes, kind="stable")
    stride = np.ones(members.size, np.int64)
    starts, joint = [0], 1
    for place, f in enumerate(members):
        if joint * n_codes[f] > MOST_CODES:
            starts.append(place)
            joint = 1
        stride[f] = joint
        joint *= n_codes[f]
    members_at = np.array([*starts, members.size], np.int64)
    together = np.zeros((len(starts), codes.shape[1]), np.uint8)
    sizes = np.zeros(len(starts), np.int64)
    for g, (first, last) in enumerate(pairwise(members_at)):
        for f in members[first:last]:
            together[g] += codes[f] * np.uint8(stride[f] % MOST_CODES)
        if last - first > 1:
            sizes[g] = np.prod(n_codes[members[first:last]])
    return Bundles(
        members, members_at, together, stride, n_codes, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    )


@inlined
def spread(bundles, bins, joint, hist):
    """Add the sums by joint code to those of each member."""
    width = hist.shape[1]
    for g in range(bundles.codes.shape[0]):
        for j in range(bundles.joint_at[g], bundles.joint_at[g + 1]):
            if joint[j, width - 1] > 0:
                for place in range(bundles.members_at[g], bundles.members_at[g + 1]):
                    f = bundles.members[place]
                    code = (j - bundles.joint_at[g]) // bundles.stride[f] % bundles.n_codes[f]
                    for l in range(width):
                        hist[bins.start[f] + code, l] += joint[j, l]
