"""The package as others get it: the wheel, where it installs, what an install without Go says.

All of it works on a copy of the checkout, in which there are leavings of earlier builds.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from skyrail import _native

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = f"skyrail/{_native.LIBRARY_NAME}"
OF_THE_SYSTEM = re.compile(r"lib(c|pthread|dl|m|rt)\.so\.\d+|ld-linux.*")  # in every manylinux

# Flown in a virtual environment with the wheel, outside the checkout.
WITH_NUMPY_ONLY = """
import importlib.util, pathlib, shutil, sys
assert shutil.which("go") is None and shutil.which("cc") is None
assert importlib.util.find_spec("gymnasium") is None

import skyrail.flight, skyrail.flight_rollout, skyrail.rail
from skyrail import _native

assert _native.find().is_relative_to(sys.prefix), _native.find()
print(_native.lib().handles())
"""
WITH_GYMNASIUM = """
from skyrail.flight import Flight4DEnv

env = Flight4DEnv()
first, _ = env.reset(seed=1829385696)
steps, ended = 0, False
while not ended:
    observation, _, terminated, truncated, info = env.step(0)
    steps, ended = steps + 1, terminated or truncated
print(steps, first.shape, observation in env.observation_space, info["clearances"])
"""


def environment(**changes: str) -> dict[str, str]:
    """The variables of this process without those that name another library or place."""
    gone = ("SKYRAIL_LIBRARY", "SKYRAIL_EDITABLE_WITHOUT_LIBRARY", "PYTHONPATH")
    return {k: v for k, v in os.environ.items() if k not in gone} | changes


def run(*command: str | Path, cwd: Path, **changes: str) -> str:
    done = subprocess.run(
        command, cwd=cwd, env=environment(**changes), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def fails(*command: str | Path, cwd: Path, **changes: str) -> str:
    done = subprocess.run(
        command, cwd=cwd, env=environment(**changes), capture_output=True, text=True
    )
    assert done.returncode != 0, done.stdout
    return " ".join((done.stdout + done.stderr).split())


def pip(folder: Path, *arguments: str | Path) -> list[str | Path]:
    """The command for the pip of a virtual environment in that folder."""
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    return [python, "-m", "pip", "--disable-pip-version-check", *arguments]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_of_the_checkout(tmp_path_factory.mktemp("checkout"))


def copy_of_the_checkout(folder: Path) -> Path:
    """What a build needs, and what must not get into it: a library and a module of yesterday."""
    unneeded = shutil.ignore_patterns(
        ".*", "testdata", "*_test.go", "docs", "bin", "dist", "build", "*.egg-info", "__pycache__"
    )
    shutil.copytree(ROOT, folder, ignore=unneeded, dirs_exist_ok=True)
    (folder / "python" / LIBRARY).write_bytes(b"yesterday's")
    (folder / "python" / "skyrail" / "libskyrail.h").write_text("yesterday's")
    for base in ("lib", f"lib.linux-x86_64-cpython-{sys.version_info[0]}{sys.version_info[1]}"):
        (folder / "python" / "build" / base / "skyrail").mkdir(parents=True)
        (folder / "python" / "build" / base / "skyrail" / "yesterday.py").write_text("")
    return folder


@pytest.fixture(scope="module")
def wheel(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    run(*pip(Path(sys.prefix), "wheel", "--no-deps", "-w", out, checkout / "python"), cwd=out)
    (wheel,) = out.iterdir()
    return wheel


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(wheel) as z:
        z.extractall(folder)
    return folder


@pytest.fixture
def nothing(tmp_path: Path) -> Path:
    """A folder to have as PATH, without Go, compilers or anything else."""
    (tmp_path / "nothing").mkdir()
    return tmp_path / "nothing"


def test_the_wheel_is_for_every_python_3_of_its_platform(wheel: Path, unpacked: Path) -> None:
    name, version, python, abi, platform = wheel.stem.split("-")
    assert (name, version, python, abi) == ("skyrail", "0.1.0", "py3", "none")
    (about,) = unpacked.glob("*.dist-info/WHEEL")
    lines = about.read_text(encoding="utf-8").splitlines()
    assert f"Tag: py3-none-{platform}" in lines
    assert "Root-Is-Purelib: false" in lines
    assert platform.startswith({"darwin": "macosx_", "win32": "win"}.get(sys.platform, "manylinux"))


def test_the_wheel_asks_for_the_glibc_that_its_library_needs(wheel: Path, unpacked: Path) -> None:
    library = unpacked / LIBRARY
    needed = run("readelf", "--dynamic", "--version-info", "--wide", library, cwd=unpacked)
    versions = re.findall(r"Name: GLIBC_(\d+)\.(\d+)", needed)
    major, minor = max((int(major), int(minor)) for major, minor in versions)
    assert f"-manylinux_{major}_{minor}_" in wheel.name
    libraries = re.findall(r"\(NEEDED\).*\[(.*)\]", needed)
    assert libraries
    assert [name for name in libraries if not OF_THE_SYSTEM.fullmatch(name)] == []


def test_the_wheel_has_the_package_and_the_library_and_nothing_else(unpacked: Path) -> None:
    sources = {
        str(path.relative_to(ROOT / "python")): path
        for suffix in (".py", ".typed", ".md", ".yaml")
        for path in (ROOT / "python" / "skyrail").rglob(f"*{suffix}")
    }
    assert {"skyrail/py.typed", "skyrail/flight/env.py", "skyrail/_native.py"} <= set(sources)
    for header in (ROOT / "cmd" / "libskyrail").glob("skyrail*.h"):
        sources[f"skyrail/include/{header.name}"] = header
    sources["skyrail/LICENSE"] = ROOT / "LICENSE"
    assert "skyrail/include/skyrail.h" in sources
    installed = {str(p.relative_to(unpacked)) for p in unpacked.rglob("*") if p.is_file()}
    assert {name for name in installed if ".dist-info/" not in name} == {*sources, LIBRARY}
    for name, source in sources.items():
        assert (unpacked / name).read_bytes() == source.read_bytes(), name


def test_the_record_has_every_file_and_its_sum(unpacked: Path) -> None:
    (record,) = unpacked.glob("*.dist-info/RECORD")
    rows = {name: told for name, told, _ in csv.reader(io.StringIO(record.read_text("utf-8")))}
    files = {str(p.relative_to(unpacked)): p for p in unpacked.rglob("*") if p.is_file()}
    assert set(rows) == set(files)
    for name, told in rows.items():
        if files[name] != record:
            digest = hashlib.sha256(files[name].read_bytes()).digest()
            assert told == "sha256=" + base64.urlsafe_b64encode(digest).decode().rstrip("="), name


def test_the_wheel_tells_what_it_needs(unpacked: Path) -> None:
    (metadata,) = unpacked.glob("*.dist-info/METADATA")
    lines = metadata.read_text(encoding="utf-8").splitlines()
    needed = [line for line in lines if line.startswith("Requires-Dist:")]
    assert [line for line in needed if "extra ==" not in line] == ["Requires-Dist: numpy>=1.24"]
    for extra, package in {"gym": "gymnasium", "pettingzoo": "pettingzoo"}.items():
        assert any(
            package in line and f"extra == '{extra}'" in line.replace('"', "'") for line in needed
        )


def test_the_headers_in_the_wheel_are_all_that_a_c_program_needs(unpacked: Path) -> None:
    source = unpacked / "alone.c"
    source.write_text("#include <skyrail.h>\nint abi(void) { return SKYRAIL_ABI; }\n")
    include = f"-I{unpacked / 'skyrail' / 'include'}"
    run("cc", "-std=c99", "-Wall", "-Werror", "-fsyntax-only", include, source, cwd=unpacked)


def test_it_installs_and_flies_where_there_is_no_go(
    wheel: Path, nothing: Path, tmp_path: Path
) -> None:
    venv = tmp_path / "venv"
    run(sys.executable, "-m", "venv", venv, cwd=tmp_path)
    python = pip(venv)[0]
    run(*pip(venv, "install", wheel), cwd=tmp_path, PATH=str(nothing))
    assert run(python, "-c", WITH_NUMPY_ONLY, cwd=nothing, PATH=str(nothing)) == "0\n"
    run(*pip(venv, "install", f"{wheel}[gym]"), cwd=tmp_path, PATH=str(nothing))
    flown = run(python, "-c", WITH_GYMNASIUM, cwd=nothing, PATH=str(nothing))
    assert re.fullmatch(r"[1-9]\d* \(103,\) True 0\n", flown)


@pytest.fixture(scope="module")
def editable(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """A virtual environment and a checkout to install into it."""
    folder = tmp_path_factory.mktemp("editable")
    run(sys.executable, "-m", "venv", folder / "venv", cwd=folder)
    yield folder / "venv", copy_of_the_checkout(folder / "checkout")


def test_an_editable_install_has_a_new_library_beside_the_sources(
    editable: tuple[Path, Path], unpacked: Path
) -> None:
    venv, checkout = editable
    project = checkout / "python"
    install = pip(venv, "install", "--no-deps", "-e", project)
    run(*install, cwd=venv, SKYRAIL_EDITABLE_WITHOUT_LIBRARY="1", CC="no-such-compiler")
    assert (project / LIBRARY).read_bytes() == b"yesterday's"
    run(*install, cwd=venv)
    assert (project / LIBRARY).read_bytes() == (unpacked / LIBRARY).read_bytes()
    where = run(install[0], "-c", "import skyrail; print(skyrail.__file__)", cwd=venv)
    assert where.strip() == str(project / "skyrail" / "__init__.py")
    left = {p.name for p in (project / "skyrail").iterdir() if p.name.startswith(".")}
    assert left == set()


def test_the_library_alone_comes_where_one_says(
    checkout: Path, unpacked: Path, tmp_path: Path
) -> None:
    run(sys.executable, checkout / "python" / "build_library.py", "new/folder", cwd=tmp_path)
    built = list((tmp_path / "new" / "folder").iterdir())
    assert [path.name for path in built] == [_native.LIBRARY_NAME]
    assert built[0].read_bytes() == (unpacked / LIBRARY).read_bytes()


def test_without_go_it_says_what_to_install(checkout: Path, nothing: Path) -> None:
    install = pip(Path(sys.prefix), "wheel", "--no-deps", "-w", nothing, checkout / "python")
    said = fails(*install, cwd=nothing, PATH=str(nothing))
    (version,) = re.findall(r"(?m)^go (\S+)", (ROOT / "go.mod").read_text(encoding="utf-8"))
    assert "error: libskyrail is built with Go, and there is no `go` on the PATH." in said
    assert f"Install Go {version} or later. Or install a wheel of skyrail" in said
    assert "Traceback" not in said


def test_without_a_c_compiler_it_says_what_to_install(checkout: Path, nothing: Path) -> None:
    go = shutil.which("go")
    assert go is not None
    (nothing / "go").symlink_to(go)
    build = [sys.executable, checkout / "python" / "build_library.py", nothing]
    said = fails(*build, cwd=nothing, PATH=str(nothing))
    assert "error: libskyrail is built with a C compiler beside Go, and there is no `" in said
    assert "apt-get install gcc" in said
    assert "Traceback" not in said


def test_a_source_distribution_says_that_it_has_no_go_sources(
    checkout: Path, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "build", "--sdist", "--outdir", tmp_path / "sdist"]
    run(*command, checkout / "python", cwd=tmp_path)
    (sdist,) = (tmp_path / "sdist").iterdir()
    said = fails(*pip(Path(sys.prefix), "wheel", "--no-deps", sdist), cwd=tmp_path)
    assert "error: libskyrail is built from Go sources, and there is no " in said
    assert "a source distribution has only the Python side. Install from a checkout" in said
    assert "Traceback" not in said


def test_what_the_go_compiler_says_is_passed_on(tmp_path: Path) -> None:
    checkout = copy_of_the_checkout(tmp_path)
    with (checkout / "cmd" / "libskyrail" / "main.go").open("a") as source:
        source.write("\nfunc broken() { return 1 }\n")
    folder = checkout / "python" / "skyrail"
    said = fails(sys.executable, checkout / "python" / "build_library.py", folder, cwd=tmp_path)
    assert "error: libskyrail is not built: `" in said
    assert "too many return values" in said
    assert "this is go version go" in said
    assert (checkout / "python" / LIBRARY).read_bytes() == b"yesterday's"
