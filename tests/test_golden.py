"""Results that must not move: small cells of every model, hashed to the last bit (`tests.golden.make_cells`)."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.golden.make_cells import FILE, arithmetic, cells, measured, streams

GOLDEN = json.loads(FILE.read_text())
STREAMS = streams()
NAMES = sorted({name for name, _, _ in cells()})
SAME_ARITHMETIC = arithmetic() == GOLDEN["arithmetic"]


def test_there_is_a_golden_result_for_every_cell():
    assert {" | ".join(cell) for cell in cells()} == GOLDEN["cells"].keys()
    assert len(GOLDEN["cells"]) >= 60


@pytest.mark.parametrize("name", NAMES)
def test_nothing_has_moved(name):
    """Exactly, where exponentials are those of the machine that recorded; elsewhere up to their last bits."""
    for cell in cells():
        if cell[0] != name:
            continue
        _, stream, way = cell
        found, golden = measured(name, *STREAMS[stream], way), GOLDEN["cells"][" | ".join(cell)]
        np.testing.assert_allclose(found["rounded"], golden["rounded"], rtol=1e-6, err_msg=str(cell))
        if SAME_ARITHMETIC:
            assert found == golden, cell


def test_the_way_through_a_stream_changes_no_guess():
    """Chunks, threads and files: all cells of a model and a stream have the same guesses and scores."""
    told = {}
    for cell, result in GOLDEN["cells"].items():
        model_and_stream = cell.rpartition(" | ")[0]
        told.setdefault(model_and_stream, set()).add((result["guesses"], result["scores"]))
    assert {cell: len(results) for cell, results in told.items() if len(results) > 1} == {}
