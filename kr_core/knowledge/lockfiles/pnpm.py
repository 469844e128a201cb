"""`pnpm-lock.yaml` of the versions 5 to 9.

The file is read by its lines: 10,000 packages as YAML take seconds, and of them only the keys are wanted. The blocks of
the members that are looked from are read as YAML.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from kr_core.knowledge.lockfiles.npm import GROUPS
from kr_core.knowledge.lockfiles.pins import Pin, UnreadableError, string, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kr_core.knowledge.lockfiles.pins import View

_SECTION = re.compile(r"^(?P<name>[A-Za-z]\w*):(?P<value>.*)\n(?P<block>(?:(?:[ \t].*)?\n)*)", re.MULTILINE)
_KEY = re.compile(r"^  (?P<quote>['\"]?)(?P<key>[^\s'\"#].*?)(?P=quote):(?: .*)?$", re.MULTILINE)
_KNOWN = frozenset("56789")
_OLD = re.compile(r"/(?P<name>(?:@[^/]+/)?[^/@]+)/(?P<version>\d[^/_(]*)")
_NEW = re.compile(r"/?(?P<name>(?:@[^/]+/)?[^/@]+)@(?P<version>\d[^(_]*)")


def read(text: str, view: View) -> Iterator[Pin]:
    """Read what the nearest member depends on, then the root, then all that is locked."""
    plain = text.replace("\r\n", "\n") + "\n"
    sections = {found["name"]: found for found in _SECTION.finditer(plain)}
    version = (
        sections["lockfileVersion"]["value"].strip().strip("'\"") if "lockfileVersion" in sections else ""
    )
    if version.partition(".")[0] not in _KNOWN:
        view.note(f"lockfileVersion {version or 'none'} is not known to KR; what is understood of it is read")
    for nearness, importer in enumerate(reversed(_importers(plain, sections, view)), 1):
        for group in GROUPS:
            for name, value in table(importer.get(group)).items():
                yield from _dependency(name, value, nearness, development=group == "devDependencies")
    if packages := sections.get("packages"):
        for found in _KEY.finditer(packages["block"]):
            parsed = _OLD.fullmatch(found["key"].partition("(")[0].partition("_")[0]) or _NEW.match(
                found["key"]
            )
            if parsed:
                yield Pin(parsed["name"], parsed["version"])


def _importers(text: str, sections: dict[str, re.Match[str]], view: View) -> list[dict[str, Any]]:
    """What the members that are looked from depend on, nearest first."""
    listed = sections.get("importers")
    if listed is None:  # a project without a workspace, before version 9
        block = "".join(sections[group][0] for group in GROUPS if group in sections)
        return [_yaml(block, 0)]
    keys = list(_KEY.finditer(listed["block"]))
    blocks = {}
    for found, following in zip(keys, [*keys[1:], None], strict=True):
        if found["key"] in view.members:
            end = following.start() if following else len(listed["block"])
            line = text.count("\n", 0, listed.start("block") + found.end())
            blocks[found["key"]] = _yaml(listed["block"][found.end() : end], line)
    return [blocks[folder] for folder in view.members if folder in blocks]


def _yaml(block: str, line: int) -> dict[str, Any]:
    from kr_core import yamltext

    try:
        return table(yamltext.load(block))
    except (yamltext.YAMLError, ValueError) as error:
        at = yamltext.error_line(error) if isinstance(error, yamltext.YAMLError) else None
        problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
        last = block.rstrip("\n").count("\n") + 1
        raise UnreadableError(f"no YAML: {problem}", line + min(at or 1, last)) from None


def _dependency(name: str, value: Any, nearness: int, *, development: bool) -> Iterator[Pin]:
    text = string(value) or string(table(value).get("version"))
    aliased = _OLD.match(text) or _NEW.match(text)
    number = re.match(r"\d[^(_]*", text)
    version = aliased["version"] if aliased else number[0] if number else ""
    if text.startswith("link:"):
        return
    for each in dict.fromkeys((name, aliased["name"] if aliased else name)):
        yield Pin(each, version, development, direct=True, nearness=nearness)


READERS = {"pnpm-lock.yaml": read}
