"""ExactJsonSchema: JSON Schemas of Python types that pydantic reads and writes; imported where pydantic is installed.

pydantic's own JSON Schemas are for people and other tools. Some texts that they allow are refused by pydantic (the year
0, keys of ``dict[int, str]`` that are no numbers), and some texts that pydantic writes are not allowed (times without a
zone, negative durations). Here both are the same as far as JSON Schema can tell.
"""

from __future__ import annotations

import datetime
import enum
import math
from decimal import Decimal
from typing import Any, cast

from pydantic.json_schema import GenerateJsonSchema

from ..automata.errors import UnsupportedError
from .digits import between, decimals_between
from .network_patterns import ADDRESSES, BASE64, SPECIAL, url_pattern

_YEAR = "(?:[0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)"
_LEAP = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)"
_DATE = (
    f"(?:{_YEAR}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|"
    f"02-(?:0[1-9]|1[0-9]|2[0-8]))|{_LEAP}-02-29)"
)
_TIME = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,6})?"
_ZONE = "(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
_SECONDS = r"(?:\.[0-9]{1,6})?S"


def _clock(hours: str, sixties: str) -> str:
    """Hours, minutes and seconds of a duration, one of them at least."""
    seconds = sixties + _SECONDS
    return f"T(?:{hours}H(?:{sixties}M)?(?:{seconds})?|{sixties}M(?:{seconds})?|{seconds})"


_CLOCK = _clock("[0-9]{1,6}", "[0-9]{1,6}")
_DAYTIME = _clock("(?:1?[0-9]|2[0-3])", "[1-5]?[0-9]")
_YEARS = (  # of 365 days, as pydantic writes them, so that no duration is too long
    "(?:[1-9][0-9]{0,5}|1[0-9]{6}|2[0-6][0-9]{5}|27[0-2][0-9]{4}|273[0-8][0-9]{3}|2739[0-6][0-9]{2}|27397[01][0-9]|"
    "273972[0-5])"
)
_DURATION = (
    rf"-?P(?:[0-9]{{1,8}}D(?:{_CLOCK})?|{_YEARS}Y(?:(?:[1-9][0-9]?|[12][0-9]{{2}}|3[0-5][0-9]|36[0-4])D)?(?:{_CLOCK})?|"
    rf"{_CLOCK}|2739726Y(?:[1-8]D)?(?:{_DAYTIME})?)|P2739726Y9D(?:{_DAYTIME})?|-P2739726Y9D"
)
_DECIMAL = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:E[+-](?:0|[1-9][0-9]{0,5}))?"
_REAL = r"(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:e[+-]?[0-9]{1,3})?"
_MOST_FLAGS = 8
_FORMATS = {**ADDRESSES, **BASE64}
_KEYS = {
    "int": {"pattern": "^(?:0|-?[1-9][0-9]{0,4299})$"},
    "float": {"pattern": r"^-?(?:0|[1-9][0-9]{0,16})(?:\.[0-9]{1,17})?(?:e[+-](?:[0-9]{1,2}|[12][0-9]{2}|30[0-7]))?$"},
    "decimal": {"pattern": f"^(?:{_DECIMAL})$"},
    "bool": {"enum": ["true", "false"]},
}
_UNHASHABLE = ("list", "set", "dict", "typed-dict")
_NO_KEYS = ("frozenset", "tuple", "model", "dataclass", "none")
_LARGEST = 1.7976931348623157e308
_STRIPPED = r"^(?:\P{White_Space}(?:[^]*\P{White_Space})?)?$"


def _text(pattern: str) -> dict[str, Any]:
    return {"type": "string", "pattern": f"^(?:{pattern})$"}


def _counted(digits: int | None, places: int | None) -> str | None:
    """Decimal numbers of so many digits at most, and so many of them after the point; None where nothing is asked."""
    if digits is None:
        if places is None:
            return None
        return f"(?:0|[1-9][0-9]*)(?:\\.[0-9]{{1,{places}}})?" if places else "0|[1-9][0-9]*"
    # pydantic counts the 0 of "0", not that of "0.1"
    may_end = "" if places is not None and digits <= places else "?"
    rows = []
    for whole in range(digits + 1 if places is None else max(digits - places, 0) + 1):
        fraction = digits - whole if places is None else min(places, digits)
        number = f"[1-9][0-9]{{{whole - 1}}}" if whole else "0"
        rows.append(number + (f"(?:\\.[0-9]{{1,{fraction}}}){may_end}" if fraction else ""))
    return "|".join(rows)


def _counted_numbers(digits: int | None, places: int | None) -> dict[str, Any]:
    """As numbers."""
    rows = []
    for fraction in [places] if places is not None else range(cast("int", digits) + 1):
        row: dict[str, Any] = {"multipleOf": float(f"1e-{fraction}")}
        if digits is not None:
            row["exclusiveMaximum"] = 10 ** max(digits - fraction, 0)
            row["exclusiveMinimum"] = -row["exclusiveMaximum"]
        rows.append(row)
    return {"anyOf": rows}


def _step(multiple_of: Any) -> str | None:
    """Decimal numbers, without exponents, that are multiples of 1, 0.1, 0.01, ...; None for other steps."""
    digits = Decimal(str(multiple_of)).normalize().as_tuple() if multiple_of is not None else None
    if digits is None or digits.digits != (1,) or not isinstance(digits.exponent, int) or digits.exponent > 0:
        return None
    fraction = f"[0-9]{{1,{-digits.exponent}}}0*" if digits.exponent else "0+"
    return f"-?(?:0|[1-9][0-9]*)(?:\\.{fraction})?"


def _bounded(schema: Any) -> str | None:
    """Decimal numbers between the bounds of a schema, without exponents; None where there are none."""
    bounds = {name: Decimal(str(schema[name])) for name in ("ge", "gt", "le", "lt") if name in schema}
    if not bounds:
        return None
    low = max((b, b == bounds.get("gt")) for b in (bounds.get(n, Decimal("-inf")) for n in ("ge", "gt")))
    high = min((b, b != bounds.get("lt")) for b in (bounds.get(n, Decimal("inf")) for n in ("le", "lt")))
    if low[0] == Decimal("inf") or high[0] == Decimal("-inf"):
        return "[]"
    return decimals_between(
        low[0] if low[0].is_finite() else None, low[1], high[0] if high[0].is_finite() else None, not high[1]
    )


class ExactJsonSchema(GenerateJsonSchema):
    """What pydantic validates, as it writes it."""

    def str_schema(self, schema: Any) -> dict[str, Any]:
        """Texts; without white space at their ends where pydantic takes it off before it looks at the rest."""
        made = dict(super().str_schema(schema))
        if not schema.get("strip_whitespace", self._config.config_dict.get("str_strip_whitespace", False)):
            return made
        return {"allOf": [made, {"pattern": _STRIPPED}]} if "pattern" in made else {**made, "pattern": _STRIPPED}

    def generate_inner(self, schema: Any) -> dict[str, Any]:
        """What pydantic has a format of its own for, as a pattern."""
        made = super().generate_inner(schema)
        pattern = _FORMATS.get(str(made.get("format")))
        if pattern is None or "pattern" in made:
            return made
        return {**{name: value for name, value in made.items() if name != "format"}, "pattern": f"^(?:{pattern})$"}

    def url_schema(self, schema: Any) -> dict[str, Any]:
        """URLs with the schemes that are allowed; those that a "/" is added to are shorter by one."""
        return self._url(schema, several_hosts=False)

    def multi_host_url_schema(self, schema: Any) -> dict[str, Any]:
        """The same with hosts that are separated by commas."""
        return self._url(schema, several_hosts=True)

    def _url(self, schema: Any, *, several_hosts: bool) -> dict[str, Any]:
        required, schemes = schema.get("host_required", False), schema.get("allowed_schemes")
        made = _text(url_pattern(schemes, host_required=required, several_hosts=several_hosts))
        if "max_length" in schema:
            longer = schemes is None or not SPECIAL.isdisjoint(schemes)
            made["maxLength"] = schema["max_length"] - longer
        return made

    def json_schema(self, schema: Any) -> dict[str, Any]:
        """JSON inside of a text is beyond patterns."""
        raise UnsupportedError(
            "json_schema: Json[...] is JSON inside of a text, which is not enforced; use its own type"
        )

    def uuid_schema(self, schema: Any) -> dict[str, Any]:
        """With the digit that is the version, where one is asked for."""
        version = schema.get("version")
        if not version:
            return {"type": "string", "format": "uuid"}
        hexes = "[0-9A-Fa-f]"  # in full, since UUID4 and its kin replace the format
        return _text(f"{hexes}{{8}}-{hexes}{{4}}-{version}{hexes}{{3}}-[89ABab]{hexes}{{3}}-{hexes}{{12}}")

    def _iso(self) -> bool:
        config = self._config.config_dict
        return config.get("ser_json_temporal", "iso8601") == config.get("ser_json_timedelta", "iso8601") == "iso8601"

    def date_schema(self, schema: Any) -> dict[str, Any]:
        """Days of the calendar, between bounds."""
        if not self._iso():
            return super().date_schema(schema)
        made = _text(_DATE)
        day = datetime.timedelta(days=1)
        try:
            lows = [datetime.date.min, schema.get("ge"), schema["gt"] + day if "gt" in schema else None]
            highs = [datetime.date.max, schema.get("le"), schema["lt"] - day if "lt" in schema else None]
            low, high = max(b for b in lows if b), min(b for b in highs if b)
        except OverflowError:
            return {"not": {}}
        if (low, high) != (datetime.date.min, datetime.date.max):
            made = {"allOf": [made, _text(between(str(low), str(high)))]} if low <= high else {"not": {}}
        return made

    def time_schema(self, schema: Any) -> dict[str, Any]:
        """Times of day with or without a zone."""
        return _text(_TIME + self._zone(schema)) if self._iso() else super().time_schema(schema)

    def datetime_schema(self, schema: Any) -> dict[str, Any]:
        """Moments with or without a zone."""
        return _text(f"{_DATE}T{_TIME}{self._zone(schema)}") if self._iso() else super().datetime_schema(schema)

    def _zone(self, schema: Any) -> str:
        constraint = schema.get("tz_constraint")
        return _ZONE if constraint == "aware" else "" if constraint == "naive" else f"{_ZONE}?"

    def timedelta_schema(self, schema: Any) -> dict[str, Any]:
        """Durations in days, hours, minutes and seconds, negative ones too, and in years where they are long."""
        return _text(_DURATION) if self._iso() else super().timedelta_schema(schema)

    def float_schema(self, schema: Any) -> dict[str, Any]:
        """Exclusive bounds are those of floats, to which texts are rounded; finite where that is asked for."""
        if math.inf in (schema.get("ge"), schema.get("gt")) or -math.inf in (schema.get("le"), schema.get("lt")):
            return {"not": {}}
        made = dict(super().float_schema(schema))
        finite = schema.get("allow_inf_nan") is False
        if finite or schema.get("lt") == math.inf:
            made.setdefault("maximum", _LARGEST)
        if finite or schema.get("gt") == -math.inf:
            made.setdefault("minimum", -_LARGEST)
        for name, inclusive, direction in (
            ("exclusiveMaximum", "maximum", -math.inf),
            ("exclusiveMinimum", "minimum", math.inf),
        ):
            if name in made:
                bound = math.nextafter(float(cast("float", made.pop(name))), direction)
                nearer = max if direction > 0 else min
                made[inclusive] = nearer(cast("float", made.get(inclusive, bound)), bound)
        return made

    def decimal_schema(self, schema: Any) -> dict[str, Any]:
        """Numbers, or texts of numbers, without exponents where there are bounds; only texts where digits are counted.

        Multiples are numbers only, but for those of 1, 0.1, 0.01 and so on.
        """
        digits, places = schema.get("max_digits"), schema.get("decimal_places")
        counted = _counted(digits, places)
        bounds = {name: float(schema[name]) for name in ("ge", "gt", "le", "lt", "multiple_of") if name in schema}
        number = self.float_schema({**bounds, "allow_inf_nan": False})
        step = _step(schema.get("multiple_of")) if counted is None else None
        if "multiple_of" in schema and step is None:
            return number if counted is None else {"allOf": [number, _counted_numbers(digits, places)]}
        patterns = [p for p in (counted and f"-?(?:{counted})", step, _bounded(schema)) if p] or [_DECIMAL]
        text = _text(patterns[0]) if len(patterns) == 1 else {"allOf": [_text(p) for p in patterns]}
        return {"anyOf": [number, text]} if counted is None else text

    def model_field_schema(self, schema: Any) -> dict[str, Any]:
        """A field; refused where it is read from inside of another one."""
        paths = schema.get("validation_alias")
        if isinstance(paths, list):
            paths = paths if isinstance(paths[0], list) else [paths]
            if all(len(path) > 1 for path in paths):
                raise UnsupportedError(
                    f"json_schema: a field with the alias {paths[0]!r} is read from inside of another one, which its "
                    "JSON Schema does not say; give it a name of its own"
                )
        return super().model_field_schema(schema)

    def tagged_union_schema(self, schema: Any) -> dict[str, Any]:
        """With the tag, which has to be written even where it has a default."""
        made = dict(super().tagged_union_schema(schema))
        tag = cast("dict[str, Any]", made.get("discriminator", {})).get("propertyName")
        if tag is not None and "oneOf" in made:
            made["oneOf"] = [{"allOf": [one, {"required": [tag]}]} for one in cast("list[Any]", made["oneOf"])]
        return made

    def complex_schema(self, schema: Any) -> dict[str, Any]:
        """Complex numbers as Python writes them, without brackets."""
        return _text(f"[+-]?{_REAL}(?:j|[+-]{_REAL}j)?")

    def literal_schema(self, schema: Any) -> dict[str, Any]:
        """The values, where JSON has them."""
        for value in schema["expected"]:
            if not isinstance(value, (str, int, float, bool, type(None))):  # which members of some enums are
                raise UnsupportedError(
                    f"json_schema: Literal[{value!r}] cannot be read back from JSON; use a str, a number, a bool or "
                    "None"
                )
        return super().literal_schema(schema)

    def is_subclass_schema(self, schema: Any) -> dict[str, Any]:
        """Classes have no JSON."""
        raise UnsupportedError("json_schema: type[...] cannot be read back from JSON; use a name, and look it up")

    def enum_schema(self, schema: Any) -> dict[str, Any]:
        """The members' values; of flags, those of their combinations."""
        kind = schema["cls"]
        for member in schema["members"]:
            if not isinstance(member.value, (str, int, float, bool, type(None))):
                raise UnsupportedError(
                    f"json_schema: {kind.__name__}.{member.name}: its value {member.value!r} cannot be read back from "
                    "JSON; give it a str, a number, a bool or None"
                )
        if not issubclass(kind, enum.Flag):
            return super().enum_schema(schema)
        bits = [m.value for m in kind.__members__.values() if m.value.bit_count() == 1]
        if len(set(bits)) > _MOST_FLAGS:
            raise UnsupportedError(
                f"json_schema: {kind.__name__}: expected at most {_MOST_FLAGS} flags, got {len(set(bits))}; use a set "
                "of them"
            )
        values = {0}
        for bit in sorted(set(bits)):
            values |= {value | bit for value in values}
        return {**super().enum_schema(schema), "enum": sorted(values)}

    def dict_schema(self, schema: Any) -> dict[str, Any]:
        """Keys that can be read."""
        made = dict(super().dict_schema(schema))
        by_pattern = made.pop("patternProperties", {})
        for pattern, values in by_pattern.items():  # one: that of all keys
            made.update(propertyNames={"pattern": pattern}, additionalProperties=values)
        names = schema.get("keys_schema", {})
        keys = names.get("type")
        if keys in _NO_KEYS or keys in _UNHASHABLE:
            raise UnsupportedError(
                f"json_schema: keys of JSON are texts, which a {keys} cannot be read from; use a list of pairs"
            )
        if keys in _KEYS:
            made["propertyNames"] = _KEYS[keys]
            counted = _counted(names.get("max_digits"), names.get("decimal_places")) if keys == "decimal" else None
            patterns = [p for p in (counted and f"-?(?:{counted})", _bounded(names)) if p]
            if patterns:
                made["propertyNames"] = {"allOf": [_KEYS[keys], *({"pattern": f"^(?:{p})$"} for p in patterns)]}
        return made

    def dataclass_schema(self, schema: Any) -> dict[str, Any]:
        """Keys in the order of the fields, in which they are written; keyword-only ones are not moved to the end."""
        made = dict(super().dataclass_schema(schema))
        place = {name: i for i, name in enumerate(schema["fields"])}
        if place.keys() >= made.get("properties", {}).keys():
            made["properties"] = dict(sorted(made["properties"].items(), key=lambda item: place[item[0]]))
        return made

    def set_schema(self, schema: Any) -> dict[str, Any]:
        """Arrays; an element may come again."""
        return self._repeatable(schema, dict(super().set_schema(schema)))

    def frozenset_schema(self, schema: Any) -> dict[str, Any]:
        """Arrays; an element may come again."""
        return self._repeatable(schema, dict(super().frozenset_schema(schema)))

    def _repeatable(self, schema: Any, made: dict[str, Any]) -> dict[str, Any]:
        kind = schema.get("items_schema", {"type": "any"}).get("type")
        if kind in _UNHASHABLE:
            raise UnsupportedError(f"json_schema: members of a set must be hashable, and a {kind} is not; use a list")
        if kind == "any":
            made["items"] = {"type": ["null", "boolean", "number", "string"]}
        if made.get("minItems", 0) <= 1:
            made.pop("uniqueItems", None)
        return made
