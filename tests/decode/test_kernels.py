"""Triton's kernels compile for GPUs where there is none, and write neighbouring logits together."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from typing import Any

import pytest

HOPPER = 90  # compute capability 9.0
POINTERS = {"logits": "*bf16", "tokens": "*i64", "class_of": "*u8", "token_bytes": "*u8"}
NUMBERS = {"row_stride", "column_stride", "octets", "words", "width", "classes", "size"}


@pytest.fixture
def kernels(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    pytest.importorskip("triton", reason="triton is not installed")
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    sys.modules.pop("tokamata.decode.kernels", None)
    yield importlib.import_module("tokamata.decode.kernels")
    sys.modules.pop("tokamata.decode.kernels", None)


def compiled(kernel: Any, logits: str = "*bf16", **fixed: int) -> dict[str, Any]:
    """What Triton makes of a kernel for contiguous rows, addresses and numbers as good as they may be."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource, compile

    signature, constants, aligned = {}, dict(fixed), {}
    for place, parameter in enumerate(kernel.params):
        name = parameter.name
        if name in fixed:
            signature[name] = "constexpr"
        elif name == "column_stride" and not parameter.do_not_specialize:
            signature[name], constants[name] = "constexpr", 1
        elif name in NUMBERS:
            signature[name] = "i32"
        else:
            octets = name == "masks" and "octets" in [p.name for p in kernel.params]
            signature[name] = logits if name == "logits" else "*u8" if octets else POINTERS.get(name, "*i32")
        if name not in constants and not parameter.do_not_specialize:
            aligned[(place,)] = [["tt.divisibility", 16]]
    made = compile(ASTSource(kernel, signature, constants, aligned), target=GPUTarget("cuda", HOPPER, 32))
    return dict(made.asm)


@pytest.mark.parametrize("logits", ["*fp32", "*fp16", "*bf16"])
@pytest.mark.parametrize("indexed", [False, True])
def test_octets_are_read_and_written_in_pieces_of_sixteen_bytes(kernels: Any, logits: str, indexed: bool) -> None:
    made = compiled(kernels._mask_octets, logits, INDEXED=indexed, OCTETS=kernels._OCTETS)
    assert made["cubin"]
    threads = 4 * 32
    each = kernels._OCTETS * 8 * (4 if logits == "*fp32" else 2) // 16 // threads
    assert len(re.findall(r"ld\.global\.v4\.b32", made["ptx"])) == each
    assert re.findall(r"st\.global\S*", made["ptx"]) == ["st.global.v4.b32"] * each


@pytest.mark.parametrize("logits", ["*fp32", "*fp16", "*bf16"])
@pytest.mark.parametrize("indexed", [False, True])
def test_neighbours_are_of_neighbouring_threads(kernels: Any, logits: str, indexed: bool) -> None:
    made = compiled(kernels._mask_columns, logits, INDEXED=indexed, LOGITS=kernels._LOGITS)
    assert made["cubin"]
    store = re.search(r"tt\.store .*, (#\w+)> loc", made["ttgir"])
    assert store is not None
    layout = re.search(rf"^{store[1]} = (.*)$", made["ttgir"], re.MULTILINE)
    assert layout is not None
    assert "sizePerThread = [1], threadsPerWarp = [32]" in layout[1], layout[1]


def test_advance_compiles(kernels: Any) -> None:
    assert compiled(kernels._advance)["cubin"]
