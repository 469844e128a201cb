"""Requirements as pip reads them: one (PEP 508), and files of them with what they include."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from kr_core.project.lockfiles.pins import Pin
from kr_core.project.package_names import normalise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kr_core.project.lockfiles.pins import ProjectView

_MAX_LINE_LENGTH = 100_000
"""With the hashes of all its files, a package has some ten thousand characters."""
_MOST_INCLUDES = 100
"""Lines of one file that include another, and files that are read in all."""
_REQUIREMENT = re.compile(
    r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*+)\s*+(?:\[[^\]]*+\])?+\s*+(?P<range>[^;#@]*+)(?P<url>@[^;]*+)?+"
    r"(?:;(?P<marker>.*))?"
)
_FILE_VERSION = re.compile(r"(?:^|/)[A-Za-z0-9_.]+-(\d[^-/]*)(?:-[^/]*\.whl|\.tar\.gz|\.zip)(?:[#?]|$)")
_TAG = re.compile(r"\.git@v?(\d+(?:\.\w+)+)(?:#|$)")
_EGG = re.compile(r"(?:^[^#\n]*+#.*&|#)egg=([A-Za-z0-9][A-Za-z0-9._-]*)")
_WHEEL_NAME = re.compile(r"(?:^|/)([A-Za-z0-9][A-Za-z0-9_.]*)-\d[^-/]*-[^/]*\.whl(?:[#?]|$)")
_DEVELOPMENT = frozenset({"dev", "develop", "development", "test", "tests", "testing", "lint", "doc", "docs"})
_COMMENT_LINE = re.compile(r"\s*#")
_INCLUDE = re.compile(r"(?:-(?P<short>[rc])|--(?P<long>requirement|constraint))[\s=]*+(?P<file>\S.*)")
_EDITABLE = re.compile(r"(?:-e|--editable)[\s=]+")


def requirement(text: str, *, development: bool = False) -> Pin | None:
    """Read one requirement loosely: `httpx[http2]==0.28.1 ; python_version > "3.8"`.

    An exact version loses its `==`, everything else stays as it is written. Of an address the version is known
    where a file's name or a tag in it says so. What an environment variable says is not known.
    """
    parsed = _REQUIREMENT.fullmatch(text.strip())
    if parsed is None:
        return None
    wanted = "".join(parsed["range"].strip("() \t").split())
    if wanted and wanted[0] not in "=<>!~^":
        return None
    if url := parsed["url"]:
        wanted = _version_in(url)
    elif "${" in wanted:
        wanted = ""
    exact = re.fullmatch(r"={2,3}([^,*]+)", wanted)
    version = exact[1] if exact else wanted
    return Pin(parsed["name"], version, development, direct=True, marker=(parsed["marker"] or "").strip())


def read(text: str, view: ProjectView) -> Iterator[Pin]:
    """Read a file of requirements and those it includes.

    What a constraints file names is no dependency. The exact version there is the one in use of what is asked for without
    one, or with a range: pip installs no other.
    """
    pins = list(_lines(text, view.path, view, set(), {view.path}, constraint=False))
    chosen = {
        normalise(pin.name): pin for pin in pins if not pin.direct and pin.exact and view.holds(pin.marker)
    }
    for pin in pins:
        fixed = chosen.get(normalise(pin.name))
        yield pin if fixed is None or pin.exact else pin._replace(version=fixed.version)


def _lines(
    text: str,
    path: Path,
    view: ProjectView,
    read_files: set[str],
    named_files: set[Path],
    *,
    constraint: bool,
) -> Iterator[Pin]:
    place = os.path.realpath(path)
    if place in read_files or len(read_files) > _MOST_INCLUDES:
        return
    read_files.add(place)
    includes: set[str] = set()
    development = not _DEVELOPMENT.isdisjoint(re.findall("[a-z]+", path.stem.lower()))
    for line in _joined(text):
        if len(line) > _MAX_LINE_LENGTH:
            view.note(f"a line of {path.name} has more than {_MAX_LINE_LENGTH:,} characters; it is left out")
            continue
        plain = re.sub(r"(?:^|\s)#.*", "", line).strip()
        if include := _INCLUDE.fullmatch(plain):
            if plain in includes or len(includes) > _MOST_INCLUDES:
                continue
            includes.add(plain)
            named = Path(os.path.normpath(path.parent / include["file"].strip().strip("\"'")))
            if named in named_files:
                continue
            named_files.add(named)
            included = view.beside(os.path.relpath(named, view.folder))
            if included is not None:
                inner = constraint or include["short"] == "c" or include["long"] == "constraint"
                yield from _lines(included, named, view, read_files, named_files, constraint=inner)
        elif (pin := _line(plain, development=development)) is not None:
            yield pin._replace(direct=not constraint)


def _joined(text: str) -> Iterator[str]:
    """The lines of a file, each with those that continue it; a comment never continues on the next line."""
    begun: list[str] = []
    for line in text.splitlines():
        comment = _COMMENT_LINE.match(line) is not None
        if line.endswith("\\") and not comment:
            begun.append(line.strip("\\"))
            continue
        yield "".join([*begun, f" {line}" if comment else line])
        begun = []
    yield "".join(begun)


def _line(plain: str, *, development: bool) -> Pin | None:
    """Read one line without its comment; an option, a folder and what is no requirement name no package."""
    address = _EDITABLE.sub("", plain, count=1)
    if address == plain and (not plain or plain.startswith("-")):
        return None
    address = re.sub(r"\s--[a-z].*", "", address).strip()
    if len(address) > 1 and address[0] == address[-1] and address[0] in "\"'":
        address = address[1:-1]
    if pin := requirement(address, development=development):
        return pin
    named = _EGG.search(address) or _WHEEL_NAME.search(address)
    if named is None:
        return None
    return Pin(named[1], _version_in(address), development, direct=True)


def _version_in(address: str) -> str:
    found = _FILE_VERSION.search(address) or _TAG.search(address)
    return found[1] if found else ""


READERS = {"requirements.txt": read}
