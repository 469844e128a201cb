"""What a file says of packages (pins), where the project is looked at from (a view), and how several pins become one."""

from __future__ import annotations

import os
import re
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from kr_core.files import read_bytes
from kr_core.project.package_names import is_name_text, is_version_text, normalise

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

Parsed = TypeVar("Parsed")
Ecosystem = Literal["python", "node", "rust", "go", "java", "ruby", "php"]

LIMIT_BYTES = 20_000_000
"""What takes some seconds to read; the largest lock files that are known have half of it."""
HAND_LIMIT_BYTES = 2_000_000
"""What people write, and what has no hashes, is smaller by far."""
_MAX_FILES_BESIDE = 200
_MAX_BYTES_BESIDE = LIMIT_BYTES
"""Of all files that are read for one."""
_CONFLICT = re.compile(r"^(?:<<<<<<<|>>>>>>>)(?: |$)", re.MULTILINE)
_EXACT = re.compile(r"v?\d[\w.+!-]*", re.ASCII)
_ELSEWHERE = re.compile(r"extra|platform|os_name|implementation|dependency_groups")
"""What a marker may ask for besides the version of Python."""
_EXTRA = re.compile(r"\bextras?\b|\bdependency_groups\b")
"""What a marker asks of how the project is installed: without an environment too no extra is asked for."""
_OPEN = re.compile(r"\+$|(?:^|\.)[xX*](?:\.|$)")
_SHORT: dict[str, str] = {"java": ":", "go": "/", "php": "/"}


class Pin(NamedTuple):
    """A package that a file names.

    `version` is a version, a range as it is written (`>=2,<3`), or empty where any will do. `development` marks
    what the program itself does not need, `direct` what the project asks for itself. Of several pins of one
    package the one stands whose `marker` (PEP 508) holds, then the nearest: `nearness` is higher the closer the
    package is to the folder that is looked from. Equally near, what is installed under its own name comes before what is
    `renamed` (an alias).
    """

    name: str
    version: str
    development: bool = False
    direct: bool = False
    nearness: int = 0
    marker: str = ""
    renamed: bool = False

    @property
    def exact(self) -> bool:
        """Whether `version` is one version, not a range, a tag or nothing."""
        return bool(_EXACT.fullmatch(self.version)) and not _OPEN.search(self.version)


class UnreadableError(ValueError):
    """A file cannot be understood; `line` counts from 1, None where no line is to blame."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.line = line


class LockFile(NamedTuple):
    """What one file says: pins by the key of their names, with the file and all others that were read for it."""

    path: Path
    ecosystem: Ecosystem
    wish: bool
    """Whether the file says what the project asks for, and no tool has chosen versions in it."""
    pins: dict[str, Pin]
    notes: tuple[tuple[int | None, str], ...] = ()
    """What was odd: the line, and what it is."""
    files: tuple[Path, ...] = ()
    """The file and those it rests on, absent ones included; a change of any may change the pins."""
    tool: str = ""
    """The tool of its ecosystem that the file says is in use: `packageManager` of a `package.json`."""
    governed: frozenset[str] = frozenset()
    """The folders below it, of those that were looked from, that are members of its workspace: what lies locked there is
    left over, and no tool reads it."""
    alike: Mapping[str, Sequence[str]] = MappingProxyType({})
    """The keys that are not normalised as those of Python are, by what they normalise to."""

    def governs(self, folder: Path) -> bool:
        """Whether a folder is a member of its workspace."""
        above = self.path.parent
        return folder.is_relative_to(above) and folder.relative_to(above).as_posix() in self.governed

    def named(self, name: str) -> Pin | None:
        """Find a package by its own name."""
        return self.pins.get(key_of(name, self.ecosystem))

    def find(self, name: str) -> Pin | None:
        """Find a package by its name, or by a like one or the last part of it where only one package has that.

        `socket-io` finds `socket.io`, `guava` finds `com.google.guava:guava`, `uuid` finds `github.com/google/uuid`,
        `monolog` finds `monolog/monolog`.
        """
        if found := self.named(name):
            return found
        plain = normalise(name)
        keys = [key for key in (plain, *self.alike.get(plain, ())) if key in self.pins]
        if len(keys) == 1:
            return self.pins[keys[0]]
        separator = _SHORT.get(self.ecosystem)
        if separator is None or separator in name:
            return None
        short = [(short_name(key, separator), pin) for key, pin in self.pins.items()]
        ending = [pin for last, pin in short if last == name] or [
            pin for last, pin in short if normalise(last) == plain
        ]
        ending = [pin for pin in ending if pin.direct] or ending
        return ending[0] if len(ending) == 1 else None


class ProjectView:
    """Where a project is looked at from, while one of its files is read.

    Args:
        path: the file that is read.
        working_folder: the folder that the nearest member of a workspace is looked for from.
        top: the highest folder of the project; nothing above it is read.
        within: the folders in one of which a file must really lie to be read.
        environment: the values of environment markers (PEP 508); None where the project's Python is not known,
            and then every marker holds.
    """

    def __init__(
        self,
        path: Path,
        working_folder: Path,
        top: Path,
        within: Sequence[Path],
        environment: Mapping[str, str] | None,
    ) -> None:
        self.path = path
        self.top = top
        self.within = within
        self.notes: list[tuple[int | None, str]] = []
        self.files: list[Path] = [path]
        self.tool = ""
        self.governed: frozenset[str] = frozenset()
        self.groups: frozenset[str] = frozenset()
        """The groups of dependencies that are installed where none is named."""
        self._working_folder = working_folder
        self._environment = environment
        self._held: dict[str, bool] = {}
        self._bytes_left = _MAX_BYTES_BESIDE

    @property
    def folder(self) -> Path:
        """The folder that the file lies in; a wrapped catalogue's (`gradle/libs.versions.toml`) is `gradle`."""
        return self.path.parent

    @property
    def members(self) -> tuple[str, ...]:
        """The folders from the working folder to the file's own, nearest first, relative to it; `.` is the last."""
        if not self._working_folder.is_relative_to(self.folder):
            return (".",)
        relative = self._working_folder.relative_to(self.folder)
        return tuple(each.as_posix() for each in (relative, *relative.parents))

    def note(self, what: str, line: int | None = None) -> None:
        """Tell something odd in the file."""
        if (line, what) not in self.notes:
            self.notes.append((line, what))

    def is_apart(self, members: Collection[str], is_project: Callable[[str, ProjectView], bool]) -> bool:
        """Whether the working folder lies in a project of its own that is not a member of the workspace.

        Args:
            members: the folders of the members, relative to this one.
            is_project: whether a folder has a manifest with dependencies.
        """
        for folder in self.members[:-1]:
            if folder in members:
                return False
            if is_project(folder, self):
                return True
        return False

    def check_version(self, found: Any, known: str, label: str = "lock version") -> None:
        """Note a file of a format that did not exist when its reader was written.

        Args:
            found: the version of the format as the file names it, None where it names none.
            known: the major versions that the reader knows, a digit each.
            label: what the version is called.
        """
        major = str(found).partition(".")[0] if isinstance(found, str | int | float) else ""
        if found is not None and (len(major) != 1 or major not in known):
            self.note(f"{label} {str(found)[:40]} is not known to KR; what is understood of it is read")

    def beside(self, relative: str) -> str | None:
        """Read another file of the project, or return None where it is absent, unreadable or outside.

        The path is relative to the folder of the file that is read.
        """
        path = Path(os.path.normpath(self.folder / relative))
        if not path.is_relative_to(self.top) or self._bytes_left < 0:
            return None
        if path not in self.files:
            if len(self.files) > _MAX_FILES_BESIDE:
                self.note(f"more than {_MAX_FILES_BESIDE} files are read for it; the others are left out")
                return None
            self.files.append(path)
        try:
            text = text_of(path, HAND_LIMIT_BYTES, within=self.within)
        except (OSError, ValueError):
            return None
        self._bytes_left -= len(text)
        if self._bytes_left < 0:
            self.note(
                f"more than {_MAX_BYTES_BESIDE // 1_000_000} MB of files are read for it; the others are left out"
            )
            return None
        return text

    def parsed(self, relative: str, parse: Callable[[str], Parsed], absent: Parsed) -> Parsed:
        """What another file says, or `absent`; its own reading reports a file that nothing can parse."""
        text = self.beside(relative)
        try:
            return parse(text) if text else absent
        except (UnreadableError, RecursionError):
            return absent

    def holds(self, marker: str) -> bool:
        """Whether a marker holds in the project's Python, with no extra asked for; what is no marker holds."""
        if not marker or (self._environment is None and not _EXTRA.search(marker)):
            return True
        if marker not in self._held:
            from packaging.markers import InvalidMarker, Marker, UndefinedComparison, UndefinedEnvironmentName

            try:
                asked: dict[str, str | frozenset[str]] = {"extra": "", "extras": frozenset()}
                asked["dependency_groups"] = self.groups
                self._held[marker] = Marker(marker).evaluate({**asked, **(self._environment or {})})
            except (InvalidMarker, UndefinedComparison, UndefinedEnvironmentName, RecursionError, ValueError):
                self._held[marker] = True
            except AssertionError:  # packaging 25, of extras that stand on the left
                self._held[marker] = True
        return self._held[marker]


def key_of(name: str, ecosystem: Ecosystem) -> str:
    """The key of a package: Python and Rust know one by several spellings, npm has both `object-assign` and `object.assign`."""
    if ecosystem in {"python", "rust"}:
        return normalise(name)
    return name.lower() if ecosystem == "php" else name


def merged(pins: Iterable[Pin], view: ProjectView, ecosystem: Ecosystem) -> dict[str, Pin]:
    """Key pins by the name that their ecosystem knows them by, one for each package."""
    several: dict[str, list[Pin]] = {}
    for pin in pins:
        if is_name_text(pin.name):
            plain = pin if is_version_text(pin.version) else pin._replace(version="")
            several.setdefault(key_of(pin.name, ecosystem), []).append(plain)
    return {key: _valid(_one_of(each, view), view) for key, each in several.items()}


def alike(keys: Iterable[str]) -> dict[str, list[str]]:
    """The keys that are not normalised as those of Python are, by what they normalise to."""
    found: dict[str, list[str]] = {}
    for key in keys:
        if (plain := normalise(key)) != key:
            found.setdefault(plain, []).append(key)
    return found


def _valid(pin: Pin, view: ProjectView) -> Pin:
    """A pin without its version where its marker asks for another Python than the project's: then it is not in use.

    What is for another platform or an extra has the version that is in use there.
    """
    is_judged = "python" in pin.marker and not _ELSEWHERE.search(pin.marker)
    return pin if not is_judged or view.holds(pin.marker) else pin._replace(version="")


def _one_of(pins: list[Pin], view: ProjectView) -> Pin:
    """The pin that stands: with a version before none, a marker that holds, the nearest, the highest version."""
    if len(pins) == 1:
        return pins[0]
    if any(pin.version != pins[0].version for pin in pins):
        from kr_core.project.distributions import version_key

        ranked = [_rank(pin, view) for pin in pins]
        best = max(ranked)
        first = [pin for pin, rank in zip(pins, ranked, strict=True) if rank == best]
        if not view.holds(first[0].marker) and any(_EXTRA.search(pin.marker) for pin in first):
            first = [first[0]._replace(version="")]  # extras exclude each other, and none is asked for
        exact = all(pin.exact for pin in first)  # ranges have no order: the first is the main one
        chosen = max(first, key=lambda pin: version_key(pin.version)) if exact else first[0]
    else:
        chosen = pins[0]
    return chosen._replace(
        development=all(pin.development for pin in pins), direct=any(pin.direct for pin in pins)
    )


def _rank(pin: Pin, view: ProjectView) -> tuple[bool, bool, bool, int, bool]:
    return bool(pin.version), view.holds(pin.marker), pin.direct, pin.nearness, not pin.renamed


def conflicting(pins: Iterable[tuple[Pin, str]]) -> set[str]:
    """The packages of which extras or groups, none of them before the others, ask for different versions.

    Args:
        pins: each with the extra or group that it belongs to; the group that comes first has a higher nearness.
    """
    several: dict[str, dict[int, dict[str, set[str]]]] = {}
    ranges: set[str] = set()
    for pin, group in pins:
        of_name = several.setdefault(pin.name, {}).setdefault(pin.nearness, {})
        of_name.setdefault(group, set()).add(pin.version)
        if not pin.exact:
            ranges.add(pin.name)
    return {
        name
        for name, by_nearness in several.items()
        if name not in ranges and not set.intersection(*by_nearness[max(by_nearness)].values())
    }


def short_name(name: str, separator: str) -> str:
    """The last part of a name; a major version at the end of a Go module's path is none (`mux/v2`)."""
    head, _, last = name.rpartition(separator)
    if separator == "/" and head and re.fullmatch(r"v\d+", last):
        return head.rpartition("/")[2]
    return last


def text_of(path: Path, limit_bytes: int = LIMIT_BYTES, *, within: Sequence[Path]) -> str:
    """Read the text of a file; `pip freeze > requirements.txt` in PowerShell writes UTF-16.

    Args:
        path: the file.
        limit_bytes: the size above which it is refused.
        within: the folders in one of which it must really lie: a link may lead to a file of another project.

    Raises:
        UnreadableError: it is absurdly large, no text, or holds the marks of a merge conflict.
        OSError: it cannot be read, or is a link that leads out of the folders.
    """
    if path.stat().st_size > limit_bytes:
        raise UnreadableError(f"larger than {limit_bytes // 1_000_000} MB")
    data = read_bytes(path, limit=limit_bytes, within=within)
    try:
        wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
        text = data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UnreadableError(f"no {error.encoding} text: {error.reason}", line) from None
    is_suspect = "<<<<<<<" in text or ">>>>>>>" in text  # a hundredth of the time of looking at each line
    if is_suspect and (conflict := _CONFLICT.search(text)):
        raise UnreadableError("a merge conflict; resolve it", text.count("\n", 0, conflict.start()) + 1)
    return text


def table(value: Any) -> dict[str, Any]:
    """The value if it is a table, else an empty one."""
    return value if isinstance(value, dict) else {}


def tables(value: Any) -> list[dict[str, Any]]:
    """The tables in a list; none if it is no list."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def string(value: Any) -> str:
    """The value if it is text, else an empty one."""
    return value if isinstance(value, str) else ""


def strings(value: Any) -> list[str]:
    """The texts in a list; none if it is no list."""
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
