"""Who may use whom: automata nothing of ours, constraints and tokenizer_fst only automata, decode these three."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MAY_USE = {
    "automata": {"automata"},
    "constraints": {"automata", "constraints"},
    "tokenizer_fst": {"automata", "tokenizer_fst"},
    "decode": {"automata", "constraints", "tokenizer_fst", "decode"},
}


def imports(path: Path, package: tuple[str, ...]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """(line, absolute module) of every import of ours, also those inside functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield node.lineno, tuple(name.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = base + tuple((node.module or "").split(".") if node.module else ())
            if node.level and not node.module:
                for name in node.names:
                    yield node.lineno, (*module, name.name)
            else:
                yield node.lineno, module


def python_files(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def package_of(path: Path) -> tuple[str, ...]:
    return ("tokamata", *path.relative_to(ROOT).parent.parts)


@pytest.mark.parametrize("folder", MAY_USE)
def test_python_imports_obey_the_layers(folder: str) -> None:
    wrong = []
    for path in python_files(folder):
        for line, module in imports(path, package_of(path)):
            if module[0] != "tokamata":
                continue
            if module == ("tokamata",) or (module[1] not in MAY_USE[folder] and module[1] != "_core"):
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports {'.'.join(module)}")
    assert not wrong, "\n".join(wrong)


def test_native_names_are_imported_from_core() -> None:
    wrong = []
    for folder in MAY_USE:
        for path in python_files(folder):
            for line, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                if re.match(r"\s*from\s+\.+\s+import\s+.*\b_core\b", text):
                    wrong.append(f"{path.relative_to(ROOT)}:{line} write: from .._core import ...")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("folder", MAY_USE)
def test_includes_obey_the_layers(folder: str) -> None:
    wrong = []
    for path in sorted((ROOT / folder).rglob("csrc/*")):
        if path.suffix not in {".h", ".cc"}:
            continue
        for line, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            found = re.match(r'\s*#\s*include\s*"([^"]+)"', text)
            if found and found[1].split("/")[0] not in MAY_USE[folder]:
                wrong.append(f"{path.relative_to(ROOT)}:{line} includes {found[1]}")
            binds = path.name.startswith("bind")
            if re.match(r"\s*#\s*include\s*<nanobind", text) and not binds:
                wrong.append(f"{path.relative_to(ROOT)}:{line} includes nanobind outside a bind file")
    assert not wrong, "\n".join(wrong)


def test_the_front_door_has_no_logic() -> None:
    tree = ast.parse((ROOT / "src/tokamata/__init__.py").read_text(encoding="utf-8"))
    for node in tree.body:
        docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        exports = (
            isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__"
        )
        assert docstring or exports or isinstance(node, ast.ImportFrom), f"line {node.lineno}: only imports and __all__"


def test_nothing_star_imports() -> None:
    for path in [p for f in (*MAY_USE, "src", "examples") for p in python_files(f)]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert all(n.name != "*" for n in node.names), f"{path.relative_to(ROOT)}:{node.lineno}"


def test_the_rule_sees_what_it_should(tmp_path: Path) -> None:
    sample = tmp_path / "sample.py"
    sample.write_text(
        "def f():\n    from ..decode import mask\nfrom . import x\nfrom .. import automata\nimport tokamata\n"
    )
    found = dict(imports(sample, ("tokamata", "automata")))
    assert found == {
        2: ("tokamata", "decode"),
        3: ("tokamata", "automata", "x"),
        4: ("tokamata", "automata"),
        5: ("tokamata",),
    }
