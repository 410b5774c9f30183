"""What setup.cfg promises is what the folders hold."""

from __future__ import annotations

import configparser
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import tokamata

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("automata", "constraints", "tokenizer_fst", "decode")


@pytest.fixture(scope="module")
def setup_cfg() -> configparser.ConfigParser:
    config = configparser.ConfigParser(interpolation=None)
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    return config


def test_every_package_is_listed(setup_cfg: configparser.ConfigParser) -> None:
    listed = set(setup_cfg["options"]["packages"].split())
    found = {
        "tokamata." + ".".join(p.parent.relative_to(ROOT).parts)
        for f in FOLDERS
        for p in (ROOT / f).rglob("__init__.py")
    }
    source = ROOT / "src"
    found |= {".".join(p.parent.relative_to(source).parts) for p in source.rglob("__init__.py")}
    assert listed == found


def test_every_folder_with_modules_is_a_package() -> None:
    for folder in (*FOLDERS, "src/tokamata"):
        for path in (ROOT / folder).rglob("*.py"):
            if "csrc" not in path.parts:
                assert (path.parent / "__init__.py").exists(), f"{path.parent} has modules and no __init__.py"


def test_numpy_is_the_only_hard_dependency(setup_cfg: configparser.ConfigParser) -> None:
    required = [re.split(r"[^a-z0-9-]", line)[0] for line in setup_cfg["options"]["install_requires"].split()]
    assert required == ["numpy"]


def test_the_extras_that_error_texts_name_exist(setup_cfg: configparser.ConfigParser) -> None:
    extras = set(setup_cfg["options.extras_require"])
    assert {"cli", "transformers", "openfst", "draw", "dev", "all"} <= extras
    for folder in (*FOLDERS, "src"):
        for path in (ROOT / folder).rglob("*.py"):
            named = set(re.findall(r"tokamata\[([\w,]+)\]", path.read_text(encoding="utf-8")))
            assert {n for group in named for n in group.split(",")} <= extras, path


def test_versions_agree() -> None:
    assert tokamata.__version__ == version("tokamata")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## {tokamata.__version__}" in changelog


def test_importing_needs_no_optional_package() -> None:
    script = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in "torch transformers tokenizers rich typer pynini graphviz matplotlib".split():
            raise ImportError(f"imported {name}")
sys.meta_path.insert(0, Refuse())
import tokamata, tokamata.automata, tokamata.constraints, tokamata.tokenizer_fst, tokamata.decode
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_command_names_its_extra_when_rich_is_missing() -> None:
    script = """
import sys
sys.modules["typer"] = None
from tokamata.__main__ import main
main()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pip install 'tokamata[cli]'" in done.stderr
    assert "Traceback" not in done.stderr
