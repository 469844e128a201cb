"""Which indexes of packages are configured: by a project, by the user, by the machine, or by the environment.

The package managers read these settings for every project. Where no lock file tells the origin of a package, it may be in any of
these indexes.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from kr_core.project.lockfiles.pins import string, table, tables
from kr_core.project.package_names import normalise

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

__all__ = [
    "ELSEWHERE_KEYS", "PROJECT_SETTINGS", "PUBLIC", "REQUESTED", "Said", "of_configuration", "of_environment", "of_toml",
    "settings_of_user",
]  # fmt: skip

Said: TypeAlias = bool | None
"""What a setting says: True of a private package, False of a public one, None of another index that may have it."""

PUBLIC = re.compile(
    r"https?://(?:pypi\.org|pypi\.python\.org|files\.pythonhosted\.org|registry\.npmjs\.org|registry\.yarnpkg\.com)(?::443)?(?:/|$)"
)
ELSEWHERE_KEYS = (
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
REQUESTED = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*+)\s*+(?:\[[^\]]*+\])?+\s*+@")
PROJECT_SETTINGS = (
    ".npmrc", ".yarnrc", ".yarnrc.yml", "uv.toml", "pip.conf", "pip.ini", "poetry.toml", "Pipfile", "bunfig.toml",
)  # fmt: skip
"""Files of settings in a project's folders."""
_VARIABLES = frozenset({
    "uv_default_index", "uv_index", "uv_index_url", "uv_extra_index_url", "uv_find_links",
    "pip_index_url", "pip_extra_index_url", "pip_find_links", "pipenv_pypi_mirror", "pdm_pypi_url",
    "npm_config_registry", "yarn_registry", "yarn_npm_registry_server", "bun_config_registry",
})  # fmt: skip
_NPM_SCOPE = re.compile(r"npm_config_(?P<scope>@[^:]{1,100}):registry", re.IGNORECASE)
_NAMED = re.compile(r"[\w.-]{1,100}=(?=\w{1,20}+:)")
_REGISTRY = re.compile(
    r"(?:^|[\s'\"])(?:(?P<scope>@[^\s:]{1,100}):)?(?:registry|npmRegistryServer)['\"]?\s*+[:=]?\s*+(?P<url>\S++)",
    re.MULTILINE,
)
_INDEX = re.compile(r"index[-_]url")
_LINKS = re.compile(r"find[-_]links")
_ADDRESS = re.compile(r"(?<![\w+.-])[a-zA-Z][\w+.-]{0,20}://[^\s'\",]*+")


# -- the environment, the user, the machine ----------------------------------------------------------------


def of_environment(environ: Mapping[str, str], name: str) -> Iterator[tuple[Said, str]]:
    """What environment variables say of a package, and which says so.

    Args:
        environ: the environment variables.
        name: the package's.
    """
    for variable, value in environ.items():
        scope = _NPM_SCOPE.fullmatch(variable)
        if scope is not None:
            if _is_other(value) and name.startswith(f"{scope['scope']}/"):
                yield True, variable
        elif variable.lower() in _VARIABLES and any(map(_is_other, value.split())):
            yield None, variable


def _is_other(value: str) -> bool:
    """Whether an index is another than the public ones; `uv` writes `name=address`."""
    return bool(value.strip()) and not PUBLIC.match(_NAMED.sub("", value.strip(), count=1))


def settings_of_user(environ: Mapping[str, str], environments: Iterable[Path]) -> list[Path]:
    """The files in which the user and the machine configure package managers.

    Args:
        environ: the environment variables.
        environments: the folders of Python environments, each of which may have a `pip.conf`.
    """
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""
    folder = _absolute(home)
    own = _folder(environ, "XDG_CONFIG_HOME") or (folder / ".config" if folder else None)
    files = [folder / each for each in _AT_HOME] if folder else []
    files += [own / each for each in _IN_CONFIG] if own else []
    roots = environ.get("XDG_CONFIG_DIRS", "") or "/etc/xdg"
    machine = map(_absolute, roots.split(os.pathsep))
    for one in (*machine, _folder(environ, "APPDATA"), _folder(environ, "PROGRAMDATA")):
        files += [one / each for each in _IN_CONFIG] if one else []
    files += [Path(each) for each in _OF_MACHINE]
    files += [prefix / each for prefix in environments for each in ("pip.conf", "pip.ini", "etc/npmrc")]
    for variable, value in environ.items():
        if variable.lower() in _FILES and (named := _absolute(value)):
            files.append(named)
    return files


_AT_HOME = (
    ".pip/pip.conf", "pip/pip.ini", ".npmrc", ".yarnrc", ".yarnrc.yml", ".bunfig.toml",
    "Library/Application Support/pip/pip.conf",
)  # fmt: skip
_IN_CONFIG = ("pip/pip.conf", "pip/pip.ini", "uv/uv.toml", "pnpm/rc", "pdm/config.toml", ".bunfig.toml")
_OF_MACHINE = (
    "/etc/pip.conf", "/etc/uv/uv.toml", "/etc/npmrc", "/usr/etc/npmrc", "/usr/local/etc/npmrc",
    *(("/Library/Application Support/pip/pip.conf", "/opt/homebrew/etc/npmrc") if sys.platform == "darwin" else ()),
)  # fmt: skip
_FILES = frozenset({"pip_config_file", "uv_config_file", "npm_config_userconfig", "npm_config_globalconfig"})
"""Environment variables that name one more file."""


def _folder(environ: Mapping[str, str], variable: str) -> Path | None:
    return _absolute(environ.get(variable, ""))


def _absolute(text: str) -> Path | None:
    path = Path(text)
    return path if path.is_absolute() else None


# -- files of settings -------------------------------------------------------------------------------------


def of_configuration(text: str, name: str) -> Iterator[Said]:
    """What the settings of pip, npm, pnpm, yarn or Poetry say of a package.

    Args:
        text: of the file.
        name: the package's.
    """
    for found in _REGISTRY.finditer(text):
        if PUBLIC.match(found["url"].strip("'\"")):
            continue
        scope = found["scope"]
        if scope is None:
            yield None
        elif name.startswith(f"{scope}/"):
            yield True
    if _LINKS.search(text) or (_INDEX.search(text) and not _names_public_only(text)):
        yield None


def _names_public_only(text: str) -> bool:
    addresses = _ADDRESS.findall(text)
    return bool(addresses) and all(map(PUBLIC.match, addresses))


def of_toml(data: dict[str, Any], key: str) -> Iterator[Said]:
    """What `pyproject.toml`, `uv.toml`, `Pipfile` or `bunfig.toml` say of a package.

    Args:
        data: the file's.
        key: the package's name, normalised.
    """
    tool = table(data.get("tool"))
    poetry, uv = table(tool.get("poetry")), {**data, **table(tool.get("uv"))}
    if key in {normalise(string(table(each).get("name"))) for each in (data.get("project"), poetry)}:
        yield True
    yield from _of_sources(data, poetry, uv, key)
    texts = [each for each in _all_texts(data) if "@" in each]
    if any((found := REQUESTED.match(each)) and normalise(found["name"]) == key for each in texts):
        yield True
    pdm = [*tables(table(tool.get("pdm")).get("source")), table(data.get("pypi"))]
    tables_of_indexes = [*tables(uv.get("index")), *tables(poetry.get("source")), *tables(data.get("source"))]
    if _has_other_index(uv, [*tables_of_indexes, *pdm], table(data.get("install"))):
        yield None


def _of_sources(data: dict[str, Any], poetry: dict[str, Any], uv: dict[str, Any], key: str) -> Iterator[Said]:
    """What the tables say that name where single packages come from."""
    groups = [table(uv.get("sources")), table(data.get("packages")), table(data.get("dev-packages"))]
    for owner in (poetry, *table(poetry.get("group")).values()):
        groups += [table(table(owner).get(each)) for each in ("dependencies", "dev-dependencies")]
    keys = (*ELSEWHERE_KEYS, "url", "index", "source")
    for group in groups:
        for name, wanted in group.items():
            if normalise(name) == key and not isinstance(wanted, str):
                told = [*tables(wanted), table(wanted)]
                yield any(place in each for each in told for place in keys) or None


def _has_other_index(uv: dict[str, Any], indexes: Sequence[dict[str, Any]], bun: dict[str, Any]) -> bool:
    """Whether another index than the public ones is named, or may be."""
    pip = table(uv.get("pip"))  # `uv pip` has settings of its own
    if any(each in one for one in (uv, pip) for each in ("extra-index-url", "find-links")):
        return True
    named = [one for one in indexes if one and (string(one.get("name")).lower() != "pypi" or one.get("url"))]
    urls = [string(one.get("url")) for one in named]
    urls += [string(one["index-url"]) for one in (uv, pip) if "index-url" in one]
    if registry := bun.get("registry"):
        urls.append(string(table(registry).get("url")) or string(registry))
    return bool(bun.get("scopes")) or not all(map(PUBLIC.match, urls))


def _all_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _all_texts(each)
