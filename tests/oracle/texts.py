"""Varied texts for tokenizers: code, JSON, many scripts, emoji, control characters, arbitrary Unicode."""

from __future__ import annotations

import json
import random

_WORDS = (
    "the of transducer token naïve Straße Übergröße élève mañana København żółć дом привет слово мир Ελλάδα שלום مرحبا "
    "नमस्ते 東京 中文字符 日本語テキスト 한국어 ภาษาไทย tiếng Việt don't I'll "
    "we've 2024 3.14159 1e-9 0xFF foo_bar camelCase "
    "HTTPServer __init__ a.b.c x=1; ---- ### <tag> </s> <|im_end|> [INST] ▁ ## <0x0A> ﬁ ① ½ é İ ǅ"
).split()
_EMOJI = "😀 🎉 👩‍👩‍👧‍👦 🇩🇪 👍🏽 ❤️ 🏴‍☠️ ✅ 🤷‍♂️ 1️⃣".split()
_CODE = (
    "def f(x: int) -> int:\n    return x + 1\n",
    "for (int i = 0; i < n; ++i) {\n\tsum += a[i];\n}\n",
    "SELECT * FROM t WHERE a = 'b''c' AND d >= 10;\n",
    '<div class="a b">&nbsp;</div>\r\n',
    "\\begin{align} x^2 &= \\frac{1}{2} \\\\ \\end{align}",
    "#!/bin/sh\nset -e\nfor f in *.txt; do echo \"$f\" | sed 's/a/b/g'; done\n",
    'fn main() { let v: Vec<&\'static str> = vec!["a"]; println!("{:?}", v); }',
)
_SPACES = (" ", "  ", "\n", "\t", "\n\n", "    ", "\r\n", "\u00a0", "\u3000", "\u200b", "")


def _json(rng: random.Random, depth: int = 3) -> object:
    kind = rng.randrange(7 if depth else 5)
    if kind == 0:
        return rng.choice([True, False, None])
    if kind == 1:
        return rng.randrange(-(10**6), 10**6)
    if kind == 2:
        return rng.uniform(-1e3, 1e9)
    if kind < 5:
        return " ".join(rng.choices(_WORDS + _EMOJI, k=rng.randrange(5)))
    if kind == 5:
        return [_json(rng, depth - 1) for _ in range(rng.randrange(4))]
    return {rng.choice(_WORDS): _json(rng, depth - 1) for _ in range(rng.randrange(4))}


def _character(rng: random.Random) -> str:
    while True:
        high = rng.choice([0x80, 0x800, 0x3000, 0x10000, 0x20000, 0x110000])
        code = rng.randrange(high)
        if not 0xD800 <= code < 0xE000:
            return chr(code)


def text(rng: random.Random) -> str:
    """One text of a random kind."""
    kind = rng.randrange(7)
    if kind == 0:
        return "".join(rng.choice(_CODE) for _ in range(rng.randrange(1, 4)))
    if kind == 1:
        return json.dumps(_json(rng), ensure_ascii=rng.random() < 0.3, indent=rng.choice([None, 2]))
    if kind == 2:
        return "".join(chr(rng.randrange(32)) for _ in range(rng.randrange(1, 12)))
    if kind == 3:
        return "".join(_character(rng) for _ in range(rng.randrange(1, 30)))
    if kind == 4:
        return "".join(rng.choice(_EMOJI) + rng.choice(_SPACES) for _ in range(rng.randrange(1, 8)))
    return "".join(rng.choice(_WORDS) + rng.choice(_SPACES) for _ in range(rng.randrange(1, 40)))


def texts(count: int, seed: int) -> list[str]:
    """As many texts of all kinds; the same for the same seed."""
    rng = random.Random(seed)
    return [text(rng) for _ in range(count)]
