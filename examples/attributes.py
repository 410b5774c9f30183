"""Names that exist: a model completes a line of Python, and attributes are looked up in live objects while it writes.

    python examples/attributes.py        # Gemma 3 270M where it was converted before (make demo), else a scripted model
    python examples/attributes.py --model folder

Code models invent members of types they have not seen. A monitor of a language server can tell them which exist
(Agrawal et al., "Monitor-guided decoding of code LMs with static analysis of repository context", 2023); here the
objects themselves are asked, in a callback at each dot.
"""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console

import tokamata
from tokamata.cli.common import cache_folder


@dataclass
class Address:
    """Where somebody lives."""

    street_line: str = "1 Main Street"
    town: str = "Springfield"


@dataclass
class Customer:
    """Who ordered."""

    full_name: str = "Ada Lovelace"
    email_address: str = "ada@example.org"
    address: Address = field(default_factory=Address)


@dataclass
class Order:
    """What was ordered."""

    number: str = "A-17"
    customer: Customer = field(default_factory=Customer)
    total_price: float = 12.50
    due_date: date = date(2026, 11, 30)


SCOPE: dict[str, Any] = {"order": Order()}
PROMPTS = [
    ("# print the email address of the customer\nprint(order.", "get_customer_email()\n"),
    ("# print the price in euros\nprint(order.", "price)\n"),
    ("# print the year in which the order is due\nprint(order.", "year)\n"),
    ("# print the street of the customer\nprint(order.customer.", "address.street)\n"),
]
CHAIN = re.compile(r"([A-Za-z_]\w*(?:\.\w+)*)\.$")


def lookup(scope: Mapping[str, Any], chain: str) -> Any:
    """The object that a chain of attributes names; properties are not run. KeyError, AttributeError: there is none."""
    root, *names = chain.split(".")
    found = scope[root]
    for name in names:
        found = inspect.getattr_static(found, name)
    return found


def members(scope: Mapping[str, Any], prompt: str) -> tokamata.Constraint:
    """A place for the name of an attribute of what stands before the dot."""

    def chain(text: str) -> str:
        found = CHAIN.search(prompt[-200:] + text)
        return found[1] if found else ""

    def names(text: str) -> tokamata.Constraint:
        public = [name for name in dir(lookup(scope, chain(text))) if not name.startswith("_")]
        return tokamata.choice(public)

    return tokamata.dynamic(names, key=chain, name="attributes")


def line(scope: Mapping[str, Any], prompt: str) -> tokamata.Constraint:
    """The rest of a line that begins behind a dot: attributes of attributes, and text without dots."""
    member = members(scope, prompt)
    return tokamata.sequence(member, ("." + member).repeat(), tokamata.regex(r"[^\w.\n][^.\n]{0,20}"), "\n")


Model = Callable[[bytes], npt.NDArray[np.float64]]  # the text so far to a score for each token


def scripted(vocabulary: tokamata.Vocabulary, wish: str) -> Model:
    """A model that wants to write a text, and to end the line where it cannot."""
    spelled = [vocabulary.token_bytes(token) or b"" for token in range(len(vocabulary))]

    def scores(text: bytes) -> npt.NDArray[np.float64]:
        rest = wish.encode()[len(text) :] if wish.encode().startswith(text) else b"\n"
        return np.array([float(len(b)) if rest.startswith(b) else 0.5 * (b == b")") for b in spelled])

    return scores


def write(model: Model, automaton: Any, vocabulary: tokamata.Vocabulary, most: int = 40) -> str:
    """The text that a model writes, always its best allowed token."""
    state, text = automaton.start(), b""
    for _ in range(most):
        bits = np.unpackbits(state.mask().view(np.uint8), bitorder="little", count=len(vocabulary))
        token = int(np.where(bits, model(text), -np.inf).argmax())
        state.advance(token)
        if state.is_finished:
            break
        text += vocabulary.token_bytes(token) or b""
    return text.decode()


def gemma(folder: str) -> tuple[Callable[[str, tokamata.Constraint | None], str], tokamata.Vocabulary]:
    """A function that lets the model continue a prompt, under a constraint or without, and its vocabulary."""
    from model import load
    from tokamata.decode.transformers import ConstrainedLogitsProcessor

    model, tokenizer, vocabulary = load(folder)

    def continued(prompt: str, constraint: tokamata.Constraint | None) -> str:
        inputs = tokenizer(prompt, return_tensors="pt")
        columns = inputs.input_ids.shape[1]
        processors = []
        if constraint is not None:
            processors = [ConstrainedLogitsProcessor(tokamata.compile(constraint, vocabulary), columns)]
        ids = model.generate(**inputs, max_new_tokens=24, do_sample=False, logits_processor=processors)
        return str(tokenizer.decode(ids[0, columns:], skip_special_tokens=True)).partition("\n")[0]

    return continued, vocabulary


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", help="a transformers model folder")
    arguments = parser.parse_args()
    console = Console(highlight=False)
    folder = arguments.model or cache_folder() / "gemma-3-270m"
    if arguments.model or (folder / "config.json").is_file():
        continued, _ = gemma(folder)
    else:
        vocabulary = tokamata.Vocabulary([None, *(bytes([b]) for b in range(256))], eos_token_ids=[0])
        console.print("No converted model is here; a scripted one stands in.\n")

        def continued(prompt: str, constraint: tokamata.Constraint | None) -> str:
            wish = dict(PROMPTS)[prompt]
            if constraint is None:
                return wish.strip()
            return write(scripted(vocabulary, wish), tokamata.compile(constraint, vocabulary), vocabulary).strip()

    for prompt, _ in PROMPTS:
        shown = prompt.splitlines()[-1]
        console.print(prompt.splitlines()[0], style="dim", markup=False)
        console.print(f"  alone      {shown}{continued(prompt, None)}", markup=False)
        console.print(f"  monitored  {shown}{continued(prompt, line(SCOPE, prompt))}", markup=False)


if __name__ == "__main__":
    main()
