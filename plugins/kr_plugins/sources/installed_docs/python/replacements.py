"""What replaces something deprecated: the public name, among those that a sentence gives, that exists."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kr_plugins.sources.installed_docs.python.definitions import Definition, Module
    from kr_plugins.sources.installed_docs.python.public_names import PublicNames

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
