"""`build.gradle(.kts)` in its common literal forms, and version catalogues (`libs.versions.toml`).

A build script is a program; what it computes is not known without running it, and it is never run.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from kr_core.project.lockfiles.parser import parse_toml
from kr_core.project.lockfiles.pins import Pin, UnreadableError, string, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kr_core.project.lockfiles.pins import ProjectView

_CONFIGURATION = (
    r"(?P<configuration>\w*(?:[iI]mplementation|[aA]pi|[cC]ompileOnly|[rR]untimeOnly|[cC]ompile|[rR]untime"
    r"|[pP]rocessor|[kK]apt|[kK]sp|developmentOnly|classpath))"
)
_PLATFORM = r"\s*+(?:\(\s*+)?(?:(?:enforcedP|p)latform\s*+\(\s*+)?"
_TEXT = re.compile(
    rf"\b{_CONFIGURATION}{_PLATFORM}(?P<quote>['\"])(?P<group>[^'\":\s]++):(?P<name>[^'\":\s]++)"
    r"(?::(?P<version>[^'\":@\n]++))?[^'\"\n]*+(?P=quote)"
)
_MAP = re.compile(
    rf"\b{_CONFIGURATION}\s*+(?:\(\s*+)?group\s*+[:=]\s*+['\"](?P<group>[^'\"]+)['\"]\s*+,\s*+name\s*+[:=]\s*+['\"](?P<name>[^'\"]+)['\"]"
    r"(?:\s*+,\s*+version\s*+[:=]\s*+(?P<version>['\"][^'\"]+['\"]|\w+))?"
)
_CATALOGUED = re.compile(rf"\b{_CONFIGURATION}{_PLATFORM}libs\.(?P<alias>[\w.]+)")
_PLUGIN = re.compile(
    r"\bid\s*+(?:\(\s*+)?['\"](?P<id>[\w.-]+)['\"]\s*+(?:\)\s*+)?version\s*+(?:\(\s*+)?['\"](?P<version>[^'\"]+)['\"]"
)
_KOTLIN = re.compile(
    r"\bkotlin\s*+\(\s*+['\"](?P<name>[\w.-]+)['\"]\s*+\)\s*+version\s*+['\"](?P<version>[^'\"]+)['\"]"
)
_VARIABLE = re.compile(
    r"(?:\b(?:def|val|var|const val|ext\.|project\.ext\.|set\s*+\(\s*+['\"])\s*+|^[ \t]*+|extra\[\s*+['\"])"
    r"(?P<name>[A-Za-z_][\w.]{0,200}+)(?:['\"]\s*+\])?(?:['\"]\s*+,|(?:\s*+:\s*+String)?\s*+=|\s++by\s++extra\s*+\()\s*+['\"](?P<value>[^'\"$\n]+)['\"]",
    re.MULTILINE,
)
_FORCED = re.compile(r"\bforce\b\s*+\(?\s*+(?P<modules>(?:['\"][^'\"\n]++['\"]\s*+,?\s*+)++)")
_MODULE = re.compile(r"['\"](?P<name>[^'\":\n]++:[^'\":\n]++)")
_REQUESTED = re.compile(r"\brequested\.(?:group|name)\s*+==\s*+['\"](?P<part>[^'\"\n]++)['\"]")
_LONGEST = 1000
"""Of all that is filled in for variables: a long text cannot be a version, and each of very many dependencies may name it often."""
_REFERENCE = re.compile(r"\$\{?(?P<name>[\w.]+)\}?")
_COMMENT = re.compile(r"/\*|(?<![:'\"\w])//[^\n]*")
_PROPERTY = re.compile(r"^[ \t]*+(?P<name>[\w.]++)[ \t]*+[=:][ \t]*+(?P<value>\S++)[ \t\r]*+$", re.MULTILINE)


def read_script(text: str, view: ProjectView) -> Iterator[Pin]:
    """Read dependencies that are written out, in a map, or through the catalogue `libs`; variables are followed.

    What the program needs comes before what its tests need. What a rule of the resolution names has no version.
    """
    plain = _without_comments(text)
    ruled = _ruled(plain)
    for pin in _dependencies(plain, view):
        is_ruled = not ruled.isdisjoint({pin.name, *pin.name.split(":")})
        yield pin._replace(version="" if is_ruled else pin.version, nearness=-pin.development)


def _ruled(plain: str) -> set[str]:
    """The modules that a script forces, and the groups and names for which it may choose a version."""
    forced = {name for found in _FORCED.finditer(plain) for name in _MODULE.findall(found["modules"])}
    return forced | (set(_REQUESTED.findall(plain)) if "useVersion" in plain else set())


def _dependencies(plain: str, view: ProjectView) -> Iterator[Pin]:
    variables = _variables(plain, view)
    for found in (*_TEXT.finditer(plain), *_MAP.finditer(plain)):
        version = _filled(found["version"] or "", variables)
        yield Pin(f"{found['group']}:{found['name']}", version, _is_test(found), direct=True)
    if catalogued := list(_CATALOGUED.finditer(plain)):
        libraries = _catalogue_of(view)
        for found in catalogued:
            if pin := libraries.get(_accessor(found["alias"])):
                yield pin._replace(development=_is_test(found), direct=True)
    for found in _PLUGIN.finditer(plain):
        yield Pin(found["id"], _filled(found["version"], variables), direct=True)
    for found in _KOTLIN.finditer(plain):
        yield Pin(f"org.jetbrains.kotlin.{found['name']}", _filled(found["version"], variables), direct=True)


def read_catalogue(text: str, _view: ProjectView) -> Iterator[Pin]:
    """Read the libraries and plugins of a version catalogue."""
    data = parse_toml(text)
    yield from _libraries(data).values()
    versions = table(data.get("versions"))
    for plugin in table(data.get("plugins")).values():
        name, _, version = string(plugin).partition(":")
        if name := name or string(table(plugin).get("id")):
            yield Pin(name, version or _version(table(plugin).get("version"), versions))


def _libraries(data: dict[str, Any]) -> dict[str, Pin]:
    versions = table(data.get("versions"))
    found = {}
    for alias, library in table(data.get("libraries")).items():
        parts = string(library).split(":")
        values = table(library)
        if len(parts) >= 2:
            name, version = ":".join(parts[:2]), parts[2] if len(parts) > 2 else ""
        else:
            name = (
                string(values.get("module")) or f"{string(values.get('group'))}:{string(values.get('name'))}"
            )
            version = _version(values.get("version"), versions)
        if name != ":":
            found[_accessor(alias)] = Pin(name, version)
    return found


def _version(value: Any, versions: dict[str, Any]) -> str:
    if reference := string(table(value).get("ref")):
        value = versions.get(reference)
    rich = table(value)
    return string(value) or next(
        (string(rich[key]) for key in ("strictly", "require", "prefer") if key in rich), ""
    )


def _accessor(alias: str) -> str:
    """An alias as a script writes it: `-` and `_` become dots."""
    return re.sub(r"[-_]", ".", alias).lower()


def _catalogue_of(view: ProjectView) -> dict[str, Pin]:
    """The libraries of the nearest catalogue upwards."""
    folder = ""
    for _ in view.path.relative_to(view.top).parents:
        if text := view.beside(f"{folder}gradle/libs.versions.toml"):
            try:
                return _libraries(parse_toml(text))
            except UnreadableError:  # it is told where that file itself is read
                return {}
        folder += "../"
    return {}


def _without_comments(text: str) -> str:
    """A script with a blank for each comment; what opens one that nothing ends stays."""
    last = text.rfind("*/")
    kept, start = [], 0
    while (found := _COMMENT.search(text, start)) is not None:
        end = found.end()
        if found[0] == "/*":
            if last < end:
                kept.append(text[start:end])
                start = end
                continue
            end = text.index("*/", end) + 2
        kept.append(f"{text[start : found.start()]} ")
        start = end
    return "".join([*kept, text[start:]])


def _variables(plain: str, view: ProjectView) -> dict[str, str]:
    properties = view.beside("gradle.properties") or ""
    found = {each["name"]: each["value"] for each in _PROPERTY.finditer(properties)}
    assigned: dict[str, set[str]] = {}
    for each in _VARIABLE.finditer(plain):
        for name in {each["name"], each["name"].rpartition(".")[2]}:
            assigned.setdefault(name, set()).add(each["value"])
    for name, values in assigned.items():  # what is assigned twice is not known without running the script
        found[name] = values.pop() if len(values) == 1 else ""
    return found


def _filled(version: str, variables: dict[str, str]) -> str:
    if version and version[0] not in "'\"" and version.isidentifier():  # a variable, not a text
        return variables.get(version, "")
    text = (
        version.strip("'\"").partition("!!")[0].replace(" ", "")
    )  # strictly this one, perhaps with one that is preferred
    if not _REFERENCE.search(text):
        return text
    names = [found["name"] for found in _REFERENCE.finditer(text)]
    values = {name: variables.get(name, variables.get(name.rpartition(".")[2], "")) for name in names}
    if not all(values.values()) or sum(len(values[name]) for name in names) > _LONGEST:
        return ""
    return _REFERENCE.sub(lambda found: values[found["name"]], text)


def _is_test(found: re.Match[str]) -> bool:
    return found["configuration"].lower().startswith(("test", "androidtest"))


READERS = {
    "build.gradle": read_script,
    "build.gradle.kts": read_script,
    "gradle/libs.versions.toml": read_catalogue,
}
