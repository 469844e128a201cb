"""Which arguments a callable takes by name, its own and those that it passes on, and what takes them."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, MutableMapping

    from kr_plugins.sources.installed_docs.python.definitions import Definition, Module
    from kr_plugins.sources.installed_docs.python.public_names import PublicNames
    from kr_plugins.sources.installed_docs.python.references import Links

    Find = Callable[[Definition, str], Definition | None]
    Known = MutableMapping[tuple[str, str, int], frozenset[str] | None]

_MOST_STEPS = 6
_MOST_NODES = 20_000
_MOST_PASSED = 20
"""Callables to which one function passes its arguments on."""
_MOST_TAKEN = 1_000
"""Arguments of one callable; with more KR is not certain of them."""
_MOST_BASES = 8
_MOST_HANDED = 4
"""Callables, each of which passes a parameter on to the next."""


def keywords_of(definition: Definition, find: Find, known: Known) -> frozenset[str] | None:
    """The arguments that a callable takes by name; None where that is not certain.

    Args:
        definition: a function or class.
        find: what a dotted name means in a function or class; of a class, `__init__` means its own constructor alone.
        known: what was found before for a name and a number of steps; KR adds to it.
    """
    return _taken(definition, find, _MOST_STEPS, known)


def _taken(definition: Definition, find: Find, steps: int, known: Known) -> frozenset[str] | None:
    place = (definition.module, definition.qualname, steps)
    if place not in known:
        found = _read(definition, find, steps, known)
        known[place] = None if found is not None and len(found) > _MOST_TAKEN else found
    return known[place]


def _read(definition: Definition, find: Find, steps: int, known: Known) -> frozenset[str] | None:
    if definition.kind == "class":
        constructor = find(definition, "__init__")
        own = find(definition, "__new__")
        if constructor is None or own is not None:
            return None
        return _taken(constructor, find, steps, known)
    if definition.kind != "function" or definition.wrapped or not steps:
        return None
    found = {one.name for one in definition.parameters if not one.star} | definition.overloads
    if not any(one.star == "**" for one in definition.parameters):
        return frozenset(found)
    if not 0 < len(definition.passes) <= _MOST_PASSED:
        return None
    for name in definition.passes:
        target = find(definition, name)
        is_other = target is not None and target is not definition
        more = _taken(target, find, steps - 1, known) if target is not None and is_other else None
        if more is None:
            return None
        found |= more
    return frozenset(found)


def passed_on(node: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[str, ...]:
    """The callables to which a function passes its `**kwargs`; none where it does more with them than ask whether there are any.

    A local name counts as what it is assigned: `with Session() as session: session.get(**kwargs)` passes them to
    `Session.get`.
    """
    if node.args.kwarg is None:
        return ()
    star = node.args.kwarg.arg
    found: list[str] = []
    used = 0
    local: dict[str, set[str]] = {}
    for number, each in enumerate(ast.walk(node)):
        if number > _MOST_NODES:
            return ()
        used += isinstance(each, ast.Name) and each.id == star
        used -= _tested(each, star)
        for name, value in _bound(each):
            local.setdefault(name, set()).add(value)
        if isinstance(each, ast.Call):
            found += [
                _dotted(each.func)
                for one in each.keywords
                if one.arg is None and isinstance(one.value, ast.Name) and one.value.id == star
            ]
    if used != len(found):
        return ()
    meant = [_meant(name, local) for name in dict.fromkeys(found)]
    return tuple(name for name in meant if name) if all(meant) else ()


def made_by(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str | None:
    """The class whose new instance is all that a function returns: `return TaskLock(self, name)`."""
    only = node.body[-1] if len(node.body) <= 1 + (ast.get_docstring(node, clean=False) is not None) else None
    name = _dotted(only.value) if isinstance(only, ast.Return) and isinstance(only.value, ast.Call) else ""
    return name if name.rpartition(".")[2][:1].isupper() else None


def _tested(node: ast.AST, name: str) -> int:
    """How often a condition only asks whether a value is empty: `if args or kwargs`."""
    parts = [node.test] if isinstance(node, ast.If | ast.IfExp) else []
    count = 0
    while parts:
        part = parts.pop()
        if isinstance(part, ast.BoolOp):
            parts += part.values
        elif isinstance(part, ast.UnaryOp):
            parts.append(part.operand)
        else:
            count += isinstance(part, ast.Name) and part.id == name
    return count


def _meant(name: str, local: dict[str, set[str]]) -> str:
    head, dot, rest = name.partition(".")
    values = local.get(head)
    if values is None:
        return name
    return f"{next(iter(values))}{dot}{rest}" if len(values) == 1 and "" not in values else ""


def _bound(node: ast.AST) -> Iterator[tuple[str, str]]:
    """The local names that a statement binds, with the name of the class or callable; empty where it is another value."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Name):
                yield target.id, _dotted(node.value)
    elif isinstance(node, ast.withitem) and isinstance(node.optional_vars, ast.Name):
        yield node.optional_vars.id, _dotted(node.context_expr)
    elif isinstance(node, ast.For) and isinstance(node.target, ast.Name):
        yield node.target.id, ""


def _dotted(node: ast.expr) -> str:
    """A dotted name, or that of what is called; of `super().__init__` that begins with `super`."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        head = _dotted(node.value)
        return f"{head}.{node.attr}" if head else ""
    return _dotted(node.func) if isinstance(node, ast.Call) else ""


class ArgumentTakers:
    """Finds what takes the arguments of the callables of some modules."""

    def __init__(self, modules: Mapping[str, Module], names: PublicNames, links: Links) -> None:
        self._modules = modules
        self._names = names
        self._links = links
        self._taken: dict[tuple[str, str, int], frozenset[str] | None] = {}

    @cached_property
    def handed(self) -> frozenset[tuple[str, str]]:
        """Module and name of what public functions hand all of their arguments to, or only make: readers need its signature."""
        functions = (one for module in self._modules.values() for one in module.definitions.values())
        return frozenset(
            (taker.module, taker.qualname)
            for one in functions
            if (_takes_anything(one) or _says_only_what_it_makes(one)) and self._names.of(one).public
            for taker in self._takers(one)
        )

    def keywords(self, definition: Definition) -> dict[str, list[str]]:
        """The arguments that a public callable takes by name, where they are known for certain."""
        if definition.kind not in {"function", "class"} or not self._names.of(definition).public:
            return {}
        taken = keywords_of(definition, self._taker, self._taken)
        return {} if taken is None else {"keywords": sorted(taken)}

    def takers(self, definition: Definition) -> dict[str, list[str]]:
        """What a public callable hands its further arguments to, by name: `click.option` to `click.Option`."""
        if definition.kind != "function":
            return {}
        named = map(self._names.of, self._takers(definition))
        is_bare = _takes_anything(definition) or _says_only_what_it_makes(definition)
        names = dict.fromkeys(one.name for one in named if one.public or is_bare)
        return {"takers": list(names)} if names else {}

    def _takers(self, definition: Definition) -> list[Definition]:
        made = [definition.makes] if definition.makes and _says_only_what_it_makes(definition) else []
        found = [self._taker(definition, one) for one in [*definition.passes[:_MOST_HANDED], *made]]
        return [one for one in found if one is not None and one is not definition]

    def declared(self, definition: Definition, name: str) -> dict[str, str]:
        """The callable that declares a parameter, and its default, which another only documents and passes on."""
        for _step in range(_MOST_HANDED):
            targets = [self._taker(definition, passed) for passed in definition.passes[:1]]
            if len(definition.passes) != 1 or targets[0] is None or targets[0] is definition:
                return {}
            definition = targets[0]
            own = next((one for one in definition.parameters if one.name == name), None)
            if own is not None:
                return {"declared_by": self._names.of(definition).name} if own.default else {}
        return {}

    def _taker(self, definition: Definition, name: str) -> Definition | None:
        """What a name means that takes the arguments of a function or class; of a class, its constructor."""
        module = self._modules[definition.module]
        if definition.kind == "class":
            return self._inherited(definition, name)
        owner = owner_of(module, definition)
        head, _dot, rest = name.partition(".")
        if owner is not None and owner.kind == "class" and head in {"self", "cls"}:
            return self._inherited(owner, rest)
        if owner is not None and owner.kind == "class" and head == "super":
            return self._inherited(owner, rest, above=True)
        return self._links.find(module, name)

    def _inherited(self, cls: Definition, name: str, *, above: bool = False) -> Definition | None:
        """A member of a class or of the first of its bases that has it; None where a base before it is not known."""
        for _step in range(_MOST_BASES):
            own = self._modules[cls.module].definitions.get(f"{cls.qualname}.{name}")
            if own is not None and not above:
                return own
            above = False
            bases = [self._names.resolve(cls.module, base) for base in cls.bases[:1]]
            if len(cls.bases) != 1 or bases[0] is None:
                return None
            cls = bases[0]
        return None


def _takes_anything(definition: Definition) -> bool:
    """Whether a function has no parameter with a name: its signature says nothing."""
    return definition.kind == "function" and all(one.star for one in definition.parameters)


def _says_only_what_it_makes(definition: Definition) -> bool:
    """Whether a function has no documentation and only returns a new instance of a class, which may have some."""
    return definition.doc is None and definition.makes is not None


def owner_of(module: Module, definition: Definition) -> Definition | None:
    return module.definitions.get(definition.qualname.rpartition(".")[0])
