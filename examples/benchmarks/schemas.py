"""JSON Schemas of everyday kinds, each with documents: what json_schema.py and first_mask.py measure."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def record(properties: Json, required: list[str] | None = None, **more: Any) -> Json:
    """Return a closed object schema; all properties are required unless told otherwise."""
    keys = list(properties) if required is None else required
    return {"type": "object", "properties": properties, "required": keys, "additionalProperties": False} | more


TEXT: Json = {"type": "string"}
LINE: Json = {"type": "string", "minLength": 1, "maxLength": 120}
WHOLE: Json = {"type": "integer"}
COUNT: Json = {"type": "integer", "minimum": 0, "maximum": 100000}
NUMBER: Json = {"type": "number"}
FLAG: Json = {"type": "boolean"}
DAY: Json = {"type": "string", "format": "date"}
ADDRESS = record({"street": LINE, "city": LINE, "zip": {"type": "string", "pattern": "^[0-9]{5}$"}})
POINT = record({"lat": NUMBER, "lon": NUMBER})
UNIT: Json = {"enum": ["celsius", "fahrenheit"]}

SCHEMAS: dict[str, tuple[Json, list[Any]]] = {
    "person": (
        record({"name": LINE, "age": {"type": "integer", "minimum": 0, "maximum": 150}, "email": TEXT, "admin": FLAG}),
        [{"name": "Ada Lovelace", "age": 36, "email": "ada@example.org", "admin": True}],
    ),
    "sentiment": (
        record({"label": {"enum": ["positive", "negative", "neutral"]}, "score": NUMBER, "reason": TEXT}),
        [{"label": "neutral", "score": 0.25, "reason": "The review names good and bad sides, about as many of each."}],
    ),
    "weather call": (
        record(
            {
                "name": {"const": "get_weather"},
                "arguments": record({"place": TEXT, "unit": UNIT, "days": {"type": "integer"}}, ["place"]),
            }
        ),
        [{"name": "get_weather", "arguments": {"place": "Zürich, Switzerland", "unit": "celsius", "days": 3}}],
    ),
    "one of five tools": (
        {
            "anyOf": [
                record({"tool": {"const": tool}, "input": record(inputs)})
                for tool, inputs in {
                    "search": {"query": TEXT, "limit": WHOLE},
                    "open": {"url": TEXT},
                    "calculate": {"expression": TEXT},
                    "write_file": {"path": TEXT, "content": TEXT},
                    "finish": {"answer": TEXT},
                }.items()
            ]
        },
        [
            {"tool": "search", "input": {"query": "finite-state transducers", "limit": 10}},
            {
                "tool": "write_file",
                "input": {"path": "notes/day1.txt", "content": "First line\nSecond line\n\tindented"},
            },
        ],
    ),
    "order": (
        record(
            {
                "id": {"type": "string", "pattern": "^ORD-[0-9]{8}$"},
                "placed": DAY,
                "customer": record({"name": LINE, "address": ADDRESS}),
                "items": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": 50,
                    "items": record({"sku": {"type": "string", "pattern": "^[A-Z]{3}-[0-9]{4}$"}, "count": COUNT}),
                },
                "paid": FLAG,
            }
        ),
        [
            {
                "id": "ORD-20261121",
                "placed": "2026-11-21",
                "customer": {
                    "name": "Grace Hopper",
                    "address": {"street": "12 Harbor Road", "city": "Arlington", "zip": "22201"},
                },
                "items": [{"sku": "ABC-1234", "count": 2}, {"sku": "XYZ-0042", "count": 17}],
                "paid": False,
            }
        ],
    ),
    "calendar event": (
        record(
            {
                "title": LINE,
                "start": {"type": "string", "format": "date-time"},
                "end": {"type": "string", "format": "date-time"},
                "attendees": {"type": "array", "items": TEXT, "maxItems": 20},
                "place": {"anyOf": [TEXT, {"type": "null"}]},
            },
            ["title", "start"],
        ),
        [
            {
                "title": "Reading group: automata",
                "start": "2026-11-23T14:00:00Z",
                "end": "2026-11-23T15:30:00Z",
                "attendees": ["ada@example.org", "alan@example.org"],
                "place": None,
            }
        ],
    ),
    "tree": (
        {
            "$ref": "#/$defs/node",
            "$defs": {
                "node": record({"value": WHOLE, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}})
            },
        },
        [
            {
                "value": 1,
                "children": [{"value": 2, "children": []}, {"value": 3, "children": [{"value": 4, "children": []}]}],
            }
        ],
    ),
    "named entities": (
        record(
            {
                "entities": {
                    "type": "array",
                    "items": record(
                        {
                            "text": TEXT,
                            "type": {"enum": ["person", "place", "organization", "date", "other"]},
                            "start": COUNT,
                        }
                    ),
                }
            }
        ),
        [
            {
                "entities": [
                    {"text": "Marie Curie", "type": "person", "start": 0},
                    {"text": "Paris", "type": "place", "start": 27},
                    {"text": "Sorbonne", "type": "organization", "start": 40},
                ]
            }
        ],
    ),
    "settings": (
        record(
            {
                f"{part}_{what}": kind
                for part in ("cache", "log", "net")
                for what, kind in {"enabled": FLAG, "limit": COUNT, "path": TEXT, "ratio": NUMBER}.items()
            },
            [],
        ),
        [{"cache_enabled": True, "cache_limit": 4096, "log_path": "/var/log/app.log", "net_ratio": 0.75}],
    ),
    "open object": (
        {"type": "object", "properties": {"id": WHOLE}, "required": ["id"], "additionalProperties": TEXT},
        [{"id": 7, "title": "free keys", "note": "each with a text"}],
    ),
    "map of points": (
        {"type": "object", "additionalProperties": POINT},
        [{"Bern": {"lat": 46.948, "lon": 7.4474}, "Oslo": {"lat": 59.9139, "lon": 10.7522}}],
    ),
    "matrix": (
        {"type": "array", "items": {"type": "array", "items": NUMBER, "minItems": 3, "maxItems": 3}},
        [[[1, 0, 0], [0, 0.5, -0.25], [1e-3, 2.5, 100]]],
    ),
    "article": (
        record(
            {
                "title": LINE,
                "slug": {"type": "string", "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$"},
                "sections": {"type": "array", "items": record({"heading": LINE, "text": TEXT}), "minItems": 1},
                "tags": {"type": "array", "items": {"type": "string", "maxLength": 20}, "maxItems": 8},
            }
        ),
        [
            {
                "title": "How masks are made",
                "slug": "how-masks-are-made",
                "sections": [
                    {
                        "heading": "Tries",
                        "text": 'The vocabulary is a trie; "wildcard" parts of it are shared.\nMost of it is.',
                    },
                    {"heading": "Loops", "text": "A state that loops on a class of characters needs its exits only."},
                ],
                "tags": ["automata", "decoding"],
            }
        ],
    ),
    "any JSON": (
        {},
        [{"a": [1, 2.5, None, True, {"b": 'text with "quotes" and ünïcode'}], "c": {}}],
    ),
}
