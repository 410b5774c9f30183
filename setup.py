"""Builds ``tokamata._core`` (everything else about the package is in setup.cfg)."""

from __future__ import annotations

import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nanobind
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = Path(__file__).resolve().parent
FOLDERS = ("automata", "constraints", "tokenizer_fst", "decode")
NANOBIND = Path(nanobind.__file__).resolve().parent


def sources() -> list[str]:
    ours = ["src/tokamata/_core.cc"]
    for folder in FOLDERS:
        ours += sorted(str(p.relative_to(HERE)) for p in (HERE / folder / "csrc").glob("*.cc"))
    return ours


class BuildCore(build_ext):
    """Compiles the files of the extension side by side and says plainly when there is no compiler."""

    def build_extension(self, ext: Extension) -> None:
        compiler = self.compiler
        if compiler.compiler_type == "unix":
            command = compiler.compiler_so_cxx[0] if hasattr(compiler, "compiler_so_cxx") else compiler.compiler_so[0]
            if shutil.which(command) is None:
                raise SystemExit(
                    f"tokamata: building tokamata._core needs a C++17 compiler, and {command!r} was not found.\n"
                    "Install one (Debian or Ubuntu: apt-get install g++; Fedora: dnf install gcc-c++; "
                    "macOS: xcode-select --install) or set CXX to its name, then run the same command again."
                )
        serial = compiler.compile
        jobs = int(os.environ.get("TOKAMATA_BUILD_JOBS", 0)) or os.cpu_count() or 1

        def compile_parallel(files: list[str], *args: object, **kwargs: object) -> list[str]:
            with ThreadPoolExecutor(jobs) as pool:
                return [obj for objs in pool.map(lambda f: serial([f], *args, **kwargs), files) for obj in objs]

        compiler.compile = compile_parallel
        try:
            super().build_extension(ext)
        finally:
            compiler.compile = serial


def flags() -> list[str]:
    if sys.platform == "win32":
        return ["/std:c++17", "/O2", "/EHsc"]
    base = ["-std=c++17", "-O3", "-fvisibility=hidden", "-fno-strict-aliasing", "-Wall", "-Wextra"]
    return base + os.environ.get("TOKAMATA_CXXFLAGS", "").split()


core = Extension(
    "tokamata._core",
    sources=[*sources(), os.path.relpath(NANOBIND / "src" / "nb_combined.cpp", HERE)],
    include_dirs=[".", "build/generated", str(NANOBIND / "include"), str(NANOBIND / "ext" / "robin_map" / "include")],
    define_macros=[("NDEBUG", None), ("NB_COMPACT_ASSERTIONS", None)],
    extra_compile_args=flags(),
    extra_link_args=os.environ.get("TOKAMATA_LDFLAGS", "").split(),
    language="c++",
    depends=sorted(str(p.relative_to(HERE)) for f in FOLDERS for p in (HERE / f / "csrc").glob("*.h")),
)

setup(ext_modules=[core], cmdclass={"build_ext": BuildCore})
