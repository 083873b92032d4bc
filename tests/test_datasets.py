"""Data sets by name: shape, classes and kinds of every one, where it is found, and what goes wrong."""

from __future__ import annotations

import functools
import gzip
import hashlib
import http.server
import lzma
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import edgewise as ew
from edgewise.data import datasets, storage
from edgewise.data.registry import SETS, DataFile
from edgewise.data.table import Table

# rows, numeric features, nominal features, classes; from the descriptions of the sets
FACTS = {
    "a9a": (48842, 123, 0, 2),
    "balance": (625, 4, 0, 3),
    "car": (1728, 0, 6, 4),
    "car-numeric": (1728, 2, 4, 4),
    "connect-4": (67557, 0, 42, 3),
    "covertype": (581012, 54, 0, 7),
    "electricity": (45312, 7, 1, 2),
    "isolet": (7797, 617, 0, 26),
    "isolet-50": (7797, 50, 0, 26),
    "kdd99": (494021, 38, 3, 23),
    "letter": (20000, 16, 0, 26),
    "mice": (1080, 77, 0, 8),
    "mice-zero": (1080, 77, 0, 8),
    "mnist": (70000, 784, 0, 10),
    "movement": (165632, 12, 0, 5),
    "mushroom": (8124, 0, 22, 2),
    "nursery": (12960, 0, 8, 5),
    "nursery-4": (12958, 0, 8, 4),
    "pendigits": (10992, 16, 0, 10),
    "poker": (25010, 10, 0, 10),
    "satimage": (6435, 36, 0, 6),
}
# rows, numeric features, nominal features of the sets with real targets
REAL_FACTS = {"abalone": (4177, 7, 1), "slice": (53500, 384, 0), "year": (515345, 90, 0)}
COUNTS = {
    "a9a": {-1: 24720 + 12435, 1: 7841 + 3846},
    "balance": {"L": 288, "R": 288, "B": 49},
    "car": {"unacc": 1210, "acc": 384, "good": 69, "vgood": 65},
    "connect-4": {0: 6449, 1: 16635, 2: 44473},
    "covertype": {1: 211840, 2: 283301, 3: 35754, 4: 2747, 5: 9493, 6: 17367, 7: 20510},
    "electricity": {"DOWN": 26075, "UP": 19237},
    "isolet-50": {label: {6: 298, 13: 299}.get(label, 300) for label in range(1, 27)},
    "kdd99": {
        "smurf": 280790, "neptune": 107201, "normal": 97278, "back": 2203, "satan": 1589, "ipsweep": 1247,
        "portsweep": 1040, "warezclient": 1020, "teardrop": 979, "pod": 264, "nmap": 231, "guess_passwd": 53,
        "buffer_overflow": 30, "land": 21, "warezmaster": 20, "imap": 12, "rootkit": 10, "loadmodule": 9,
        "ftp_write": 8, "multihop": 7, "phf": 4, "perl": 3, "spy": 2,
    },
    "mice": {"c-CS-m": 150, "c-SC-m": 150, "t-CS-s": 105}
    | {name: 135 for name in ("c-CS-s", "c-SC-s", "t-CS-m", "t-SC-m", "t-SC-s")},
    "movement": {"sitting": 50631, "standing": 47370, "walking": 43390, "standingup": 12414, "sittingdown": 11827},
    "mushroom": {"e": 4208, "p": 3916},
    "nursery-4": {"not_recom": 4320, "priority": 4266, "spec_prior": 4044, "very_recom": 328},
    "pendigits": {0: 1143, 1: 1143, 2: 1144, 3: 1055, 4: 1144, 5: 1055, 6: 1056, 7: 1142, 8: 1055, 9: 1055},
    "poker": dict(enumerate((12493, 10599, 1206, 513, 93, 54, 36, 6, 5, 5))),
    "satimage": {1: 1533, 2: 703, 3: 1358, 4: 626, 5: 707, 7: 1508},
}  # fmt: skip
# rows for training, rows for testing, features, labels; fewest, mean and most relevant labels: Table 2 of Jung, Tewari
MULTI_LABEL = {
    "emotions": (391, 202, 72, 6, 1, 1.87, 3),
    "scene": (1211, 1196, 294, 6, 1, 1.07, 3),
    "yeast": (1500, 917, 103, 14, 1, 4.24, 11),
    "mediamill": (30993, 12914, 120, 101, 0, 4.38, 18),
    "mediamill_reduced": (1500, 500, 120, 101, 0, 4.39, 13),
}


def needs(name: str) -> None:
    if datasets.where(name) == "not here":
        pytest.skip(f"{name} is not here; set EDGEWISE_DATA to a folder that holds it")


@functools.cache
def loaded(name: str) -> tuple[Table, np.ndarray]:
    needs(name)
    return datasets.load(name)


@pytest.fixture
def nothing_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No data folder, and an empty cache, which is returned."""
    monkeypatch.delenv("EDGEWISE_DATA", raising=False)
    cache = tmp_path / "cache"
    monkeypatch.setattr(storage, "cache_folder", lambda: cache)
    return cache


@pytest.mark.parametrize("name", FACTS)
def test_shape_kinds_and_classes(name: str) -> None:
    needs(name)
    table, y = loaded(name)
    nominal = sum(feature.categories is not None for feature in table.features)
    assert (len(table), table.shape[1] - nominal, nominal, len(np.unique(y))) == FACTS[name]
    about = datasets.info(name)
    assert (about.rows, about.features, about.classes) == (len(table), table.shape[1], len(np.unique(y)))
    assert len(set(table.feature_names)) == table.shape[1]
    assert y.dtype.kind in "Ui"
    assert len(y) == len(table)
    for column, feature in enumerate(table.features):
        if feature.categories is not None:
            codes = np.unique(table.values[:, column])
            assert codes.tolist() == list(range(len(feature.categories)))
    if name in COUNTS:
        labels, counts = np.unique(y, return_counts=True)
        assert dict(zip(labels.tolist(), counts.tolist(), strict=True)) == COUNTS[name]


@pytest.mark.parametrize("name", REAL_FACTS)
def test_real_targets(name: str) -> None:
    needs(name)
    table, y = loaded(name)
    nominal = sum(feature.categories is not None for feature in table.features)
    assert (len(table), table.shape[1] - nominal, nominal) == REAL_FACTS[name]
    about = datasets.info(name)
    assert (about.rows, about.features, about.classes) == (len(table), table.shape[1], 0)
    assert y.dtype == np.float64
    assert np.isfinite(y).all()
    if name == "abalone":
        assert (y.min(), y.max(), y[0]) == (1, 29, 15)
        assert table.features[0].categories == ("M", "F", "I")
        assert table.values[0].tolist() == [0, 0.455, 0.365, 0.095, 0.514, 0.2245, 0.101, 0.15]


def test_every_set_is_tested() -> None:
    assert {*FACTS, *REAL_FACTS, *MULTI_LABEL} == set(datasets.names())


@pytest.mark.parametrize("name", MULTI_LABEL)
def test_multi_label_sets(name: str) -> None:
    train, test, features, labels, fewest, mean, most = MULTI_LABEL[name]
    about = datasets.info(name)
    assert (about.rows, about.train_rows, about.features, len(about.labels)) == (train + test, train, features, labels)
    table, Y = loaded(name)
    assert table.shape == (train + test, features)
    assert Y.shape == (train + test, labels)
    assert Y.dtype == np.int8
    assert set(np.unique(Y)) == {0, 1}
    assert all(feature.categories is None for feature in table.features)
    assert not set(table.feature_names) & set(about.labels)
    relevant = Y.sum(axis=1)
    assert (relevant.min(), round(relevant.mean(), 2), relevant.max()) == (fewest, mean, most)


def test_multi_label_parts_follow_each_other() -> None:
    table, Y = loaded("yeast")
    assert table.values[0, :3].tolist() == [0.0937, 0.139771, 0.062774]
    assert table.values[1500, :3].tolist() == [0.004168, -0.170975, -0.156748]
    assert datasets.info("yeast").labels == tuple(f"Class{number}" for number in range(1, 15))
    for rows in (1, 1500, 1600):
        some, few = datasets.load("yeast", rows=rows)
        np.testing.assert_array_equal(few, Y[:rows])
        np.testing.assert_array_equal(some.values, table.values[:rows])


def test_mediamill_says_where_it_is(nothing_here: Path) -> None:
    with pytest.raises(OSError, match=r"mediamill\.rar of http://mulan\.") as caught:
        datasets.load("mediamill")
    assert str(caught.value).startswith("mediamill: mediamill-train.arff has no address to download from; ")
    assert str(caught.value).endswith("unpack: put mediamill-train.arff into a folder and set EDGEWISE_DATA to it")


def test_a_changed_multi_label_set_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs("emotions")
    for file in datasets.info("emotions").files:
        path = datasets.path_of(file.name)
        plain = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
        (tmp_path / file.name.removesuffix(".xz")).write_bytes(plain)
    monkeypatch.setenv("EDGEWISE_DATA", str(tmp_path))
    monkeypatch.setattr(storage, "cache_folder", lambda: tmp_path / "cache")
    assert set(datasets.check("emotions").values()) == {"ok"}
    assert len(datasets.load("emotions")[0]) == 593
    part = tmp_path / "emotions-test.arff"
    text = part.read_text()
    part.write_text(text[: text.rindex("0.")].rpartition("\n")[0] + "\n")
    assert datasets.check("emotions")["emotions-test.arff.xz"].startswith("changed: SHA-256 ")
    with pytest.raises(ValueError, match=r"^emotions: .* holds 592 x 72 with .*, not 593 x 72 with classes"):
        datasets.load("emotions")
    part.write_text(text.replace("quiet-still", "silent"))
    with pytest.raises(ValueError, match=r"emotions\.xml names labels that .* does not have as attributes: 'quiet-st"):
        datasets.load("emotions")


def test_kdd99_in_its_order() -> None:
    needs("kdd99")
    about = datasets.info("kdd99")
    assert about.in_order
    table, y = datasets.load("kdd99", rows=5)
    assert y.tolist() == ["normal"] * 5, "without the full stop of the file"
    nominal = {feature.name: feature.categories for feature in table.features if feature.categories is not None}
    assert nominal == {"protocol_type": ("tcp",), "service": ("http",), "flag": ("SF",)}
    columns = [table.feature_names.index(name) for name in ("src_bytes", "dst_bytes", "logged_in", "dst_host_count")]
    assert table.values[:2, columns].tolist() == [[181, 5450, 1, 9], [239, 486, 1, 19]]


def test_parts_for_training_and_for_testing() -> None:
    needs("a9a")
    (table, y), (test_table, test_y) = datasets.load_parts("a9a")
    assert (len(table), len(test_table)) == (32561, 16281)
    assert ((y == 1).sum(), (test_y == 1).sum()) == (7841, 3846)
    assert len(y) == len(table)
    with pytest.raises(ValueError, match=r"^car: has no test part of its own; the sets that have are a9a, isolet"):
        datasets.load_parts("car")


@pytest.mark.parametrize("name", [*FACTS, *REAL_FACTS, *MULTI_LABEL])
def test_checksums(name: str) -> None:
    needs(name)
    statuses = datasets.check(name)
    assert set(statuses) == {file.name for file in datasets.info(name).files}
    assert set(statuses.values()) == {"ok"}


def test_mice_has_no_column_that_gives_the_class_away() -> None:
    table, _ = loaded("mice")
    assert not {"MouseID", "Genotype", "Treatment", "Behavior", "class"} & set(table.feature_names)
    assert np.isnan(table.values).sum() == 1396
    assert np.isnan(table.values).any(axis=1).sum() == 528
    zero, _ = loaded("mice-zero")
    np.testing.assert_array_equal(zero.values, np.nan_to_num(table.values, nan=0.0))


def test_movement_has_no_column_about_the_user() -> None:
    table, _ = loaded("movement")
    assert table.feature_names == tuple(f"{axis}{sensor}" for sensor in range(1, 5) for axis in "xyz")
    assert np.isfinite(table.values).all()
    assert table.values[0].tolist() == [-3, 92, -63, -23, 18, -19, 5, 104, -92, -150, -103, -147]
    # Rows around the one left out, line 122078 of the file: the row after it comes right after the row before it.
    assert table.values[122075].tolist() == [-7, 96, -118, -13, 91, -102, 18, 123, -108, -205, -80, -142]
    assert table.values[122076].tolist() == [-8, 93, -104, 7, -40, -24, -16, 116, -86, -247, -139, -104]


def test_car_in_both_readings() -> None:
    table, y = loaded("car")
    assert table.features[2].categories == ("2", "3", "4", "5more")
    assert table.features[3].categories == ("2", "4", "more")
    numeric, labels = loaded("car-numeric")
    assert [feature.name for feature in numeric.features if feature.categories is None] == ["doors", "persons"]
    assert np.unique(numeric.values[:, 2]).tolist() == [2, 3, 4, 5]
    assert np.unique(numeric.values[:, 3]).tolist() == [2, 4, 5]
    np.testing.assert_array_equal(numeric.values[:, [0, 1, 4, 5]], table.values[:, [0, 1, 4, 5]])
    assert labels.tolist() == y.tolist()


def test_mushroom_takes_the_question_mark_for_a_category() -> None:
    table, _ = loaded("mushroom")
    root = table.feature_names.index("stalk-root")
    categories = table.features[root].categories
    assert categories is not None
    assert (table.values[:, root] == categories.index("?")).sum() == 2480
    assert not np.isnan(table.values).any()


def test_electricity_keeps_its_order_and_its_days() -> None:
    table, y = loaded("electricity")
    assert table.features[1].categories == tuple("1234567")
    assert table.values[0, 1] == 1  # day 2
    assert y[:5].tolist() == ["UP", "UP", "UP", "UP", "DOWN"]
    assert datasets.info("electricity").in_order
    assert not datasets.info("car").in_order


def test_parts_follow_each_other() -> None:
    digits, y = loaded("pendigits")
    assert (digits.values[0, :3].tolist(), y[0]) == ([47, 100, 27], 8)
    assert np.bincount(y[:7494]).tolist() == [780, 779, 780, 719, 780, 720, 720, 778, 719, 719]
    _, y = loaded("satimage")
    assert np.bincount(y[:4435]).tolist() == [0, 1072, 479, 961, 415, 470, 0, 1038]
    isolet, y = loaded("isolet")
    assert np.bincount(y[:6238])[1:].tolist() == [238 if label == 6 else 240 for label in range(1, 27)]
    assert np.abs(isolet.values).max() == 1.0
    told = {name: datasets.info(name).train_rows for name in FACTS}
    assert {name: rows for name, rows in told.items() if rows} == {
        "a9a": 32561,
        "isolet": 6238,
        "isolet-50": 6238,
        "letter": 16000,
        "mnist": 60000,
        "pendigits": 7494,
        "satimage": 4435,
    }


def test_connect_4_squares_are_nominal_and_hold_eight_moves() -> None:
    table, y = loaded("connect-4")
    assert {frozenset(feature.categories or ()) for feature in table.features} <= {
        frozenset(text) for text in ("0", "01", "02", "012")
    }
    for row in (0, 30000, -1):
        pieces = [
            feature.categories[int(code)] for feature, code in zip(table.features, table.values[row], strict=True)
        ]
        assert (pieces.count("1"), pieces.count("2")) == (4, 4)
    assert y[:3].tolist() == [2, 2, 2]


def test_poker_hands_are_cards() -> None:
    table, y = loaded("poker")
    assert table.values[0].tolist() == [1, 10, 1, 11, 1, 13, 1, 12, 1, 1]
    assert y[0] == 9  # a royal flush
    suits, ranks = table.values[:, ::2], table.values[:, 1::2]
    assert (suits.min(), suits.max(), ranks.min(), ranks.max()) == (1, 4, 1, 13)
    flush = (suits == suits[:, :1]).all(axis=1)
    assert set(np.unique(y[flush])) == {5, 8, 9}


def test_isolet_components_are_uncorrelated_ordered_and_fixed_in_sign() -> None:
    raw, y = loaded("isolet")
    table, labels = loaded("isolet-50")
    assert labels.tolist() == y.tolist()
    values = table.values
    np.testing.assert_allclose(values.mean(axis=0), 0, atol=1e-9)
    covariance = values.T @ values
    variances = np.diag(covariance)
    np.testing.assert_allclose(covariance - np.diag(variances), 0, atol=1e-8 * variances[0])
    assert (np.diff(variances) < 0).all()
    # For an eigenvector v of X'X with eigenvalue lambda, X'(Xv) / lambda is v again.
    centered = raw.values - raw.values.mean(axis=0)
    loadings = centered.T @ values / variances
    np.testing.assert_allclose(loadings.T @ loadings, np.eye(50), atol=1e-8)
    np.testing.assert_allclose(centered @ loadings, values, atol=1e-8)
    assert (loadings[np.abs(loadings).argmax(axis=0), np.arange(50)] > 0).all()


def test_isolet_components_are_kept_and_a_spoiled_copy_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh, y = loaded("isolet-50")
    monkeypatch.setattr(storage, "cache_folder", lambda: tmp_path)
    files = storage.found_files(datasets.info("isolet-50"))
    assert files is not None
    calls = []
    monkeypatch.setattr(datasets, "_read_files", lambda *_: calls.append(1) or (fresh, y))
    monkeypatch.setattr(datasets, "principal_components", lambda values, _: values)
    for expected_reads in (1, 1):
        assert datasets.load("isolet-50")[0] == fresh
        assert len(calls) == expected_reads
    (kept,) = tmp_path.glob("isolet-50-*.npy")
    kept.write_bytes(kept.read_bytes()[:1000])
    assert datasets.load("isolet-50")[1].tolist() == y.tolist()
    assert len(calls) == 2
    monkeypatch.setattr(storage, "cache_folder", lambda: tmp_path / "a file" / "below")
    (tmp_path / "a file").write_text("")
    assert datasets.load("isolet-50", rows=3)[0] == fresh[:3]


def test_projection_of_a_plain_case() -> None:
    line = np.outer(np.arange(5.0), [-3.0, -4.0])
    projected = datasets.principal_components(line, 1)
    np.testing.assert_allclose(projected[:, 0], [10, 5, 0, -5, -10], atol=1e-12)


def test_projection_agrees_with_the_singular_value_decomposition() -> None:
    values = np.random.default_rng(3).normal(size=(40, 6)) * [5, 4, 3, 2, 1, 0.5] + 7
    left, singular, right = np.linalg.svd(values - values.mean(axis=0), full_matrices=False)
    signs = np.sign(right[np.arange(6), np.abs(right).argmax(axis=1)])
    np.testing.assert_allclose(datasets.principal_components(values, 3), (left * singular * signs)[:, :3], atol=1e-9)


@pytest.mark.parametrize("name", ["car", "movement", "nursery-4", "pendigits", "electricity"])
def test_first_rows(name: str) -> None:
    whole, y = loaded(name)
    for rows in (1, 100, 8000 if name == "pendigits" else 500):
        table, labels = datasets.load(name, rows=rows)
        assert len(table) == len(labels) == rows
        assert labels.tolist() == y[:rows].tolist()
        np.testing.assert_array_equal(table.values, whole.values[:rows])


def test_rows_are_checked() -> None:
    with pytest.raises(ValueError, match="rows=0: at least 1 row"):
        datasets.load("car", rows=0)
    assert len(datasets.load("car", rows=10_000)[0]) == 1728


def test_unknown_names() -> None:
    with pytest.raises(ValueError, match=r"^unknown data set 'nursry' \(did you mean nursery") as caught:
        ew.datasets.load("nursry")
    assert all(name in str(caught.value) for name in datasets.names())
    with pytest.raises(ValueError, match=r"^unknown data set 'qqq'; the data sets are a9a, abalone, balance, car"):
        datasets.info("qqq")


@pytest.mark.parametrize("name", ["balance", "car", "car-numeric"])
def test_bundled_sets_need_nothing(nothing_here: Path, name: str) -> None:
    table, _ = datasets.load(name)
    assert len(table) == FACTS[name][0]
    assert datasets.where(name) == "bundled"
    assert set(datasets.check(name).values()) == {"ok"}
    assert all(path.parent.name == "bundled" for path in datasets.fetch(name))
    assert not nothing_here.exists()


def test_order_is_the_published_one() -> None:
    assert datasets.order(10, 1).tolist() == np.random.default_rng(1).permutation(10).tolist()
    assert datasets.order(10, 1, 3).tolist() == np.random.default_rng(1).permutation(10)[:3].tolist()
    table, y = datasets.load("balance")
    mixed, labels = datasets.shuffled(table, y, 7)
    chosen = np.random.default_rng(7).permutation(625)
    np.testing.assert_array_equal(mixed.values, table.values[chosen])
    assert labels.tolist() == y[chosen].tolist()
    assert len(datasets.shuffled(table, y, 7, 20)[1]) == 20


# ---- where files are found


def nursery_text() -> bytes:
    needs("nursery")
    return datasets.path_of("nursery.data").read_bytes()


@pytest.mark.parametrize("name", ["nursery.data", "nursery.data.xz", "nursery.data.gz"])
def test_files_are_found_packed_or_not(nothing_here: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.undo()
    content = nursery_text()
    monkeypatch.delenv("EDGEWISE_DATA", raising=False)
    monkeypatch.setattr(storage, "cache_folder", lambda: nothing_here)
    assert datasets.where("nursery") == "not here"
    assert datasets.check("nursery") == {"nursery.data": "missing"}
    with pytest.raises(FileNotFoundError, match=r"^nursery\.data: not bundled, not in EDGEWISE_DATA=''"):
        datasets.path_of("nursery.data")
    nothing_here.mkdir()
    pack = {".xz": lzma.compress, ".gz": gzip.compress}.get(Path(name).suffix, bytes)
    (nothing_here / name).write_bytes(pack(content))
    assert datasets.where("nursery") == "cache"
    assert datasets.check("nursery") == {"nursery.data": "ok"}
    assert datasets.path_of("nursery.data") == nothing_here / name
    assert len(datasets.load("nursery")[0]) == 12960


def test_a_changed_file_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (storage.BUNDLED / "car.data").read_text()
    (tmp_path / "car.data").write_text("".join(text.splitlines(keepends=True)[:-1]))
    monkeypatch.setattr(storage, "BUNDLED", tmp_path)
    assert datasets.check("car")["car.data"].startswith("changed: SHA-256 ")
    with pytest.raises(ValueError, match=r"^car: .*car\.data holds 1727 x 6 with .*, not 1728 x 6 with classes"):
        datasets.load("car")


def test_path_of_an_unknown_file() -> None:
    with pytest.raises(ValueError, match=r"'nothing\.txt' is not a file of any data set"):
        datasets.path_of("nothing.txt")


# ---- downloads, from a server on this machine


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Path]]:
    folder = tmp_path / "served"
    folder.mkdir()

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        yield f"http://127.0.0.1:{running.server_port}", folder
        running.shutdown()
        thread.join()


TOY = b"1,x\n2,y\n3,x\n"


def register(monkeypatch: pytest.MonkeyPatch, file: DataFile, substitute: DataFile | None = None) -> None:
    toy = replace(
        SETS["car"],
        name="toy",
        features=1,
        class_counts={"x": 2, "y": 1},
        files=(file,),
        substitute=substitute,
        options={"header": ("a", "class")},
    )
    monkeypatch.setitem(SETS, "toy", toy)


@pytest.mark.parametrize("form", ["toy.data", "toy.data.gz", "toy.zip"])
def test_download(nothing_here: Path, server: tuple[str, Path], monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    url, folder = server
    if form.endswith(".zip"):
        with zipfile.ZipFile(folder / form, "w") as archive:
            archive.writestr("inner/toy.csv", TOY)
    else:
        (folder / form).write_bytes(gzip.compress(TOY) if form.endswith(".gz") else TOY)
    member = "inner/toy.csv" if form.endswith(".zip") else None
    digest = hashlib.sha256(TOY).hexdigest()
    register(monkeypatch, DataFile("toy.data.xz", "0" * 64, digest, f"{url}/{form}", member))
    assert datasets.where("toy") == "not here"
    table, y = datasets.load("toy")
    assert table.values[:, 0].tolist() == [1, 2, 3]
    assert y.tolist() == ["x", "y", "x"]
    assert datasets.where("toy") == "cache"
    assert datasets.check("toy") == {"toy.data.xz": "ok"}
    kept = "toy.data.gz" if form.endswith(".gz") else "toy.data"
    assert [path.name for path in nothing_here.iterdir()] == [kept]
    (folder / form).unlink()
    assert datasets.fetch("toy") == [nothing_here / kept]  # from the cache: the server no longer has it


def test_a_download_with_another_checksum_is_refused(
    nothing_here: Path, server: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, folder = server
    (folder / "toy.data").write_bytes(TOY)
    register(monkeypatch, DataFile("toy.data", "0" * 64, "0" * 64, f"{url}/toy.data"))
    with pytest.raises(OSError, match=r"is not the file expected \(changed: SHA-256 .* where 0{64} is expected\)"):
        datasets.load("toy")
    assert list(nothing_here.iterdir()) == []


def test_a_download_packed_in_another_way_is_told_by_its_content(
    nothing_here: Path, server: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, folder = server
    ours, theirs = (gzip.compress(TOY, level, mtime=0) for level in (0, 9))
    assert ours != theirs
    (folder / "toy.data.gz").write_bytes(theirs)
    sums = hashlib.sha256(ours).hexdigest(), hashlib.sha256(TOY).hexdigest()
    register(monkeypatch, DataFile("toy.data.gz", *sums, f"{url}/toy.data.gz"))
    assert datasets.load("toy")[0].values[:, 0].tolist() == [1, 2, 3]
    assert datasets.check("toy") == {"toy.data.gz": "ok"}
    (nothing_here / "toy.data.gz").write_bytes(gzip.compress(TOY + b"4,x\n"))
    assert datasets.check("toy")["toy.data.gz"].startswith("changed: SHA-256")


def test_a_download_that_fails_says_what_to_do(
    nothing_here: Path, server: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, _ = server
    register(monkeypatch, DataFile("toy.data.xz", "0" * 64, "0" * 64, f"{url}/absent.data"))
    with pytest.raises(OSError, match="could not download") as caught:
        datasets.fetch("toy")
    text = str(caught.value)
    assert text.startswith(f"toy: could not download {url}/absent.data into {nothing_here} (404")
    assert text.endswith("; or put toy.data into a folder and set EDGEWISE_DATA to it")
    assert "\n" not in text


def test_a_substitute_of_unknown_checksum_is_checked_by_its_rows(
    nothing_here: Path, server: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, folder = server
    head = "@relation r\n@attribute a real\n@attribute class {x,y}\n@data\n"
    (folder / "right").write_text(head + TOY.decode())
    (folder / "wrong").write_text(head + TOY.decode() + "4,y\n")
    original = DataFile("toy.data", "0" * 64, "0" * 64)
    register(monkeypatch, original, DataFile("toy.arff", url=f"{url}/wrong"))
    with pytest.raises(ValueError, match=r"toy: .*toy\.arff holds 4 x 1"):
        datasets.load("toy")
    assert datasets.check("toy") == {"toy.arff": "unknown: no checksum is known for this file"}
    (nothing_here / "toy.arff").unlink()
    register(monkeypatch, original, DataFile("toy.arff", url=f"{url}/right"))
    assert datasets.load("toy")[0].values[:, 0].tolist() == [1, 2, 3]


def test_a_set_without_address_says_so(nothing_here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, DataFile("toy.data", "0" * 64, "0" * 64))
    with pytest.raises(OSError, match=r"^toy: toy\.data has no address to download from; or put toy\.data into"):
        datasets.load("toy")
