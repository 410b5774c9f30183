"""Programs outside Python that some tests run, where they are installed."""

from __future__ import annotations

import shutil

import pytest

_PACKAGES = {"dot": "graphviz", "fstcompile": "libfst-tools", "fstinfo": "libfst-tools"}


def program(name: str) -> str:
    """Return the path of a program; the test that asks is skipped where it is not installed."""
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"the program {name} is not installed (Debian's package {_PACKAGES[name]})")
    return path
