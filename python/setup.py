"""What pyproject.toml cannot say: the package carries a shared library, which Go builds.

A wheel gets it, its headers for C programs and the licence; an editable install gets it beside the
sources, where `skyrail._native` looks. Each time it is built anew.

SKYRAIL_EDITABLE_WITHOUT_LIBRARY=1 leaves it out of an editable install, and with it the need of a C
compiler: for a checkout where `make lib` makes it later.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import build_library  # noqa: E402 - beside this file, which a build does not look for modules in


class BuildPy(build_py):
    """Puts the library into the package, besides what is Python."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            package = Path(self.build_lib) / "skyrail"
            _build(package)
            _copy(build_library.headers(), package / "include")
            _copy([build_library.ROOT / "LICENSE"], package)
        elif not os.environ.get("SKYRAIL_EDITABLE_WITHOUT_LIBRARY"):
            _build(HERE / "skyrail")


class BdistWheel(bdist_wheel):
    """Tags the wheel: any Python 3, since ctypes loads the library; its platform, and its glibc."""

    def get_tag(self) -> tuple[str, str, str]:
        platform = super().get_tag()[2]
        library = Path(self.bdist_dir) / "skyrail" / build_library.NAME
        if platform.startswith("linux_") and library.is_file():
            glibc = build_library.glibc(library)
            if glibc is not None:
                platform = f"manylinux_{glibc[0]}_{glibc[1]}_{platform.removeprefix('linux_')}"
        return "py3", "none", platform


class WithLibrary(Distribution):
    """Goes where packages of one platform go, and is no pure wheel."""

    def has_ext_modules(self) -> bool:
        return True


def _build(folder: Path) -> None:
    try:
        build_library.build(folder)
    except build_library.BuildError as error:
        sys.exit(f"error: {error}")


def _copy(files: list[Path], folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for file in files:
        shutil.copy(file, folder)


# Not in build/ beside the sources, where what an earlier build left would come along.
with tempfile.TemporaryDirectory() as scratch:
    setup(
        cmdclass={"build_py": BuildPy, "bdist_wheel": BdistWheel},
        distclass=WithLibrary,
        options={"build": {"build_base": scratch}},
    )
