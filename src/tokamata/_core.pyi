"""
Tokamata's native core: automata, constraints, vocabularies and masks. Use the Python packages.
"""

import enum
from collections.abc import Callable, Sequence
from typing import Annotated

import numpy
import numpy.typing
from numpy.typing import NDArray

def stop_after(steps: int) -> None:
    """
    For tests: each further call of this thread that has a time limit ends in a LimitError after so many steps; not if negative.
    """

class SymbolTable:
    def __init__(self, name: bytes) -> None: ...
    def name(self) -> bytes: ...
    def __len__(self) -> int: ...
    def copy(self) -> SymbolTable: ...
    def add(self, symbol: bytes, key: int | None = None) -> int: ...
    def find_key(self, symbol: bytes) -> int: ...
    def find_symbol(self, key: int) -> bytes | None: ...
    def available_key(self) -> int: ...
    def entry(self, index: int) -> tuple[int, bytes]: ...

def semiring_zero(semiring: str) -> float: ...
def semiring_one(semiring: str) -> float: ...

class Fst:
    def __init__(self, semiring: str) -> None: ...
    def semiring(self) -> str: ...
    def copy(self) -> Fst: ...
    def num_states(self) -> int: ...
    def num_arcs(self) -> int: ...
    def num_arcs_of(self, state: int) -> int: ...
    def start(self) -> int: ...
    def final(self, state: int) -> float: ...
    def is_final(self, state: int) -> bool: ...
    def arcs(self, state: int) -> list[tuple[int, int, float, int]]: ...
    def add_state(self) -> int: ...
    def add_states(self, n: int) -> None: ...
    def set_start(self, state: int) -> None: ...
    def set_final(self, state: int, weight: float | None) -> None: ...
    def add_arc(self, state: int, ilabel: int, olabel: int, weight: float | None, nextstate: int) -> None: ...
    def delete_arcs(self, state: int) -> None: ...
    def input_symbols(self) -> SymbolTable | None: ...
    def output_symbols(self) -> SymbolTable | None: ...
    def set_input_symbols(self, table: SymbolTable | None) -> None: ...
    def set_output_symbols(self, table: SymbolTable | None) -> None: ...

def arcs_of_state(fst: Fst, state: int) -> bytearray: ...
def arcs_of_all(fst: Fst) -> bytearray: ...
def offsets_of(fst: Fst) -> bytearray: ...
def finals_of(fst: Fst) -> bytearray: ...
def fst_from_arrays(arcs: object, offsets: object, finals: object, start: int, semiring: str) -> Fst: ...
def read_fst(data: bytes) -> tuple[Fst, int]: ...
def write_fst(fst: Fst, kind: str) -> bytes: ...
def to_boolean(fst: Fst) -> Fst: ...
def from_text(
    text: bytes, acceptor: bool, semiring: str, isymbols: SymbolTable | None, osymbols: SymbolTable | None
) -> Fst: ...
def to_text(fst: Fst, acceptor: bool, numeric: bool, show_weight_one: bool) -> bytes: ...
def union_all(fsts: Sequence[Fst]) -> Fst: ...
def concat(fsts: Sequence[Fst]) -> Fst: ...
def closure(fst: Fst, plus: bool) -> Fst: ...
def reverse(fst: Fst) -> Fst: ...
def invert(fst: Fst) -> Fst: ...
def project(fst: Fst, output: bool) -> Fst: ...
def connect(fst: Fst) -> Fst: ...
def arcsort(fst: Fst, output: bool) -> Fst: ...
def topsort(fst: Fst) -> Fst: ...
def randgen(fst: Fst, n: int, seed: int, log_prob: bool, max_length: int) -> Fst: ...
def properties(fst: Fst, asked: int, compute: bool) -> int: ...
def compose(a: Fst, b: Fst, connect: bool, max_states: int, max_arcs: int) -> Fst: ...
def intersect(a: Fst, b: Fst, connect: bool, max_states: int, max_arcs: int) -> Fst: ...
def difference(a: Fst, b: Fst, connect: bool, max_states: int, max_arcs: int) -> Fst: ...
def determinize(
    fst: Fst,
    delta: float,
    weight: float | None,
    nstate: int | None,
    subsequential_label: int,
    max_states: int,
    max_arcs: int,
    max_elements: int,
    max_delay: int,
) -> Fst: ...
def rmepsilon(fst: Fst, connect: bool, delta: float, max_visits: int, max_arcs: int) -> Fst: ...
def minimize(fst: Fst, delta: float, max_visits: int) -> Fst: ...
def push(fst: Fst, to_final: bool, remove_total_weight: bool, delta: float, max_visits: int) -> Fst: ...
def prune(fst: Fst, weight: float) -> Fst: ...
def replace(
    pairs: Sequence[tuple[int, Fst]], root: int, input: bool, output: bool, max_states: int, max_arcs: int
) -> Fst: ...
def equivalent(a: Fst, b: Fst, delta: float, max_visits: int) -> bool: ...
def isomorphic(a: Fst, b: Fst, delta: float) -> bool: ...
def shortestdistance(
    fst: Fst, reverse: bool, delta: float, max_visits: int
) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]: ...
def shortestpath(fst: Fst, nshortest: int, unique: bool, weight: float | None, max_states: int) -> Fst: ...

class DelayedFst:
    @staticmethod
    def compose(a: Fst, b: Fst, max_states: int, max_arcs: int) -> DelayedFst: ...
    @staticmethod
    def intersect(a: Fst, b: Fst, max_states: int, max_arcs: int) -> DelayedFst: ...
    @staticmethod
    def difference(a: Fst, b: Fst, max_states: int, max_arcs: int) -> DelayedFst: ...
    @staticmethod
    def determinize(
        fst: Fst,
        delta: float,
        subsequential_label: int,
        max_states: int,
        max_arcs: int,
        max_elements: int,
        max_delay: int,
    ) -> DelayedFst: ...
    @staticmethod
    def replace(
        pairs: Sequence[tuple[int, Fst]], root: int, input: bool, output: bool, max_states: int, max_arcs: int
    ) -> DelayedFst: ...
    def semiring(self) -> str: ...
    def start(self) -> int: ...
    def final(self, state: int) -> float: ...
    def arcs(self, state: int) -> list[tuple[int, int, float, int]]: ...
    def num_known_states(self) -> int: ...
    def expand(self) -> Fst: ...

def pdt_check(fst: Fst, parens: Sequence[tuple[int, int]]) -> None: ...
def pdt_expand(
    fst: Fst,
    parens: Sequence[tuple[int, int]],
    keep_parentheses: bool,
    max_depth: int,
    truncate: bool,
    weight: float,
    max_states: int,
    max_arcs: int,
) -> Fst: ...
def pdt_compose(
    a: Fst, b: Fst, parens: Sequence[tuple[int, int]], left_pdt: bool, connect: bool, max_states: int, max_arcs: int
) -> Fst: ...
def pdt_reverse(fst: Fst, parens: Sequence[tuple[int, int]]) -> Fst: ...
def pdt_shortestpath(
    fst: Fst, parens: Sequence[tuple[int, int]], keep_parentheses: bool, max_states: int, max_arcs: int
) -> Fst: ...
def pdt_shortestdistance(
    fst: Fst, parens: Sequence[tuple[int, int]], delta: float, max_visits: int, max_states: int, max_arcs: int
) -> float: ...
def pdt_depth(fst: Fst, parens: Sequence[tuple[int, int]], max_states: int, max_arcs: int) -> int: ...
def pdt_connect(fst: Fst, parens: Sequence[tuple[int, int]], max_states: int, max_arcs: int) -> Fst: ...
def pdt_is_empty(fst: Fst, parens: Sequence[tuple[int, int]], max_states: int, max_arcs: int) -> bool: ...
def pdt_replace(
    pairs: Sequence[tuple[int, Fst]],
    root: int,
    first_paren: int,
    open_prefix: str,
    close_prefix: str,
    max_states: int,
    max_arcs: int,
) -> tuple[Fst, list[tuple[int, int]]]: ...

class Limits:
    """Named limits of one constraint; see tokamata.Limits."""

    def __init__(
        self,
        expression_nodes: int,
        expression_depth: int,
        expression_width: int,
        emptiness: int,
        states: int,
        seconds: float,
        search_seconds: float,
        count_bytes: int,
        cache_bytes: int,
    ) -> None: ...

class Language:
    """A set of byte strings; immutable, safe to share between threads."""

    @staticmethod
    def literal(text: bytes, limits: Limits | None = None) -> Language: ...
    @staticmethod
    def choice(options: list[bytes], limits: Limits | None = None) -> Language: ...
    @staticmethod
    def characters(ranges: Sequence[tuple[int, int]]) -> Language:
        """One character out of inclusive ranges of code points."""

    @staticmethod
    def union_(parts: Sequence[Language]) -> Language: ...
    @staticmethod
    def concat(parts: Sequence[Language]) -> Language: ...
    @staticmethod
    def intersect(parts: Sequence[Language]) -> Language: ...
    @staticmethod
    def difference(a: Language, b: Language, texts: bool = False) -> Language: ...
    @staticmethod
    def complement(x: Language) -> Language: ...
    @staticmethod
    def from_fst(fst: Fst, limits: Limits) -> Language: ...
    def repeat(self, low: int, high: int) -> Language: ...
    def with_limits(self, limits: Limits) -> Language: ...
    def accepts(self, text: bytes) -> bool: ...
    def viable_prefix(self, text: bytes) -> int:
        """
        Length of the longest prefix that can be extended to a member; -1 for the empty language.
        """

    def is_empty(self) -> bool: ...
    @staticmethod
    def counterexample(a: Language, b: Language) -> bytes | None: ...
    def examples(self, n: int, seed: int) -> list[bytes]: ...
    def count(self, length: int) -> bytes:
        """
        The number of members of exactly that many bytes, as little-endian bytes.
        """

    def sample(self, n: int, low: int, high: int, seed: int) -> list[bytes]:
        """Uniformly random members of low..high bytes."""

    def minimize(self) -> Language: ...
    def live_bytes(self, text: bytes) -> bytes:
        """The bytes that may follow a text, in order."""

    def to_fst(self, most_states: int) -> Fst: ...
    def describe(self, limit: int) -> str: ...
    def num_states(self) -> int: ...
    @property
    def count_bytes(self) -> int: ...
    @property
    def search_seconds(self) -> float: ...
    def memory_bytes(self) -> int: ...

def regex(
    pattern: str,
    ecma: bool = False,
    flags: str = "",
    max_depth: int = 250,
    contexts: int = 200,
    limits: Limits | None = None,
) -> Language:
    """The language of a pattern; flags of "aimsx"."""

def regex_with_groups(
    pattern: str,
    flags: str,
    max_depth: int,
    contexts: int,
    limits: Limits | None,
    named: Sequence[str],
    languages: Sequence[Language],
) -> Language:
    """
    The same, with languages for the groups whose names stand for them, in order.
    """

def regex_named(
    pattern: bytes, flags: str, max_depth: int, named: Sequence[str]
) -> list[tuple[str, int, str, list[tuple[bytes, bytes | None]]]]:
    """The groups whose names stand for languages."""

class JsonDocument:
    """A parsed JSON text; nodes are named by JSON Pointers."""

    @staticmethod
    def parse(text: bytes, name: str = "json", depth: int = 10000) -> JsonDocument: ...
    def __len__(self) -> int: ...
    def text(self, pointer: str = "") -> bytes:
        """The node as compact canonical text."""

    def place(self, pointer: str = "") -> str:
        """Line and column of a node."""

    def pointers(self) -> list[str]:
        """The JSON Pointers of all nodes, in document order."""

    def hash(self, pointer: str = "") -> int: ...
    def equal(self, other: JsonDocument, pointer: str = "", other_pointer: str = "") -> bool:
        """Equality as JSON values."""

class JsonWhitespace(enum.Enum):
    FLEXIBLE = 0

    COMPACT = 1

    PRETTY = 2

    ANY = 3

    PATTERN = 4

class KeyOrder(enum.Enum):
    SCHEMA = 0

    ANY = 1

    SORTED = 2

class SchemaNotation(enum.Enum):
    JSON = 0

    BARE = 1

    YAML = 2

class YamlSequences(enum.Enum):
    ANY = 0

    INDENTED = 1

    FLUSH = 2

class JsonSchemaOptions:
    """How the values of a schema are written, and limits."""

    def __init__(self) -> None: ...
    @property
    def whitespace(self) -> JsonWhitespace: ...
    @whitespace.setter
    def whitespace(self, arg: JsonWhitespace, /) -> None: ...
    @property
    def whitespace_pattern(self) -> str: ...
    @whitespace_pattern.setter
    def whitespace_pattern(self, arg: str, /) -> None: ...
    @property
    def indent(self) -> int: ...
    @indent.setter
    def indent(self, arg: int, /) -> None: ...
    @property
    def key_order(self) -> KeyOrder: ...
    @key_order.setter
    def key_order(self, arg: KeyOrder, /) -> None: ...
    @property
    def canonical_strings(self) -> bool: ...
    @canonical_strings.setter
    def canonical_strings(self, arg: bool, /) -> None: ...
    @property
    def canonical_numbers(self) -> bool: ...
    @canonical_numbers.setter
    def canonical_numbers(self, arg: bool, /) -> None: ...
    @property
    def formats(self) -> bool: ...
    @formats.setter
    def formats(self, arg: bool, /) -> None: ...
    @property
    def unique_keys(self) -> bool: ...
    @unique_keys.setter
    def unique_keys(self, arg: bool, /) -> None: ...
    @property
    def lenient(self) -> bool: ...
    @lenient.setter
    def lenient(self, arg: bool, /) -> None: ...
    @property
    def without(self) -> list[str]: ...
    @without.setter
    def without(self, arg: Sequence[str], /) -> None: ...
    @property
    def max_cases(self) -> int: ...
    @max_cases.setter
    def max_cases(self, arg: int, /) -> None: ...
    @property
    def max_nesting(self) -> int: ...
    @max_nesting.setter
    def max_nesting(self, arg: int, /) -> None: ...
    @property
    def notation(self) -> SchemaNotation: ...
    @notation.setter
    def notation(self, arg: SchemaNotation, /) -> None: ...
    @property
    def sequences(self) -> YamlSequences: ...
    @sequences.setter
    def sequences(self, arg: YamlSequences, /) -> None: ...
    @property
    def max_depth(self) -> int: ...
    @max_depth.setter
    def max_depth(self, arg: int, /) -> None: ...
    @property
    def max_key(self) -> int: ...
    @max_key.setter
    def max_key(self, arg: int, /) -> None: ...

def empty_json_schemas(
    text: bytes, registry: Sequence[tuple[str, bytes]], options: JsonSchemaOptions, limits: Limits | None = None
) -> tuple[list[str], bool]:
    """
    Pointers of the schemas in a schema, and of the branches of anyOf and oneOf, that no value comes from, and whether that was decided for all.
    """

def json_schema(
    text: bytes,
    reader: Callable[[str | None], Sequence[tuple[str, bytes]]],
    options: JsonSchemaOptions,
    limits: Limits | None = None,
    parts: Sequence[tuple[bytes, Sequence[tuple[str, bytes]]]] = [],
) -> Language:
    """
    The language of the JSON texts that are valid against a schema (a JSON text); reader: the URI and text of the document at a URI that a reference leads to, or of all documents for None; parts: schemas with registries of their own, pairs of URI and text, which the schema refers to as urn:tokamata:0 and so on.
    """

def write_json(value: object) -> bytes | None:
    """
    What json.dumps(value, ensure_ascii=False, separators=(",", ":")) writes, in UTF-8. None for values that need more care: other types than JSON's own and tuples, subclasses, keys that are no str, lone surrogates, integers beyond 64 bits, infinities, nesting beyond 200.
    """

class Indentation:
    """Indentation after Python's manner, by terminal."""

    def __init__(
        self,
        newline: int,
        indent: int,
        dedent: int,
        opening: Sequence[int],
        closing: Sequence[int],
        tab_length: int,
        most_columns: int,
    ) -> None: ...

class PlainLark:
    """A grammar in Lark's notation that needs nothing of Lark's own loader."""

    @staticmethod
    def read(text: str, start: str, common: str, holes: int = 0) -> PlainLark | None:
        """
        None where the grammar has to be read by Lark's loader; `common`: the text of Lark's common.lark; `holes`: characters from U+100000 on, in strings, for terminals that are given to compile.
        """

    @property
    def holes(self) -> list[tuple[int, int]]:
        """(number of the terminal, number of the hole) of each."""

    def compile(
        self,
        lexer: str,
        subtle: Sequence[tuple[int, Language]],
        limits: Limits | None = None,
        guards: Sequence[tuple[int, Language, Language, Language]] = [],
    ) -> Language:
        """
        The language, given those of the subtle terminals and of holes, in order.
        """

    @property
    def subtle(self) -> list[tuple[int, str]]:
        """
        Numbers and patterns of the terminals that are lazy or look around: more than what they match.
        """

    @property
    def terminals(self) -> list[tuple[str, str, bool, int, bool, tuple[int, int] | None]]:
        """
        (name, text or pattern, whether text, priority, whether ignored, place) of each.
        """

    @property
    def rules(self) -> list[tuple[str, tuple[int, int] | None, bool]]:
        """(name, place, whether written) of each."""

    @property
    def productions(self) -> list[tuple[int, list[int]]]: ...
    @property
    def start(self) -> int: ...
    @property
    def indentation(self) -> tuple[int, int, int, list[int], list[int]] | None:
        """
        Its terminals (newline, indent, dedent, opening, closing), where it counts.
        """

    @property
    def unused(self) -> list[tuple[str, tuple[int, int] | None]]:
        """(name, place) of the terminals that no rule uses."""

    @property
    def ignores(self) -> bool:
        """Whether there are ignored terminals."""

def grammar(
    terminals: Sequence[Language],
    terminal_names: Sequence[str],
    rule_names: Sequence[str],
    productions: Sequence[tuple[int, Sequence[int]]],
    start: int,
    ignored: Sequence[int],
    lexer: str,
    indentation: Indentation | None = None,
    limits: Limits | None = None,
    guards: Sequence[tuple[int, Language, Language, Language]] = [],
    rule_places: Sequence[str] = [],
) -> Language:
    """
    The language of productions (rule, symbols): symbol s >= 0 is a rule, s < 0 the terminal ~s. Guards: terminal, lexemes, and what must not, or must, follow them: prefixes of the rest of the text with END_BYTE after it. Places of rules are for texts of errors.
    """

FIRST_HOLE: int = 1048576

END_BYTE: int = 248

def substrings(text: bytes, by: str, limits: Limits | None = None) -> Language:
    """The pieces of a text, by "characters", "words" or "lines"."""

class CaptureParts:
    """The named parts of a constraint; immutable."""

    @staticmethod
    def atom(language: Language) -> CaptureParts: ...
    @staticmethod
    def unknown(language: Language, why: str) -> CaptureParts:
        """
        Of a language with named parts that cannot be followed: `values` raises UnsupportedError.
        """

    @staticmethod
    def regex(
        pattern: bytes, flags: str, max_depth: int, named: Sequence[str], groups: Sequence[CaptureParts]
    ) -> CaptureParts:
        """
        Of a pattern; `groups` are those whose names stand for languages, in order.
        """

    @staticmethod
    def join(parts: Sequence[CaptureParts], alternatives: bool) -> CaptureParts: ...
    @staticmethod
    def inside(language: Language, parts: Sequence[CaptureParts]) -> CaptureParts: ...
    def repeat(self, low: int, high: int) -> CaptureParts: ...
    def named(self, name: str) -> CaptureParts:
        """The same with a name; with an empty one, hidden."""

    def values(self, text: bytes, whole: bool, markers: bool, seconds: float) -> dict[str, list[bytes]]:
        """
        What the named parts read; with `markers`, without those of special tokens.
        """

def delimited_subsequence(items: Sequence[Language], delimiter: Language, limits: Limits | None = None) -> Language:
    """
    Some of the items, at least one, in order, with delimiters between them.
    """

def free_text(phrases: Sequence[bytes], ends: Sequence[int], kind: str, limits: Limits | None = None) -> Language:
    """
    Texts "without" the phrases, "up to" the first occurrence of some, by index, or "before" it.
    """

def rules(
    leaves: Sequence[Language],
    nodes: Sequence[tuple[str, Sequence[int], int, int]],
    bodies: Sequence[int],
    names: Sequence[str],
    limits: Limits | None = None,
) -> Language:
    """
    The language of the first of several rules. Nodes (kind, operands, low, high): a "leaf" (low: which), "concat" and "union" of operands, "repeat" from low to high (-1: unbounded), a "call" (low: the rule).
    """

def read_notation(text: str, gbnf: bool) -> list[tuple[str, int, int, int, int, int, int, int]] | None:
    """
    The parts of a grammar in GBNF, else EBNF, parts before what they are parts of: (kind, begin, end, line, column, number of parts, low, high or -1), offsets in characters; a rule's text is its name. None where Lark has to read it.
    """

def json_string(what: str, text: bytes, canonical: bool, complement: bool = False) -> Language:
    """
    Contents of JSON strings: "any", the "literal" text, or those that the "pattern" matches.
    """

def json_number(what: str, text: str, canonical: bool, integers: bool = False) -> Language:
    """
    JSON numbers: the "grammar", the universe "number", "integer", the "multiple"s, the "value" or the one "text" of a number.
    """

def json_number_range(
    low: str,
    high: str,
    low_exclusive: bool,
    high_exclusive: bool,
    canonical: bool,
    integers: bool = False,
    multiple: str = "",
) -> Language:
    """
    JSON numbers between two ("": no bound), multiples of a number if one is given.
    """

def json_number_compare(a: str, b: str) -> int:
    """Negative, zero or positive."""

def json_number_is_multiple(a: str, q: str) -> bool:
    """Whether a is an integer times q."""

def json_format(name: str, canonical: bool) -> tuple[Language, bool, str] | None:
    """
    A format as contents of JSON strings, whether it is exact, and a note where it is not; None if not known.
    """

def json_string_length(low: int, high: int, canonical: bool) -> Language:
    """Contents of JSON strings of low to high characters."""

def json_string_pattern(pattern: bytes, low: int, high: int, canonical: bool) -> Language:
    """
    Contents of JSON strings of low to high characters that the pattern matches.
    """

def json_string_choice(texts: Sequence[bytes], canonical: bool) -> Language:
    """Contents of JSON strings: any of the texts."""

class SchemaUse:
    """A subschema in a dynamic scope."""

    @property
    def scope(self) -> int: ...

class SchemaDocuments:
    """A schema with the documents it refers to."""

    def __init__(self, text: bytes, registry: Sequence[tuple[str, bytes]], draft: str = "2020-12") -> None: ...
    def root(self) -> SchemaUse: ...
    def child(self, use: SchemaUse, pointer: str) -> SchemaUse:
        """The subschema at a JSON Pointer below another one."""

    def follow(self, use: SchemaUse, keyword: str) -> SchemaUse:
        """What a reference keyword leads to."""

    def place(self, use: SchemaUse) -> str: ...
    def base_uri(self, use: SchemaUse) -> str: ...
    def is_only_reference(self, use: SchemaUse) -> bool: ...
    def dialect(self, use: SchemaUse) -> dict[str, object]:
        """The draft and the vocabularies of a subschema."""

    def text(self, use: SchemaUse) -> bytes:
        """The subschema as compact text."""

def resolve_uri(base: str, reference: str) -> str:
    """Reference resolution of RFC 3986."""

class Vocabulary:
    """The bytes of every token (native side of tokamata.Vocabulary)."""

    def __init__(self, tokens: list[bytes | None], eos_token_ids: Sequence[int]) -> None: ...
    def __len__(self) -> int: ...
    def token_bytes(self, token_id: int) -> bytes | None: ...
    @property
    def eos_token_ids(self) -> list[int]: ...
    def with_markers(
        self, names: Sequence[tuple[int, str]], classes: Sequence[tuple[str, Sequence[int]]] = ()
    ) -> Vocabulary: ...
    @property
    def model_size(self) -> int: ...
    def to_bytes(self) -> bytes: ...
    def tables_to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(image: bytes, tables: object | None = None) -> Vocabulary: ...
    def overlaps(self, text: bytes) -> list[int]:
        """
        The lengths of the text's endings that some token begins with and goes on beyond, ascending.
        """

    @property
    def max_token_bytes(self) -> int: ...
    @property
    def memory_bytes(self) -> int: ...

def lexicon(vocabulary: Vocabulary) -> Fst: ...
def artifact_tail(fst: bytes, sections: dict[str, bytes]) -> bytes: ...

ARTIFACT_FOOTER: int = 56

ARTIFACT_UNSUMMED: int = 16

def artifact_index_offset(footer: bytes, size: int) -> int: ...
def artifact_index(tail: bytes, size: int) -> tuple[int, list[tuple[bytes, int, int]]]: ...

class Checksum:
    def __init__(self) -> None: ...
    def add(self, piece: object) -> None: ...
    def require(self, expected: int) -> None: ...

class TokenAutomaton:
    """Native side of tokamata.decode.TokenAutomaton."""

    def __init__(self, language: Language, vocabulary: Vocabulary, cache_bytes: int | None) -> None: ...
    def start(self) -> DecodeState: ...
    def start_with_budget(self, max_tokens: int) -> DecodeState: ...
    @property
    def words(self) -> int: ...
    @property
    def num_states(self) -> int: ...
    @property
    def num_masks(self) -> int: ...
    @property
    def mask_bytes(self) -> int: ...
    @property
    def generations(self) -> int: ...
    def set_captures(self, parts: CaptureParts, markers: bool) -> None: ...
    def mask_by_walking(self, state: int) -> numpy.typing.NDArray[numpy.int32]:
        """
        The mask of a state found by walking the whole vocabulary: slow, for tests.
        """

    def state_of(self, state: DecodeState) -> int:
        """The number of the acceptor's state behind a decoding state, for tests."""

class DecodeState:
    """
    A position in a token automaton: what was written so far, what may come next.

    Made by TokenAutomaton.start(). One thread at a time; copies are independent.
    """

    def fill_mask(self, out: object, row: int = 0) -> None:
        """
        Write the mask into a row of a C-contiguous int32 array or CPU tensor, [words] or [rows, words].

        words = ceil(V / 32); token t is bit t % 32 of word t // 32; 1 is allowed. All zero once EOS was consumed.
        Raises ValueError for another dtype, shape or layout, IndexError for a row outside.
        """

    def mask(self) -> numpy.typing.NDArray[numpy.int32]:
        """The mask as a new int32 array [words]."""

    def allows(self, token_id: int) -> bool:
        """Whether the token may come next; False for ids outside the vocabulary."""

    def advance(self, token_id: int) -> None:
        """
        Append a token. Raises TokenRejected, with the state unchanged, when it is not allowed.
        """

    def validate(self, token_ids: Sequence[int]) -> int:
        """
        The length of the longest prefix of the tokens that would be accepted; the state is unchanged.
        """

    def draft_masks(
        self, token_ids: Sequence[int], parents: Sequence[int] | None = None
    ) -> numpy.typing.NDArray[numpy.int32]:
        """
        Masks before each draft token and after the last, int32 [len(token_ids) + 1, words]; the state is unchanged.

        Rows after the first token that is not allowed are 0. With `parents` the tokens are a draft tree: token i comes
        after token parents[i] < i, or after the text so far where that is -1; row 0 is the mask of the text so far, row
        i + 1 the one after token i, 0 where it or a token before it is not allowed. Raises ValueError for other parents.
        """

    def rollback(self, n: int) -> None:
        """
        Take back the last n tokens (EOS counts as one). O(1). Raises IndexError when there are fewer.
        """

    def copy(self) -> DecodeState:
        """An independent copy; O(tokens so far)."""

    def __copy__(self) -> DecodeState: ...
    def __deepcopy__(self, memo: object) -> DecodeState: ...
    def __repr__(self) -> str: ...
    def reset(self) -> None:
        """Back to the beginning."""

    @property
    def tokens_left(self) -> int | None:
        """Tokens that may still follow, EOS included; None without a budget."""

    def captures(self) -> dict[str, bytes]:
        """
        What the named parts of the constraint have read so far, the last piece of each: see `Constraint.captures`.

        Parts that are not at their end yet have what they have so far, if anything, in the first way of reading the
        text that can be continued; once EOS was consumed, as captures of the whole text. Where a token can be read as text and as
        a token of a class, text is preferred. O(bytes so far).
        """

    def capture_lists(self) -> dict[str, list[bytes]]:
        """
        All pieces that the named parts have read so far; otherwise as `captures`.
        """

    @property
    def is_final(self) -> bool:
        """Whether EOS is allowed here."""

    @property
    def is_finished(self) -> bool:
        """Whether EOS was consumed."""

    @property
    def words(self) -> int:
        """int32 words of a mask: ceil(V / 32)."""

    @property
    def num_tokens(self) -> int:
        """Tokens consumed so far, EOS included."""

    @property
    def state_id(self) -> int:
        """
        The automaton's number of the state reached, -1 once EOS was consumed.

        Texts with one number have the same continuations. Numbers hold for one generation of the automaton.
        """

    def forced_bytes(self, limit: int = 65536) -> bytes:
        """
        What every continuation starts with: the bytes up to the first choice or possible end, at most `limit`.

        With a budget: every continuation that fits it. Special tokens are not text: the bytes end before the first
        one, which `forced_tokens` has where nothing else may follow.
        """

    def forced_tokens(self, limit: int = 4096) -> list[int]:
        """
        The tokens up to the first mask with more than one of them (or a possible end), at most `limit`.

        Forced bytes can usually be spelled by several tokens; then no token is forced.
        """

class Workers:
    """Threads for many rows at once; `threads` counts the calling one."""

    def __init__(self, threads: int) -> None: ...
    @property
    def threads(self) -> int: ...
    def fill_masks(
        self, states: list[DecodeState | None], out: numpy.typing.NDArray[numpy.int32]
    ) -> list[tuple[int, int, str]] | None:
        """The masks of different states; (row, kind, text) of what went wrong."""

    def advance(
        self, states: list[DecodeState | None], token_ids: numpy.typing.NDArray[numpy.int64]
    ) -> list[tuple[int, int, str]] | None: ...

class BytePairs:
    """The merges of a byte-pair encoder; see byte_pairs.h."""

    @staticmethod
    def from_merges(
        size: int,
        left: numpy.typing.NDArray[numpy.int32],
        right: numpy.typing.NDArray[numpy.int32],
        made: numpy.typing.NDArray[numpy.int32],
        rank: numpy.typing.NDArray[numpy.int32],
        units: Sequence[int],
        whole_pieces: bool,
    ) -> BytePairs:
        """Merges as columns of ids and ranks."""

    @staticmethod
    def from_ranks(tokens: Sequence[bytes]) -> BytePairs:
        """
        Tokens whose places are their ranks; empty ones are none. Whole pieces that are tokens are these.
        """

    @property
    def size(self) -> int:
        """Tokens."""

    @property
    def whole_pieces(self) -> bool:
        """Whether a piece that is a token is that token."""

    def written(self, token: int) -> bool:
        """Whether the encoder writes the token for the token's text."""

    def neighbours(self, left: int, right: int) -> bool:
        """Whether the encoder writes the two tokens for the text of both."""

    def after(self, token: int) -> numpy.typing.NDArray[numpy.int32]:
        """Which tokens may follow, packed as masks are, int32 [words]."""

    def encode(self, units: Sequence[int]) -> list[int]:
        """What the encoder writes for units."""

class SplitPatterns:
    """The patterns of a pretokenizer; see split_patterns.h."""

    def __init__(self, stages: Sequence[tuple[str, bool]]) -> None:
        """(pattern, whether what is between matches is kept) of each stage."""

class CanonicalTokens:
    """What is known of a tokenizer; see canonical_tokens.h."""

    def __init__(self, vocabulary: Vocabulary, pairs: BytePairs, patterns: SplitPatterns, cuts: bool) -> None:
        """`cuts`: whether the patterns cut any text."""

    def written(self, token: int) -> bool:
        """Whether merges make the token and some text goes on after it."""

    def whole_only(self, token: int) -> bool:
        """Whether it is written only where it is a whole piece."""

class CanonicalTexts:
    """The texts that a tokenizer leaves alone; see canonical_texts.h."""

    def __init__(self, texts: Language, vocabulary: Vocabulary) -> None:
        """LimitError past the limits of the language."""

class CanonicalAutomaton:
    """See canonical_automaton.h."""

    def __init__(
        self,
        language: Language,
        texts: CanonicalTexts | None,
        tokens: CanonicalTokens,
        cache_bytes: int,
        max_nodes: int,
    ) -> None:
        """
        The members of a language as the tokenizer writes them, or those that are among some texts as well.
        """

    @property
    def words(self) -> int:
        """int32 words of a mask."""

    @property
    def num_states(self) -> int:
        """Places in pieces that are known now."""

    @property
    def num_renewals(self) -> int:
        """How often all that was known was forgotten."""

class CanonicalState:
    """A position among canonical tokenizations; see canonical_state.h."""

    def __init__(self, automaton: CanonicalAutomaton) -> None:
        """At the beginning."""

    @property
    def is_final(self) -> bool:
        """Whether EOS is allowed here."""

    @property
    def is_finished(self) -> bool:
        """Whether EOS was consumed."""

    @property
    def num_tokens(self) -> int:
        """Tokens consumed so far, EOS included."""

    def fill(self, row: numpy.typing.NDArray[numpy.uint32]) -> None:
        """Write the mask into a row."""

    def allows(self, token_id: int) -> bool:
        """Whether the token may come next."""

    def advance(self, token_id: int) -> None:
        """Append a token; TokenRejected."""

    def validate(self, token_ids: Sequence[int]) -> int:
        """How many tokens would be accepted in order."""

    def rollback(self, n: int) -> None:
        """Take back the last n tokens; IndexError."""

    def reset(self) -> None:
        """Back to the beginning."""

    def copy(self) -> CanonicalState:
        """An independent copy."""

def device_tables(
    language: Language, vocabulary: Vocabulary, max_states: int, max_bytes: int
) -> tuple[
    numpy.typing.NDArray[numpy.uint8],
    numpy.typing.NDArray[numpy.int32],
    numpy.typing.NDArray[numpy.int32],
    numpy.typing.NDArray[numpy.int32],
    numpy.typing.NDArray[numpy.uint8],
]:
    """
    (class of each byte, successors, mask row of each state, masks, whether final); see device_tables.h.
    """

def token_table(
    vocabulary: Vocabulary,
) -> tuple[numpy.typing.NDArray[numpy.uint32], numpy.typing.NDArray[numpy.uint32], numpy.typing.NDArray[numpy.uint8]]:
    """
    (where each token's bytes begin, how many they are, the bytes of all tokens).
    """

def mask_scores(scores: object, out: object, masks: object) -> None:
    """
    out = scores where the packed masks have a 1, else minus infinity; CPU arrays or tensors, out may be scores.
    """

class ByteState:
    """A position in a token automaton's constraint, byte by byte."""

    def __init__(self, automaton: TokenAutomaton) -> None: ...
    def after(self, bytes: bytes) -> ByteState | None:
        """The state after some bytes; None where no member begins like that."""

    @property
    def is_final(self) -> bool: ...
    @property
    def goes_on(self) -> bool:
        """Whether a longer member exists."""

    @property
    def live_bytes(self) -> bytes: ...
    @property
    def key(self) -> tuple[int, int]:
        """Equal for equal states, as long as one of them exists."""

    @property
    def spells_any_text(self) -> bool:
        """Whether all single bytes of texts are tokens."""

    def begins_marker(self, byte: int) -> bool: ...
    def ends(
        self, nodes: Sequence[int], most: int, row: numpy.typing.NDArray[numpy.int32] | None = None
    ) -> tuple[list[tuple[int, bool, bool, bytes, int]], bool]:
        """
        Places inside tokens where the part can end, as (node, whether it can go on, leaf, bytes, from which of the
        nodes), and whether these are all; the bits of the other tokens that are allowed are set.
        """

    def add_mask(self, left_out: Sequence[int], row: numpy.typing.NDArray[numpy.int32]) -> None:
        """
        Set the bits of the tokens that are allowed; those that end at the nodes left out are not.
        """

    def add_tokens(self, nodes: Sequence[int], row: numpy.typing.NDArray[numpy.int32]) -> None:
        """Set the bits of the tokens below some nodes that are allowed."""

    def add_tokens_at(self, nodes: Sequence[int], row: numpy.typing.NDArray[numpy.int32]) -> None:
        """Set the bits of the tokens that end at some nodes."""

def tokens_in(language: Language, vocabulary: Vocabulary) -> list[int]:
    """The tokens of text whose bytes are a member of the language, rising."""

def token_acceptor(
    language: Language, vocabulary: Vocabulary, min_tokens: int, max_states: int, max_bytes: int
) -> tuple[Fst, numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int32]]: ...
def expand_terminals(
    fst: Fst,
    num_tokens: int,
    offsets: numpy.typing.NDArray[numpy.int64],
    ids: numpy.typing.NDArray[numpy.int32],
    max_arcs: int,
) -> Fst: ...
