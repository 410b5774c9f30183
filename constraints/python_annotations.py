"""From annotations to forms: which Python expressions are values of a type."""

from __future__ import annotations

import ast
import collections.abc
import dataclasses
import enum
import inspect
import itertools
import keyword
import types
import typing
from collections.abc import Iterable, Mapping
from typing import Any

from ..automata.errors import ConstraintError, UnsupportedError
from .constraint import ReportEntry
from .python_bounds import Bounds
from .python_call import CallForm, Parameter
from .python_constructor import constructor
from .python_forms import (
    ConstantForm,
    DictForm,
    FloatForm,
    Form,
    IntForm,
    ItemsForm,
    LiteralForm,
    NamedForm,
    NameForm,
    RecordForm,
    StringForm,
    TupleForm,
    UnionForm,
    is_hashable,
)
from .python_hints import resolved_hints, scope_of
from .python_values import VALUE_FORMS
from .python_variables import bound_hints, forgotten, own_variables, substituted

_WITHOUT_MEMBERS = (collections.abc.Callable, type)
_LISTS = (list, collections.abc.MutableSequence)
_LISTS_OR_TUPLES = (collections.abc.Sequence, collections.abc.Collection, collections.abc.Iterable)
_SETS: dict[object, tuple[type, ...]] = {
    set: (set,),
    frozenset: (frozenset,),
    collections.abc.Set: (set, frozenset),
    collections.abc.MutableSet: (set,),
}
_DICTS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)
_MOST_FLAGS = 8  # members of a Flag, whose combinations are written out
_MOST_NESTED = 16  # of one generic class inside itself, with other arguments each time
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Annotations:
    """Turns annotations into forms; each class becomes one form, so classes may contain themselves."""

    def __init__(
        self, function: str, names: Mapping[str, object] | None = None, local: Mapping[str, object] | None = None
    ) -> None:
        """Names for annotations that are strings: ``names`` come before globals, ``local`` where nothing else is known.

        ``function`` begins error texts.
        """
        self.function = function
        if names is not None and not isinstance(names, Mapping):
            raise TypeError(
                f"{function}: expected names as a mapping from names to types, got {type(names).__name__}; pass a dict"
            )
        self.names = dict(names or {})
        self._local = dict(local or {})
        self.report: list[ReportEntry] = []
        self._classes: dict[object, Form] = {}
        self._by_name: dict[str, object] = {}
        self._open: list[object] = []  # classes and aliases whose fields are being read
        self._hashed: list[tuple[Form, str, str]] = []
        self._literal: LiteralForm | None = None
        self._key: LiteralForm | None = None

    # ---- errors
    def refused(self, place: str, got: object, reason: str) -> UnsupportedError:
        """An error about what cannot be enforced."""
        return UnsupportedError(f"{self.function}: {place}: {shown(got)}: {reason}")

    def finish(self) -> None:
        """Check what could not be known before all forms were complete."""
        for form, place, what in self._hashed:
            if not is_hashable(form):
                raise UnsupportedError(
                    f"{self.function}: {place}: {what} must be hashable, and values of this type are not; "
                    "use a frozen dataclass, a tuple or a frozenset"
                )

    # ---- annotations
    def form(self, annotation: object, place: str) -> Form:
        """The form of an annotation. Raises UnsupportedError, with the place, for what cannot be enforced exactly."""
        annotation, bounds = self._annotated(annotation, place)
        made = self._plain(annotation, place, bounds)
        unused = bounds.unused()
        if unused:
            raise self.refused(place, annotation, f"{unused} cannot be enforced on this type; drop it")
        return made

    def _annotated(self, annotation: object, place: str) -> tuple[object, Bounds]:
        bounds = Bounds(self.function, place)
        while True:
            origin = typing.get_origin(annotation)
            if origin is typing.Annotated:
                annotation, *metadata = typing.get_args(annotation)
                for item in metadata:
                    if not bounds.add(item):
                        self.report.append(ReportEntry(place, shown(item), "annotation", "not a constraint"))
            elif origin in (typing.ClassVar, typing.Final) or getattr(origin, "__name__", "") in (
                "Required",
                "NotRequired",
                "ReadOnly",
            ):
                annotation = typing.get_args(annotation)[0]
            elif isinstance(annotation, dataclasses.InitVar):
                annotation = annotation.type
            elif hasattr(annotation, "__supertype__"):  # NewType
                annotation = annotation.__supertype__
            else:
                return annotation, bounds

    def _plain(self, annotation: object, place: str, bounds: Bounds) -> Form:
        if isinstance(annotation, (str, typing.ForwardRef)):
            return self.form(self._resolved(annotation, place), place)
        if isinstance(annotation, typing.TypeVar):
            return self._variable(annotation, place)
        origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
        alias = annotation if origin is None else origin
        if hasattr(alias, "__value__"):  # a type statement
            return self._alias(annotation, alias, arguments, place)
        if annotation is None or annotation is type(None):
            return ConstantForm((None,))
        if annotation in (Any, object, inspect.Parameter.empty):
            return self._any_literal()
        if origin in (typing.Union, types.UnionType):
            return self._union(arguments, place)
        if origin is typing.Literal:
            return self._literals(arguments, place)
        if annotation is getattr(typing, "LiteralString", str):
            annotation = str
        simple = self._simple(annotation, place, bounds)
        if simple is not None:
            return simple
        kind = origin or annotation
        if kind is tuple and arguments and not (len(arguments) == 2 and arguments[1] is Ellipsis):
            items = () if arguments == ((),) else arguments
            return TupleForm(tuple(self.form(a, f"{place}[{i}]") for i, a in enumerate(items)))
        if kind is tuple and annotation == tuple[()]:
            return TupleForm(())
        container = self._container(kind, arguments, place, bounds)
        if container is not None:
            return container
        if isinstance(kind, type):
            return self._class(annotation, kind, arguments, place)
        raise self.refused(place, annotation, _REMEDY)

    def _resolved(self, annotation: object, place: str, scope: Mapping[str, object] | None = None) -> object:
        """With what its texts name; ``scope``: names of the module and class that it stands in."""
        if isinstance(annotation, typing.ForwardRef):
            annotation = annotation.__forward_arg__
        owner = types.SimpleNamespace(__annotations__={"it": annotation})
        names = {**self._local, **(scope or {}), **self.names}
        try:
            return typing.get_type_hints(owner, names, include_extras=True)["it"]
        except Exception as error:
            raise ConstraintError(
                f"{self.function}: {place}: the annotation {annotation!r:.80} cannot be resolved: {error}; "
                "pass what it names: names={...}"
            ) from error

    def _simple(self, annotation: object, place: str, bounds: Bounds) -> Form | None:
        if annotation is bool:
            return ConstantForm((True, False))
        if annotation is int:
            return IntForm(*bounds.integers(), within=bounds.within())
        if annotation is float:
            return FloatForm(bounds.reals(), within=bounds.within())
        if annotation in (str, bytes):
            return StringForm(str if annotation is str else bytes, *bounds.lengths())
        known = VALUE_FORMS.get(annotation) if isinstance(annotation, type) else None
        if known is None:
            return None
        if annotation not in self._classes:
            self._classes[annotation] = made = known()
            self._take_names(made.names, annotation, place)
        return self._classes[annotation]

    def _any_literal(self) -> LiteralForm:
        if self._literal is None:
            self._key = LiteralForm(name="a hashable literal")
            self._literal = LiteralForm(self._key)
        return self._literal

    def _variable(self, variable: typing.TypeVar, place: str) -> Form:
        """What stands for nothing else is as wide as it was declared."""
        if variable.__constraints__:
            return self._union(variable.__constraints__, place)
        return self._any_literal() if variable.__bound__ is None else self.form(variable.__bound__, place)

    def _alias(self, annotation: object, alias: Any, arguments: tuple[object, ...], place: str) -> Form:
        """What a type statement names, with its variables bound."""
        if (known := self._known(annotation, place)) is not None:
            return known
        self._open_class(alias, annotation, "alias", place)
        named = self._classes[annotation] = NameForm(alias.__name__)
        value = self._resolved(alias.__value__, place, scope_of(alias))
        named.target = self.form(substituted(value, own_variables(alias, arguments)), place)
        self._open.pop()
        return named

    def _union(self, arguments: tuple[object, ...], place: str) -> Form:
        members = _flat([self.form(argument, place) for argument in arguments])
        # an int is also an expression of a float, and every literal one of Any: these are asked last
        members.sort(key=lambda form: 2 if isinstance(form, LiteralForm) else isinstance(form, FloatForm))
        return members[0] if len(members) == 1 else UnionForm(members)

    def _literals(self, values: tuple[object, ...], place: str) -> Form:
        constants: list[object] = []
        members: list[Form] = []
        for value in values:
            if isinstance(value, enum.Enum):
                form = self._enum(type(value), place)
                members.append(NamedForm({name: v for name, v in form.members.items() if v is value}))
            else:
                constants.append(value)
                self._check_text(value, place)
        if constants:
            members.append(ConstantForm(tuple(constants)))
        return members[0] if len(members) == 1 else UnionForm(members)

    def _check_text(self, value: object, place: str) -> None:
        if isinstance(value, str) and any(0xD800 <= ord(c) < 0xE000 for c in value):
            raise self.refused(place, value, "a lone surrogate is no text; replace it")

    def _container(
        self,
        kind: object,
        arguments: tuple[object, ...],
        place: str,
        bounds: Bounds,
    ) -> Form | None:
        first = arguments[0] if arguments else Any
        if kind in _LISTS:
            return ItemsForm(list, self.form(first, f"{place}[0]"), *bounds.lengths())
        if kind in _LISTS_OR_TUPLES:
            item = self.form(first, f"{place}[0]")
            lengths = bounds.lengths()
            return UnionForm([ItemsForm(list, item, *lengths), ItemsForm(tuple, item, *lengths)])
        if kind is tuple:
            return ItemsForm(tuple, self.form(first, f"{place}[0]"), *bounds.lengths())
        if isinstance(kind, type) and kind in _SETS:
            item = self._hashable(first, f"{place}[0]", "members of a set")
            low, high = bounds.lengths()
            if low > 1 or high is not None:
                raise self.refused(
                    place, kind, "bounds on the size of a set, whose members may be written twice; bound a list"
                )
            forms = [ItemsForm(made, item, low, high) for made in _SETS[kind]]
            return forms[0] if len(forms) == 1 else UnionForm(forms)
        if kind in _DICTS:
            key = self._hashable(first, f"{place}[key]", "keys of a dict")
            value = self.form(arguments[1] if len(arguments) > 1 else Any, f"{place}[value]")
            low, high = bounds.lengths()
            if low > 1 or high is not None:
                raise self.refused(
                    place, kind, "bounds on the size of a dict, whose keys may be written twice; bound a list of pairs"
                )
            self.report.append(
                ReportEntry(place, "dict", "widened", "a key may be written twice; the last value counts then")
            )
            return DictForm(key, value, low, high)
        return None

    def _hashable(self, annotation: object, place: str, what: str) -> Form:
        if annotation is Any:
            self._any_literal()
            assert self._key is not None
            return self._key
        form = self.form(annotation, place)
        self._hashed.append((form, place, what))
        return form

    # ---- classes
    def _known(self, annotation: object, place: str) -> Form | None:
        """The form of a class or alias that was met before."""
        try:
            return self._classes.get(annotation)
        except TypeError:  # unhashable arguments
            raise self.refused(place, annotation, _REMEDY) from None

    def _class(self, annotation: object, kind: type, arguments: tuple[object, ...], place: str) -> Form:
        if (known := self._known(annotation, place)) is not None:
            return known
        if issubclass(kind, enum.Enum):
            return self._enum(kind, place)
        self._open_class(kind, kind, "class", place)
        try:
            if _is_typed_dict(kind):
                return self._record(annotation, kind, arguments)
            if has_call(kind):
                return self.call(annotation, kind, arguments, place)
        finally:
            self._open.pop()
        raise self.refused(place, annotation, _REMEDY)

    def _open_class(self, kind: object, shown: object, what: str, place: str) -> None:
        if self._open.count(kind) >= _MOST_NESTED:
            raise self.refused(
                place,
                shown,
                f"expected a generic {what} inside itself with at most {_MOST_NESTED} different arguments, got more, "
                "maybe without end; give it the same arguments inside",
            )
        self._open.append(kind)

    def _enum(self, kind: type[enum.Enum], place: str) -> NamedForm:
        known = self._classes.get(kind)
        if isinstance(known, NamedForm):
            return known
        members = [name for name in kind.__members__ if name.isidentifier() and not keyword.iskeyword(name)]
        if not kind.__members__:
            raise self.refused(place, kind, "an enumeration without members has no value; give it one")
        if len(members) < len(kind.__members__):
            raise self.refused(
                place, kind, "every member of an enumeration needs a name that Python can write; rename the others"
            )
        names = self._names_of(kind, place)
        made = NamedForm({f"{name}.{member}": kind[member] for name in names for member in members})
        if issubclass(kind, enum.Flag):
            made.members.update(self._flags(kind, names, place))
        self._classes[kind] = made
        return made

    def _flags(self, kind: type[enum.Flag], names: tuple[str, ...], place: str) -> dict[str, object]:
        """Several flags, in their order, and none."""
        single = [member for member in kind.__members__ if kind[member].value.bit_count() == 1]
        single = [member for member in single if kind[member].name == member]  # no second names
        if len(single) > _MOST_FLAGS:
            raise self.refused(place, kind, f"expected at most {_MOST_FLAGS} flags, got {len(single)}; use a set")
        found: dict[str, object] = {f"{name}(0)": kind(0) for name in names}
        for count in range(2, len(single) + 1):
            for chosen in itertools.combinations(single, count):
                value = kind(sum(kind[member].value for member in chosen))
                found.update({" | ".join(f"{name}.{member}" for member in chosen): value for name in names})
        return found

    def _names_of(self, kind: type, place: str) -> tuple[str, ...]:
        """The names that a class is written by: its own, and the qualified one of a class inside a class."""
        names = [kind.__name__]
        qualified = kind.__qualname__.split("<locals>.")[-1]
        if qualified != kind.__name__ and all(part.isidentifier() for part in qualified.split(".")):
            names.append(qualified)
        if keyword.iskeyword(kind.__name__) or not (kind.__name__.isidentifier() or _is_subscript(kind.__name__)):
            raise self.refused(place, kind, "the class needs a name that Python can write; rename it")
        self._take_names(names, kind, place)
        return tuple(names)

    def _take_names(self, names: Iterable[str], kind: object, place: str) -> None:
        """What a class is written by belongs to no other class."""
        for name in names:
            other = self._by_name.setdefault(name, kind)
            if other is not kind:
                raise self.refused(
                    place,
                    kind,
                    f"another class is called {name}, too, so that a text would not tell which is meant; rename one",
                )

    def _record(self, annotation: object, kind: type, arguments: tuple[object, ...]) -> Form:
        name = kind.__name__
        made = self._classes[annotation] = RecordForm(name=name)
        required: frozenset[str] = getattr(kind, "__required_keys__", frozenset())
        hints = self.hints(kind, name)
        lost = forgotten(kind, hints)
        if lost is not None:
            raise self.refused(
                f"{name}.{lost}",
                kind,
                "what its type variables stand for is not known: before Python 3.12 typing.TypedDict forgets bases "
                "without arguments; take TypedDict from typing_extensions, or write the key again in this class",
            )
        for key, hint in bound_hints(kind, arguments, hints).items():
            self._check_text(key, name)
            made.fields[key] = (self.form(hint, f"{name}.{key}"), _required(hint, key in required))
        return made

    def hints(self, owner: Any, name: str, parameters: tuple[object, ...] = ()) -> dict[str, Any]:
        """The annotations of a class or function, resolved; ``name`` is for error texts.

        ``parameters``: those of the class that a function stands in.
        """
        inside = {**self.names, owner.__name__: owner} if isinstance(owner, type) else dict(self.names)
        inside.update((getattr(parameter, "__name__", ""), parameter) for parameter in parameters)
        try:
            try:
                return resolved_hints(owner, inside)
            except NameError:
                return resolved_hints(owner, {**self._local, **inside})
        except Exception as error:
            raise ConstraintError(
                f"{self.function}: {name}: an annotation cannot be resolved: {error}; "
                "define what it names in the module, or pass it: names={...}"
            ) from error

    def call(self, annotation: object, kind: type, arguments: tuple[object, ...] = (), place: str = "") -> CallForm:
        """The constructor calls of a dataclass, NamedTuple or pydantic model."""
        made = CallForm(self._names_of(kind, place or kind.__name__), kind)
        self._classes[annotation] = made
        hashing = getattr(kind, "__hash__", None)
        made.hashable = hashing is not None
        made.hashed = hashing is not object.__hash__
        if hasattr(kind, "model_fields"):
            made.parameters = self._model_parameters(kind)
            return made
        found = constructor(
            kind,
            arguments,
            bound_hints(kind, arguments, self.hints(kind, kind.__name__)),
            lambda function, parameters: self.hints(function, kind.__name__, parameters),
        )
        if isinstance(found, str):
            raise self.refused(place or kind.__name__, kind, found)
        made.parameters, made.more = self.parameters(found.signature, found.hints, f"{kind.__name__}.{{}}")
        order = list(getattr(kind, "__dataclass_fields__", ()))  # that of repr; signatures have keyword-only ones last
        if all(parameter.name in order for parameter in made.parameters):
            ordered = sorted(made.parameters, key=lambda parameter: order.index(parameter.name))
            by_position = [parameter for parameter in made.parameters if parameter.positional]
            if [parameter for parameter in ordered if parameter.positional] == by_position:
                made.parameters = ordered
        return made

    def _model_parameters(self, kind: Any) -> list[Parameter]:
        found = []
        by_alias = kind.model_config.get("validate_by_alias") is not False
        by_name = kind.model_config.get("populate_by_name") or kind.model_config.get("validate_by_name") or not by_alias
        for name, info in kind.model_fields.items():
            place = f"{kind.__name__}.{name}"
            alias = info.validation_alias
            choices = [] if alias is None or not by_alias else getattr(alias, "choices", [alias])
            if alias is None or by_name:
                choices = [*choices, name]
            texts = dict.fromkeys(choice for choice in choices if isinstance(choice, str))
            written = [text for text in texts if text.isidentifier() and not keyword.iskeyword(text)]
            if not written:
                raise self.refused(
                    place,
                    alias,
                    "an alias that is no Python name cannot be written as an argument; give the field another one, or "
                    "validate_by_name=True",
                )
            annotation: Any = info.annotation
            for item in info.metadata:
                annotation = typing.Annotated[annotation, item]
            form = self.form(annotation, place)
            optional = not info.is_required()
            found.append(Parameter(written[0], form, positional=False, optional=optional, also=tuple(written[1:])))
        return found

    def parameters(
        self,
        signature: inspect.Signature,
        hints: Mapping[str, object],
        place: str,
        keywords: tuple[str, ...] | None = None,
    ) -> tuple[list[Parameter], Form | None]:
        """The parameters of a signature, and the form of what ``*args`` takes.

        ``place``: of a parameter, with {} for its name. ``keywords``: what ``**kwargs`` takes, None where that is not
        known.
        """
        found: list[Parameter] = []
        more: Form | None = None
        for name, parameter in signature.parameters.items():
            annotation = hints.get(name, Any)
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                found += self._further(annotation, place.format(f"**{name}"), found, keywords)
                keywords = None
                continue
            form = self.form(annotation, place.format(name))
            if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
                more = form
                continue
            found.append(
                Parameter(
                    name,
                    form,
                    positional=parameter.kind in _POSITIONAL,
                    keyword=parameter.kind is not inspect.Parameter.POSITIONAL_ONLY,
                    optional=parameter.default is not inspect.Parameter.empty,
                )
            )
        if keywords:
            raise ConstraintError(
                f"{self.function}: expected keywords where the signature has **kwargs, got {list(keywords)!r:.80} "
                "without; leave keywords out"
            )
        return found, more

    def _further(
        self, annotation: object, place: str, known: list[Parameter], keywords: tuple[str, ...] | None
    ) -> list[Parameter]:
        """What ``**kwargs`` takes."""
        fields: dict[str, tuple[Form, bool]]
        if getattr(typing.get_origin(annotation), "__name__", "") == "Unpack" or "Unpack[" in repr(annotation):
            record = self.form(typing.get_args(annotation)[0], place)
            if not isinstance(record, RecordForm):
                raise self.refused(place, annotation, "expected Unpack of a TypedDict; write one")
            fields = record.fields
        elif keywords is not None:
            form = self.form(annotation, place)
            fields = dict.fromkeys(keywords, (form, False))
        else:
            raise self.refused(
                place,
                annotation,
                "arguments of any name, but none of them twice, cannot be enforced; annotate it with "
                "Unpack[a TypedDict] or name them: keywords=(...)",
            )
        taken = {parameter.name for parameter in known if parameter.keyword}
        for name in fields:
            if name in taken or not name.isidentifier() or keyword.iskeyword(name):
                raise self.refused(
                    place, name, "expected names that Python can write and no other parameter has; rename it"
                )
        return [Parameter(name, form, False, optional=not required) for name, (form, required) in fields.items()]


_REMEDY = (
    "expected None, bool, int, float, str, bytes, a container of these, Literal, an Enum, a dataclass, NamedTuple, "
    "TypedDict or pydantic model, or a value of datetime, decimal, uuid or pathlib; others have no expression that "
    "could be read back"
)


def _required(hint: object, declared: bool) -> bool:
    """Whether a TypedDict needs a key: ``__required_keys__`` does not know of markers in annotations that are texts."""
    while (origin := typing.get_origin(hint)) is not None:
        marker = getattr(origin, "__name__", "") or getattr(origin, "_name", "")
        if marker in ("Required", "NotRequired"):
            return marker == "Required"
        if origin is not typing.Annotated and marker != "ReadOnly":
            break
        hint = typing.get_args(hint)[0]
    return declared


def _is_subscript(name: str) -> bool:
    """Whether a name is that of a generic model with its arguments, ``Page[int]``, which Python reads as it stands."""
    if "[" not in name:
        return False
    try:
        node = ast.parse(name, mode="eval").body
    except SyntaxError:
        return False
    return isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and ast.unparse(node) == name


def has_call(kind: type) -> bool:
    """Whether instances are written as constructor calls."""
    return dataclasses.is_dataclass(kind) or _is_named_tuple(kind) or hasattr(kind, "model_fields")


def _is_typed_dict(kind: type) -> bool:
    return issubclass(kind, dict) and hasattr(kind, "__required_keys__") and hasattr(kind, "__total__")


def _is_named_tuple(kind: type) -> bool:
    return issubclass(kind, tuple) and hasattr(kind, "_fields")


def _flat(forms: Iterable[Form]) -> list[Form]:
    """Members of unions inside of unions, and of names for them, in their order."""
    found: dict[int, Form] = {}
    todo = list(forms)[::-1]
    seen: set[int] = set()
    while todo:
        form = todo.pop()
        if isinstance(form, UnionForm):
            todo += list(form.members)[::-1]
        elif isinstance(form, NameForm) and form.target is not None and id(form) not in seen:
            seen.add(id(form))
            todo.append(form.target)
        else:
            found[id(form)] = form
    return list(found.values())


def shown(value: object) -> str:
    """A type as an error names it."""
    return value.__name__ if isinstance(value, type) and not typing.get_args(value) else f"{value!r:.80}"
