"""The drivers of ``make asan`` and ``make tsan`` keep up with the core: they compile against its headers."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMPILER = (sysconfig.get_config_var("CXX") or "c++").split()[0]
QUICK = ("fuzz_regex", "fuzz_masks")  # which generate all there is


@pytest.mark.skipif(shutil.which(COMPILER) is None, reason="needs the compiler that built Python")
@pytest.mark.parametrize(
    "driver",
    [
        pytest.param(path.stem, marks=[] if path.stem in QUICK else pytest.mark.slow)
        for path in sorted(Path(__file__).parent.glob("*.cc"))
    ],
)
def test_driver_compiles(driver: str) -> None:
    command = [
        COMPILER,
        "-std=c++17",
        "-fsyntax-only",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-I.",
        f"tests/native/{driver}.cc",
    ]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
