"""The header and the library for C and C++: c_abi.c, compiled without a warning, and run."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from skyrail import _native

TESTS = Path(__file__).resolve().parent
HEADERS = TESTS.parents[1] / "cmd" / "libskyrail"
COMPILERS = {
    "c99": [os.environ.get("CC", "cc"), "-x", "c", "-std=c99"],
    "c++11": [os.environ.get("CXX", "c++"), "-x", "c++", "-std=c++11"],
}


def compiled(standard: str, source: Path, tmp_path: Path) -> Path:
    """The program, linked with the library that the package loads."""
    library, program = _native.find(), tmp_path / "program"
    command = [
        *COMPILERS[standard],
        *("-Wall", "-Wextra", "-Werror", "-pedantic", f"-I{HEADERS}", source),
        *("-x", "none", library, f"-Wl,-rpath,{library.parent}", "-o", program),
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.fail(f"there is no {command[0]}: install gcc and g++, or name others in CC and CXX")
    assert (done.returncode, done.stderr) == (0, "")
    return program


@pytest.mark.parametrize("standard", COMPILERS)
def test_a_program_uses_the_library(standard: str, tmp_path: Path) -> None:
    program = compiled(standard, TESTS / "c_abi.c", tmp_path)
    done = subprocess.run([program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    looked = re.fullmatch(r"(\d+) looked at, 0 wrong\n", done.stdout)
    assert looked, done.stdout
    assert int(looked[1]) > 300


@pytest.mark.parametrize("standard", COMPILERS)
def test_the_header_needs_no_other_before_it(standard: str, tmp_path: Path) -> None:
    source = tmp_path / "alone.c"
    source.write_text(
        "#include <skyrail.h>\nint main(void) { return skyrail_abi() - SKYRAIL_ABI; }\n"
    )
    assert subprocess.run([compiled(standard, source, tmp_path)]).returncode == 0


def test_the_python_side_is_of_the_same_version() -> None:
    header = (HEADERS / "skyrail.h").read_text(encoding="utf-8")
    assert re.findall(r"#define SKYRAIL_ABI (\d+)", header) == [str(_native.ABI)]
