"""One parameter: where it is taken, and what its documentation says of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from kr_core.toolkit import sentences
from kr_plugins.sources.installed_docs.python import docstrings

if TYPE_CHECKING:
    from kr_plugins.sources.installed_docs.python.definitions import Definition, Parameter
    from kr_plugins.sources.installed_docs.python.public_names import PublicName

_MAX_REQUIRED = 100
"""Parameters of a callable among which those that it requires are named beside each of them."""
_ADVISED_AGAINST = re.compile(
    r"\b(?:(?:should not|shouldn't|do not|don't)\s+use\s+(?:it|this(?:\s+(?:method|function|parameter|class))?)(?:\s+directly)?\s*+(?:[.,;!]|but\b|instead\b|$)"
    r"|use\s+of\s+this\s+(?:method|function|parameter|class)\s+is\s+discouraged)",
    re.IGNORECASE,
)
_READ = 6_000
_OPTIONAL = re.compile(r"^\*?\(optional\)\*?[:,.]?\s+|^Optional[.:]\s+(?=[A-Z])", re.IGNORECASE)


def site_of(definition: Definition, naming: PublicName, parameter: Parameter | None) -> dict[str, Any]:
    """Where a callable takes a parameter: what a citation of the signature needs."""
    header = re.match(r"(?:async )?(?:def|class) \w+", definition.signature)
    return {
        "symbol": naming.name,
        "path": definition.path,
        "header": header[0] if header else definition.name,
        "line": definition.line,
        "source": parameter.source if parameter else "",
        "source_line": parameter.line if parameter else 0,
        "tail": list(parameter.tail) if parameter and parameter.tail else None,
        "meant": list(parameter.meant) if parameter and parameter.meant else None,
        "required": [other.name for other in definition.parameters[:_MAX_REQUIRED] if other.required],
    }


def with_site(doc: str, doc_line: int, site: dict[str, Any]) -> tuple[str, list[list[int]]]:
    """A parameter's documentation, the head of the callable and the argument itself, as one text with its lines."""
    parts = doc.split("\n") if doc else []
    lines = [[0, doc_line]] if parts else []
    lines.append([len(parts), site["line"]])
    parts.append(site["header"])
    if site["source"]:
        lines.append([len(parts), site["source_line"]])
        parts.extend(site["source"].split("\n"))
    if site["tail"]:
        lines.append([len(parts), site["tail"][0]])
        parts.extend(site["tail"][1].split("\n"))
    if site.get("meant"):
        lines.append([len(parts), site["meant"][0]])
        parts.extend(site["meant"][1].split("\n"))
    return "\n".join(parts), lines


def description(lines: list[str], type_text: str, name: str) -> str:
    """What a parameter's documentation says, without the name and type that introduce it.

    A paragraph about more than the parameter is read from the first sentence that says its name.
    """
    if not lines:
        return ""
    first, *rest = [line.strip() for line in lines]
    if (type_text and first.endswith(f": {type_text}")) or (
        not type_text
        and len(lines) > 1
        and _depth(lines[1]) > _depth(lines[0])
        and re.fullmatch(r"[\w*,` ]+:?", first)
    ):
        return docstrings.lead(rest)  # NumPy: the name and its type have a line of their own
    first = re.sub(r"^([\w*, ]+): \(([^)]*)\): ", r"\1 (\2): ", first)
    field = re.match(r"^:\w++\s[^:]++:\s*+(.*)$", first)
    bullet = re.match(r"^[*+-]\s+(?:\*\*|`{1,2})[^*`]+(?:\*\*|`{1,2})[^-–—:]*+[-:–—]++\s*+(.*)$", first)
    google = re.match(r"^[\w*, ]++(?:\([^)]*+\)\s*+|\s*+):\s++(.*)$", first)
    dashed = re.match(r"^[*+-]?\s*+[\w*`]++\s++(?:--|[–—])\s++(.*)$", first)
    item = re.match(rf"^[*+-]\s+{re.escape(name)}\s*+:\s++(.*)$", first)
    for match in (field, bullet, google, dashed, item):
        if match:
            said = docstrings.lead([match[1], *rest] if match[1] else rest)
            return _OPTIONAL.sub("", said)
    if len(lines) == 1 or _depth(lines[1]) <= _depth(lines[0]):
        said = docstrings.lead([first, *rest])
        parts = sentences(said)
        start = next((part for part in parts if name in part), said)
        return said[said.index(start) :]
    return docstrings.lead(rest) or first


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def advises_against(documentation: str) -> bool:
    """Whether documentation advises against any use of what it describes."""
    return _ADVISED_AGAINST.search(documentation[:_READ]) is not None
