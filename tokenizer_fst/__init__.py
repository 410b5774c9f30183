"""Tokenizers as transducers: the bytes of every token, and D, the transducer from tokens to bytes."""

from .vocabulary import Vocabulary

__all__ = ["Vocabulary"]
