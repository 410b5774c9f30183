"""Ready-made grammars: Lark files with their descriptions, and functions that make some for given words."""

from .catalogue import Description, describe, names, text
from .penn_brackets import penn_brackets
from .xml_markup import xml_markup

__all__ = ["Description", "describe", "names", "penn_brackets", "text", "xml_markup"]
