"""load_model: the tokenizer and the network of a model folder of the transformers package; cache_name."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from ..automata.errors import ConstraintError


def load_model(operation: str, folder: Path, **options: Any) -> tuple[Any, Any]:
    """The tokenizer and the network of a model folder, read from the disk alone.

    ``operation``: what errors begin with; ``options``: for the network's ``from_pretrained``.

    Raises:
        ConstraintError: transformers cannot load one of them; the text names the folder and transformers' own error.
        ImportError: transformers, or a package that the model needs, is not installed.
    """
    from transformers import AutoModelForCausalLM, AutoTokenizer

    remedy = f"tokamata vocab {folder} says more"
    tokenizer = _loaded(AutoTokenizer, "tokenizer", operation, folder, remedy)
    remedy = "check config.json and the files of weights"
    return tokenizer, _loaded(AutoModelForCausalLM, "model", operation, folder, remedy, **options)


def _loaded(loader: Any, what: str, operation: str, folder: Path, remedy: str, **options: Any) -> Any:
    try:
        return loader.from_pretrained(folder, local_files_only=True, **options)
    except (ImportError, MemoryError):
        raise
    except Exception as error:  # damaged files come to whatever error their reader happens to run into
        raise ConstraintError(
            f"{operation}: {folder}: expected a {what} that transformers loads, got {type(error).__name__}: {error}; "
            f"{remedy}"
        ) from error


def cache_name(network: Any) -> str:
    """What the network calls keys and values, as an argument and in what it returns; transformers 5.24 renamed them."""
    return "cache" if "cache" in inspect.signature(network.forward).parameters else "past_key_values"
