"""Lock files and lists of dependencies: which versions a project asks for; each reader takes a file's text."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.knowledge.names import normalise

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

INCLUDE_DEPTH = 5
FILE_LIMIT_BYTES = 50_000_000


class Pin(NamedTuple):
    """A package that a file names.

    `version` is a version, a range as it is written (`>=2,<3`), or empty where any will do. `development` marks
    what the program itself does not need.
    """

    name: str
    version: str
    development: bool = False


class LockFile(NamedTuple):
    """What one file says: pins by normalised name, and whether they are exact versions or wishes."""

    path: Path
    pins: dict[str, Pin]
    locked: bool
    files: tuple[Path, ...] = ()
    """The file and those it includes; a change of any may change the pins."""


_REQUIREMENT = re.compile(
    r"\s*(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*(?P<range>\(?[^;#@]*\)?)\s*(?P<url>@[^;]*)?(?:;.*)?"
)
_WHEEL_VERSION = re.compile(r"/[A-Za-z0-9_.]+-(\d[^-/]*)(?:-[^/]*\.whl|\.tar\.gz|\.zip)(?:[#?]|$)")
_DEVELOPMENT = frozenset({"dev", "develop", "development", "test", "tests", "lint", "doc", "docs"})
_INCLUDE = re.compile(r"(?:-r|--requirement)[\s=]*(?P<file>.+)")


def requirement(text: str, *, development: bool = False) -> Pin | None:
    """Read one requirement (PEP 508) loosely: `httpx[http2]==0.28.1 ; python_version > "3.8"`.

    An exact version loses its `==`, everything else stays as it is written.
    """
    parsed = _REQUIREMENT.fullmatch(text.strip())
    if parsed is None:
        return None
    wanted = "".join(parsed["range"].strip("() \t").split())
    if wanted and wanted[0] not in "=<>!~^":
        return None
    if url := parsed["url"]:
        found = _WHEEL_VERSION.search(url)
        wanted = found[1] if found else ""
    exact = re.fullmatch(r"={2,3}([^,*]+)", wanted)
    return Pin(parsed["name"], exact[1] if exact else wanted, development)


def read_toml_lock(text: str) -> Iterator[Pin]:
    """Read `uv.lock`, `poetry.lock`, `pdm.lock` (tables `package`) or `pylock.toml` (`packages`, PEP 751)."""
    import tomllib

    data = tomllib.loads(text)
    for package in _dicts(data.get("package")) + _dicts(data.get("packages")):
        if isinstance(package.get("name"), str) and isinstance(package.get("version"), str):
            yield Pin(package["name"], package["version"])


def read_pipfile_lock(text: str) -> Iterator[Pin]:
    """Read `Pipfile.lock`: the groups `default` and `develop`."""
    data = _object(json.loads(text))
    for group in ("default", "develop"):
        for name, package in _object(data.get(group)).items():
            yield Pin(name, str(_object(package).get("version") or "").removeprefix("=="), group == "develop")


def read_pyproject(text: str) -> Iterator[Pin]:
    """Read what `pyproject.toml` asks for: PEP 621, dependency groups (PEP 735), Poetry, PDM and uv."""
    import tomllib

    data = tomllib.loads(text)
    project, tool = _object(data.get("project")), _object(data.get("tool"))
    yield from _requirements(project.get("dependencies"), development=False)
    for extra in _object(project.get("optional-dependencies")).values():
        yield from _requirements(extra, development=True)
    poetry = _object(tool.get("poetry"))
    yield from _poetry(poetry.get("dependencies"), development=False)
    yield from _poetry(poetry.get("dev-dependencies"), development=True)
    for group in _object(poetry.get("group")).values():
        yield from _poetry(_object(group).get("dependencies"), development=True)
    groups = [data.get("dependency-groups"), _object(tool.get("pdm")).get("dev-dependencies")]
    for group in (group for table in groups for group in _object(table).values()):
        yield from _requirements(group, development=True)
    yield from _requirements(_object(tool.get("uv")).get("dev-dependencies"), development=True)


def read_package_lock(text: str) -> Iterator[Pin]:
    """Read `package-lock.json`: version 2 and 3 (`packages`), else 1 (`dependencies`); only the top level."""
    data = _object(json.loads(text))
    for place, package in _object(data.get("packages")).items():
        name = place.removeprefix("node_modules/")
        if name != place and "node_modules/" not in name:
            yield _npm(name, _object(package).get("version"))
    if "packages" not in data:
        for name, package in _object(data.get("dependencies")).items():
            yield _npm(name, _object(package).get("version"))


def read_package_json(text: str) -> Iterator[Pin]:
    """Read what `package.json` asks for, ranges as they are written."""
    data = _object(json.loads(text))
    for group in ("dependencies", "peerDependencies", "optionalDependencies", "devDependencies"):
        for name, wanted in _object(data.get(group)).items():
            yield _npm(name, wanted, development=group == "devDependencies")


READERS: tuple[tuple[str, Callable[[str], Iterator[Pin]], bool], ...] = (
    ("uv.lock", read_toml_lock, True),
    ("poetry.lock", read_toml_lock, True),
    ("pdm.lock", read_toml_lock, True),
    ("Pipfile.lock", read_pipfile_lock, True),
    ("pylock.toml", read_toml_lock, True),
    ("pyproject.toml", read_pyproject, False),
    ("package-lock.json", read_package_lock, True),
    ("package.json", read_package_json, False),
)
"""The files that are looked for in each folder, in order; `requirements*.txt` come before `pyproject.toml`."""

LOCKED = frozenset(name for name, _, locked in READERS if locked)
"""The names of files that hold exact versions; the others hold wishes, and name what the project itself asks for."""

_BEFORE_REQUIREMENTS = 5


def candidates(folder: Path) -> list[Path]:
    """List the files of a folder that may name versions, in order, those that are absent included."""
    names = [name for name, _, _ in READERS]
    requirements = sorted(
        {"requirements.txt", *(path.name for path in folder.glob("requirements*.txt"))}, key=_plainest
    )
    return [
        folder / name for name in names[:_BEFORE_REQUIREMENTS] + requirements + names[_BEFORE_REQUIREMENTS:]
    ]


def read(path: Path) -> LockFile | None:
    """Read one of the candidates, or return None where there is no such file.

    Raises:
        ValueError: it cannot be parsed (or is absurdly large); the message says why.
        OSError: it cannot be read.
    """
    if not path.is_file():
        return None
    if path.suffix == ".txt":
        return _read_requirements(path)
    reader, locked = next((reader, locked) for name, reader, locked in READERS if name == path.name)
    try:
        pins = _by_name(reader(_text(path)))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return LockFile(path, pins, locked, (path,))


def _read_requirements(path: Path) -> LockFile:
    files: list[Path] = []
    pins = _by_name(_requirement_lines(path, files, INCLUDE_DEPTH))
    return LockFile(path, pins, locked=False, files=tuple(files))


def _requirement_lines(path: Path, files: list[Path], depth: int) -> Iterator[Pin]:
    if path in files or depth == 0:
        return
    files.append(path)
    if not path.is_file():
        return
    development = not _DEVELOPMENT.isdisjoint(re.findall("[a-z]+", path.stem.lower()))
    for line in re.sub(r"\\\r?\n", " ", _text(path)).splitlines():
        plain = re.sub(r"(?:^|\s)#.*", "", line).strip()
        if include := _INCLUDE.fullmatch(plain):
            yield from _requirement_lines(path.parent / include["file"].strip(), files, depth - 1)
        elif plain and not plain.startswith("-"):
            pin = requirement(re.sub(r"\s--[a-z].*", "", plain), development=development)
            if pin is not None:
                yield pin


def _by_name(pins: Iterator[Pin]) -> dict[str, Pin]:
    """Key pins by normalised name; of several versions the highest stands, and a version before none."""
    found: dict[str, Pin] = {}
    for pin in pins:
        key = normalise(pin.name)
        other = found.get(key)
        if other is None:
            found[key] = pin
        elif pin.version != other.version:
            from kr_core.knowledge.distributions import version_key

            higher = max(other, pin, key=lambda one: version_key(one.version))
            found[key] = (higher if higher.version else other)._replace(
                development=pin.development and other.development
            )
        elif other.development and not pin.development:
            found[key] = pin
    return found


def _requirements(values: Any, *, development: bool) -> Iterator[Pin]:
    for value in values if isinstance(values, list) else ():
        if isinstance(value, str) and (pin := requirement(value, development=development)):
            yield pin


def _poetry(table: Any, *, development: bool) -> Iterator[Pin]:
    for name, wanted in _object(table).items():
        if name.lower() != "python":
            version = _object(wanted).get("version", "") if isinstance(wanted, dict) else wanted
            yield Pin(name, version if isinstance(version, str) and version != "*" else "", development)


def _npm(name: str, version: Any, *, development: bool = False) -> Pin:
    return Pin(name, version if isinstance(version, str) and version != "*" else "", development)


def _plainest(name: str) -> tuple[bool, str]:
    return name != "requirements.txt", name


def _text(path: Path) -> str:
    """The text of a file; `pip freeze > requirements.txt` in PowerShell writes UTF-16."""
    if path.stat().st_size > FILE_LIMIT_BYTES:
        raise ValueError("larger than 50 MB")
    data = path.read_bytes()
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16")
    return data.decode("utf-8-sig")


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
