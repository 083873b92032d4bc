"""Pictures, by what is drawn: the data of lines and bars, names and where they stand, and that nothing is cut off."""

from __future__ import annotations

import dataclasses
import itertools
import math
import struct
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.text import Annotation

import edgewise as ew
from edgewise import plot
from edgewise.evaluation import Course, Curve, Run, load_runs, save_runs
from edgewise.evaluation.measures import calibration_error
from edgewise.plot import style
from edgewise.theory.bounds import Bound, RankBound, RegretBound
from tests.small_streams import mixed_stream

SIZES = [(8.0, 4.6), (3.5, 2.5), (14.0, 3.0)]


@pytest.fixture(autouse=True)
def agg():
    with mpl.rc_context():
        mpl.use("Agg")
        yield
    plt.close("all")


# -- looking at a picture --------------------------------------------------------------------------------------------


def lines(ax):
    """Lines of data by name."""
    return {line.get_label(): line for line in ax.get_lines() if not line.get_label().startswith("_")}


def names(ax):
    """What is written at the ends of lines, from the top down."""
    found = [text for text in ax.texts if isinstance(text, Annotation) and text.arrow_patch is not None]
    return sorted(found, key=lambda text: -text.get_position()[1])


def words(ax):
    return [text.get_text() for text in ax.texts]


def assert_good_looking(figure):
    """Every text lies inside the figure; names at line ends are beside the Axes and apart from each other."""
    figure.canvas.draw()
    whole = figure.bbox
    for text in figure.findobj(mpl.text.Text):
        # Tick labels outside the limits exist, but are not drawn.
        drawn = text.get_visible() and text.get_text().strip() and not _is_idle_tick(figure, text)
        if drawn:
            box = text.get_window_extent()
            assert whole.x0 - 1 <= box.x0, text
            assert box.x1 <= whole.x1 + 1, text
            assert whole.y0 - 1 <= box.y0, text
            assert box.y1 <= whole.y1 + 1, text
    for ax in figure.axes:
        room = ax.get_window_extent()
        assert room.width > 0.3 * whole.width / len(figure.axes)
        assert room.height > 0.3 * whole.height / len(figure.axes)
        boxes = [mpl.text.Text.get_window_extent(name) for name in names(ax)]
        for box in boxes:
            assert box.x0 >= room.x1, "a name covers the lines"
        for above, below in itertools.pairwise(boxes):
            assert above.y0 >= below.y1 - 1, "two names overlap"
        top = ax.title.get_window_extent().y0 if ax.title.get_text() else whole.y1
        for text in ax.texts:
            if not isinstance(text, Annotation) or text.arrow_patch is None:
                assert text.get_window_extent().y1 <= top + 1


def _is_idle_tick(figure, text):
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in axis.get_major_ticks() + axis.get_minor_ticks():
                if text in (tick.label1, tick.label2):
                    return not low <= tick.get_loc() <= high
    return False


def stream_run(model, seed=1, rows=600, data="pets", learners=10, windows=30, **changes):
    rng = np.random.default_rng([seed, len(model)])
    hits = rng.random(rows) < 0.8
    ends = np.arange(1, windows + 1) * rows // windows
    windowed = [float(part.mean()) for part in np.split(hits, ends[:-1])]
    right = int(hits.sum())
    settings = {
        "model": model,
        "data": data,
        "seed": seed,
        "order": "shuffled",
        "learners": learners,
        "rows": rows,
        "features": 4,
        "last_fifth": float(hits[-rows // 5 :].mean()),
        "curve": Curve(ends.tolist(), windowed, (np.cumsum(hits)[ends - 1] / ends).tolist()),
        "cpu_seconds": 1.0,
        "wall_seconds": 1.0,
        "model_bytes": 1000,
        "peak_bytes": None,
        "versions": {},
        "classes": ["ant", "bee"],
        "accuracy": float(hits.mean()),
        "kappa": 0.5,
        "recall": [0.8, 0.8],
        "confusion": [[right, rows - right], [0, 0]],
    }
    return Run(**settings | changes)


def made_course(n_learners, p=40, seed=0):
    """What a model could tell: noisy edges and weights, and a bound that is first infinite, then far, then near."""
    rng = np.random.default_rng(seed)
    rows = np.arange(1, p + 1) * 50
    edges = rng.uniform(-0.05, 0.6, n_learners) + rng.normal(size=(p, n_learners)) / np.sqrt(rows[:, None])
    mistakes = (rows * 0.1 + 5).astype(int)
    values = [math.inf, math.inf, *(0.2 * rows + 100)[2:]]
    bounds = [Bound("Theorem 5", int(t), int(m), float(v), 0.2) for t, m, v in zip(rows, mistakes, values, strict=True)]
    return Course("Made", rows, np.zeros(0), edges, 4 * edges**2, np.abs(edges), bounds)


# -- learning curves -------------------------------------------------------------------------------------------------


def running_accuracy(hits):
    """The mean over the last few windows, row by row: up to 50 windows of 20 rows or more, up to 5 for 150 rows."""
    n = len(hits)
    windows = max(1, min(50, n // 20))
    ends = [(w + 1) * n // windows for w in range(windows)]
    width = 1
    while width < 5 and width * n / windows < 150:
        width += 1
    curve = []
    for w, end in enumerate(ends):
        first = 0 if w < width else ends[w - width]
        curve.append(sum(hits[first:end]) / (end - first))
    return ends, curve


@pytest.mark.parametrize("n", [1, 57, 1000, 4321])
def test_a_curve_is_the_running_accuracy(n):
    hits = np.random.default_rng(n).random(n) < 0.7
    ax = plot.learning_curves({"mine": hits})
    (line,) = lines(ax).values()
    rows, accuracy = running_accuracy(hits.tolist())
    np.testing.assert_array_equal(line.get_xdata(), rows)
    np.testing.assert_allclose(line.get_ydata(), accuracy, rtol=0, atol=1e-12)
    assert ax.get_xlabel() == "rows learned"
    assert ax.get_ylabel().startswith("accuracy over the last ")
    assert ax.get_xlim() == (0, n)
    low, high = ax.get_ylim()
    assert low <= min(accuracy)
    assert max(accuracy) <= high
    assert_good_looking(ax.figure)


def test_losses_that_are_no_hits():
    losses = np.random.default_rng(0).exponential(5.0, 800)
    ax = plot.learning_curves({"a": losses, "b": losses / 2})
    assert ax.get_ylabel().startswith("loss over the last ")
    low, high = ax.get_ylim()
    for line in lines(ax).values():
        assert low < line.get_ydata().min()
        assert line.get_ydata().max() < high


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("count", [1, 3, 10])
def test_curves_can_be_told_apart_and_read(size, count):
    rng = np.random.default_rng(0)
    _, ax = plt.subplots(figsize=size)
    given = {f"model {i}": rng.random(2000) < 0.8 + 0.01 * (i % 4) for i in range(count)}
    assert plot.learning_curves(given, ax=ax) is ax
    assert list(lines(ax)) == list(given)
    assert len({(line.get_color(), line.get_linestyle(), str(line._dash_pattern)) for line in ax.get_lines()}) == count
    assert_good_looking(ax.figure)
    assert {name.get_text() for name in names(ax)} == set(given)
    heights = [name.xy[1] for name in names(ax)]
    assert heights == sorted(heights, reverse=True), "names are in the order of their lines"
    for name in names(ax):
        x, y = lines(ax)[name.get_text()].get_data()
        assert name.xy == (x[-1], y[-1])


def test_runs_of_several_seeds_are_one_line_with_its_error():
    runs = [stream_run(model, seed) for model in ("olm", "mbbm") for seed in (1, 2, 3)]
    ax = plot.learning_curves(runs)
    assert list(lines(ax)) == ["olm", "mbbm"]
    curves = []
    for run in runs[:3]:
        sizes = np.diff([0, *run.curve.rows])
        hits = np.repeat(run.curve.windowed, sizes)  # any hits with these means of windows
        ends = run.curve.rows
        width = next(w for w in (1, 2, 3, 4, 5) if w == 5 or w * sizes[0] >= 150)
        curves.append([hits[0 if w < width else ends[w - width] : end].mean() for w, end in enumerate(ends)])
    np.testing.assert_allclose(lines(ax)["olm"].get_ydata(), np.mean(curves, axis=0), atol=1e-12)
    band = ax.collections[0].get_paths()[0].vertices
    error = np.std(curves, axis=0, ddof=1) / math.sqrt(3)
    for height in np.mean(curves, axis=0) + error:
        assert np.isclose(band[:, 1], height, atol=1e-9).any()
    assert len(ax.collections) == 2
    assert ax.get_title(loc="left") == "pets"
    assert "600 rows shuffled, 10 learners, mean of 3 seeds ± standard error" in words(ax)
    # What always guessing the commonest class would give is there to compare with.
    assert "always the commonest class" in words(ax)
    (reference,) = (line for line in ax.get_lines() if line.get_label().startswith("_"))
    assert set(reference.get_ydata()) == {runs[0].reference[1]}
    assert_good_looking(ax.figure)


def test_restarts_are_marked_along_the_bottom():
    ax = plot.learning_curves(stream_run("olm", restarts=[100, 350]))
    (marks,) = (line for line in ax.get_lines() if line.get_marker() == "|")
    assert list(marks.get_xdata()) == [100, 350]
    assert any("a learner began anew" in text for text in words(ax))


def test_runs_of_several_sizes_and_runs_by_other_names():
    ax = plot.learning_curves([stream_run("olm", learners=10), stream_run("olm", learners=50)], title="Pets")
    assert list(lines(ax)) == ["olm, 10 learners", "olm, 50 learners"]
    assert ax.get_title(loc="left") == "Pets"
    run = stream_run("olm")
    renamed = plot.learning_curves({"ours": run, "theirs": run})
    assert list(lines(renamed)) == ["ours", "theirs"]
    assert run.model == "olm"


def test_what_cannot_be_drawn_as_curves():
    with pytest.raises(ValueError, match="no runs"):
        plot.learning_curves([])
    with pytest.raises(ValueError, match="no runs"):
        plot.learning_curves({})
    with pytest.raises(ValueError, match=r"2 streams: pets \(600 rows, shuffled\), cars \(600 rows, shuffled\)"):
        plot.learning_curves([stream_run("olm"), stream_run("olm", data="cars")])
    with pytest.raises(ValueError, match=r"mine: an array of shape \(2, 2\)"):
        plot.learning_curves({"mine": np.ones((2, 2))})
    with pytest.raises(ValueError, match="mine: row 1 is no finite number"):
        plot.learning_curves({"mine": [1.0, math.nan]})
    assert not plt.get_fignums(), "a figure was left behind"


# -- files -----------------------------------------------------------------------------------------------------------


def png_size(path: Path) -> tuple[int, int]:
    head = path.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", head[16:24])
    return width, height


def test_files_are_the_same_from_saved_runs(tmp_path):
    models = [f"lag {lag}" for lag in (1, 2, 3)]
    runs = [stream_run(model, seed, data=data) for data in ("pets", "cars") for model in models for seed in (1, 2)]
    save_runs(runs, tmp_path / "runs.json")
    plot.draw(runs, tmp_path / "first.png")
    plot.draw(load_runs(tmp_path / "runs.json"), tmp_path / "again.png")
    assert (tmp_path / "first.png").read_bytes() == (tmp_path / "again.png").read_bytes()
    width, height = png_size(tmp_path / "first.png")
    assert width > 1000
    assert height > 400
    plot.draw(runs[:1], tmp_path / "one.svg")
    svg = (tmp_path / "one.svg").read_text()
    assert svg.startswith("<?xml")
    assert "<svg" in svg
    assert not plt.get_fignums(), "a figure was left behind"


def test_files_of_nothing_or_to_nowhere_are_refused(tmp_path):
    with pytest.raises(ValueError, match="no runs"):
        plot.draw([], tmp_path / "empty.png")
    with pytest.raises(ValueError, match=r"\.png, \.svg, \.pdf"):
        plot.draw([stream_run("olm")], tmp_path / "curve.bmp")


# -- edges and weights -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("n_learners", [1, 5, 7, 40])
def test_edges_and_weights_over_time(size, n_learners):
    course = made_course(n_learners)
    for function, values, word in (
        (plot.edges, course.edges, "learner"),
        (plot.weights, course.learner_weights, "learner"),
        (plot.expert_weights, course.expert_weights, "expert"),
    ):
        _, ax = plt.subplots(figsize=size)
        function(course, ax=ax)
        drawn = lines(ax)
        for i in range(n_learners):
            np.testing.assert_array_equal(drawn[f"{word} {i + 1}"].get_xdata(), course.rows)
            np.testing.assert_array_equal(drawn[f"{word} {i + 1}"].get_ydata(), values[:, i])
        named = {name.get_text() for name in names(ax)} - {"random guessing"}
        if n_learners <= 7:
            assert len(drawn) == n_learners
            assert named == set(drawn)
            assert len({line.get_color() for line in drawn.values()}) == n_learners
        else:
            assert len(drawn) == n_learners + 1
            middle = [sorted(row)[n_learners // 2 - 1 : n_learners // 2 + 1] for row in values.tolist()]
            np.testing.assert_allclose(drawn["median"].get_ydata(), np.mean(middle, axis=1), atol=1e-12)
            assert named == {f"{word} 1", f"{word} {n_learners}", "median"}
        assert ax.get_title(loc="left") == "Made"
        assert words(ax)[-1].startswith(f"{n_learners} {word}")
        assert_good_looking(ax.figure)
        # After the first tenth of the rows, everything is in view.
        low, high = ax.get_ylim()
        settled = values[course.rows >= 0.1 * course.rows[-1]]
        assert low < settled.min()
        assert settled.max() < high
    assert ax.get_ylabel() == "expert weight"


def test_edges_show_what_random_guessing_would_have():
    ax = plot.edges(np.full((10, 2), 0.3), rows=np.arange(10, 110, 10))
    assert "random guessing" in [name.get_text() for name in names(ax)]
    (reference,) = (line for line in ax.get_lines() if line.get_label().startswith("_"))
    assert set(reference.get_ydata()) == {0.0}
    assert ax.get_ylim()[0] < 0.0
    assert ax.get_xlim() == (0, 100)


def test_weights_of_a_long_history_are_drawn_at_equal_distances():
    weights = np.random.default_rng(0).random((5000, 3))
    ax = plot.weights(weights)
    x, y = lines(ax)["learner 2"].get_data()
    assert len(x) == 400
    assert (x[0], x[-1]) == (1, 5000)
    assert max(np.diff(x)) - min(np.diff(x)) <= 1
    np.testing.assert_array_equal(y, weights[x - 1, 1])


def test_what_has_no_course_over_time():
    course = made_course(3)
    with pytest.raises(ValueError, match="Made has no edges"):
        plot.edges(dataclasses.replace(course, edges=None))
    with pytest.raises(ValueError, match=r"edges of shape \(3,\)"):
        plot.edges(np.zeros(3))
    with pytest.raises(ValueError, match=r"rows of shape \(2,\): 5 points"):
        plot.edges(np.zeros((5, 2)), rows=[1, 2])
    with pytest.raises(TypeError, match=r"AdaBoostOLM: a model knows its edges as they are now .* edgewise.watch"):
        plot.edges(ew.AdaBoostOLM())


# -- bounds ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES)
def test_the_bound_is_above_the_mistakes_and_infinite_ones_are_not_drawn(size):
    course = made_course(3)
    _, ax = plt.subplots(figsize=size)
    plot.bound(course, ax=ax)
    drawn = lines(ax)
    assert list(drawn) == ["bound", "mistakes"], "every row wrong is far above, and left out"
    np.testing.assert_array_equal(drawn["mistakes"].get_ydata(), [bound.mistakes for bound in course.bounds])
    value = drawn["bound"].get_ydata()
    assert np.isnan(value[:2]).all()
    np.testing.assert_array_equal(value[2:], [bound.value for bound in course.bounds[2:]])
    assert (value[2:] > drawn["mistakes"].get_ydata()[2:]).all()
    assert ax.get_yscale() == "linear"
    assert ax.get_ylim()[0] == 0.0
    assert [name.get_text() for name in names(ax)] == ["bound", "mistakes"]
    assert " ".join(words(ax)[-1].split()) in str(course.bounds[-1]) or words(ax)[-1].endswith("…")
    assert_good_looking(ax.figure)


def test_a_bound_far_above_is_drawn_in_powers_of_ten_beside_what_is_possible():
    bounds = [Bound("Theorem 5", t, t // 10, 100.0 * t, 1.0, t / 12, 200.0 * t) for t in range(100, 2100, 100)]
    ax = plot.bound(bounds)
    drawn = lines(ax)
    assert list(drawn) == ["bound", "mistakes", "best expert", "every row wrong"]
    assert ax.get_yscale() == "log"
    np.testing.assert_array_equal(drawn["every row wrong"].get_ydata(), range(100, 2100, 100))
    np.testing.assert_allclose(drawn["best expert"].get_ydata(), np.arange(100, 2100, 100) / 12)
    assert ax.get_title(loc="left") == "mistakes and their bound"
    low, high = ax.get_ylim()
    assert low < 100 / 12
    assert high > 200_000
    assert_good_looking(ax.figure)


def test_bounds_of_rank_loss_and_regret():
    ranks = [RankBound("Theorem 2", t, 0.2 * t, 0.3 * t + 20, 0.3) for t in range(50, 1050, 50)]
    ax = plot.bound(ranks)
    assert ax.get_ylabel() == "rank loss"
    np.testing.assert_allclose(lines(ax)["rank loss"].get_ydata(), [0.2 * t for t in range(50, 1050, 50)])
    regrets = [RegretBound("Theorem 5.1", float(t), 2 / t, 3 / t, 0.5) for t in range(50, 1050, 50)]
    ax = plot.bound(regrets)
    assert ax.get_ylabel() == "mean regret"
    assert list(lines(ax)) == ["bound", "mean regret"]
    assert_good_looking(ax.figure)


def test_what_has_no_bound():
    with pytest.raises(ValueError, match="Made: no theorem speaks of it"):
        plot.bound(dataclasses.replace(made_course(3), bounds=[]))
    with pytest.raises(TypeError, match=r"int: not what model\.bound"):
        plot.bound([1, 2])
    silent = [Bound("Theorem 5", t, t // 2, math.inf, math.inf) for t in (10, 20)]
    ax = plot.bound(silent)
    assert "bound" not in [name.get_text() for name in names(ax)]
    assert_good_looking(ax.figure)


# -- reliability -----------------------------------------------------------------------------------------------------


def bars(ax):
    return {round(bar.get_x(), 9): bar.get_height() for bar in ax.patches}


def test_reliability_bars_by_hand():
    p = np.array([[0.95, 0.05], [1.0, 0.0], [0.08, 0.92], [0.35, 0.65], [0.62, 0.38], [0.5, 0.5]])
    ax = plot.reliability(p, ["no", "no", "no", "yes", "yes", "yes"], classes=["no", "yes"])
    # Likeliest: no, no, yes, yes, no, no (a tie); right: the first, the second and the fourth.
    assert bars(ax) == {0.5: 0.0, 0.6: 0.5, 0.9: pytest.approx(2 / 3)}
    counts = {text.get_text(): text.xy[0] for text in ax.texts if text.get_text().isdigit()}
    assert counts == {"1": pytest.approx(0.55), "2": pytest.approx(0.65), "3": pytest.approx(0.95)}
    (dots,) = (line for line in ax.get_lines() if line.get_marker() == "o")
    np.testing.assert_allclose(dots.get_xdata(), [0.5, (0.65 + 0.62) / 2, (0.95 + 1.0 + 0.92) / 3])
    (whiskers,) = ax.collections
    heights = [np.ptp(segment[:, 1]) / 2 for segment in whiskers.get_segments()]
    np.testing.assert_allclose(heights, [0.0, math.sqrt(0.25 / 2), math.sqrt(2 / 9 / 3)])
    error = (abs(0 - 0.5) + 2 * abs(0.5 - 0.635) + 3 * abs(2 / 3 - 2.87 / 3)) / 6
    assert any(f"calibration error {error:.3f}" in " ".join(text.split()) for text in words(ax))


@pytest.mark.parametrize("size", [*SIZES, (5.6, 5.0)])
def test_reliability_of_many_rows(size):
    rng = np.random.default_rng(0)
    p = rng.dirichlet([0.3] * 4, 30_000)
    y = np.array([rng.choice(4, p=row) for row in p[:2000]])
    _, ax = plt.subplots(figsize=size)
    plot.reliability(p[:2000], y, bins=5, ax=ax)
    naive = {}
    for row, label in zip(p[:2000], y, strict=True):
        b = min(int(max(row) * 5), 4)
        naive.setdefault(b / 5, []).append(int(np.argmax(row)) == label)
    assert bars(ax) == {round(b, 9): pytest.approx(np.mean(hits)) for b, hits in naive.items()}
    assert any(f"{calibration_error(p[:2000], y, 5):.3f}" in text for text in words(ax))
    assert_good_looking(ax.figure)


def test_reliability_of_a_yes():
    p = np.array([0.05, 0.15, 0.15, 0.85])
    ax = plot.reliability(p, [False, False, True, True])
    assert bars(ax) == {0.0: 0.0, 0.1: 0.5, 0.8: 1.0}
    assert ax.get_xlabel() == "probability of a yes"


def test_probabilities_that_cannot_be_drawn():
    p = np.array([[0.2, 0.8], [0.6, 0.4]])
    with pytest.raises(ValueError, match=r"shape \(2, 2\) and labels of shape \(3,\)"):
        plot.reliability(p, [0, 1, 1])
    with pytest.raises(ValueError, match=r"classes=\[1\]: probabilities have 2 columns"):
        plot.reliability(p, [1, 1])
    with pytest.raises(ValueError, match="label 'c': not one of the 2 classes"):
        plot.reliability(p, ["a", "c"], classes=["a", "b"])
    with pytest.raises(ValueError, match="numbers in"):
        plot.reliability(p * 2, [0, 1])
    with pytest.raises(ValueError, match="True or False"):
        plot.reliability(p[:, 0], [0, 2])
    with pytest.raises(ValueError, match="bins=0"):
        plot.reliability(p, [0, 1], bins=0)
    assert not plt.get_fignums(), "a figure was left behind"


def test_counts_in_few_letters():
    from edgewise.plot.diagnostics import _short

    numbers = {7: "7", 999: "999", 1000: "1.0k", 9949: "9.9k", 9950: "10k", 123_456: "123k", 999_600: "1.0m"}
    assert {number: _short(number) for number in numbers} == numbers


# -- where pictures go, and how they look ----------------------------------------------------------------------------


def test_several_pictures_share_a_figure():
    course = made_course(40)
    rng = np.random.default_rng(0)
    figure, axes = plt.subplots(2, 2, figsize=(11, 8))
    plot.learning_curves({"a": rng.random(900) < 0.8, "b": rng.random(900) < 0.9}, ax=axes[0, 0])
    plot.edges(course, ax=axes[0, 1])
    plot.bound(course, ax=axes[1, 0])
    plot.reliability(rng.dirichlet([0.3] * 3, 500), rng.integers(0, 3, 500), ax=axes[1, 1])
    assert len(figure.axes) == 4
    assert_good_looking(figure)


def test_a_layout_that_was_chosen_is_kept():
    figure, ax = plt.subplots(layout="tight")
    before = figure.get_layout_engine()
    plot.edges(made_course(3), ax=ax)
    assert figure.get_layout_engine() is before
    parts = plt.figure(figsize=(12, 4)).subfigures(1, 2)
    ax = plot.weights(made_course(3), ax=parts[0].subplots())
    assert ax.figure is parts[0]


def test_the_same_picture_every_time(tmp_path):
    for name in ("one", "two"):
        plot.edges(made_course(40)).figure.savefig(tmp_path / f"{name}.png")
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.png").read_bytes()


def contrast(color):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]
    return 1.05 / (0.05 + np.dot([0.2126, 0.7152, 0.0722], linear))


def test_letters_can_be_read_on_white():
    for color in (*style.COLORS, "#ffff00", "#ffffff"):
        assert contrast(style.readable(color)) >= 4.5
    assert style.readable("#000000") == (0.0, 0.0, 0.0)
    assert contrast(style.FAINT) >= 4.5
    assert contrast(style.INK) >= 4.5


def test_names_keep_their_distance_and_order():
    heights = [0.98, 0.2, 0.981, 0.97]
    places = style.spread(heights, 0.1, 0.05, 0.95)
    ranked = [places[index] for index in np.argsort(heights)]
    assert min(np.diff(ranked)) >= 0.1 - 1e-12
    assert max(places) <= 0.95 + 1e-12
    assert places[1] == 0.2
    assert style.spread([0.5, 0.5], 0.1, 0.0, 1.0) == pytest.approx([0.45, 0.55])


# -- watching --------------------------------------------------------------------------------------------------------


def test_watching_changes_nothing_and_tells_what_the_model_told():
    X, y = mixed_stream(200)
    model = ew.AdaBoostOLM(n_estimators=4, random_state=3)
    course = ew.watch(model, X, y, points=5)
    np.testing.assert_array_equal(course.rows, [40, 80, 120, 160, 200])
    twin = ew.AdaBoostOLM(n_estimators=4, random_state=3)
    np.testing.assert_array_equal(course.predictions[:120], twin.prequential(X[:120], y[:120], classes=np.unique(y)))
    np.testing.assert_array_equal(course.edges[2], twin.edges_)
    np.testing.assert_array_equal(course.learner_weights[2], twin.learner_weights_)
    np.testing.assert_array_equal(course.expert_weights[2], twin.expert_weights_)
    assert course.bounds[2] == twin.bound()
    assert course.model == "AdaBoostOLM"
    # Watching goes on where the model stands.
    further = ew.watch(model, X[:30], y[:30], points=3)
    np.testing.assert_array_equal(further.rows, [210, 220, 230])
    drawn = lines(plot.bound(course))
    assert (drawn["bound"].get_ydata() >= drawn["mistakes"].get_ydata()).all()


def test_the_history_of_a_model_can_be_drawn():
    X, y = mixed_stream(100)
    history = ew.AdaBoostOLM(n_estimators=4, random_state=3).trace(X, y)
    drawn = lines(plot.weights(history))
    for i in range(4):
        np.testing.assert_array_equal(drawn[f"learner {i + 1}"].get_ydata(), history.learner_weights[:, i])


def test_models_that_tell_less():
    X, y = mixed_stream(60)
    course = ew.watch(ew.HoeffdingForest(n_estimators=3, random_state=1), X, y, points=100)
    np.testing.assert_array_equal(course.rows, np.arange(1, 61))
    assert course.edges is None
    assert course.bounds == []
    with pytest.raises(ValueError, match="HoeffdingForest has no edges"):
        plot.edges(course)
    with pytest.raises(ValueError, match="HoeffdingForest: no theorem"):
        plot.bound(course)


def test_what_cannot_be_watched():
    X, y = mixed_stream(20)
    model = ew.AdaBoostOLM(n_estimators=2)
    with pytest.raises(ValueError, match="points=0"):
        ew.watch(model, X, y, points=0)
    with pytest.raises(ValueError, match=r"y has shape \(19,\): 20 rows"):
        ew.watch(model, X, y[:-1])
    assert not hasattr(model, "classes_")
