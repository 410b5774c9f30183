"""Builds ``tokamata._core`` (everything else about the package is in setup.cfg)."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import nanobind
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = Path(__file__).resolve().parent
FOLDERS = ("automata", "constraints", "tokenizer_fst", "decode")
UNICODE_TABLES = "build/generated/constraints/unicode_tables.inc"
NANOBIND = Path(nanobind.__file__).resolve().parent


def sources() -> list[str]:
    ours = ["src/tokamata/_core.cc"]
    for folder in FOLDERS:
        ours += sorted(str(p.relative_to(HERE)) for p in (HERE / folder / "csrc").glob("*.cc"))
    return ours


def up_to_date(obj: Path, deps: Path) -> bool:
    """Whether the object is newer than every file its compilation read (the compiler's own list in ``deps``)."""
    if not (obj.exists() and deps.exists()):
        return False
    names = deps.read_text().replace("\\\n", " ").split(": ", 1)[-1].split()
    return all(Path(n).exists() and Path(n).stat().st_mtime <= obj.stat().st_mtime for n in names)


class BuildCore(build_ext):
    """Compiles the files that changed, side by side, and says plainly when there is no compiler."""

    def build_extension(self, ext: Extension) -> None:
        subprocess.run([sys.executable, "constraints/csrc/generate_unicode.py", UNICODE_TABLES], cwd=HERE, check=True)
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
        key = repr((compiler.compiler_type, os.environ.get("CXX"), sysconfig.get_config_var("EXT_SUFFIX")))
        key += repr((ext.extra_compile_args, ext.include_dirs, ext.define_macros, str(NANOBIND)))
        objects = HERE / "build" / "objects" / hashlib.sha256(key.encode()).hexdigest()[:12]

        def compile_one(file: str, kwargs: dict[str, Any]) -> list[str]:
            if compiler.compiler_type != "unix":
                return serial([file], **kwargs)
            folder = objects / file.replace(os.sep, "_").replace("..", "")
            obj, deps = folder / "out.o", folder / "out.d"
            if not up_to_date(obj, deps):
                folder.mkdir(parents=True, exist_ok=True)
                extra = [*kwargs.pop("extra_postargs", []), "-MMD", "-MF", str(deps)]
                (made,) = serial([file], **{**kwargs, "output_dir": str(folder)}, extra_postargs=extra)
                Path(made).replace(obj)
            return [str(obj)]

        def compile_parallel(files: list[str], **kwargs: Any) -> list[str]:
            with ThreadPoolExecutor(jobs) as pool:
                return [obj for made in pool.map(lambda f: compile_one(f, dict(kwargs)), files) for obj in made]

        compiler.compile = compile_parallel
        try:
            super().build_extension(ext)
        finally:
            compiler.compile = serial


def flags() -> list[str]:
    if sys.platform == "win32":
        return ["/std:c++17", "/O2", "/EHsc"]
    # -g0: the debug information that Python's own flags ask for is 20 times the code and most of the build time.
    base = ["-std=c++17", "-O3", "-g0", "-fvisibility=hidden", "-fno-strict-aliasing", "-Wall", "-Wextra"]
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
