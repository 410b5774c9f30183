"""ServerLimits: what one request, and all of them together, may use."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ServerLimits:
    """Named limits of a server; a request past one of them is refused with its name and value.

    ``body_bytes``: of a request. ``source_bytes``: of a schema, grammar or pattern, as JSON text. ``seconds``: of
    processor time to build a constraint, and for each single mask; those of tools have at least what `tokamata.Limits`
    has.
    ``new_tokens``: written for one choice; also what a request gets that names no number. ``choices``: ``n`` of a
    request. ``running``: sequences that are decoded in turns. ``waiting``: sequences that wait for a place; past it
    requests get status 429, and 400 where they ask for more than that at once; so many requests, and ``running`` more,
    may be prepared at once. ``constraints``: compiled constraints that are kept for later requests.
    """

    body_bytes: int = 8 << 20
    source_bytes: int = 4 << 20
    seconds: float = 5.0
    new_tokens: int = 1024
    choices: int = 8
    running: int = 8
    waiting: int = 64
    constraints: int = 128
