"""`pom.xml`: what a Maven project asks for, with its properties, managed versions and the parents in the tree."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kr_core.project.lockfiles.pins import Pin, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from kr_core.project.lockfiles.pins import ProjectView

_DOCTYPE = re.compile(r"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)
_PROPERTY = re.compile(r"\$\{([^${}]+)\}")
_PARENTS = 10
_LONGEST = 1000


class _Model:
    """A `pom.xml` and its parents in the tree, nearest first; `properties` are as they are written."""

    def __init__(self, chain: list[Element], properties: dict[str, str]) -> None:
        self.chain = chain
        self._values = _resolved(properties)

    def filled(self, text: str) -> str:
        """Text with its properties; empty where one is unknown or refers to itself, or where they make it too long."""
        return _filled(text, self._values) or ""

    def name(self, element: Element) -> str:
        return f"{self.filled(_said(element, 'groupId'))}:{self.filled(_said(element, 'artifactId'))}"


def _resolved(written: dict[str, str]) -> dict[str, str]:
    """The values of properties, each found once and level by level: what refers to ten levels of others has none."""
    left = {name: text for name, text in written.items() if len(text) <= _LONGEST}
    values: dict[str, str] = {}
    for _level in range(_PARENTS):
        found = {name: text for name in left if (text := _filled(left[name], values)) is not None}
        if not found:
            break
        values |= found
        left = {name: text for name, text in left.items() if name not in found}
    return values


def _filled(text: str, values: dict[str, str]) -> str | None:
    parts: list[str] = []
    length = end = 0
    for found in _PROPERTY.finditer(text):
        value = values.get(found[1])
        if value is None or (length := length + len(value)) > _LONGEST:
            return None
        parts += (text[end : found.start()], value)
        end = found.end()
    filled = "".join([*parts, text[end:]])
    return None if "${" in filled else filled


def read(text: str, view: ProjectView) -> Iterator[Pin]:
    """Read the dependencies, also those of profiles that are active by default.

    A version that is managed by a parent or a BOM outside the tree stays unknown.
    """
    model = _model(text, view)
    managed: dict[str, str] = {}
    parts = [part for each in model.chain for part in _parts(each)]
    for part in parts:
        for dependency in part.findall("dependencyManagement/dependencies/dependency"):
            managed.setdefault(model.name(dependency), model.filled(_said(dependency, "version")))
    for place, part in enumerate(parts):
        for dependency in part.findall("dependencies/dependency"):
            name = model.name(dependency)
            version = model.filled(_said(dependency, "version")) or managed.get(name, "")
            is_test = _said(dependency, "scope") == "test"
            yield Pin(name, version, is_test, direct=True, nearness=-place)  # a child overrides its parent
    for name, version in managed.items():
        yield Pin(name, version)
    for each in model.chain:
        for parent in each.findall("parent"):
            yield Pin(model.name(parent), model.filled(_said(parent, "version")), direct=True)


def _model(text: str, view: ProjectView) -> _Model:
    chain, texts = [_root(text)], {text}
    place = "."
    while len(chain) < _PARENTS and (parent := chain[-1].find("parent")) is not None:
        relative = parent.find("relativePath")
        said = "../pom.xml" if relative is None else (relative.text or "").strip()
        if not said:
            break
        path = f"{place}/{said}" if said.endswith(".xml") else f"{place}/{said}/pom.xml"
        above = view.beside(path)
        if above in texts:  # a parent of itself
            break
        try:
            root = _root(above) if above else None
        except UnreadableError:  # it is told where that file itself is read
            root = None
        if root is None or not _is_meant(root, parent):
            break
        chain.append(root)
        texts.add(above or "")
        place = path.rpartition("/")[0]
    return _Model(chain, _properties(chain))


def _is_meant(root: Element, parent: Element) -> bool:
    """Whether a file holds the parent that is asked for: Maven takes another version from its repository."""
    said, asked = _said(root, "version"), _said(parent, "version")
    literal = said and asked and "${" not in said + asked
    return _said(root, "artifactId") == _said(parent, "artifactId") and (not literal or said == asked)


def _root(text: str) -> Element:
    """Parse XML without the names' namespaces; entities are not for a `pom.xml`, and so none is ever expanded."""
    from xml.etree import ElementTree as ET

    if declared := _DOCTYPE.search(text):
        line = text.count("\n", 0, declared.start()) + 1
        raise UnreadableError("it declares entities, which a pom.xml has no need of", line)
    try:
        root = ET.fromstring(text)  # noqa: S314  without a DOCTYPE there is nothing to expand
    except ET.ParseError as error:
        line = error.position[0]
        raise UnreadableError(f"no XML: {str(error).partition(':')[0]}", line) from None
    except ValueError as error:  # an encoding declaration that is not UTF-8
        raise UnreadableError(f"no XML: {error}") from None
    for element in root.iter():
        if isinstance(element.tag, str):
            element.tag = element.tag.rpartition("}")[2]
    return root


def _properties(chain: list[Element]) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in (part for pom in chain for part in _parts(pom)):
        for element in reversed(part.findall("properties/*")):  # Maven takes the last one of a name
            found.setdefault(str(element.tag), (element.text or "").strip())
    parent = chain[0].find("parent")
    for key in ("groupId", "artifactId", "version"):
        inherited = _said(parent, key) if parent is not None else ""
        found.setdefault(f"project.parent.{key}", inherited)
        for prefix in ("project.", "pom.", ""):
            found.setdefault(prefix + key, _said(chain[0], key) or inherited)
    return found


def _parts(pom: Element) -> list[Element]:
    """What a POM consists of where no profile is asked for, what overrides the rest first: the last default profile."""
    profiles = pom.findall("profiles/profile")
    active = [each for each in profiles if _said(each, "activation/activeByDefault") == "true"]
    return [*reversed(active), pom]


def _said(element: Element, child: str) -> str:
    return (element.findtext(child) or "").strip()


READERS = {"pom.xml": read}
