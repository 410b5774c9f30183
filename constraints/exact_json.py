"""ExactJson: a JSON text of which some values are schemas, whose numbers stay as they are written."""

from __future__ import annotations

import json
from typing import Any

from .._core import JsonDocument
from ..automata.errors import ConstraintError, LimitError


class ExactJson:
    """A JSON text: its value, and the texts of values in it.

    ``json.loads`` rounds numbers and takes the last of several members with one key; a schema that went through it may
    be another one. So `value` is for what surrounds the schemas, and `text` gives them to ``json_schema``.
    """

    __slots__ = ("_document", "value")

    value: Any  # as ``json.loads`` makes it

    def __init__(self, text: str | bytes, name: str) -> None:
        """Read a text in UTF-8; ``name`` begins the error texts.

        Raises ConstraintError, with the place, for what is not JSON, for a key that occurs twice in an object, and for
        what nests too deeply.
        """
        try:
            data = text.encode() if isinstance(text, str) else text
            self.value = json.loads(data.decode())
        except (ValueError, RecursionError) as error:
            shown = str(error).encode("ascii", "backslashreplace").decode()
            raise ConstraintError(f"{name} is not JSON that can be read: {shown}") from error
        try:
            self._document = JsonDocument.parse(data, name)
        except LimitError as error:
            raise ConstraintError(str(error)) from error

    def text(self, *path: str | int) -> str:
        """The JSON text of the value at a path of keys and positions. Raises ConstraintError where there is none."""
        steps = (str(step).replace("~", "~0").replace("/", "~1") for step in path)
        return self.at("".join(f"/{step}" for step in steps))

    def at(self, pointer: str) -> str:
        """The JSON text of the value at a JSON Pointer. Raises ConstraintError where there is none."""
        return self._document.text(pointer).decode()
