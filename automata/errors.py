"""The errors of the whole package, defined in its lowest folder so that every folder can raise them."""

from __future__ import annotations


class ConstraintError(ValueError):
    """A source (pattern, grammar, schema, file, vocabulary) is malformed; the text names the place and the remedy."""


class UnsupportedError(ConstraintError):
    """A well-formed source asks for something that cannot be enforced exactly; the text names place and reason."""


class FstError(ConstraintError):
    """An Fst operation was given what it cannot take, or an Fst file is damaged."""


class VocabularyError(ConstraintError):
    """A vocabulary or tokenizer file is malformed, incomplete or of an unknown kind."""


class MissingFileError(ConstraintError, FileNotFoundError):
    """A file that should be read does not exist."""


class LimitError(RuntimeError):
    """A named limit (states, expressions, memory, time) was reached; the text gives its name, value and remedy."""


class TokenRejected(ValueError):
    """The token is not allowed here; the decoding state is unchanged."""


class BudgetError(ValueError):
    """No member of the constraint fits the token budget; the text names the smallest that works."""
