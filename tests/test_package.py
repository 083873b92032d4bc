"""The package as it is shipped: names, light import, version, data, kernels that are never stale, examples."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.resources
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import edgewise
from edgewise.data.registry import SETS
from edgewise.kernels import compile

ROOT = Path(__file__).parent.parent


def run(*command: str, cwd: Path = ROOT) -> str:
    """What a Python process of its own prints."""
    environment = os.environ | {"MPLBACKEND": "Agg"}
    if environment.get("EDGEWISE_DATA"):
        environment["EDGEWISE_DATA"] = str(Path(environment["EDGEWISE_DATA"]).resolve())
    done = subprocess.run(
        [sys.executable, *command], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", edgewise.__all__)
def test_every_exported_name_is_there(name):
    value = getattr(edgewise, name)
    assert value is not None
    assert name in dir(edgewise)
    if isinstance(value, type):
        assert value.__name__ == name


def test_unknown_names():
    with pytest.raises(AttributeError, match="module 'edgewise' has no attribute 'AdaBoost'"):
        edgewise.AdaBoost  # noqa: B018
    with pytest.raises(ImportError):
        from edgewise import AdaBoost  # noqa: F401


def test_import_is_light():
    """Importing brings in no dependency; a booster brings in NumPy, Numba and what Numba looks for (SciPy)."""
    script = """
import json, sys
import edgewise
bare = sorted(sys.modules)
edgewise.AdaBoostOLM
with_a_booster = sorted(sys.modules)
edgewise.plot, edgewise.watch, edgewise.StreamingNetworksClassifier
print(json.dumps([bare, with_a_booster, sorted(sys.modules)]))
"""
    bare, with_a_booster, with_plot = map(set, json.loads(run("-c", script)))
    heavy = {"pyarrow", "matplotlib", "pandas", "polars", "sklearn", "pooch", "rich", "click", "narwhals"}
    heavy |= {"torch", "river", "joblib", "capymoa", "vowpalwabbit"}
    assert bare & (heavy | {"numba", "numpy", "scipy"}) == set()
    assert with_a_booster & heavy == set()
    assert {"numba", "numpy"} <= with_a_booster
    # Pictures and networks load matplotlib and torch when the first one is drawn or made.
    assert with_plot & heavy == set()
    assert "edgewise.plot.curves" in with_plot


def test_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert edgewise.__version__ == project["version"]
    assert importlib.metadata.version("edgewise") == project["version"]
    # The newest version of the change log is this one.
    versions = re.findall(r"^## \[?(\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert versions[0] == project["version"]
    assert f"\nversion: {project['version']}\n" in (ROOT / "CITATION.cff").read_text()


def test_lower_bounds_as_exact_requirements():
    """What `make test-lowest` installs: every dependency, at a version that its requirement allows."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pins = dict(line.split("==") for line in run("tests/lowest.py").splitlines())
    assert {"numpy", "numba", "scikit-learn", "matplotlib", "pytest"} <= set(pins)
    for requirement in project["dependencies"]:
        name, bound = requirement.split(">=")
        assert pins[name] == bound or re.fullmatch(re.escape(bound) + r"(\.0)+", pins[name])
    assert "ruff" not in pins


def test_extras():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {"neural", "river", "docs", "test", "peers"} <= set(extras)


def test_what_is_shipped_beside_code():
    package = importlib.resources.files("edgewise")
    assert package.joinpath("py.typed").is_file()
    bundled = package.joinpath("data", "bundled")
    assert {file.name for file in bundled.iterdir()} == {"balance-scale.data", "car.data"}
    for name in ("balance", "car"):
        (file,) = SETS[name].files
        assert hashlib.sha256(bundled.joinpath(file.name).read_bytes()).hexdigest() == file.sha256


# Kernels


def test_every_file_with_a_kernel_counts_in_the_cache_key():
    """Numba does not see changes in a callee in another file: a source left out could run as it was before."""
    package = Path(edgewise.__file__).parent
    with_kernels = {
        path
        for path in package.rglob("*.py")
        if re.search(r"^@(inlined|entry_point)\b", path.read_text(), re.MULTILINE)
    }
    assert len(with_kernels) > 5
    assert with_kernels <= set(compile.kernel_sources())


def test_cache_key_follows_the_sources(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    copies = []
    for number, source in enumerate(compile.kernel_sources()):
        copies.append(tmp_path / f"{number}.py")
        copies[-1].write_bytes(source.read_bytes())
    real = compile.cache_folder()
    assert real.parent == tmp_path / "cache"
    monkeypatch.setattr(compile, "kernel_sources", lambda: copies)
    assert compile.cache_folder() == real, "the same text, the same folder"
    seen = {real}
    for number, copied in enumerate(copies):
        text = copied.read_bytes()
        copied.write_bytes(text + f"# changed: {number}\n".encode())
        seen.add(compile.cache_folder())
        copied.write_bytes(text)
    assert len(seen) == 1 + len(copies), "a change in any source, another folder"
    assert compile.cache_folder() == real


@pytest.mark.parametrize("chosen", [True, False])
def test_place_of_the_cache(monkeypatch, tmp_path, chosen):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    if chosen:
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "mine"))
    else:
        monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    assert compile.cache_folder().parent == tmp_path / ("mine" if chosen else "xdg/edgewise")


def test_names_of_earlier_releases_are_kept_with_a_warning():
    with pytest.warns(DeprecationWarning, match=r"edgewise\.LabelMemory is edgewise\.LabelMarkovChain now"):
        assert edgewise.LabelMemory is edgewise.LabelMarkovChain
