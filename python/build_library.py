"""Builds libskyrail, the simulators as a shared library, with Go and a C compiler.

    python python/build_library.py FOLDER

The library comes into FOLDER under the name by which `skyrail._native` looks for it. It is always
built anew; Go's cache makes that a matter of a second if nothing has changed. It is for the machine
that builds it. GO and CC name the programs to build with, if they are not go and what Go takes.

`make lib` runs this, and setup.py imports it: the standard library has to do. Exit status: 0 done,
1 not built, with the reason, 2 usage.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "cmd" / "libskyrail"
NAME = {"darwin": "libskyrail.dylib", "win32": "libskyrail.dll"}.get(sys.platform, "libskyrail.so")

INSTEAD = "Or install a wheel of skyrail, which needs neither Go nor a C compiler."


class BuildError(Exception):
    """The library cannot be built; the message says what to do."""


def build(folder: Path) -> Path:
    """Build the library into a folder and return its path. What was there under its name is
    replaced whole, so that a process that has it loaded keeps what it has. BuildError.
    """
    if not (ROOT / "go.mod").is_file() or not SOURCES.is_dir():
        raise BuildError(
            f"libskyrail is built from Go sources, and there is no {SOURCES}: a source "
            "distribution has only the Python side. Install from a checkout of the repository, "
            f"`pip install ./python` with pip 21.3 or later. {INSTEAD}"
        )
    go = _find_go()
    _require_compiler(go)
    folder = folder.resolve()  # Go runs elsewhere
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".libskyrail-") as scratch:
        built = Path(scratch) / NAME
        options = ["-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-buildmode=c-shared"]
        _run([go, "build", *options, "-o", str(built), "./cmd/libskyrail"])
        return built.replace(folder / NAME)


def headers() -> list[Path]:
    """What a C program includes: skyrail.h, and what that includes."""
    return sorted(SOURCES.glob("skyrail*.h"))


def glibc(library: Path) -> tuple[int, int] | None:
    """The oldest glibc that has every symbol the library takes from it; None if it takes none."""
    versions = re.findall(rb"(?<=\0)GLIBC_(\d+)\.(\d+)(?:\.\d+)?(?=\0)", library.read_bytes())
    return max(((int(major), int(minor)) for major, minor in versions), default=None)


def _find_go() -> str:
    name = os.environ.get("GO", "go")
    go = shutil.which(name)
    if go is None:
        raise BuildError(
            f"libskyrail is built with Go, and there is no `{name}` on the PATH. Install "
            f"Go {_required_go()} or later. {INSTEAD}"
        )
    return go


def _require_compiler(go: str) -> None:
    cc = _run([go, "env", "CC"]).strip()
    name = next(iter(shlex.split(cc)), "")
    if shutil.which(name) is None:
        raise BuildError(
            f"libskyrail is built with a C compiler beside Go, and there is no `{cc}` on the PATH. "
            "Install one (Debian, Ubuntu: apt-get install gcc libc6-dev; macOS: xcode-select "
            f"--install; Windows: MinGW-w64), or name it in CC. {INSTEAD}"
        )


def _run(command: list[str]) -> str:
    """What a go command prints. BuildError with its errors if it does not succeed."""
    # A wheel is tagged with the platform of this Python: the library has to be for no other.
    env = {name: value for name, value in os.environ.items() if name not in ("GOOS", "GOARCH")}
    done = subprocess.run(
        command, cwd=ROOT, env=env | {"CGO_ENABLED": "1"}, capture_output=True, text=True
    )
    if done.returncode != 0:
        version = subprocess.run([command[0], "version"], capture_output=True, text=True, cwd="/")
        raise BuildError(
            f"libskyrail is not built: `{shlex.join(command)}` in {ROOT} says\n\n"
            f"{(done.stderr or done.stdout).strip()}\n\n"
            f"It takes Go {_required_go()} or later; this is {version.stdout.strip()}. {INSTEAD}"
        )
    return done.stdout


def _required_go() -> str:
    found = re.search(r"(?m)^go (\S+)", (ROOT / "go.mod").read_text(encoding="utf-8"))
    return found[1] if found else "1.26"


def main() -> None:
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print("usage: python build_library.py FOLDER", file=sys.stderr)
        sys.exit(2)
    try:
        build(Path(sys.argv[1]))
    except BuildError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
