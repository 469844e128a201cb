"""What a definition's annotations, defaults and docstring send its reader to, and what they say replaces something deprecated."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kr_plugins.sources.installed_docs.python.definitions import Definition, Module, Parameter
    from kr_plugins.sources.installed_docs.python.public_names import PublicNames

_SEE = re.compile(
    r"\b(?:[Ss]ee|[Ss]ame as|[Aa]lias (?:for|of)|[Ee]quivalent to)\s++(?:also\s++)?[:`*]*+(?:(?:py:)?(?:func|meth|class|attr|obj):`*+)?~?\.?([A-Za-z_][\w.]*)"
)
_PASSED = re.compile(
    r"(?i)(?:\b(?:passed|forwarded|handed|given)\b[\w ]{0,40}?\bto|\b(?:arguments?|parameters?|options|keywords)\b[\w ]{0,20}?\b(?:of|for|that|in)"
    r"|\bsee|\bsame as)\s++(?:the\s++|in\s++)?(?::[\w:]+:)?`+~?\.?([A-Za-z_][\w.]*)"
)
"""What the documentation of `**kwargs` says of the callable that takes them: "passed on to `pack`"."""
_MOST_TARGETS = 20
"""Definitions to which one docstring sends its reader."""
_MOST_LINKED = 6
"""Definitions of which KR notes that one annotation or default speaks."""
_LONGEST = 2_000
"""Characters of an annotation or a default; KR finds no names beyond."""
_QUOTES = str.maketrans("\"'", "  ")
_IDENTIFIER = re.compile(r"[A-Za-z_][\w.]*")
_CUES = (
    re.compile(r"(?i)\b(?:use|using|in favou?r of|prefer|switch to|migrate to)\b|\balternative="),
    re.compile(
        r"(?i)\b(?:available (?:as|in|via)|replaced (?:by|with)|renamed (?:to|as)|superseded by|moved (?:to|into)"
        r"|instead of|call|see|refer to|alias (?:for|of)|via)\b"
    ),
)
"""What introduces the name of a replacement; the surer words first."""
_NEAR = 80
"""Characters behind a cue in which the name that it introduces stands."""
_MARKED = re.compile(
    r"(?<!`)`++[~!]?\.?([A-Za-z_][\w.]*)(?:\([^`]*\)|<[^`]*>)?`+|\{@link \.?([A-Za-z_][\w.]*)|(?<![\w.`])([A-Za-z_][\w.]*\w)(?=\()|'([A-Za-z_][\w.]*)(?:\(\))?'"
    r"|(?<![\w`)])\.([A-Za-z_]\w*)|\*([A-Za-z_]\w*)\*|\"([A-Za-z_][\w.]*)(?:\(\))?\"|(?<![\w.`])([A-Za-z_]\w*(?:\.\w+)+)"
)
"""What a text sets off as a name: in back-ticks or quotes, with brackets, dotted."""
_MOST_PARTS = 8
"""Parts at the end of a name by which KR finds it."""
_ALIAS = 4
"""A shorter first part (`pl.Categories`) may be the name that people import the package by."""
_CHAINED = re.compile(r"[\w`.@{ ]*\([^()]*\)\.")
"""`z.string().min(1)` recommends more than its first name."""
_PLAIN = re.compile(r"(?i)use (?:the )?([A-Za-z_][\w.]*\w)")


def _values(parameter: Parameter) -> Iterator[str]:
    """The default in a signature, and what the code takes in its place where that only marks that nothing was given."""
    yield parameter.default or ""
    if parameter.meant is not None:
        yield parameter.meant.value


class Links:
    """The links between the definitions of one distribution.

    Args:
        modules: what its files define.
        names: under which name each definition is known.
    """

    def __init__(self, modules: Mapping[str, Module], names: PublicNames) -> None:
        self._modules = modules
        self._names = names
        self._aliased: dict[tuple[str, str], list[str]] = {}

    def spoken_of(
        self, module: Module, definition: Definition, parameter: Parameter | None = None
    ) -> dict[str, list[str]]:
        """The definitions in this distribution that an annotation and a default speak of, by indexed name."""
        found: dict[str, list[str]] = {}
        sources = {
            "types": parameter.annotation if parameter else definition.returns,
            "defaults": " ".join(_values(parameter)) if parameter else None,
        }
        for key, source in sources.items():
            linked: dict[str, None] = {}
            for name in dict.fromkeys(_IDENTIFIER.findall((source or "").translate(_QUOTES)[:_LONGEST])):
                target = self._names.resolve(module.name, name)
                if target is not None and target is not definition:
                    linked.update(dict.fromkeys([self._names.of(target).name, *self._beneath(target)]))
                if len(linked) >= _MOST_LINKED:
                    break
            if linked:
                found[key] = list(linked)[:_MOST_LINKED]
        return found

    def _beneath(self, target: Definition) -> list[str]:
        """The classes that an alias such as `TimeoutTypes = Union[float, Timeout]` names; KR looks at each alias once."""
        if target.kind != "constant":
            return []
        key = (target.module, target.qualname)
        if key not in self._aliased:
            value = target.signature.partition("=")[2].translate(_QUOTES)
            resolved = [self._names.resolve(target.module, name) for name in _IDENTIFIER.findall(value)]
            named = [one for one in resolved if one is not None and one is not target]
            self._aliased[key] = list(dict.fromkeys(self._names.of(one).name for one in named))[:_MOST_LINKED]
        return self._aliased[key]

    def passed_to(self, definition: Definition) -> str | None:
        """The callable that takes the `**kwargs` of another, as the documentation of these says; None for none."""
        star = next((one.name for one in definition.parameters if one.star == "**"), None)
        for entry in definition.doc.parameters if definition.doc is not None and star else ():
            if definition.doc is not None and entry.name.lstrip("*") == star:
                found = _PASSED.search(
                    " ".join(" ".join(definition.doc.lines[entry.line : entry.end]).split())
                )
                return found[1].rstrip(".") if found else None
        return None

    def see(self, module: Module, definition: Definition) -> list[str]:
        """The names of the symbols that a docstring sends its reader to."""
        return list(
            dict.fromkeys(self._names.of(target).name for target in self.targets(module, definition))
        )[:3]

    def targets(self, module: Module, definition: Definition) -> list[Definition]:
        """The definitions that a docstring sends its reader to."""
        if definition.doc is None:
            return []
        text = "\n".join(definition.doc.lines[:30])
        targets: dict[tuple[str, str], Definition] = {}
        for name in dict.fromkeys(_SEE.findall(text)):
            target = self.find(module, name.rstrip("."))
            if target is not None and target is not definition and len(targets) < _MOST_TARGETS:
                targets[target.module, target.qualname] = target
        return list(targets.values())

    def find(self, module: Module, name: str) -> Definition | None:
        """The definition that a name means inside a module, or by its whole public name."""
        owner, _dot, last = name.rpartition(".")
        found = self._names.resolve(module.name, name)
        return found or (self._names.resolve(owner, last) if owner in self._modules else None)


def recommended_names(said: str) -> list[str]:
    """The names that a sentence recommends: the first that is set off behind each "use" or "in favour of"."""
    found = []
    for cue in (cue for cues in _CUES for cue in cues.finditer(said)):
        marked = _MARKED.search(said, cue.end(), cue.end() + _NEAR)
        plain = _PLAIN.match(said, cue.start())
        if plain is not None and (marked is None or marked.start() > plain.start(1)):
            found.append(plain[1])
        if marked is not None and not _CHAINED.match(said, marked.start(), marked.end() + _NEAR):
            found.append(next(filter(None, marked.groups())))
    before = re.search(r"(?<!`)`++[~!]?\.?([A-Za-z_][\w.]*)(?:\(\))?`++ (?:should be used )?instead\b", said)
    return list(dict.fromkeys(name.strip(".") for name in [*found, *([before[1]] if before else [])]))


class Replacements:
    """The names that sentences about deprecation give, as users write them.

    Args:
        modules: what the files of a distribution define.
        names: under which name each definition is known.
    """

    def __init__(self, modules: Mapping[str, Module], names: PublicNames) -> None:
        self._modules = modules
        self._names = names

    def of(self, definition: Definition, said: str) -> str | None:
        """The public name of what replaces a definition, if a sentence names something public that is another."""
        own = self._names.of(definition)
        for name in recommended_names(said):
            target = self._target(definition, name)
            if target is None or target is definition or target.deprecated is not None:
                continue
            known = self._names.of(target)
            if known.public and known.name != own.name:
                return known.name
        return None

    def _target(self, definition: Definition, name: str) -> Definition | None:
        parts = name.split(".")
        if parts[0].startswith("_") and len(parts) > 1:  # SQLAlchemy's short forms: `_orm.Session.get`
            parts = parts[1:]
        plain = ".".join(parts)
        owner = definition.qualname.rpartition(".")[0]
        if owner:
            member = self._modules[definition.module].definitions.get(f"{owner}.{plain}")
            if member is not None:
                return member
        return (
            self._names.resolve(definition.module, plain)
            or self._names.resolve(parts[0], ".".join(parts[1:]))
            or self._by_suffix(plain)
            or (self._by_suffix(".".join(parts[1:])) if len(parts[0]) < _ALIAS else None)
        )

    def _by_suffix(self, name: str) -> Definition | None:
        """The one public definition whose name ends like this; of several none."""
        fitting = self._public.get(name, [])
        return fitting[0] if len(fitting) == 1 else None

    @cached_property
    def _public(self) -> dict[str, list[Definition]]:
        """The public definitions by each of the ends of their names; of those that share one, the first two."""
        found: dict[str, list[Definition]] = defaultdict(list)
        for module in self._modules.values():
            for definition in module.definitions.values():
                known = self._names.of(definition)
                if not known.public or "." in definition.qualname.partition(".")[2]:
                    continue
                parts = known.name.split(".")[-_MOST_PARTS:]
                for start in range(len(parts)):
                    fitting = found[".".join(parts[start:])]
                    if len(fitting) < 2:
                        fitting.append(definition)
        return found
