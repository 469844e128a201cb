"""Whether a package comes from a public registry: KR sends the name of a private one to no one.

Lock files say where each package comes from. Where they do not, one other index among the settings of a project is enough to tell
nothing: the package may be in it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from kr_core.project.lockfiles.parser import parse_json, parse_toml
from kr_core.project.lockfiles.pins import LIMIT_BYTES, UnreadableError, string, table, tables, text_of
from kr_core.project.package_indexes import (
    ELSEWHERE_KEYS,
    PROJECT_SETTINGS,
    PUBLIC,
    REQUESTED,
    of_configuration,
    of_environment,
    of_toml,
    settings_of_user,
)
from kr_core.project.package_names import normalise

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from kr_core.project.package_indexes import Said

__all__ = ["why_private"]

_ELSEWHERE = re.compile(
    r"(?:\b(?:link|file|portal|workspace|patch|git(?:\+\w+)?|github|gitlab|bitbucket|ssh):|git@"
    r"|https?://)(?!(?<=://)(?:registry\.npmjs\.org|registry\.yarnpkg\.com)/)"
)
_INDEX_OPTION = re.compile(
    r"^[ \t]*+(?:-i|-f|--index-url|--extra-index-url|--find-links)\b[ =]*+(?P<url>\S*)", re.MULTILINE
)
_EGG = re.compile(r"[#&]egg=(?P<name>[\w.-]++)")
_LINE = re.compile(r"^(?P<indent> *+)(?P<line>[^ \n].*+)$", re.MULTILINE)
_RESOLVED = re.compile(r"resolved:?\s++\"(?=https?://)(?P<url>[^\"\s]++)")


def why_private(
    name: str,
    files: Iterable[Path],
    folders: Sequence[Path],
    within: Sequence[Path],
    environ: Mapping[str, str],
    environments: Iterable[Path] = (),
) -> str:
    """Why a package may not be from a public registry: a file says so, or another index is configured and no file says otherwise.

    Args:
        name: the package's.
        files: those that name versions.
        folders: where settings of a project's package managers lie.
        within: the folders in one of which a file of the project must really lie to be read.
        environ: the environment variables, which may name indexes.
        environments: the folders of Python environments, which may have settings.

    Returns:
        A clause; empty for a package that is public.
    """
    key = normalise(name)
    settings = [folder / each for folder in folders for each in PROJECT_SETTINGS]
    said: list[tuple[Said, str]] = []
    for path in dict.fromkeys([*files, *settings]):
        said += [(one, path.name) for one in _of_file(path, key, name, within)]
    for path in dict.fromkeys(settings_of_user(environ, environments)):
        said += [(one, str(path)) for one in _of_file(path, key, name, None)]
    said += of_environment(environ, name)
    private = next((place for one, place in said if one is True), None)
    if private is not None:
        return f"{private} says that {name} comes from elsewhere"
    other = next((place for one, place in said if one is None), None)
    if other is None or any(one is False for one, _ in said):
        return ""
    return f"{other} names another index, and no lock file says that {name} comes from the public one"


def _of_file(path: Path, key: str, name: str, within: Sequence[Path] | None) -> list[Said]:
    """What a file says; one that cannot be read may name another index."""
    if not path.is_file():
        return []
    try:
        text = text_of(path, LIMIT_BYTES, within=[path.resolve().parent] if within is None else within)
        return list(_told(path.name, text, key, name))
    except (OSError, UnreadableError, RecursionError, TypeError, ValueError):
        return [None]


def _told(file: str, text: str, key: str, name: str) -> Iterator[Said]:
    if file in {"package-lock.json", "npm-shrinkwrap.json"}:
        yield from _of_package_lock(parse_json(text), key)
    elif file == "package.json":
        yield from _of_package_json(parse_json(text), key)
    elif file in {"pnpm-lock.yaml", "yarn.lock"}:
        yield from _of_lines(text, key)
    elif file == "bun.lock":
        yield from _of_bun_lock(text, key)
    elif file == "Pipfile.lock":
        yield from _of_pipfile_lock(parse_json(text), key)
    elif file.endswith(".txt"):
        yield from _of_requirements(text, key)
    elif file.endswith(".lock") or file == "pylock.toml":
        yield from _of_toml_lock(parse_toml(text), key, is_poetry=file == "poetry.lock")
    elif file == "Pipfile" or (file.endswith(".toml") and file != "poetry.toml"):
        yield from of_toml(parse_toml(text), key)
    else:
        yield from of_configuration(text, name)


def _of_toml_lock(data: dict[str, Any], key: str, *, is_poetry: bool) -> Iterator[bool]:
    """`uv.lock`, `poetry.lock`, `pdm.lock` and `pylock.toml`; only Poetry's says by its silence that a package is public."""
    for package in [*tables(data.get("package")), *tables(data.get("packages"))]:
        if normalise(string(package.get("name"))) != key:
            continue
        source = package.get("source")
        if isinstance(source, str):  # of Cargo
            continue
        source = table(source)
        url = string(source.get("registry")) or string(source.get("url")) or string(package.get("index"))
        if any(place in source or place in package for place in ELSEWHERE_KEYS):
            yield True
        elif source or url or is_poetry:
            yield bool(source or url) and not PUBLIC.match(url)


def _of_pipfile_lock(data: dict[str, Any], key: str) -> Iterator[Said]:
    sources = tables(table(data.get("_meta")).get("sources"))
    other = [each for each in sources if not PUBLIC.match(string(each.get("url")))]
    for group in ("default", "develop"):
        for name, package in table(data.get(group)).items():
            if normalise(name) == key:
                index = table(package).get("index")
                named = any(each.get("name") == index for each in other)
                yield (
                    named
                    or any(place in table(package) for place in ELSEWHERE_KEYS)
                    or (None if other else False)
                )


def _of_requirements(text: str, key: str) -> Iterator[Said]:
    for line in text.splitlines():
        requested = REQUESTED.match(line.strip())
        egg = _EGG.search(line)
        if any(found and normalise(found["name"]) == key for found in (requested, egg)):
            yield True
    for found in _INDEX_OPTION.finditer(text):
        if not PUBLIC.match(found["url"]):
            yield None


def _of_package_lock(data: dict[str, Any], key: str) -> Iterator[bool]:
    packages = [
        (string(table(each).get("name")) or path.rpartition("node_modules/")[2], table(each), path)
        for path, each in table(data.get("packages")).items()
    ]
    waiting = [data]
    while waiting:  # version 1: each has its own dependencies
        for name, each in table(waiting.pop().get("dependencies")).items():
            packages.append((name, table(each), f"node_modules/{name}"))
            waiting.append(table(each))
    for name, package, path in packages:
        if normalise(name) != key:
            continue
        resolved, version = string(package.get("resolved")), string(package.get("version"))
        own = "node_modules/" not in path or bool(package.get("link"))
        if own or _ELSEWHERE.search(version):
            yield True
        elif resolved:  # npm can be told to leave it out
            yield not PUBLIC.match(resolved)


def _of_bun_lock(text: str, key: str) -> Iterator[bool]:
    from kr_core.project.lockfiles.bun import packages

    for place, name, version, registry in packages(text)[1]:
        if key not in (normalise(name), normalise(place)):
            continue
        if _ELSEWHERE.search(version):
            yield True
        elif registry:  # empty for the default one
            yield not PUBLIC.match(registry)


def _of_package_json(data: dict[str, Any], key: str) -> Iterator[Said]:
    from kr_core.project.lockfiles.npm import GROUPS, is_elsewhere

    if normalise(string(data.get("name"))) == key:
        yield True
    for group in GROUPS:
        for name, wanted in table(data.get(group)).items():
            if normalise(name) == key and is_elsewhere(string(wanted)):
                yield True


def _of_lines(text: str, key: str) -> Iterator[bool]:
    """`pnpm-lock.yaml` and `yarn.lock`: a line that names the package, and those below it that are indented further.

    Only Yarn 1 writes where a package comes from that is in a registry.
    """
    spelled = "[-_.]".join(map(re.escape, key.split("-")))
    named = re.compile(rf"(?:^|[\s'\"/,])(?:\? )?{spelled}(?=['\"]?(?:@|:|/\d|\s|$))", re.IGNORECASE)
    within: int | None = None
    for found in _LINE.finditer(text):
        indent, line = len(found["indent"]), found["line"]
        if within is not None and indent <= within:
            within = None
        begins = within is None and line.rstrip().endswith(":") and named.search(line) is not None
        if begins:
            within = indent
        if within is not None and (resolved := _RESOLVED.search(line)) and PUBLIC.match(resolved["url"]):
            yield False
        elif (begins or within is not None or named.match(line)) and _is_elsewhere(line, named):
            yield True


def _is_elsewhere(line: str, named: re.Pattern[str]) -> bool:
    """Whether a line of a package's entry leads elsewhere; its description does not count."""
    if line.lstrip().startswith(("deprecated:", "license:", "checksum:", "integrity ")):
        return False
    host = re.match(r"['\"]?(?P<host>[\w-]+(?:\.[\w-]+)+(?::\d+)?)/", line) if named.search(line) else None
    return host is not None or bool(_ELSEWHERE.search(line))
