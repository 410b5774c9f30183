"""Forms of the standard library's values that are written as calls: decimals, UUIDs, dates and times."""

from __future__ import annotations

from collections.abc import Callable

from .python_forms import Form

VALUE_FORMS: dict[type, Callable[[], Form]] = {}
