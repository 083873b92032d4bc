"""Features of few codes in bundles: their joint code fits in one byte, and a row is added up once for all of them.

Two features of 16 codes, or eight of two, have 256 joint codes. Sums by joint code give the sums of each feature, in
whole numbers to the last bit; a row then costs one addition where it cost two, or eight.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from edgewise.kernels.compile import inlined
from edgewise.learners.cost_tree.binning import Bins

MOST_CODES = 256
# For fewer rows, spreading the joint sums costs more than they save.
FEW_ROWS = 1024


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
