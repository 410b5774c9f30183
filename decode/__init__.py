"""Decoding: token automata, decoding states and masks."""

from .._core import DecodeState
from .batch_state import BatchState
from .device import DeviceAutomaton
from .dynamic_automaton import DynamicAutomaton
from .dynamic_state import DynamicState
from .host_masks import HostMasks
from .token_acceptor import TokenAcceptor
from .token_automaton import TokenAutomaton, compile, load

__all__ = [
    "BatchState",
    "DecodeState",
    "DeviceAutomaton",
    "DynamicAutomaton",
    "DynamicState",
    "HostMasks",
    "TokenAcceptor",
    "TokenAutomaton",
    "compile",
    "load",
]
