"""``tokamata generate``: run a model under a constraint."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from ..automata.errors import ConstraintError
from ..decode import compile as compile_automaton
from ..decode.model_folder import load_model
from ..tokenizer_fst import Vocabulary
from .common import (
    ChoiceOption,
    FstOption,
    GrammarOption,
    LimitOption,
    LiteralOption,
    RegexOption,
    RegistryOption,
    SchemaOption,
    StartOption,
    cache_folder,
    constraint_of,
    errors,
    examples,
    typed,
    working,
)

if TYPE_CHECKING:
    import torch

EXAMPLES = examples(
    r"tokamata generate -m model/ -p 'The year is ' -r '\d{4}'",
    r"tokamata generate -m model/ -p 'Is fire hot? ' -c yes -c no",
    r"tokamata generate -m model/ -p 'Ada Lovelace as JSON: ' --schema person.json",
    r"tokamata generate -m model/ -p 'The year is ' -r '\d{4}' --sampler cars -n 10",
)


def command(
    prompt: Annotated[str, typer.Option("--prompt", "-p", help="What the model continues.")],
    model: Annotated[
        Path | None,
        typer.Option("--model", "-m", help="A transformers model folder; default: the model that make demo converted."),
    ] = None,
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", min=1, help="Finish a member within so many tokens, the end token included.")
    ] = 64,
    sample: Annotated[
        bool, typer.Option("--sample", help="Draw tokens at random instead of taking the likeliest.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", help="For --sample and --sampler.")] = 0,
    sampler: Annotated[
        str,
        typer.Option(
            "--sampler",
            help="Draw from the model's own law under the constraint: auto, enumerate, cars, asap, smc, awrs, "
            "rejection, metropolis_hastings; masked for comparison.",
        ),
    ] = "",
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="Samples of --sampler.")] = 1,
    pattern: RegexOption = None,
    option: ChoiceOption = None,
    literal: LiteralOption = None,
    fst: FstOption = None,
    grammar: GrammarOption = None,
    start: StartOption = None,
    schema: SchemaOption = None,
    registry: RegistryOption = None,
    limit: LimitOption = None,
) -> None:
    """Continue a prompt with a model that can only write members of the constraint."""
    if not sampler and count > 1:
        raise typer.BadParameter("--count is for --sampler; add --sampler auto, for example")
    if sampler and sample:
        raise typer.BadParameter("expected --sample or --sampler, got both")
    if sampler:
        from ..decode.sampling.aligned_sampler import Method

        if sampler not in get_args(Method):
            raise typer.BadParameter(f"expected --sampler with one of {', '.join(get_args(Method))}, got {sampler!r}")
    prompt = typed("--prompt", prompt)
    constraint = constraint_of(pattern, option, literal, fst, grammar, start, schema, registry, limit)
    folder = model or cache_folder() / "gemma-3-270m"
    if not (folder / "config.json").is_file():
        raise ConstraintError(
            f"generate: {folder} holds no model (no config.json); pass --model with a transformers model folder"
        )
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    try:
        import torch
        from transformers import LogitsProcessorList
    except ImportError as error:
        raise ImportError(f"generate: {error}; install the extra: pip install 'tokamata[transformers]'") from error
    with working("loading the model"):
        tokenizer, network = load_model("generate", folder)
        network.eval()
    with working("reading the vocabulary"):
        vocabulary = Vocabulary.from_transformers(tokenizer, size=network.config.vocab_size)
    inputs = tokenizer(prompt, return_tensors="pt")
    columns = inputs.input_ids.shape[1]
    if not columns:
        raise ConstraintError(
            f"generate: expected a prompt of at least one token, got {prompt!r}, to which the tokenizer adds no begin "
            "token; pass --prompt with some text"
        )
    if sampler:
        _draw(sampler, count, network, tokenizer, prompt, compile_automaton(constraint, vocabulary), max_tokens, seed)
        return
    timed = TimedProcessor(compile_automaton(constraint, vocabulary), columns, max_tokens)
    torch.manual_seed(seed % 2**64)
    begin = time.perf_counter()
    with working("writing"):
        ids = network.generate(
            **inputs,
            logits_processor=LogitsProcessorList([timed]),
            max_new_tokens=max_tokens,
            do_sample=sample,
            pad_token_id=tokenizer.pad_token_id if tokenizer.pad_token_id is not None else vocabulary.eos_token_ids[0],
        )
    seconds = time.perf_counter() - begin - timed.seconds
    written = ids[0, columns:].tolist()
    state = timed.automaton.start()
    accepted = state.validate(written)
    for token in written[:accepted]:
        state.advance(token)
    text = b"".join(vocabulary.token_bytes(t) or b"" for t in written[:accepted])
    sys.stdout.write(text.decode("utf-8", "replace") + "\n")  # as it is: rich would drop and change control characters
    sys.stdout.flush()
    n = max(1, timed.calls)
    errors.print(
        f"{n} tokens: model {seconds / n * 1e3:.1f} ms, masks {timed.seconds / n * 1e3:.3f} ms each",
    )


def _draw(
    method: str, count: int, network: Any, tokenizer: Any, prompt: str, automaton: Any, max_tokens: int, seed: int
) -> None:
    """Print samples of an aligned sampler with the model's log-probabilities."""
    from ..decode.sampling import AlignedSampler, TransformersModel

    model = TransformersModel(network, prompt, tokenizer)
    aligned = AlignedSampler(model, automaton, method=method, max_tokens=max_tokens, seed=seed)  # type: ignore[arg-type]
    with working("drawing"):
        samples = aligned.sample(count)
    for sample in samples:
        text = f"{sample.log_p_model:9.3f}  {sample.text}" if count > 1 else sample.text
        sys.stdout.write(text + "\n")
    sys.stdout.flush()
    done = aligned.statistics
    errors.print(
        f"{aligned.method}: {done.model_calls} model calls, {done.tries} tries, log Z = {done.log_z:.3f}",
    )


class TimedProcessor:
    """A ConstrainedLogitsProcessor that adds up its own time."""

    def __init__(self, automaton: Any, prompt_length: int, max_tokens: int | None = None) -> None:
        from ..decode.transformers import ConstrainedLogitsProcessor

        self.automaton = automaton
        self.calls = 0
        self.seconds = 0.0
        self._processor = ConstrainedLogitsProcessor(automaton, prompt_length, max_tokens)

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Mask the scores."""
        begin = time.perf_counter()
        masked = self._processor(input_ids, scores)
        self.seconds += time.perf_counter() - begin
        self.calls += 1
        return masked
