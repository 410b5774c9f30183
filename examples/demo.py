"""A real model writes only what the language allows: unconstrained and constrained text side by side.

    make demo                            # or: python examples/demo.py [--model folder]

The first three questions are the examples of Willard & Louf 2023, section 3.1; greedy decoding, so every run writes
the same text. The model is Gemma 3 270M (examples/model.py), a base model without chat training.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from typing import Any

from model import load, model_folder
from rich.console import Console
from rich.table import Table

import tokamata
from tokamata.cli.generate import TimedProcessor


@dataclass(frozen=True)
class Question:
    """A prompt, what may follow it, and how many tokens at most."""

    title: str
    prompt: str
    constraint: tokamata.Constraint
    max_tokens: int = 24


OCTET = r"(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
QUESTIONS = [
    Question(
        "a choice",
        "Is 1+1=2?\nAnswer with Yes, No, Never or Always.\nAnswer: ",
        tokamata.choice(["Yes", "No", "Never", "Always"]),
    ),
    Question("a year", "In what year was Noam Chomsky born?\nAnswer: ", tokamata.regex(r"(?a)\s*19[0-9]{2}")),
    Question(
        "an IPv4 address",
        "What is the IP address of the Google DNS servers?\nAnswer: ",
        tokamata.regex(rf"(?a){OCTET}(\.{OCTET}){{3}}"),
    ),
    Question(
        "a date",
        "The first human landed on the Moon on (year-month-day): ",
        tokamata.regex(r"(?a)(19|20)\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"),
    ),
    Question(
        "a JSON object",
        "A book as JSON with title, year and in_print.\nGeorge Orwell, 1949: ",
        tokamata.regex(r'(?a)\{"title": "[^"\\\x00-\x1f]{1,40}", "year": [12]\d{3}, "in_print": (true|false)\}'),
        48,
    ),
]


def write(model: Any, tokenizer: Any, question: Question, processor: TimedProcessor | None) -> tuple[str, int, float]:
    """Return the text after the prompt, its number of tokens and the seconds it took."""
    inputs = tokenizer(question.prompt, return_tensors="pt")
    begin = time.perf_counter()
    ids = model.generate(
        **inputs,
        max_new_tokens=question.max_tokens,
        do_sample=False,
        logits_processor=[] if processor is None else [processor],
    )
    seconds = time.perf_counter() - begin
    written = ids[0, inputs.input_ids.shape[1] :]
    return tokenizer.decode(written, skip_special_tokens=True), len(written), seconds


def processor_of(question: Question, tokenizer: Any, vocabulary: tokamata.Vocabulary) -> TimedProcessor:
    """Return the logits processor of one question, with an automaton of its own."""
    columns = tokenizer(question.prompt, return_tensors="pt").input_ids.shape[1]
    return TimedProcessor(tokamata.compile(question.constraint, vocabulary), columns, question.max_tokens)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", help="a transformers model folder; default: $MODEL, else Gemma 3 270M")
    arguments = parser.parse_args()
    console = Console()
    console.width = max(console.width, 120)
    begin = time.perf_counter()
    folder = model_folder(arguments.model, console)
    with console.status("loading the model") if console.is_terminal else console.capture():
        model, tokenizer, vocabulary = load(folder)
    console.print(f"{folder.name}: {len(vocabulary):,} tokens, ready in {time.perf_counter() - begin:.1f} s")
    warm_up = Question("", "x", tokamata.literal(" y"))  # the first run of generate imports and allocates
    write(model, tokenizer, warm_up, processor_of(warm_up, tokenizer, vocabulary))
    table = Table(title="Greedy text of the same model", show_lines=True)
    for name in ("", "prompt", "unconstrained", "constrained"):
        table.add_column(name, overflow="fold")
    for name in ("model\nms/token", "masks,\napplied\nms/token", "first\nmask, ms"):
        table.add_column(name, justify="right", no_wrap=True)
    for question in QUESTIONS:
        free, _, _ = write(model, tokenizer, question, None)
        start = time.perf_counter()
        tokamata.compile(question.constraint, vocabulary).start().mask()
        first = time.perf_counter() - start
        processor = processor_of(question, tokenizer, vocabulary)
        bound, tokens, seconds = write(model, tokenizer, question, processor)
        if not question.constraint.accepts(bound):
            raise SystemExit(f"{question.title}: {bound!r} is not a member of {question.constraint!r}")
        row = (question.title, question.prompt, repr(free)[1:-1], bound)
        figures = ((seconds - processor.seconds) / tokens, processor.seconds / tokens, first)
        table.add_row(*(text.replace("[", "\\[") for text in row), *(f"{1e3 * x:.2f}" for x in figures))
    console.print(table)
    console.print("Every constrained text is a member of its constraint (checked).")


if __name__ == "__main__":
    main()
