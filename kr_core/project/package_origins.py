"""Whether a package comes from a public registry: KR sends the name of a private one to no one.

Lock files say where each package comes from. Where they do not, one other index among the settings of a project is enough to tell
nothing: the package may be in it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from kr_core.project.lockfiles.parser import parse_json, parse_toml
from kr_core.project.lockfiles.pins import LIMIT_BYTES, UnreadableError, string, table, tables, text_of
from kr_core.project.package_names import normalise

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

__all__ = ["is_private"]

_PUBLIC = re.compile(
    r"https?://(?:pypi\.org|pypi\.python\.org|files\.pythonhosted\.org|registry\.npmjs\.org|registry\.yarnpkg\.com)(?::443)?(?:/|$)"
)
_PLACES = (
    "git",
    "hg",
    "svn",
    "vcs",
    "path",
    "file",
    "directory",
    "archive",
    "editable",
    "virtual",
    "workspace",
)
"""Keys of what comes from no registry."""
_ELSEWHERE = re.compile(
    r"(?:\b(?:link|file|portal|workspace|patch|git(?:\+\w+)?|github|gitlab|bitbucket|ssh):|git@"
    r"|https?://)(?!(?<=://)(?:registry\.npmjs\.org|registry\.yarnpkg\.com)/)"
)
_INDEX_OPTION = re.compile(
    r"^[ \t]*+(?:-i|-f|--index-url|--extra-index-url|--find-links)\b[ =]*+(?P<url>\S*)", re.MULTILINE
)
_REGISTRY = re.compile(
    r"(?:^|[\s'\"])(?:(?P<scope>@[^\s:]{1,100}):)?(?:registry|npmRegistryServer)\s*+[:=]\s*+(?P<url>\S++)",
    re.MULTILINE,
)
_SETTINGS = (".npmrc", ".yarnrc", ".yarnrc.yml", "uv.toml", "pip.conf", "poetry.toml", "Pipfile")
_REQUESTED = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*+)\s*+(?:\[[^\]]*+\])?+\s*+@")
_EGG = re.compile(r"[#&]egg=(?P<name>[\w.-]++)")
_LINE = re.compile(r"^(?P<indent> *+)(?P<line>[^ \n].*+)$", re.MULTILINE)


def is_private(name: str, files: Iterable[Path], folders: Sequence[Path], within: Sequence[Path]) -> bool:
    """Whether the files of a project say that a package comes from elsewhere, or leave it open beside another index.

    Args:
        name: the package's.
        files: those that name versions.
        folders: where settings of package managers lie.
        within: the folders in one of which a file must really lie to be read.
    """
    said: list[bool | None] = []
    key = normalise(name)
    settings = [folder / each for folder in folders for each in _SETTINGS]
    for path in dict.fromkeys([*files, *settings]):
        if not path.is_file():
            continue
        try:
            said += _told(path.name, text_of(path, LIMIT_BYTES, within=within), key, name)
        except (OSError, UnreadableError, RecursionError, TypeError, ValueError):
            said.append(None)  # nobody knows what it would say
    return True in said or (None in said and False not in said)


def _told(file: str, text: str, key: str, name: str) -> Iterator[bool | None]:
    """What a file says: True of a private package, False of a public one, None of another index that may have it."""
    if file in {"package-lock.json", "npm-shrinkwrap.json"}:
        yield from _of_package_lock(parse_json(text), key)
    elif file == "package.json":
        yield from _of_package_json(parse_json(text), key)
    elif file in {"pnpm-lock.yaml", "yarn.lock"}:
        yield from _of_lines(text, key)
    elif file == "Pipfile.lock":
        yield from _of_pipfile_lock(parse_json(text), key)
    elif file.endswith(".txt"):
        yield from _of_requirements(text, key)
    elif file == "pyproject.toml" or file in {"uv.toml", "Pipfile"}:
        yield from _of_settings(parse_toml(text), key)
    elif file.endswith(".lock") or file == "pylock.toml":
        yield from _of_toml_lock(parse_toml(text), key)
    else:
        for found in _REGISTRY.finditer(text):
            if not _PUBLIC.match(found["url"].strip("'\"")):
                scope = found["scope"]
                yield None if scope is None else name.startswith(f"{scope}/")
        yield from (None for found in re.finditer(r"index[-_]url|find[-_]links", text))


def _of_toml_lock(data: dict[str, Any], key: str) -> Iterator[bool]:
    """`uv.lock`, `poetry.lock`, `pdm.lock` and `pylock.toml`."""
    for package in [*tables(data.get("package")), *tables(data.get("packages"))]:
        if normalise(string(package.get("name"))) != key:
            continue
        source = package.get("source")
        if isinstance(source, str):  # of Cargo
            continue
        source = table(source)
        url = string(source.get("registry")) or string(source.get("url")) or string(package.get("index"))
        yield any(place in source or place in package for place in _PLACES) or bool(
            (source or url) and not _PUBLIC.match(url)
        )


def _of_pipfile_lock(data: dict[str, Any], key: str) -> Iterator[bool | None]:
    sources = tables(table(data.get("_meta")).get("sources"))
    other = [each for each in sources if not _PUBLIC.match(string(each.get("url")))]
    for group in ("default", "develop"):
        for name, package in table(data.get(group)).items():
            if normalise(name) == key:
                index = table(package).get("index")
                named = any(each.get("name") == index for each in other)
                yield named or any(place in table(package) for place in _PLACES) or (None if other else False)


def _of_requirements(text: str, key: str) -> Iterator[bool | None]:
    for line in text.splitlines():
        requested = _REQUESTED.match(line.strip())
        egg = _EGG.search(line)
        if any(found and normalise(found["name"]) == key for found in (requested, egg)):
            yield True
    for found in _INDEX_OPTION.finditer(text):
        if not _PUBLIC.match(found["url"]):
            yield None


def _of_settings(data: dict[str, Any], key: str) -> Iterator[bool | None]:
    """`pyproject.toml`, `uv.toml` and `Pipfile`: the project's own name, sources of packages, and indexes."""
    tool = table(data.get("tool"))
    poetry, uv = table(tool.get("poetry")), {**data, **table(tool.get("uv"))}
    if key in {normalise(string(table(each).get("name"))) for each in (data.get("project"), poetry)}:
        yield True
    groups = [table(uv.get("sources")), data.get("packages"), data.get("dev-packages")]
    for owner in (poetry, *table(poetry.get("group")).values()):
        groups += [table(owner).get("dependencies"), table(owner).get("dev-dependencies")]
    for group in map(table, groups):
        for name, wanted in group.items():
            if normalise(name) == key and not isinstance(wanted, str):
                one = [*tables(wanted), table(wanted)]
                yield (
                    any(place in each for each in one for place in (*_PLACES, "url", "index", "source"))
                    or None
                )
    texts = [each for each in _all_texts(data) if "@" in each]
    if any((found := _REQUESTED.match(each)) and normalise(found["name"]) == key for each in texts):
        yield True
    pdm = tables(table(tool.get("pdm")).get("source"))
    indexes = [*tables(uv.get("index")), *tables(poetry.get("source")), *tables(data.get("source")), *pdm]
    urls = [
        string(each.get("url"))
        for each in indexes
        if string(each.get("name")).lower() != "pypi" or each.get("url")
    ]
    urls += [string(uv[each]) for each in ("index-url",) if each in uv]
    if "extra-index-url" in uv or "find-links" in uv or not all(map(_PUBLIC.match, urls)):
        yield None


def _all_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _all_texts(each)


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
        yield own or bool(resolved and not _PUBLIC.match(resolved)) or bool(_ELSEWHERE.search(version))


def _of_package_json(data: dict[str, Any], key: str) -> Iterator[bool | None]:
    from kr_core.project.lockfiles.npm import GROUPS, is_elsewhere

    if normalise(string(data.get("name"))) == key:
        yield True
    for group in GROUPS:
        for name, wanted in table(data.get(group)).items():
            if normalise(name) == key and is_elsewhere(string(wanted)):
                yield True


def _of_lines(text: str, key: str) -> Iterator[bool]:
    """`pnpm-lock.yaml` and `yarn.lock`: a line that names the package, and those below it that are indented further."""
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
            yield False
        if (begins or within is not None or named.match(line)) and _is_elsewhere(line, named):
            yield True


def _is_elsewhere(line: str, named: re.Pattern[str]) -> bool:
    """Whether a line of a package's entry leads elsewhere; its description does not count."""
    if line.lstrip().startswith(("deprecated:", "license:", "checksum:", "integrity ")):
        return False
    host = re.match(r"['\"]?(?P<host>[\w-]+(?:\.[\w-]+)+(?::\d+)?)/", line) if named.search(line) else None
    return host is not None or bool(_ELSEWHERE.search(line))
