"""Random grammars in Lark's notation, written in many ways, and damaged ones."""

from __future__ import annotations

import random

LITERALS = [
    '"a"', '"b"', '"if"', '"else"i', '"+"', '"-"', '"=="', '"("', '")"', '"{"', '"}"', '"["', '"]"', '" "', '"\\n"',
    '"\\t"', '"\\\\"', '"\\""', '"//"', '"#"', '"a|b"', '"_"', '"_x"', '"9"', '"a1"', "\"it's\"", '"\\x41"',
    '"\\u00e4"', '"ä"', '"\\d"', "/[a-z]+/", "/[a-z]+/i", "/\\d+/", "/a|bc|d/", "/[^\"]*x/", "/\\//", "/[\\/#]/",
    "/x{2,3}/", "/(ab)*c/", "/\\w/", "/ä+/", "/\\x41+/", "/\\u00e4?b/", "/a.c/s", "/\\./", "/[ \\t]+/", "/\\\"/", "/'/",
    "/a{3}/", "/(?:a|b)+/", "/[]a]/", "/\\n/", "/#[^\\n]*/", "/\\/\\/[^\\n]*/", '"a".."z"', '"0".."9"',
]  # fmt: skip
SUBTLE = ["/a+?b/", "/b(?=a)|c/", "/(?!if\\b)[a-z]+/", "/(a|ab)(?=b)b/", "/x(?!y)z/", '/"(a|b)*?"/']
COMMON = ["WS", "INT", "NUMBER", "CNAME", "ESCAPED_STRING", "WS_INLINE", "DIGIT", "SIGNED_INT", "NEWLINE", "SH_COMMENT"]


def random_text(rng: random.Random) -> str:
    """A grammar with a rule ``start``; mostly one that Lark reads."""
    rules = ["start", *rng.sample(["a", "b", "_c", "d1", "expr", "long_name"], rng.randint(0, 4))]
    terminals = rng.sample(["A", "B", "_C", "D1", "NAME", "LONG_NAME", "IF", "PLUS"], rng.randint(0, 5))
    templates = {"_sep": 2, "opt": 1} if rng.random() < 0.3 else {}
    imported = rng.sample(COMMON, rng.randint(1, 3)) if rng.random() < 0.3 else []
    known = list(terminals)
    lines: list[str] = []
    for name in imported:
        alias = rng.choice(["", "", f" -> MY_{name}"])
        known.append(f"MY_{name}" if alias else name)
        lines.append(f"%import common.{name}{alias}")
    if imported and rng.random() < 0.2:
        lines.append("%import common (LETTER, WORD)")
        known += ["LETTER", "WORD"]
    if rng.random() < 0.1:
        lines.append("%declare X Y")
    blank = lambda: rng.choice([" ", " ", " ", "  ", "\t", " \\\n "])  # noqa: E731
    or_ = lambda: rng.choice([" | ", "|", "\n    | ", "\n|", " // why\n  | "])  # noqa: E731

    def literal() -> str:
        return rng.choice(SUBTLE if rng.random() < 0.02 else LITERALS)

    def value(inside: list[str], parameters: list[str], depth: int) -> str:
        kind = rng.random()
        if depth > 0 and kind < 0.15:
            return f"({choice(inside, parameters, depth - 1)})"
        if depth > 0 and kind < (0.25 if inside is rules else 0.16):
            return f"[{choice(inside, parameters, depth - 1)}]"
        if inside is rules and templates and kind < 0.33:
            name = rng.choice(list(templates))
            arguments = [value(inside, parameters, 0) for _ in range(templates[name])]
            return f"{name}{{{rng.choice([',', ', ']).join(arguments)}}}"
        if inside is rules and kind < 0.55:
            return rng.choice(rules + parameters)
        names = known if inside is rules else inside
        if names and kind < 0.75:
            return rng.choice(names)
        return rng.choice(LITERALS) if inside is not rules else literal()

    def item(inside: list[str], parameters: list[str], depth: int) -> str:
        text = value(inside, parameters, depth)
        kind = rng.random()
        if kind < 0.25:
            return text + rng.choice("?*+" if inside is rules or kind < 0.03 else "+")
        counts = ["~2", "~1", " ~ 1..3", "~3", "~0..2", "~60"][: 6 if kind < 0.26 else 4]
        return text + rng.choice(counts) if kind < 0.3 else text

    def sequence(inside: list[str], parameters: list[str], depth: int) -> str:
        count = rng.choice([0 if inside is rules else 1, 1, 1, 2, 2, 3])
        items = [item(inside, parameters, depth) for _ in range(count)]
        aliased = rng.random() < (0.1 if depth == 2 else 0.01)
        alias = " -> name" if inside is rules and aliased else ""
        return blank().join(items) + alias

    def choice(inside: list[str], parameters: list[str], depth: int) -> str:
        return or_().join(sequence(inside, parameters, depth) for _ in range(rng.choice([1, 1, 2, 3, 5])))

    for name in rules:
        mark = rng.choice(["", "", "", "?", "!", "!?"]) if name[0] != "_" else rng.choice(["", "!"])
        lines.append(f"{mark}{name}{rng.choice(['', '', '.2'])}{rng.choice([':', ' : '])}{choice(rules, [], 2)}")
    for name, count in templates.items():
        parameters = ["x", "y"][:count]
        lines.append(f"{name}{{{', '.join(parameters)}}}: {choice(rules, parameters, 1)}")
    for i, name in enumerate(terminals):
        text = choice(terminals[i + 1 :], [], 1) if rng.random() < 0.5 else literal()
        lines.append(f"{name}{rng.choice(['', '', '.1', '.-2'])}: {text}")
    if rng.random() < 0.5:
        lines.append(f"%ignore {rng.choice([*known, literal(), '(' + literal() + ')'])}")
    if rng.random() < 0.5:
        rng.shuffle(lines)
    between = rng.choice(["\n", "\n", "\n\n", "\r\n", "\n// note\n", '\n  # note "x"\n  '])
    return rng.choice(["", "\n", "// first\n"]) + between.join(lines) + rng.choice(["", "\n", "\n  \n", " // last"])


def damaged(rng: random.Random, text: str) -> str:
    """The text with a few characters dropped, doubled, or replaced."""
    characters = list(text)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(characters))
        kind = rng.random()
        if kind < 0.4:
            characters[at] = rng.choice('()[]{}|*+?~.,:%"/\\_ \n\t!-><&aA0\x0b\u00a0ä')
        elif kind < 0.7:
            characters[at] = ""
        else:
            other = rng.randrange(len(characters))
            characters[at], characters[other] = characters[other], characters[at]
    return "".join(characters)
