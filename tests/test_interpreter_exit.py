"""What is left when Python ends: nothing of ordinary programs, and no word about what daemon threads hold."""

from __future__ import annotations

import os
import subprocess
import sys

ORDINARY = """
import functools, gc, threading
import numpy as np
import tokamata
from tokamata.decode import BatchState

vocabulary = tokamata.Vocabulary([*(bytes([b]) for b in range(256)), None], eos_token_ids=[256])
constraints = [
    tokamata.json_schema({"type": "object", "properties": {"a": {"type": "string"}}}),
    tokamata.grammar('start: "a" start | "b"'),
    tokamata.regex("(?P<x>a+)b") & ~tokamata.literal("aab"),
    tokamata.tools([{"name": "f", "parameters": {"type": "object"}}]),
    tokamata.dynamic(lambda text: tokamata.choice(["a", "b"]), key=lambda text: None, name="letters"),
]
automata = [tokamata.compile(constraint, vocabulary) for constraint in constraints]
states = [automaton.start() for automaton in automata]
masks = [state.mask() for state in states]
copies = [state.copy() for state in states]
threads = [threading.Thread(target=state.mask) for state in copies]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
try:
    tokamata.regex("(")
except tokamata.ConstraintError as error:
    kept = error
cached = functools.lru_cache(tokamata.regex)
cached("a|b").examples(3)

class Around:
    pass

around = Around()
around.itself, around.states = around, states
"""
DAEMON = """
import threading
import tokamata

vocabulary = tokamata.Vocabulary([*(bytes([b]) for b in range(256)), None], eos_token_ids=[256])
state = tokamata.compile(tokamata.regex("a"), vocabulary).start()
begun = threading.Event()

def wait(held):
    held.mask()
    begun.set()
    threading.Event().wait()

threading.Thread(target=wait, args=(state,), daemon=True).start()
begun.wait()
"""


def left_over(program: str, told: bool) -> str:
    """What a program writes to standard error."""
    environment = {name: value for name, value in os.environ.items() if name != "TOKAMATA_LEAK_WARNINGS"}
    environment |= {"TOKAMATA_LEAK_WARNINGS": "1"} if told else {}
    made = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=120)
    assert made.returncode == 0, made.stderr
    return made.stderr


def test_ordinary_programs_leave_nothing() -> None:
    assert left_over(ORDINARY, told=True) == ""


def test_what_daemon_threads_hold_is_left_in_silence() -> None:
    assert "DecodeState" in left_over(DAEMON, told=True)
    assert left_over(DAEMON, told=False) == ""
