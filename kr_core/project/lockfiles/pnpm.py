"""`pnpm-lock.yaml` of the versions 5 to 9.

The file is read by its lines: 10,000 packages as YAML take seconds, and of them only the keys are wanted. The blocks of
the members that are looked from are read as YAML.

A package is referred to by its version (`12.34.0`), by its name and version (`/acorn/8.11.3` in version 5, `/acorn@8.11.3`
in 6, `acorn@8.11.3` since 9), or by where it comes from (`file:../x`, `git+ssh://...`). The versions of the peers that it was
installed with follow: `5.3.2(acorn@8.11.3)`, in version 5 `5.3.2_acorn@8.11.3`, or a hash of them where they are many.
"""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.project.lockfiles.npm import GROUPS, both_names, is_project
from kr_core.project.lockfiles.parser import LIMIT_CHARACTERS
from kr_core.project.lockfiles.pins import Pin, UnreadableError, string, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kr_core.project.lockfiles.pins import ProjectView

_SECTION = re.compile(r"^(?P<name>[A-Za-z]\w*):(?P<value>.*)\n(?P<block>(?:(?:[ \t].*)?\n)*)", re.MULTILINE)
_KEY = re.compile(
    r"^  (?:\? )?(?P<quote>['\"]?)(?P<key>[^\s'\"#?:].*?)(?P=quote)(?::(?: .*)?)?$", re.MULTILINE
)
"""A key of a section; one of more than a thousand characters stands behind `?`, without its colon."""
_KNOWN = frozenset("56789")
_NAME = r"(?P<name>(?:@[^/@()\s]+/)?[^/@()\s]+)"
_NUMBER = r"(?P<version>\d+(?:\.\d+)*(?:[-+][0-9A-Za-z.+-]*)?)"
_PEERS = r"(?:[(_].*)?"
_VERSION = re.compile(rf"(?:runtime:)?{_NUMBER}{_PEERS}")
_NAMED = re.compile(rf"(?:[\w.-]*(?::\d+)?/)?{_NAME}[/@](?:runtime:)?{_NUMBER}{_PEERS}")
"""A package of a registry; before its name, the host of another registry than the default one."""
_ELSEWHERE = re.compile(rf"{_NAME}@(?P<place>[a-z+]+:.*)")
_OWN = re.compile(
    r"^    (?P<key>name|version): (?P<quote>['\"]?)(?P<value>[^\s'\"]+)(?P=quote)$", re.MULTILINE
)
_FIRST = "---\n"


class _Package(NamedTuple):
    name: str
    version: str


def read(text: str, view: ProjectView) -> Iterator[Pin]:
    """Read what the nearest member depends on, then the root, then all that is locked."""
    plain = _main(text.replace("\r\n", "\n") + "\n")
    sections = {found["name"]: found for found in _SECTION.finditer(plain)}
    version = (
        sections["lockfileVersion"]["value"].strip().strip("'\"") if "lockfileVersion" in sections else ""
    )
    if version.partition(".")[0] not in _KNOWN and plain.strip():
        view.note(f"lockfileVersion {version or 'none'} is not known to KR; what is understood of it is read")
    if "importers" in sections:
        keys = {found["key"] for found in _KEY.finditer(sections["importers"]["block"])}
        if view.is_apart(keys, is_project):
            return
        view.governed = frozenset(keys.intersection(view.members[:-1]))
    packages = _packages(sections["packages"]["block"]) if "packages" in sections else {}
    for nearness, importer in enumerate(reversed(_importers(plain, sections, view)), 1):
        for group in GROUPS:
            for key, value in table(importer.get(group)).items():
                name = str(key)  # YAML reads `1:` as a number
                reference = string(value) or string(table(value).get("version"))
                development = group == "devDependencies"
                yield from _dependency(name, reference, packages, nearness, development=development)
    for each in dict.fromkeys(packages.values()):
        yield Pin(each.name, each.version)


def _main(text: str) -> str:
    """The document about the project: since version 11, pnpm may write another before it, about itself and its settings."""
    if not text.startswith(_FIRST):
        return text
    first, separator, main = text[len(_FIRST) :].partition(f"\n{_FIRST}")
    return main if separator else first


def _packages(block: str) -> dict[str, _Package]:
    """The packages by their references; what comes from no registry names itself in its lines, as far as it does."""
    keys = list(_KEY.finditer(block))
    found: dict[str, _Package] = {}
    for key, following in zip_longest(keys, keys[1:]):
        reference = key["key"]
        if named := _NAMED.fullmatch(reference):
            found[reference] = _Package(named["name"], named["version"])
            continue
        lines = block[key.end() : following.start() if following else len(block)]
        own = {each["key"]: each["value"] for each in _OWN.finditer(lines)}
        elsewhere = _ELSEWHERE.fullmatch(reference)
        if name := own.get("name") or (elsewhere["name"] if elsewhere else ""):
            found[reference] = _Package(name, own.get("version", ""))
    return found


def _importers(text: str, sections: dict[str, re.Match[str]], view: ProjectView) -> list[dict[str, Any]]:
    """What the members that are looked from depend on, nearest first."""
    listed = sections.get("importers")
    if listed is None:  # a project without a workspace, before version 9
        block = "".join(sections[group][0] for group in GROUPS if group in sections)
        return [_yaml(block, 0)]
    keys = list(_KEY.finditer(listed["block"]))
    blocks = {}
    for found, following in zip_longest(keys, keys[1:]):
        if found["key"] in view.members:
            end = following.start() if following else len(listed["block"])
            line = text.count("\n", 0, listed.start("block") + found.end())
            blocks[found["key"]] = _yaml(listed["block"][found.end() : end], line)
    return [blocks[folder] for folder in view.members if folder in blocks]


def _yaml(block: str, line: int) -> dict[str, Any]:
    from kr_core import yaml_text

    if len(block) > LIMIT_CHARACTERS:
        raise UnreadableError(
            f"a member with more than {LIMIT_CHARACTERS // 1_000_000} MB of dependencies", line
        )
    try:
        return table(yaml_text.load(block))
    except (yaml_text.YAMLError, ValueError) as error:
        at = yaml_text.error_line(error) if isinstance(error, yaml_text.YAMLError) else None
        problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
        last = block.rstrip("\n").count("\n") + 1
        raise UnreadableError(f"no YAML: {problem}", line + min(at or 1, last)) from None


def _dependency(
    name: str, reference: str, packages: dict[str, _Package], nearness: int, *, development: bool
) -> Iterator[Pin]:
    """One pin, or two for a package that is installed under another name."""
    if reference.startswith("link:"):
        return
    package = _referred(name, reference, packages)
    pin = Pin(name, package.version, development, direct=True, nearness=nearness)
    yield from both_names(pin, package.name)


def _referred(name: str, reference: str, packages: dict[str, _Package]) -> _Package:
    """The package that a dependency of some name refers to; without a version where none is said."""
    if version := _VERSION.fullmatch(reference):
        return _Package(name, version["version"])
    if named := _NAMED.fullmatch(reference):
        return _Package(named["name"], named["version"])
    place = reference.partition("(")[0]
    keys = (reference, f"{name}@{reference}", place, f"{name}@{place}")
    return next((packages[key] for key in keys if key in packages), _Package(name, ""))


READERS = {"pnpm-lock.yaml": read}
