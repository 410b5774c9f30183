"""ToolFormat: how a family of models writes tool calls."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..automata.checks import checked_flag, checked_text, checked_texts, checked_type
from ..automata.errors import ConstraintError
from .constraint import Constraint
from .literal import literal
from .sequence import sequence
from .special_token import special_token


@dataclass(frozen=True)
class ParameterFormat:
    """How a model writes the arguments of a call one by one: ``before``, the name, ``middle``, the value, ``after``.

    A value that is a string is its text, without quotes or escapes; other values are JSON. Where a schema allows both,
    strings that may be read as JSON, and empty ones, stand in quotes.
    """

    before: str
    middle: str
    after: str
    reserved: tuple[str, ...]
    """Phrases that no value has inside, so that readers find its end. One of them is a part of ``after``."""

    def __post_init__(self) -> None:
        """Raise ConstraintError for phrases that leave open where a value ends, TypeError for what is no text."""
        _check_texts(self, ("before", "middle", "after"), ("reserved",))
        if not self.before or not self.middle or not any(phrase and phrase in self.after for phrase in self.reserved):
            raise ConstraintError(
                "ParameterFormat: expected what comes before and between name and value, and a reserved phrase in what "
                f"comes after, got {self.before!r}, {self.middle!r}, {self.after!r} and {self.reserved}; name all four"
            )
        for phrase in self.reserved:
            rests = [phrase[k:] for k in range(1, len(phrase))]
            if not phrase or any(self.after.startswith(rest) or rest.startswith(self.after) for rest in rests):
                raise ConstraintError(
                    f"ParameterFormat: expected reserved phrases that begin neither before nor within {self.after!r}, "
                    f"but for whole ones, got {phrase!r}; take one whose end does not begin what comes after a value"
                )


@dataclass(frozen=True)
class ToolFormat:
    """How a model writes tool calls: ``begin`` calls, joined by ``separator``, ``end``.

    A call is ``before``, ``scope``, the name, ``middle``, the arguments, ``after``. The arguments are a JSON object, or
    with ``parameter`` written one by one. Free text may come before the calls; it ends where ``trigger`` occurs first.
    """

    before: str
    middle: str
    after: str
    trigger: str
    """What ``begin + before`` begins with: a phrase that free text cannot have."""
    begin: tuple[str, ...] = ("",)
    """Alternatives."""
    separator: str = ""
    end: str = ""
    quoted: bool = True
    """Whether the name is written as a JSON string."""
    scope: str = ""
    """What stands before each name."""
    number: str = ""
    """What stands between a name and the number of the call; scope, name and number then are the identifier of the
    call. "": calls have no numbers."""
    identifier: str = ""
    """What comes before an optional identifier, nine letters or digits in quotes, after the arguments; "": none."""
    parameter: ParameterFormat | None = None
    """How arguments are written one by one; None: as a JSON object."""
    whole: bool = False
    """Whether calls are all of the text: free text then is text that does not begin with the trigger, white space
    aside, and nothing comes before calls."""
    marks: tuple[str, ...] = ()
    """Phrases in these that tokenizers may have as tokens of their own."""
    special: bool = False
    """Whether the marks are special tokens of the vocabulary, which no text spells."""

    def __post_init__(self) -> None:
        """Raise ConstraintError for a trigger with which calls do not begin, TypeError for what has another type."""
        texts = ("before", "middle", "after", "trigger", "separator", "end", "scope", "number", "identifier")
        _check_texts(self, texts, ("begin", "marks"))
        for flag in ("quoted", "whole", "special"):
            checked_flag("ToolFormat", flag, getattr(self, flag))
        if self.parameter is not None:
            checked_type(
                "ToolFormat", "parameter as a ParameterFormat", self.parameter, ParameterFormat, "leave it out"
            )
        if not self.begin:
            raise ConstraintError('ToolFormat: expected at least one begin, got none; pass ("",) for nothing')
        if not self.trigger or not all((begin + self.before).startswith(self.trigger) for begin in self.begin):
            raise ConstraintError(
                f"ToolFormat: expected a trigger that begins begin + before, got the trigger {self.trigger!r} and "
                f"{[begin + self.before for begin in self.begin]}; take a beginning that all of these have"
            )
        if self.special and (self.whole or self.trigger not in self.marks):
            raise ConstraintError(
                f"ToolFormat: expected one of the special marks {self.marks} as trigger, got {self.trigger!r}; pass "
                "special=False for marks that are text"
            )
        if not self.middle and not (self.parameter and self.after):
            raise ConstraintError(
                "ToolFormat: expected a middle, which ends the name, got ''; pass what stands before the arguments"
            )
        if self.quoted and (self.scope or self.number):
            raise ConstraintError(
                f"ToolFormat: expected names without quotes beside the scope {self.scope!r} and the number "
                f"{self.number!r}, which stand around them; pass quoted=False"
            )

    def pieces(self, text: str) -> list[tuple[str, bool]]:
        """The text, cut into special tokens (True) and what is between them."""
        if not self.special:
            return [(text, False)] if text else []
        parts = re.split("(" + "|".join(map(re.escape, self.marks)) + ")", text)
        return [(part, i % 2 == 1) for i, part in enumerate(parts) if part]

    def phrase(self, text: str) -> Constraint:
        """The text, marks as special tokens where they are such."""
        if not self.special:
            return literal(text)
        return sequence(*(special_token(part) if mark else literal(part) for part, mark in self.pieces(text)))


def _check_texts(made: ParameterFormat | ToolFormat, texts: tuple[str, ...], several: tuple[str, ...]) -> None:
    name = type(made).__name__
    for field in texts:
        checked_text(name, field, getattr(made, field))
    for field in several:
        checked_texts(name, field, getattr(made, field))


_MISTRAL_ARRAY = ToolFormat(
    begin=("[TOOL_CALLS] [", "[TOOL_CALLS]["),
    before='{"name": ',
    middle=', "arguments": ',
    after="}",
    identifier=', "id": ',
    separator=", ",
    end="]",
    trigger="[TOOL_CALLS]",
    marks=("[TOOL_CALLS]",),
    special=True,
)
_HERMES = ToolFormat(
    before='<tool_call>\n{"name": ',
    middle=', "arguments": ',
    after="}\n</tool_call>",
    separator="\n",
    trigger="<tool_call>",
    marks=("<tool_call>", "</tool_call>"),
)
_LLAMA_TAG = ToolFormat(
    begin=("<|python_tag|>",),
    before='{"name": ',
    middle=', "parameters": ',
    after="}",
    separator="; ",
    trigger="<|python_tag|>",
    marks=("<|python_tag|>",),
    special=True,
)
_DEEPSEEK_MARKS = tuple(f"<｜tool▁{name}｜>" for name in ("calls▁begin", "calls▁end", "call▁begin", "call▁end", "sep"))
_DEEPSEEK_BEGIN, _DEEPSEEK_END, _DEEPSEEK_CALL, _DEEPSEEK_CALL_END, _DEEPSEEK_SEP = _DEEPSEEK_MARKS
_KIMI_MARKS = tuple(
    f"<|{name}|>"
    for name in (
        "tool_calls_section_begin",
        "tool_calls_section_end",
        "tool_call_begin",
        "tool_call_argument_begin",
        "tool_call_end",
    )
)
_KIMI_BEGIN, _KIMI_END, _KIMI_CALL, _KIMI_ARGUMENTS, _KIMI_CALL_END = _KIMI_MARKS
_GLM_MARKS = ("<tool_call>", "</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>")
_TOOL_CALL = ("<tool_call>", "</tool_call>")
TOOL_FORMATS: dict[str, ToolFormat] = {
    # Hermes 2 Pro and 3, Qwen 2.5 and 3: NousResearch's Hermes-Function-Calling and Qwen's chat templates.
    "hermes": _HERMES,
    "qwen": _HERMES,
    # Llama 3.1 and 3.2, JSON based: Meta's prompt formats; several calls as vLLM's llama3_json parser reads them.
    "llama3": ToolFormat(
        before='{"name": ', middle=', "parameters": ', after="}", separator="; ", trigger="{", whole=True
    ),
    "llama3-python-tag": _LLAMA_TAG,
    # Mistral's instruct tokenizers v2 to v7, which write a list, and from v11 on.
    "mistral": _MISTRAL_ARRAY,
    "mistral-v11": ToolFormat(
        before="[TOOL_CALLS]",
        middle="[ARGS]",
        after="",
        quoted=False,
        trigger="[TOOL_CALLS]",
        marks=("[TOOL_CALLS]", "[ARGS]"),
        special=True,
    ),
    # The models' chat templates, for all that follow. DeepSeek V3 and R1, and V3.1.
    "deepseek-v3": ToolFormat(
        begin=(_DEEPSEEK_BEGIN,),
        before=f"{_DEEPSEEK_CALL}function{_DEEPSEEK_SEP}",
        middle="\n```json\n",
        after=f"\n```{_DEEPSEEK_CALL_END}",
        separator="\n",
        end=_DEEPSEEK_END,
        quoted=False,
        trigger=_DEEPSEEK_BEGIN,
        marks=_DEEPSEEK_MARKS,
    ),
    "deepseek-v3.1": ToolFormat(
        begin=(_DEEPSEEK_BEGIN,),
        before=_DEEPSEEK_CALL,
        middle=_DEEPSEEK_SEP,
        after=_DEEPSEEK_CALL_END,
        end=_DEEPSEEK_END,
        quoted=False,
        trigger=_DEEPSEEK_BEGIN,
        marks=_DEEPSEEK_MARKS,
    ),
    # Kimi K2, whose calls are numbered.
    "kimi-k2": ToolFormat(
        begin=(_KIMI_BEGIN,),
        before=_KIMI_CALL,
        scope="functions.",
        number=":",
        middle=_KIMI_ARGUMENTS,
        after=_KIMI_CALL_END,
        end=_KIMI_END,
        quoted=False,
        trigger=_KIMI_BEGIN,
        marks=_KIMI_MARKS,
    ),
    # Qwen3-Coder.
    "qwen3-coder": ToolFormat(
        before="<tool_call>\n<function=",
        middle=">\n",
        after="</function>\n</tool_call>",
        parameter=ParameterFormat(
            before="<parameter=",
            middle=">\n",
            after="\n</parameter>\n",
            reserved=(*_TOOL_CALL, "<function=", "</function>", "<parameter=", "</parameter>"),
        ),
        separator="\n",
        quoted=False,
        trigger="<tool_call>",
        marks=_TOOL_CALL,
    ),
    # GLM 4.5 and 4.6, and 4.7, which has no line breaks.
    "glm-4.5": ToolFormat(
        before="<tool_call>",
        middle="\n",
        after="</tool_call>",
        parameter=ParameterFormat("<arg_key>", "</arg_key>\n<arg_value>", "</arg_value>\n", reserved=_GLM_MARKS),
        separator="\n",
        quoted=False,
        trigger="<tool_call>",
        marks=_GLM_MARKS,
    ),
    "glm-4.7": ToolFormat(
        before="<tool_call>",
        middle="",
        after="</tool_call>",
        parameter=ParameterFormat("<arg_key>", "</arg_key><arg_value>", "</arg_value>", reserved=_GLM_MARKS),
        quoted=False,
        trigger="<tool_call>",
        marks=_GLM_MARKS,
    ),
    # MiniMax M2.
    "minimax-m2": ToolFormat(
        begin=("<minimax:tool_call>\n",),
        before='<invoke name="',
        middle='">\n',
        after="</invoke>\n",
        end="</minimax:tool_call>",
        parameter=ParameterFormat(
            before='<parameter name="',
            middle='">',
            after="</parameter>\n",
            reserved=(
                "<minimax:tool_call>",
                "</minimax:tool_call>",
                "<invoke name=",
                "</invoke>",
                "<parameter name=",
                "</parameter>",
            ),
        ),
        quoted=False,
        trigger="<minimax:tool_call>",
        marks=("<minimax:tool_call>", "</minimax:tool_call>"),
    ),
}
