"""ambiguity: a short sentence of a grammar with two derivations."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from ..automata.errors import LimitError
from .grammar_source import GrammarSource, Production, quoted, shortened
from .grammar_use import alone, settle, useful, users
from .terminal_texts import TerminalTexts

LONGEST = 12  # symbols of a sentential form
MOST_FORMS = 100_000  # sentential forms that are tried; about a second
LONGEST_SENTENCE = 1_000_000  # terminals, or bytes without a lexer, of a sentence that is shown
MOST_TEXTS = 30_000  # of those with bytes in them, without a lexer
BYTE = 1 << 24  # byte b in a sentential form; rules are below

MOST_SHOWN = 300  # characters of a derivation that is shown

Form = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class _Tree:
    """What a symbol derives: ``form``. Each is made once, so that what two derivations share is the same object.

    ``production`` and what its symbols derive; none for a symbol that stays, for a terminal, and for a rule that
    derives a shortest sentence in the way that is found first.
    """

    symbol: int
    form: Form
    production: Production | None = None
    children: tuple[_Tree, ...] = ()


Trees = tuple[_Tree, ...]  # of the symbols from some place on in a right-hand side
_T = TypeVar("_T")
Memo = dict[tuple[object, ...], dict[Form, list[Any]]]  # forms with up to two trees each, or with the trees of symbols


@dataclass(frozen=True)
class Ambiguity:
    """A sentence that two derivations make.

    ``sentence``: its terminals, by name or as text in quotes; without a lexer all of it as one text in quotes, which is
    ``text``. ``rule``: below it the derivations differ. ``derivations``: both, of the part that ``rule`` derives, as
    ``rule(symbols ...)``; symbols that derive the same in the same way may stay, ``""`` is the empty text, and of what
    is longer than MOST_SHOWN the rest is ``...``.
    """

    sentence: tuple[str, ...]
    rule: str
    derivations: tuple[str, str]
    text: bytes | None = None


def ambiguity(source: GrammarSource, suspects: Iterable[int], never: Iterable[int]) -> Ambiguity | None:
    """Search for an ambiguous sentence, from the symbols ``suspects`` (those in conflict) outward.

    The derivations of sentential forms are enumerated by length, first with all other rules as symbols that stay, so
    that sentences much longer than LONGEST are found where what is alike in both derivations is long. Of what one round
    finds the shortest sentence is taken. None where MOST_FORMS are tried or LONGEST is reached before, where sentences
    are longer than LONGEST_SENTENCE, or where rules nest too deeply: that proves nothing. Counting derivations: Chomsky
    and Schützenberger (1963); forms instead of sentences: Schmitz (2007).

    Without a lexer the texts of terminals are enumerated with the forms, over one byte of all that are alike in every
    automaton; before that, unless a rule derives itself, all texts by length, so that a shortest ambiguous one is found
    if MOST_TEXTS suffice. Where terminals have no automaton, within bounds, they stay symbols.
    """
    try:
        return _ambiguity(source, suspects, useful(source, never))
    except RecursionError:  # rules that call others of their length, hundreds of them one below the other
        return None


def _ambiguity(source: GrammarSource, suspects: Iterable[int], productions: list[Production]) -> Ambiguity | None:
    if not productions:
        return None
    texts = None
    if source.lexer == "none":
        with contextlib.suppress(LimitError):
            texts = TerminalTexts(source, {~s for p in productions for s in p.symbols if s < 0})
    search = _Search(source, productions, texts)
    if search.cyclic is not None:
        return search.of_cycle(search.cyclic)
    seen: set[tuple[int, Form]] = set()
    found: Ambiguity | None = None
    for p in productions:
        if (p.rule, p.symbols) in seen and found is None:
            found = search.of_twice(p)
        seen.add((p.rule, p.symbols))
    if texts is not None:
        other = search.shortest({*search.by_rule, *search.leaves}, MOST_TEXTS, staying=False)
        if found is None or (other is not None and len(other.text or b"") < len(found.text or b"")):
            found = other
    if found is not None:
        return found
    search.spent = 0
    found = _outward(search, {*suspects}, MOST_FORMS if texts is None else MOST_TEXTS)
    if found is None and texts is not None:
        found = _outward(search, {s for s in suspects if s >= 0} or {source.start}, search.spent + MOST_TEXTS)
    return found


def _outward(search: _Search, suspects: set[int], most: int) -> Ambiguity | None:
    """The search from a few symbols to their neighbours, all others staying, until ``most`` forms were tried."""
    expandable = {*search.by_rule, *search.leaves} if search.expands else {*search.by_rule}
    wanted = suspects & expandable
    while wanted:
        found = search.shortest(wanted, most)
        if found is not None:
            return found
        called = {s for r in wanted & {*search.by_rule} for p in search.by_rule[r] for s in p.symbols}
        calling = {r for r, forms in search.by_rule.items() for p in forms if wanted & set(p.symbols)}
        wider = wanted | (called | calling) & expandable
        if wider == wanted or search.spent > most:
            return None
        wanted = wider
    return None


class _Search:
    def __init__(self, source: GrammarSource, productions: list[Production], texts: TerminalTexts | None) -> None:
        self.source = source
        self.members = texts
        self.expands = texts is not None
        self.leaves = {s for p in productions for s in p.symbols if s < 0}
        self.by_rule: dict[int, list[Production]] = {}
        for production in productions:
            self.by_rule.setdefault(production.rule, []).append(production)
        self.sizes = {s: self._length(s) if self._text_of(s, 0) != b"" else 0 for s in self.leaves}
        self.yields: dict[int, Production] = {}
        self._shortest_yields(productions)
        self.nullable = {s for s, size in self.sizes.items() if not size}
        self.text_sizes = {s: size for s, size in self.sizes.items() if size}
        self.text_sizes.update({s: self._length(s) for s in self.leaves if self._text_of(s, 1) != b""})
        self.texts: dict[int, tuple[Production, int]] = {}
        self._shortest_texts(productions)
        self.context_sizes = {self.source.start: 0}
        self.contexts: dict[int, tuple[Production, int]] = {}
        self._contexts(productions)
        self.spent = 0
        self.units: dict[int, list[tuple[Production, int]]] = {}
        for p in productions:
            for i in alone(p.symbols, self.nullable):
                self.units.setdefault(p.rule, []).append((p, i))
        self.nodes: dict[tuple[int, int], int] = {}  # right-hand sides from some symbol on, by that symbol and the rest
        self.heads: list[tuple[int, int, int]] = [(0, 0, 0)]  # symbol, rest, and the least length of the rest
        self.forms = {id(p): self._node(p.symbols) for p in productions}
        self.trees: dict[tuple[object, ...], _Tree] = {}
        numbers: dict[Production, int] = {}  # equal ones have one
        self.numbers = {id(p): numbers.setdefault(p, len(numbers)) for p in productions}
        self.cyclic = self._cycle()

    def _shortest_yields(self, productions: list[Production]) -> None:
        """The size of a shortest sequence of terminals of each symbol, and the production that it begins with."""

        def step(p: Production) -> list[int]:
            if not all(s in self.sizes for s in p.symbols):
                return []
            size = sum(self.sizes[s] for s in p.symbols)
            if p.rule in self.sizes and size >= self.sizes[p.rule]:
                return []
            self.sizes[p.rule], self.yields[p.rule] = size, p
            return [p.rule]

        settle(productions, step, users(productions))

    def _shortest_texts(self, productions: list[Production]) -> None:
        """The size of a shortest sequence of at least one terminal of each symbol that derives one.

        For symbols that may be empty also a production, and the symbol in it that has such a sequence.
        """

        def step(p: Production) -> list[int]:
            changed = []
            size = sum(self.sizes[s] for s in p.symbols)
            for i, s in enumerate(p.symbols):
                if s in self.text_sizes:
                    new = size - self.sizes[s] + self.text_sizes[s]
                    if p.rule not in self.text_sizes or new < self.text_sizes[p.rule]:
                        self.text_sizes[p.rule], self.texts[p.rule] = new, (p, i)
                        changed.append(p.rule)
            return changed

        settle(productions, step, users(productions))

    def _contexts(self, productions: list[Production]) -> None:
        """The size of what stands around each rule in a shortest sentence with it, and what calls it there."""

        def step(p: Production) -> list[int]:
            if p.rule not in self.context_sizes:
                return []
            changed = []
            size = self.context_sizes[p.rule] + sum(self.sizes[s] for s in p.symbols)
            for i, s in enumerate(p.symbols):
                if s >= 0 and (s not in self.context_sizes or size - self.sizes[s] < self.context_sizes[s]):
                    self.context_sizes[s], self.contexts[s] = size - self.sizes[s], (p, i)
                    changed.append(s)
            return changed

        settle(productions, step, self.by_rule)

    def context(self, rule: int) -> tuple[Form, Form]:
        """What stands before and after a rule in a shortest sentence with it."""
        left: list[Form] = []
        right: list[Form] = []
        while rule in self.contexts:
            p, i = self.contexts[rule]
            left.append(self.terminals(p.symbols[:i]))
            right.append(self.terminals(p.symbols[i + 1 :]))
            rule = p.rule
        return tuple(t for part in reversed(left) for t in part), tuple(t for part in right for t in part)

    def terminals(self, form: Form, most: int = LONGEST_SENTENCE) -> Form:
        """A shortest sentence of a sentential form, or as many terminals of it."""
        found: list[int] = []
        work = list(reversed(form))
        while work and len(found) < most:
            s = work.pop()
            if s >= 0 and self.sizes[s]:
                work.extend(reversed(self.yields[s].symbols))
            elif s < 0 and self.sizes[s]:
                found.append(s)
        return tuple(found)

    def _text_of(self, terminal: int, least: int) -> bytes | None:
        """A shortest text of a terminal without a lexer, of ``least`` bytes or more; empty where there is none."""
        return None if self.members is None else self.members.shortest(~terminal, least) or b""

    def _length(self, terminal: int) -> int:
        """One; without a lexer the bytes of a shortest text, of one byte at least."""
        return len(self._text_of(terminal, 1) or b"x")

    def _text(self, form: Form) -> Form:
        """A short sentence of a form in which every symbol stands for some text: two trees of the form stay two."""
        found = []
        work = [(s, s < BYTE) for s in reversed(form)]
        while work:
            s, wanted = work.pop()
            if s >= BYTE or (s < 0 and (wanted or self.sizes[s])):
                found.append(s)
            elif s >= 0 and self.sizes[s]:
                work.extend((t, False) for t in reversed(self.yields[s].symbols))
            elif s >= 0 and wanted:
                p, i = self.texts[s]
                work.extend((p.symbols[j], j == i) for j in reversed(range(len(p.symbols))))
        return tuple(found)

    def _text_size(self, form: Form) -> int:
        return sum(self.text_sizes[s] if s < BYTE else 1 for s in form)

    def _node(self, symbols: Form) -> int:
        """A number for a sequence of symbols, the same for equal ones; 0 for none."""
        node = least = 0
        for s in reversed(symbols):
            if (s, node) not in self.nodes:
                self.nodes[s, node] = len(self.heads)
                self.heads.append((s, node, least))
            node = self.nodes[s, node]
            least += s not in self.nullable
        return node

    # ---- cycles: A derives itself
    def _cycle(self) -> list[tuple[Production, int]] | None:
        """Productions that lead from a rule back to it, all else derived to nothing; a shortest one of some rule."""
        left = {rule: {p.symbols[i] for p, i in ways} & self.units.keys() for rule, ways in self.units.items()}
        callers: dict[int, list[int]] = {}
        for rule, called in left.items():
            for other in called:
                callers.setdefault(other, []).append(rule)
        ended = [rule for rule, called in left.items() if not called]
        for rule in ended:  # what leads nowhere but to such a rule is one
            for caller in callers.get(rule, ()):
                left[caller].discard(rule)
                if not left[caller]:
                    ended.append(caller)
        for rule in (rule for rule in self.units if left[rule]):
            paths: dict[int, list[tuple[Production, int]]] = {rule: []}
            work = [rule]
            for current in work:
                for p, i in self.units.get(current, ()):
                    target = p.symbols[i]
                    if target == rule:
                        return [*paths[current], (p, i)]
                    if target not in paths:
                        paths[target] = [*paths[current], (p, i)]
                        work.append(target)
        return None

    def of_cycle(self, cycle: list[tuple[Production, int]]) -> Ambiguity | None:
        """A rule that derives itself: its shortest sentence directly, and once around."""
        rule = cycle[0][0].rule
        if self.context_sizes[rule] + self.sizes[rule] > LONGEST_SENTENCE:
            return None
        around = inner = self._least(rule)
        for p, i in reversed(cycle):
            children = tuple(around if j == i else self._least(s) for j, s in enumerate(p.symbols))
            around = self._tree(p.rule, inner.form, p, children)
        return self._made(rule, self.terminals((rule,)), self.source.name(rule), self._shown(inner, around))

    def of_twice(self, production: Production) -> Ambiguity | None:
        """A production that is written twice: its two derivations look alike."""
        if self.context_sizes[production.rule] + sum(self.sizes[s] for s in production.symbols) > LONGEST_SENTENCE:
            return None
        name = self.source.rules[production.rule].name
        inner = " ".join(map(self.source.label, production.symbols[:MOST_SHOWN])) or quoted(b"")
        shown = shortened(f"{name}({inner})", MOST_SHOWN)
        return self._made(production.rule, self.terminals(production.symbols), name, (shown, shown))

    # ---- forms by length
    def shortest(self, wanted: set[int], most: int, staying: bool = True) -> Ambiguity | None:
        """The shortest sentence that is ambiguous below one of the rules, all other symbols staying as they are.

        ``most``: forms that may be tried; ``staying``: whether wanted symbols may stay, too. If not, and all are
        wanted, there is no shorter ambiguous text than the one found.
        """
        best: tuple[int, int, Form, list[_Tree]] | None = None
        memo: Memo = {}
        self.most, self.staying = most, staying
        if self.members is not None:
            self.letters = self.members.letters([~s for s in wanted if s < 0])
        for length in range(LONGEST + 1):
            for rule in sorted(r for r in wanted if r >= 0):
                for form, trees in self._of_rule(rule, length, wanted, memo).items():
                    if len(trees) > 1:
                        size = self.context_sizes[rule] + self._text_size(form)
                        if size <= LONGEST_SENTENCE and (best is None or size < best[0]):
                            best = (size, rule, form, trees)
            if self.spent > most or (best is not None and (staying or length >= best[0])):
                break
        if best is None:
            return None
        _, rule, form, trees = best
        one, other = self._difference(trees[0], trees[1])
        return self._made(rule, self._text(form), self.source.name(one.symbol), self._shown(one, other))

    def _of_rule(self, rule: int, length: int, wanted: set[int], memo: Memo) -> dict[Form, list[_Tree]]:
        """The forms of a length that a rule derives in at least one step, with up to two derivations each."""
        key = (rule, length)
        if key not in memo:
            found: dict[Form, list[_Tree]] = {}
            memo[key] = found
            for p in self.by_rule[rule]:
                for form, children in self._of_symbols(self.forms[id(p)], length, wanted, memo).items():
                    self._add(found, form, [self._tree(rule, form, p, c) for c in children])
        return memo[key]

    def _of_symbols(self, node: int, length: int, wanted: set[int], memo: Memo) -> dict[Form, list[Trees]]:
        """The forms of a length that the symbols of a node derive."""
        if not node:
            return {(): [()]} if length == 0 else {}
        key = (node, length, "symbols")
        if key in memo:
            return memo[key]
        found: dict[Form, list[Trees]] = {}
        memo[key] = found
        head, rest, least = self.heads[node]
        for size in range(length - least + 1):
            if self.spent > self.most:
                break
            heads: dict[Form, list[_Tree]] = {}
            if size == 1 and head in self.text_sizes and (self.staying or head not in wanted):
                heads[(head,)] = [self._tree(head, (head,))]
            if head in wanted and head < 0:
                for text in self._members(head, size, memo):
                    letters = tuple(BYTE + byte for byte in text)
                    self._add(heads, letters, [self._tree(head, letters)])
            elif head in wanted:
                for form, derived in self._of_rule(head, size, wanted, memo).items():
                    self._add(heads, form, derived)
            elif size == 0 and head in self.nullable:
                heads[()] = [self._tree(head, ())]
            if not heads:
                continue
            for form, trees in self._of_symbols(rest, length - size, wanted, memo).items():
                for first, firsts in heads.items():
                    self._add(found, first + form, [(a, *b) for a in firsts for b in trees][:3])
        return found

    def _members(self, terminal: int, size: int, memo: Memo) -> list[bytes]:
        key = (terminal, size, "texts")
        if key not in memo:
            assert self.members is not None
            memo[key] = {(): self.members.members(~terminal, size, self.letters, self.most)}
        return memo[key][()]

    def _tree(self, symbol: int, form: Form, production: Production | None = None, children: Trees = ()) -> _Tree:
        key = (symbol, form) if production is None else (self.numbers[id(production)], children)
        key = (production is None, *key)
        if key not in self.trees:
            self.trees[key] = _Tree(symbol, form, production, children)
        return self.trees[key]

    def _least(self, symbol: int) -> _Tree:
        """A tree of a shortest sentence; ``form`` is no more of it than what is shown."""
        form = self.terminals((symbol,), LONGEST + 1)
        if self.members is not None:
            form = tuple(BYTE + byte for s in form for byte in self._text_of(s, 1) or b"")
        return self._tree(symbol, form)

    def _add(self, found: dict[Form, list[_T]], form: Form, trees: list[_T]) -> None:
        self.spent += 1
        known = found.setdefault(form, [])
        for tree in trees:
            if len(known) < 2 and tree not in known:
                known.append(tree)

    # ---- showing
    def _difference(self, one: _Tree, other: _Tree) -> tuple[_Tree, _Tree]:
        """Small subtrees that differ and derive the same form."""
        while one.production is other.production:
            pairs = zip(one.children, other.children, strict=True)
            inner = next((p for p in pairs if p[0] is not p[1] and p[0].form == p[1].form), None)
            if inner is None or inner[0].production is None or inner[1].production is None:
                break
            one, other = inner
        return one, other

    def _shown(self, one: _Tree, other: _Tree) -> tuple[str, str]:
        """Two trees whole where they fit into MOST_SHOWN, else as deep as they differ."""
        least = "", ""
        for named in (False, True):
            shown = "", ""
            for depth in range(1, MOST_SHOWN):
                before, shown = shown, (self._show(one, depth, named), self._show(other, depth, named))
                if least[0] == least[1]:
                    least = shown
                if shown == before or max(map(len, shown)) > MOST_SHOWN:
                    break
            if shown == before and shown[0] != shown[1]:
                return shown
            if least[0] != least[1]:  # else terminals differ
                break
        return shortened(least[0], MOST_SHOWN), shortened(least[1], MOST_SHOWN)

    def _show(self, tree: _Tree, depth: int, named: bool) -> str:
        """``rule(symbols ...)``; what is deeper as ``rule(... text)``; the empty text is ``""``."""
        name, parts = self.source.name(tree.symbol), self._parts(tree)
        if parts is None:
            shown = self._spelled(tree.form)
            return f"{name}({shown})" if named and tree.form != (tree.symbol,) else shown
        if not depth and any(self._parts(part) is not None for part in parts):
            return f"{name}(... {self._spelled(tree.form[:LONGEST])}{' ...' * (len(tree.form) > LONGEST)})"
        return f"{name}({' '.join(self._show(part, depth - 1, named) for part in parts) or quoted(b'')})"

    def _parts(self, tree: _Tree) -> Trees | None:
        """The trees below a rule; None for what stays and for terminals."""
        if tree.production is not None:
            return tree.children
        if tree.symbol < 0 or tree.form == (tree.symbol,):
            return None
        return tuple(map(self._least, self.yields[tree.symbol].symbols))

    def _spelled(self, form: Form) -> str:
        """A form as symbols and, in quotes, the texts between them."""
        if not form:
            return quoted(b"")
        shown: list[str] = []
        for is_text, group in itertools.groupby(form, lambda s: s >= BYTE):
            symbols = list(group)
            shown += [quoted(bytes(s - BYTE for s in symbols))] if is_text else map(self.source.label, symbols)
        return " ".join(shown)

    def _made(self, rule: int, form: Form, name: str, derivations: tuple[str, str]) -> Ambiguity:
        """An ambiguity of what ``rule`` derives, inside of a short sentence."""
        left, right = self.context(rule)
        symbols = (*left, *form, *right)
        if self.members is None:
            return Ambiguity(tuple(self.source.label(t) for t in symbols), name, derivations)
        text = b"".join(bytes([s - BYTE]) if s >= BYTE else self._text_of(s, 1) or b"" for s in symbols)
        return Ambiguity((quoted(text),), name, derivations, text)
