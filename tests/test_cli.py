"""The command line: what it prints, what it writes, and how it fails."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import edgewise
from edgewise.cli.sources import advice, load_source, parse_sources
from edgewise.evaluation.models import MODELS, PEERS
from edgewise.evaluation.runs import load_runs
from tests.small_races import assert_one_line_error, invoke


def edgewise_command(*args: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from edgewise.cli import main; main()", *args],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, **environment},
        check=False,
    )


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    """A small file with a header, a label in the middle and a numeric column that is a category."""
    rng = np.random.default_rng(4)
    path = tmp_path / "fruit.csv"
    lines = ["weight,kind,crate"]
    for _ in range(120):
        kind = rng.integers(3)
        lines.append(f"{rng.normal(kind, 0.4):.4f},{('apple', 'fig', 'plum')[kind]},{10 + kind}")
    path.write_text("\n".join(lines) + "\n")
    return path


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from edgewise.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit as stop: assert stop.code == 0\n"
        "print([name for name in ('numba', 'numpy', 'matplotlib', 'rich', 'pyarrow') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "race" in result.stdout
    assert result.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    "command", [(), ("race",), ("draw",), ("data",), ("data", "fetch"), ("models",), ("reproduce",), ("warmup",)]
)
def test_every_command_has_help(command: tuple[str, ...]) -> None:
    result = invoke(*command, "--help")
    assert result.exit_code == 0
    assert result.stdout.startswith(f"Usage: {' '.join(('edgewise', *command))}")
    assert "--debug" in result.stdout


def test_no_arguments_show_help() -> None:
    result = invoke()
    assert result.exit_code == 0
    assert "edgewise race car" in result.stdout


def test_version() -> None:
    assert invoke("--version").stdout == f"edgewise, version {edgewise.__version__}\n"


def test_models_are_listed_with_their_algorithm() -> None:
    result = invoke("models")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    ours, theirs = lines[1 : len(MODELS) + 1], lines[len(MODELS) + 3 :]
    assert [line.split()[0] for line in ours] == list(MODELS)
    assert [line.split()[0] for line in theirs] == list(PEERS)
    assert all(line == line.rstrip() for line in lines)
    assert "OnlineMBBM (Jung et al. 2017, Algorithm 1)" in result.stdout


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("frobnicate",), ("frobnicate", "edgewise --help")),
        (("race",), ("no DATA", "edgewise race car")),
        (("race", "car", "--learners", "0"), ("--learners", "0")),
        (("race", "car", "--models", "olm,mbm"), ("unknown model 'mbm'", "did you mean mbbm?")),
        (("race", "car", "--models", ","), ("names no model",)),
        (("race", "car", "--preset", "fast"), ("--preset", "paper")),
        (("race", "abalone"), ("abalone has real targets", "StreamingGradientBoostingRegressor")),
        (("race", "cars"), ("unknown data set 'cars'", "did you mean car")),
        (("race", "no/such/file.csv"), ("no such file: no/such/file.csv",)),
        (("race", "car", "--target", "3"), ("--target", "a file of yours")),
        (("race", "--from", "missing.json"), ("missing.json",)),
        (("draw", "missing.json"), ("missing.json",)),
        (("data", "fetch", "cra"), ("unknown data set 'cra'", "did you mean car")),
        (("data", "check", "cra"), ("unknown data set 'cra'", "did you mean car")),
    ],
)
def test_bad_usage_is_one_line_and_exit_code_2(args: tuple[str, ...], words: tuple[str, ...]) -> None:
    assert_one_line_error(invoke(*args), 2, *words)


@pytest.mark.parametrize("where", ["before", "after"])
def test_debug_shows_the_traceback(where: str) -> None:
    args = ("race", "car", "--models", "mbm")
    result = invoke(*(("--debug", *args) if where == "before" else (*args, "--debug")))
    assert result.exit_code == 2
    assert result.stderr.startswith("Traceback")
    assert result.stderr.splitlines()[-1].startswith("edgewise: error: unknown model 'mbm'")


def test_a_file_that_is_no_runs_file(tmp_path: Path) -> None:
    path = tmp_path / "runs.json"
    path.write_text("{}")
    assert_one_line_error(invoke("race", "--from", str(path)), 2, "not a file of runs")
    assert_one_line_error(invoke("race", "car", "--from", str(path)), 2, "takes no DATA")


def test_a_file_with_a_bad_row_names_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("a,b,label\n1,2,x\n1,2\n3,4,y\n")
    assert_one_line_error(invoke("race", str(path), "--header", "--out", str(tmp_path / "out")), 2, "bad.csv", "3")


def test_a_failing_model_is_exit_code_1(tmp_path: Path, csv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> Any:
        raise FloatingPointError("the weights are gone")

    monkeypatch.setattr("edgewise.evaluation.models.ModelSpec.make", fail)
    result = invoke("race", str(csv), "--target", "kind", "--models", "olm", "--out", str(tmp_path / "out"))
    assert_one_line_error(result, 1, "fruit.csv, olm: the weights are gone")


def test_a_folder_that_cannot_be_written_is_exit_code_1(tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("")
    assert_one_line_error(invoke("race", "car", "--out", str(blocker / "out")), 1, "cannot write")


def test_ctrl_c_is_exit_code_130(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def interrupt(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("edgewise.evaluation.models.ModelSpec.make", interrupt)
    result = invoke("race", "car", "--models", "olm", "--out", str(tmp_path))
    assert result.exit_code == 130
    assert "Traceback" not in result.output
    assert result.stderr.splitlines()[-1] == "edgewise: error: stopped"


def test_data_list_shows_what_is_bundled() -> None:
    result = invoke("data", "list")
    assert result.exit_code == 0
    lines = {line.split()[0]: line for line in result.stdout.splitlines()}
    assert "1,728" in lines["car"]
    assert "bundled" in lines["car"]


def test_data_check_of_a_bundled_set() -> None:
    result = invoke("data", "check", "car")
    assert result.exit_code == 0
    assert result.stdout.startswith("car")


def test_data_check_finds_a_changed_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nursery.data").write_text(
        "usual,proper,complete,1,convenient,convenient,nonprob,recommended,recommend\n"
    )
    monkeypatch.setenv("EDGEWISE_DATA", str(tmp_path))
    result = invoke("data", "check", "nursery")
    assert result.exit_code == 1
    assert "nursery: nursery.data: changed" in result.stdout
    assert result.stderr == "edgewise: error: missing or changed: nursery.data\n"
    race = invoke("race", "nursery", "--models", "trees", "--out", str(tmp_path))
    assert_one_line_error(race, 1, "nursery")


def test_data_fetch(monkeypatch: pytest.MonkeyPatch) -> None:
    assert invoke("data", "fetch", "car").stdout == "car: bundled\n"

    def offline(name: str) -> list[Path]:
        raise OSError(f"{name}: could not download")

    monkeypatch.setattr("edgewise.data.datasets.fetch", offline)
    assert_one_line_error(invoke("data", "fetch", "car"), 1, "car: could not download")


def test_streams_in_time_order_stay_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = edgewise.datasets.info("car")
    monkeypatch.setitem(edgewise.datasets.SETS, "car", dataclasses.replace(known, in_order=True))
    args = ("race", "car", "--models", "trees", "--learners", "2", "--rows", "40", "--out", str(tmp_path))
    assert "car: 40 rows in file order" in invoke(*args).stdout
    assert load_runs(tmp_path / "runs.json")[0].order == "file"
    assert "car: 40 rows shuffled" in invoke(*args, "--order", "shuffled").stdout


def test_files_of_the_same_name_are_kept_apart(tmp_path: Path, csv: Path) -> None:
    twin = tmp_path / "other" / csv.name
    twin.parent.mkdir()
    twin.write_text(csv.read_text())
    args = ("--target", "kind", "--models", "trees", "--learners", "2", "--rows", "40", "--out", str(tmp_path))
    assert invoke("race", str(csv), str(twin), str(csv), *args).exit_code == 0
    assert [run.data for run in load_runs(tmp_path / "runs.json")] == [str(csv), str(twin)]


def test_race_end_to_end(tmp_path: Path) -> None:
    result = edgewise_command("race", "car", "--learners", "5", "--rows", "300", "--out", "results", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "\x1b" not in result.stdout + result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == "car: 300 rows shuffled, 5 learners"
    assert lines[1].split() == ["model", "all", "rows", "last", "fifth", "kappa", "log-loss", "rows/s", "memory"]
    assert [line.split()[0] for line in lines[2:6]] == ["olm", "mbbm", "oza", "trees"]
    assert lines[-2].split()[-1] == "results/curves.png"
    assert lines[-1].split()[-1] == "results/runs.json"
    runs = load_runs(tmp_path / "results/runs.json")
    assert [(run.data, run.model, run.seed, run.rows) for run in runs] == [
        ("car", model, 1, 300) for model in ("olm", "mbbm", "oza", "trees")
    ]
    for run, line in zip(runs, lines[2:6], strict=True):
        told = (run.accuracy, run.last_fifth, run.kappa, run.log_loss)
        assert line.split()[1:5] == [f"{value:.3f}" for value in told]
    picture = (tmp_path / "results/curves.png").read_bytes()
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", picture[16:24]) >= (1000, 500)
    assert len(picture) > 10_000


def test_race_tells_of_columns_of_0_and_1_and_reads_them_as_categories_if_asked(tmp_path: Path) -> None:
    path = tmp_path / "dummies.csv"
    path.write_text("a,size,b,label\n" + "".join(f"{i % 2},{i / 7},{i % 3 // 2},{'xy'[i % 2]}\n" for i in range(60)))
    args = ("race", str(path), "--models", "trees", "--learners", "2", "--out", str(tmp_path / "out"))
    result = invoke(*args)
    assert result.exit_code == 0, result.stderr
    assert "dummies.csv: only 0 and 1 in a, b; --categorical 0/1 reads such columns as categories\n" in result.stderr
    for columns, nominal in (("0/1", [True, False, True]), ("size, 0/1", [True] * 3), ("a", [True, False, False])):
        (source,) = parse_sources([str(path)], target=None, categorical=columns, header=None, labels=None)
        X, _ = load_source(source)
        assert [feature.categories is not None for feature in X.features] == nominal
        assert (advice(source, X) is None) == (columns != "a")
    result = invoke(*args, "--categorical", "0/1")
    assert result.exit_code == 0, result.stderr
    assert "only 0 and 1" not in result.stderr


def test_race_on_a_file_with_seeds_then_again_from_its_runs(tmp_path: Path, csv: Path) -> None:
    out = tmp_path / "out"
    args = ("--target", "kind", "--categorical", "crate", "--header", "--models", "trees,mbbm:0.2@paper")
    result = invoke("race", str(csv), *args, "--learners", "3", "--seeds", "2", "--out", str(out))
    assert result.exit_code == 0, result.stderr
    assert "fruit.csv: 120 rows shuffled, 3 learners, 2 seeds: mean ± standard error" in result.stdout
    runs = load_runs(out / "runs.json")
    assert [(run.model, run.seed) for run in runs] == [
        (model, seed) for seed in (1, 2) for model in ("trees", "mbbm:0.2@paper")
    ]
    assert runs[0].classes == ["apple", "fig", "plum"]
    first = (out / "curves.png").read_bytes()
    (out / "curves.png").unlink()
    again = invoke("race", "--from", str(out / "runs.json"))
    assert again.exit_code == 0
    assert again.stdout == result.stdout
    assert (out / "curves.png").read_bytes() == first
    drawn = invoke("draw", str(out / "runs.json"), "--out", str(tmp_path / "curves.svg"))
    assert drawn.exit_code == 0
    assert (tmp_path / "curves.svg").read_text().startswith("<?xml")
    assert_one_line_error(invoke("draw", str(out / "runs.json"), "--out", str(tmp_path / "curves.doc")), 2, ".png")


def test_file_order_and_the_preset_reach_the_runs(tmp_path: Path) -> None:
    args = ("--order", "file", "--preset", "paper", "--models", "oza", "--learners", "3", "--rows", "60")
    result = invoke("race", "car", *args, "--out", str(tmp_path))
    assert result.exit_code == 0, result.stderr
    (run,) = load_runs(tmp_path / "runs.json")
    assert (run.model, run.order, run.rows) == ("oza@paper", "file", 60)
    assert json.loads((tmp_path / "runs.json").read_text())["version"] == 1


def test_an_error_in_a_real_process() -> None:
    result = edgewise_command("race", "car", "--models", "nope")
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith("edgewise: error: unknown model 'nope'")
    assert result.stderr.count("\n") == 1


def test_an_interrupted_process_says_so_in_one_line(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", "from edgewise.cli import main; main()", "race", "car", "--seeds", "1000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    assert process.stderr is not None
    line = process.stderr.readline()
    while line.startswith("compiling"):
        line = process.stderr.readline()
    assert line.startswith("car olm seed 1:")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode == 130
    assert errors.splitlines()[-1] == "edgewise: error: stopped"
    assert "Traceback" not in errors
    assert load_runs(tmp_path / "race-results/runs.json")[0].model == "olm"


def test_a_terminal_that_cannot_show_the_sign(tmp_path: Path) -> None:
    run = edgewise_command(
        *("race", "car", "--models", "trees", "--learners", "2", "--rows", "60", "--seeds", "2"),
        cwd=tmp_path,
        PYTHONIOENCODING="ascii",
    )
    assert run.returncode == 0, run.stderr
    assert "mean +- standard error" in run.stdout


def test_warmup_of_an_unknown_family() -> None:
    result = invoke("warmup", "label")
    assert result.exit_code == 2
    assert "no family 'label': labels, rankings, bandits, numbers, batch" in result.stderr


def test_warmup_covers_every_model_with_kernels_of_its_own() -> None:
    """Every online or batch estimator of the package is in a family; networks are compiled by PyTorch."""
    from edgewise.evaluation.models import FAMILIES
    from tests.estimators import BATCH, ONLINE

    named = {name for names in FAMILIES.values() for name in names}
    assert set(ONLINE | BATCH) - named == {"CostTree"}


@pytest.mark.slow
def test_after_a_warmup_nothing_is_compiled(tmp_path: Path) -> None:
    """In an empty cache: what a race with other learners and columns needs is all there after `edgewise warmup`."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kernels")}

    def kept(*command: str) -> set[Path]:
        code = "import sys; from edgewise.cli import main; main(sys.argv[1:])"
        subprocess.run([sys.executable, "-c", code, *command], env=environment, check=True, capture_output=True)
        return set((tmp_path / "kernels").rglob("*.nbc"))

    out = ("--out", str(tmp_path / "out"))
    warm = kept("warmup", "labels")
    assert warm
    assert kept("race", "balance", "--models", "olm,mbbm,oza,ova@paper,adaova,trees", "--rows", "300", *out) == warm
