"""Logs of decisions: what is written comes back, whatever happened to the writer."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgewise.data.table import Feature, Table, as_table
from edgewise.evaluation import decision_storage
from edgewise.evaluation.decision_log import DecisionLog, named_features, read_log

CLASSES = np.array(["acc", "good", "unacc"])
ENDINGS = ["jsonl", "parquet"]


class Shown(NamedTuple):
    """A decision, with the fields that a log reads."""

    id: int
    label: Any
    propensity: float
    probabilities: np.ndarray
    features: Any


def shown(number: int, code: int = 0, features: Any = (1.5, "low"), rate: float = 0.1) -> Shown:
    p = np.full(3, rate / 2)
    p[0] = 1.0 - rate
    return Shown(number, CLASSES[code], p[code], p, features)


@pytest.fixture(params=ENDINGS)
def path(request, tmp_path):
    return tmp_path / "deep" / f"decisions.{request.param}"


def test_what_is_written_comes_back(path):
    rows = [(0.1, "low"), (np.nan, "high"), (1 / 3, None)]
    with DecisionLog(path, CLASSES) as log:
        log.write_many([shown(7, 0, rows[0]), shown(8, 2, rows[1], rate=0.3), shown(9, 1, rows[2])])
        log.feedback(9, False)
        log.feedback(shown(7), np.True_)
    logged = read_log(path)
    assert len(logged) == 3
    assert logged.ids.tolist() == [7, 8, 9]
    assert logged.classes.tolist() == CLASSES.tolist()
    assert logged.actions.tolist() == [0, 2, 1]
    assert logged.propensities.tolist() == [0.9, 0.15, 0.05]
    assert logged.probabilities.tolist() == [[0.9, 0.05, 0.05], [0.7, 0.15, 0.15], [0.9, 0.05, 0.05]]
    np.testing.assert_array_equal(logged.rewards, [1.0, np.nan, 0.0])
    assert as_table(np.array(rows, object)) == logged.X
    assert (logged.repeated, logged.unmatched) == (0, 0)
    answered = logged.answered()
    assert answered.ids.tolist() == [7, 9]
    assert answered.rewards.tolist() == [1.0, 0.0]
    assert answered.X.shape == (2, 2)


def test_a_log_is_continued(path):
    with DecisionLog(path, CLASSES) as log:
        log.write(shown(0))
    with DecisionLog(path, CLASSES) as log:
        log.feedback(0, True)
        log.write(shown(1))
    logged = read_log(path)
    assert logged.ids.tolist() == [0, 1]
    np.testing.assert_array_equal(logged.rewards, [1.0, np.nan])


def test_first_feedback_counts_and_the_others_are_counted(path):
    with DecisionLog(path, CLASSES) as log:
        log.feedback(3, True)
        log.write(shown(3))
        log.feedback(3, False)
        log.feedback(3, True)
        log.feedback(99, True)
    logged = read_log(path)
    assert logged.rewards.tolist() == [0.0]
    assert (logged.repeated, logged.unmatched) == (1, 2)


def test_an_id_given_out_again_is_another_decision(path):
    """A model that goes on from an older save: both decisions were shown, feedback goes to the newer."""
    with DecisionLog(path, CLASSES) as log:
        log.write(shown(5, 0))
        log.feedback(5, True)
        log.write(shown(5, 1))
        log.feedback(5, False)
    logged = read_log(path)
    assert logged.actions.tolist() == [0, 1]
    assert logged.rewards.tolist() == [1.0, 0.0]


@pytest.mark.parametrize("ending", ENDINGS)
@given(
    rows=st.lists(
        st.tuples(
            st.one_of(st.none(), st.floats(-1e300, 1e300)),
            st.one_of(st.none(), st.text(max_size=4)),
            st.one_of(st.none(), st.integers(-5, 5), st.sampled_from(["more", "5more"])),
        ),
        min_size=1,
        max_size=12,
    ),
    order=st.randoms(use_true_random=False),
)
@settings(max_examples=25, deadline=None)
def test_any_rows_and_any_order_of_feedback(tmp_path_factory, ending, rows, order):
    path = tmp_path_factory.mktemp("log") / f"log.{ending}"
    truth = [order.random() < 0.5 for _ in rows]
    late = list(range(len(rows)))
    order.shuffle(late)
    with DecisionLog(path, CLASSES) as log:
        for number, row in enumerate(rows):
            log.write(shown(number, number % 3, row))
            if number == len(rows) // 2:
                log.flush()
        for number in late:
            log.feedback(number, truth[number])
    logged = read_log(path)
    assert logged.rewards.tolist() == [float(right) for right in truth]
    assert as_table(np.array(rows, object)) == logged.X


def test_parts_of_a_parquet_log_are_whole_files(tmp_path, monkeypatch):
    from pyarrow import dataset

    monkeypatch.setattr(decision_storage, "PART_EVENTS", 4)
    path = tmp_path / "log.parquet"
    log = DecisionLog(path, CLASSES)
    for number in range(10):
        log.write(shown(number, number % 3))
    assert len(read_log(path)) == 8, "two parts of 4; what is held is not on disk yet"
    log.flush()
    assert len(read_log(path)) == 10
    log.close()
    assert sorted(part.name for part in path.iterdir()) == [f"part-{number:06d}.parquet" for number in (1, 2, 3)]
    assert dataset.dataset(path, format="parquet").count_rows() == 10


def test_json_lines_are_on_disk_at_once(tmp_path):
    path = tmp_path / "log.jsonl"
    code = (
        "import os, sys; from tests.test_decision_log import *\n"
        "log = DecisionLog(sys.argv[1], CLASSES); log.write(shown(0)); log.feedback(0, True); os._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(path)], check=False).returncode == 9
    assert read_log(path).rewards.tolist() == [1.0]


@pytest.mark.parametrize("kept", [1, 20, -1])
def test_a_line_that_was_cut_off(tmp_path, kept):
    path = tmp_path / "log.jsonl"
    with DecisionLog(path, CLASSES) as log:
        log.write_many([shown(0), shown(1)])
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]) + lines[-1].rstrip(b"\n")[:kept])
    with pytest.warns(UserWarning, match=r"log\.jsonl, line 3: cut off.*the 2 lines before it are used"):
        assert read_log(path).ids.tolist() == [0]
    with pytest.warns(UserWarning, match="cut off"), DecisionLog(path, CLASSES) as log:
        log.write(shown(2))
    assert read_log(path).ids.tolist() == [0, 2]


def test_a_last_line_that_lacks_only_its_end_is_kept(tmp_path):
    path = tmp_path / "log.jsonl"
    with DecisionLog(path, CLASSES) as log:
        log.write_many([shown(0), shown(1)])
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    assert read_log(path).ids.tolist() == [0, 1]
    with DecisionLog(path, CLASSES) as log:
        log.write(shown(2))
    assert read_log(path).ids.tolist() == [0, 1, 2]


def test_a_part_that_was_cut_off(tmp_path):
    path = tmp_path / "log.parquet"
    with DecisionLog(path, CLASSES) as log:
        log.write(shown(0))
    whole = (path / "part-000001.parquet").read_bytes()
    (path / ".part-000002.parquet.draft").write_bytes(whole[:100])
    with pytest.warns(UserWarning, match="cut off"):
        assert read_log(path).ids.tolist() == [0]
    (path / "part-000002.parquet").write_bytes(whole[:100])
    (path / ".part-000002.parquet.draft").unlink()
    with pytest.raises(ValueError, match=r"part-000002\.parquet: not a Parquet file"):
        read_log(path)


HEADER = {"format": "edgewise-decisions", "version": 1, "classes": [0, 1]}
DECISION = {
    "event": "decision",
    "id": 0,
    "label": 1,
    "propensity": 0.5,
    "probabilities": [0.5, 0.5],
    "features": {"a": 1},
}


@pytest.mark.parametrize(
    ("records", "words"),
    [
        ([{"format": "other"}], "not a log of decisions"),
        ([{**HEADER, "version": 2}], "version 2 of the format; this edgewise reads 1"),
        ([{"format": "edgewise-decisions", "version": 1}], 'lacks the list "classes"'),
        ([HEADER], "no decisions"),
        ([HEADER, "text"], "line 2: not a JSON object"),
        ([HEADER, {**DECISION, "id": "a"}], "line 2: id='a'"),
        ([HEADER, DECISION, {"event": "reward", "id": 0}], "line 3: event='reward'"),
        ([HEADER, {"event": "feedback", "id": 0, "correct": 1}], "line 2: correct=1"),
        ([HEADER, {**DECISION, "label": 2}], r"line 2: label=2: one of \[0, 1\]"),
        ([HEADER, {**DECISION, "label": [0]}], "line 2: label="),
        ([HEADER, {**DECISION, "propensity": 0.0}], "line 2: propensity=0.0"),
        ([HEADER, {**DECISION, "probabilities": [1.0]}], "line 2: probabilities="),
        ([HEADER, {**DECISION, "probabilities": ["a", "b"]}], "line 2: probabilities="),
        ([HEADER, {**DECISION, "features": None}], "line 2: the decision has no features"),
        ([HEADER, DECISION, {**DECISION, "features": {"b": 1}}], r"line 3: features \['b'\]"),
    ],
)
def test_files_that_are_no_logs(tmp_path, records, words):
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    with pytest.raises(ValueError, match=words):
        read_log(path)


def test_an_empty_file_and_a_missing_one(tmp_path):
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(ValueError, match="empty"):
        read_log(tmp_path / "empty.jsonl")
    with pytest.raises(FileNotFoundError):
        read_log(tmp_path / "absent.jsonl")
    with pytest.raises(ValueError, match="no parts"):
        read_log(tmp_path / "absent.parquet")


@pytest.mark.parametrize(
    ("decision", "words"),
    [
        (shown(0)._replace(label="bad"), "label 'bad'"),
        (shown(0)._replace(propensity=0.0), "propensity=0.0"),
        (shown(0)._replace(probabilities=np.ones(2) / 2), "probabilities="),
        (shown(0)._replace(features=np.zeros((2, 3))), "features of 2 rows"),
    ],
)
def test_a_refused_decision_leaves_the_log_as_it_was(path, decision, words):
    with DecisionLog(path, CLASSES) as log:
        log.write(shown(0))
        with pytest.raises(ValueError, match=words):
            log.write(decision)
        log.write(shown(1))
    assert read_log(path).ids.tolist() == [0, 1]


def test_a_log_of_other_classes_is_not_continued(path):
    with DecisionLog(path, CLASSES) as log:
        log.write(shown(0))
    with pytest.raises(ValueError, match="a log of decisions among"):
        DecisionLog(path, ["acc", "good"])
    assert read_log(path).ids.tolist() == [0]


def test_names_and_classes_that_cannot_be(tmp_path):
    with pytest.raises(ValueError, match=r"\.jsonl .* or \.parquet"):
        DecisionLog(tmp_path / "log.csv", CLASSES)
    with pytest.raises(ValueError, match="at least 2"):
        DecisionLog(tmp_path / "log.jsonl", ["a"])
    with pytest.raises(ValueError, match="label None"):
        DecisionLog(tmp_path / "log.jsonl", np.array(["a", None], object))
    (tmp_path / "log.parquet").touch()
    with pytest.raises(ValueError, match="is a file"):
        DecisionLog(tmp_path / "log.parquet", CLASSES)


def test_features_of_every_form_of_row():
    pandas = pytest.importorskip("pandas")
    expected = {"size": 2.0, "color": "red"}
    table = Table(np.array([[2.0, 1.0]]), [Feature("size"), Feature("color", ("blue", "red"))])
    frame = pandas.DataFrame({"size": [2], "color": ["red"]})
    for row in (table, frame, frame.iloc[0].to_dict(), {"size": np.float32(2), "color": "red"}):
        assert named_features(row) == expected
    for row in ([2, "red"], (2.0, "red"), np.array([2, "red"], object), np.array([[2, "red"]], object)):
        assert named_features(row) == {"x0": 2.0, "x1": "red"}
    assert named_features(np.array([1.0, np.nan])) == {"x0": 1.0, "x1": None}
    assert named_features(frame.iloc[0])["x0"] == 2.0
