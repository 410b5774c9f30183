"""Decoding: token automata, decoding states and masks."""

from .._core import DecodeState
from .token_acceptor import TokenAcceptor
from .token_automaton import TokenAutomaton, compile, load

__all__ = ["DecodeState", "TokenAcceptor", "TokenAutomaton", "compile", "load"]
