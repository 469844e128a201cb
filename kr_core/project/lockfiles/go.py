"""`go.mod`, after the Go Modules Reference."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kr_core.project.lockfiles.pins import Pin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kr_core.project.lockfiles.pins import ProjectView

_BLOCK = re.compile(r"(?P<verb>\w+)\s*\(")
_REQUIRE = re.compile(r"(?P<path>\S+)\s+(?P<version>v\d\S*)")
_REPLACE = re.compile(
    r"(?P<path>\S+)(?:\s+(?P<only>v\d\S*))?\s+=>\s+(?P<other>\S+)(?:\s+(?P<version>v\d\S*))?"
)


def read(text: str, _view: ProjectView) -> Iterator[Pin]:
    """Read what is required, as `replace` has it; what is `// indirect` is no direct dependency."""
    required: dict[str, tuple[str, bool]] = {}
    replaced: dict[tuple[str, str | None], str] = {}
    for verb, line, comment in _directives(text):
        if verb == "require" and (found := _REQUIRE.fullmatch(line)):
            required[found["path"].strip('"`')] = found["version"], not comment.startswith("indirect")
        elif verb == "replace" and (other := _REPLACE.fullmatch(line)):
            # a folder has no version
            replaced[other["path"].strip('"`'), other["only"]] = other["version"] or ""
    for path, (version, direct) in required.items():
        of_all = replaced.get((path, None), version)  # the replacement of one version comes before it
        yield Pin(path, replaced.get((path, version), of_all), direct=direct)


def _directives(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield the verb, what follows it, and the comment of each line; lines of a block have the block's verb."""
    verb = ""
    for raw in text.splitlines():
        line, _, comment = (part.strip() for part in raw.partition("//"))
        if opened := _BLOCK.fullmatch(line):
            verb = opened["verb"]
        elif line == ")":
            verb = ""
        elif line:
            first, *rest = line.split(None, 1)
            yield (verb, line, comment) if verb else (first, "".join(rest), comment)


READERS = {"go.mod": read}
