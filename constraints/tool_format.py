"""ToolFormat: how a family of models writes tool calls."""

from __future__ import annotations

from dataclasses import dataclass

from ..automata.errors import ConstraintError


@dataclass(frozen=True)
class ToolFormat:
    """How a model writes tool calls: ``begin`` calls, joined by ``separator``, ``end``.

    A call is ``before``, the name, ``middle``, the arguments as a JSON object, ``after``. Free text may come before the
    calls; it ends where ``trigger`` occurs first.
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
    identifier: str = ""
    """What comes before an optional identifier, nine letters or digits in quotes, after the arguments; "": none."""
    whole: bool = False
    """Whether calls are all of the text: free text then is text that does not begin with the trigger, white space
    aside, and nothing comes before calls."""
    marks: tuple[str, ...] = ()
    """Phrases in these that tokenizers may have as tokens of their own."""
    special: bool = False
    """Whether the marks are special tokens of the vocabulary, which no text spells."""

    def __post_init__(self) -> None:
        """Raise ConstraintError for a trigger with which calls do not begin."""
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
        if not self.middle:
            raise ConstraintError(
                "ToolFormat: expected a middle, which ends the name, got ''; pass what stands before the arguments"
            )


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
}
