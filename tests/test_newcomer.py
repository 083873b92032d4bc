"""A newcomer's path: build the wheel, install it, paste the code of the first pages, get what they say is printed.

In `make test`, the wheel is shown to hold the very files that the other tests run, it is installed beside the present
dependencies, and the pages are pasted in a fresh folder. In `make test-all`, the wheel is built from the source archive
and goes with its dependencies into an empty environment, where nothing is compiled yet.
"""

from __future__ import annotations

import email
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.pasted import Block, blocks, paste

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "edgewise"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PAGES = [page for page in (ROOT / "README.md", ROOT / "docs" / "tutorial.md") if page.exists()]


def run(*command: str | Path, cwd: Path = ROOT, **environment: str) -> str:
    """What a command prints; its errors are those of the test."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    kept |= {"MPLBACKEND": "Agg", "PIP_DISABLE_PIP_VERSION_CHECK": "1"} | environment
    done = subprocess.run(list(map(str, command)), cwd=cwd, env=kept, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}:\n{done.stdout}\n{done.stderr}"
    return done.stdout


def build(kind: str, source: Path, into: Path) -> Path:
    """A wheel or a source archive, built without a network."""
    pytest.importorskip("hatchling", reason="hatchling, which builds the wheel, is not installed (extra test)")
    run(sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", into, cwd=source)
    (made,) = into.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return made


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return build("wheel", ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A folder with the wheel alone."""
    folder = tmp_path_factory.mktemp("installed")
    run(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", folder, wheel)
    return folder


# -- the wheel -------------------------------------------------------------------------------------------------------


def sources() -> set[str]:
    """The package's files, as a wheel names them."""
    found = (path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(ROOT / "src").as_posix() for path in found}


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        assert names == sources()
        for name in names:
            assert archive.read(name) == (ROOT / "src" / name).read_bytes(), name


def test_what_the_wheel_says_of_itself(wheel):
    assert wheel.name == f"edgewise-{PROJECT['version']}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        (facts,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        metadata = email.message_from_string(archive.read(facts).decode())
        (license_file,) = (name for name in archive.namelist() if name.endswith("/LICENSE"))
        assert archive.read(license_file) == (ROOT / "LICENSE").read_bytes()
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "BSD-3-Clause"
    assert {"neural", "docs", "test", "peers"} <= set(metadata.get_all("Provides-Extra"))
    needed = {re.split(r"[ <>=!~;\[]", each)[0] for each in metadata.get_all("Requires-Dist") if "extra ==" not in each}
    assert needed == {re.split(r"[ <>=!~\[]", each)[0] for each in PROJECT["dependencies"]}
    # What is an extra is no dependency.
    assert not needed & {"torch", "river", "capymoa", "vowpalwabbit", "sphinx", "pytest", "pandas", "polars"}
    for minor in (11, 12, 13):
        assert f"Programming Language :: Python :: 3.{minor}" in metadata.get_all("Classifier")
    assert metadata.get_payload().lstrip().startswith("# edgewise")


def test_the_installed_wheel_alone(installed, tmp_path):
    """Its command, its names and its bundled data, from a folder that knows nothing of this repository."""
    beside = {"PYTHONPATH": str(installed)}
    script = installed / "bin" / "edgewise"
    assert run(sys.executable, script, "--version", cwd=tmp_path, **beside).split()[-1] == PROJECT["version"]
    told = run(
        sys.executable,
        "-c",
        "import edgewise as ew; print(ew.__file__)\n"
        "for name in ew.__all__: getattr(ew, name)\n"
        "print(*(len(ew.datasets.load(name)[1]) for name in ('car', 'balance')))",
        cwd=tmp_path,
        EDGEWISE_DATA="",
        **beside,
    )
    place, rows = told.splitlines()
    assert Path(place).is_relative_to(installed), "another edgewise was imported"
    assert rows == "1728 625"


def test_the_source_archive(tmp_path):
    with tarfile.open(build("sdist", ROOT, tmp_path)) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"src/{name}" for name in sources()} <= names
    for name in ("README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "Makefile", "pyproject.toml"):
        assert name in names
    assert {f"tests/{path.name}" for path in (ROOT / "tests").glob("*.py")} <= names
    assert {f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")} <= names
    assert not [name for name in names if name.startswith("benchmarks/results/") or "__pycache__" in name]


# -- the pages -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_print_what_they_say(page, tmp_path):
    """With the package of this repository, whose files are those of the wheel: see above."""
    assert blocks(page.read_text())
    run(sys.executable, ROOT / "tests" / "pasted.py", page, cwd=tmp_path, PYTHONPATH=str(ROOT / "src"))


def test_the_first_example_says_what_it_prints():
    (example,) = blocks((ROOT / "README.md").read_text())
    assert example.printed is not None
    assert "mistakes in 1500 rounds" in example.printed


def test_pasting_notices_what_is_wrong():
    text = (
        "# t\n\n```python\na = 2\nprint(a)\n```\n\n```\n2\n```\n\n```python\n>>> a + 1\n3\n>>> b = a\n```\n\nWords.\n"
    )
    text += "\n```python\nprint(b)\n```\n\nMore words.\n\n```\n5\n```\n"
    found = blocks(text)
    assert found == [
        Block(4, "a = 2\nprint(a)\n", "2\n"),
        Block(13, ">>> a + 1\n3\n>>> b = a\n", None),
        Block(21, "print(b)\n", None),
    ]
    assert paste("page", found) == []
    (complaint,) = paste("page", [found[0]._replace(printed="3\n"), *found[1:]])
    assert complaint == "page, line 4: expected\n3\n\ngot\n2\n"
    (complaint,) = paste("page", [found[0], found[1]._replace(code=">>> a + 1\n4\n")])
    assert "Expected:\n    4\nGot:\n    3" in complaint
    with pytest.raises(NameError, match="'a' is not defined"):
        paste("page", [Block(1, "print(a)\n", None)])


@pytest.mark.slow
def test_in_an_empty_environment(tmp_path):
    """The source archive becomes a wheel, the wheel and its dependencies go into a new environment, the pages run."""
    archive = build("sdist", ROOT, tmp_path / "archive")
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path / "source", filter="data")
    (source,) = (tmp_path / "source").iterdir()
    wheel = build("wheel", source, tmp_path / "wheel")
    environment = tmp_path / "environment"
    run(sys.executable, "-m", "venv", environment)
    scripts = environment / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / "python"
    run(python, "-m", "pip", "install", "--quiet", wheel)
    run(python, "-m", "pip", "check")
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    settings = {
        "NUMBA_CACHE_DIR": str(tmp_path / "kernels"),
        "EDGEWISE_DATA": "",
        "XDG_CACHE_HOME": str(tmp_path / "home"),
    }
    place = run(python, "-c", "import edgewise; print(edgewise.__file__)", cwd=fresh, **settings)
    assert Path(place.strip()).is_relative_to(environment)
    for page in PAGES:
        run(python, ROOT / "tests" / "pasted.py", page, cwd=fresh, **settings)
    assert run(scripts / "edgewise", "--version", cwd=fresh, **settings).split()[-1] == PROJECT["version"]
