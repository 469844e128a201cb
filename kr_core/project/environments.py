"""The Python environments of a project: where they lie, and which folders they import from.

An environment in the project may have come with it, so what it holds is read only where it really lies in the environment or
in the project: a link or a `.pth` file may name anybody's folder. One that the user activated is the user's, and so is KR's own.
"""

from __future__ import annotations

import os
import re
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kr_core.files import lies_within, read_text
from kr_core.git_index import came_with_repository

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

OWN_LABEL = "KR's own environment"
VENV_NAMES = (".venv", "venv")

_VARIABLES = ("VIRTUAL_ENV", "CONDA_PREFIX")
_LARGEST = 1_000_000
"""Bytes of a `pyvenv.cfg`, which has some hundred."""
_LARGEST_PTH = 100_000
_MOST_NAMED = 1_000
"""Lines of all `.pth` files of a folder that may name others; a large workspace has some hundred."""
_PACKAGE_FOLDERS = ("site-packages", "dist-packages")
_NO_PLACE = (Path("/proc"), Path("/dev"))
"""What lies there is another thing for each process that looks, and no installation."""
_PYTHON_FOLDER = re.compile(r"(?:python|pypy)3(?:\.(\d+))?t?")


class Environment(NamedTuple):
    """A Python environment and the folders it imports from, in the order of import.

    `label` is a path relative to the project root where there is one. `own` marks the environment that KR
    itself runs in, which says nothing about the project.
    """

    label: str
    prefix: Path
    site_packages: tuple[Path, ...]
    own: bool = False
    bounds: tuple[Path, ...] | None = None
    """The folders in one of which its files must really lie; None for one that is the user's."""
    refused: tuple[Path, ...] = ()
    """What it imports from that lies outside of them, and is not looked into."""

    @property
    def tracked(self) -> bool:
        """Whether it came with the project's repository: what it says of a package are the words of the repository's authors.

        Reads git's index, which for a large repository takes as long as a cache hit.
        """
        return self.bounds is not None and came_with_repository(self.prefix, self.prefix.parent)


def folders_upward(working_folder: Path, root: Path) -> tuple[Path, ...]:
    """List the folders in which a project's files are looked for, nearest first.

    From the working folder up to the project root, and further to the top of the git work tree that the
    working folder lies in: a bare `.git` makes no project root, and yet the environment may lie beside it.
    """
    chain = [working_folder, *working_folder.parents]
    if root not in chain:
        return (working_folder, root)
    top = next((folder for folder in chain if os.path.lexists(folder / ".git")), root)
    return tuple(chain[: max(chain.index(root), chain.index(top)) + 1])


def workspace_of(folders: Sequence[Path], root: Path) -> Path:
    """The highest of a project's folders; but never the home folder, for the sake of a project that lies in it.

    Args:
        folders: as `folders_upward` lists them.
        root: the project root.
    """
    home = os.path.realpath(Path("~").expanduser())
    tops = (folder for folder in reversed(folders) if not lies_within(Path(home), folder))
    return next((folder for folder in tops if root.is_relative_to(folder)), root)


def label_of(path: Path, root: Path) -> str:
    """Name a path for people, relative to the project root; never an absolute path where avoidable."""
    try:
        return Path(os.path.relpath(path, root)).as_posix()
    except ValueError:  # another drive on Windows
        return str(path)


def find_environments(
    folders: Sequence[Path], root: Path, environ: Mapping[str, str], own_prefix: Path | None
) -> tuple[Environment, ...]:
    """Find the environments of a project, nearest first, and KR's own one last.

    An environment that is found twice is listed once, so KR's own is not marked as such where it is the
    project's too. One that lies in the project's folders may have come with them, whether it is activated or not; of
    several, those that did come after the others.
    """
    listed = list(_prefixes(folders, root, environ, own_prefix))
    workspace = workspace_of(folders, root)
    given = {
        os.path.realpath(prefix)
        for label, prefix, own in listed
        if own or (label in _VARIABLES and not lies_within(prefix, workspace))
    }
    found: dict[str, Environment] = {}
    for label, prefix, own in listed:
        place = os.path.realpath(prefix)
        if place not in found:
            bounds = None if place in given else (workspace, Path(place))
            sites = _sites(prefix, bounds, _uv_archives(environ))
            found[place] = Environment(label, prefix, sites.read, own, sites.bounds, sites.refused)
    of_project = [one for one in found.values() if not one.own]
    if len(of_project) > 1:
        of_project.sort(key=lambda one: one.tracked)
    return (*of_project, *(one for one in found.values() if one.own))


class _Sites(NamedTuple):
    """The folders that an environment imports from: those that may be read, the bounds of what lies there, and the others."""

    read: tuple[Path, ...]
    bounds: tuple[Path, ...] | None
    refused: tuple[Path, ...]


def _sites(prefix: Path, bounds: tuple[Path, ...] | None, archives: Path | None) -> _Sites:
    """The folders that an environment imports from, those named in its `.pth` files included, in the order of import.

    Args:
        prefix: of the environment.
        bounds: the folders in one of which its files must really lie; None for one that is the user's.
        archives: where uv keeps unpacked packages.
    """
    of_base = _base_sites(prefix)
    listed = [*_site_folders(prefix), *of_base]
    if bounds is not None:  # not by what `.pth` files of the base name: the project may have chosen it
        bounds = (*bounds, *_laid_by_others(prefix, of_base, bounds))
    own = [site for site in listed if not _outside([site], bounds)]
    if bounds is not None and archives is not None:
        bounds = (*bounds, *_linked_archives(own, archives))
    found = {os.path.realpath(site): site for site in reversed(own)}  # the first of equal ones stays
    ordered = {place: found[place] for place in (os.path.realpath(site) for site in own)}
    named = _named_by_pth(tuple(ordered.values()), bounds)
    for folder in named:
        if not _outside([folder], bounds):
            ordered.setdefault(os.path.realpath(folder), folder)
    return _Sites(tuple(ordered.values()), bounds, tuple(_outside([*listed, *named], bounds)))


def _outside(folders: Sequence[Path], bounds: tuple[Path, ...] | None) -> list[Path]:
    """Those folders that lie in none of the bounds, each once, however often it is named."""
    if bounds is None:
        return []
    found: dict[str, Path] = {}
    for folder in folders:
        found.setdefault(os.path.realpath(folder), folder)
    return [folder for folder in found.values() if not lies_within(folder, bounds)]


def _named_by_pth(sites: Sequence[Path], bounds: tuple[Path, ...] | None) -> list[Path]:
    return [folder for site in sites for folder in _pth_folders(site, bounds)]


def _uv_archives(environ: Mapping[str, str]) -> Path | None:
    """Where uv keeps unpacked packages: `--link-mode symlink` fills environments with links to them."""
    home = environ.get("HOME", "")
    cache = environ.get("XDG_CACHE_HOME") or (f"{home}/.cache" if home else "")
    folder = environ.get("UV_CACHE_DIR") or (f"{cache}/uv" if cache else "")
    return Path(folder) / "archive-v0" if folder.startswith("/") else None


def _linked_archives(sites: Sequence[Path], archives: Path) -> list[Path]:
    """The archives of uv's cache that links in these folders lead into, each of one package.

    Only a link whose own text names something within one archive counts. The names of archives are drawn by chance, so
    who wrote a project knows none of them; one that leads to all archives, or to the whole of one, is none of uv's.
    """
    place = os.path.realpath(archives)
    found: dict[str, None] = {}
    for site in sites:
        for link in _links(site):
            try:
                target = os.path.normpath(os.readlink(link))  # noqa: PTH115  there may be thousands
            except OSError:
                continue
            for start in (place, str(archives)):
                name, _, rest = target.removeprefix(f"{start}/").partition("/")
                if target.startswith(f"{start}/") and rest and name not in found:
                    archive = f"{place}/{name}"
                    if os.path.realpath(archive) == archive and os.path.realpath(link) == f"{archive}/{rest}":
                        found[name] = None
    return [Path(place) / name for name in found]


def _links(site: Path) -> Iterator[str]:
    """The links in a folder, and in the folders in it: each package that uv links has one there, if only of its metadata."""
    folders = []
    for entry in _entries(str(site)):
        if entry.is_symlink():
            yield entry.path
        elif entry.is_dir():
            folders.append(entry.path)
    for folder in folders:
        yield from (entry.path for entry in _entries(folder) if entry.is_symlink())


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _laid_by_others(prefix: Path, sites: Sequence[Path], bounds: tuple[Path, ...]) -> list[Path]:
    """The real folders of those `site-packages` of the base that nobody but the user, or the system's own installer, has laid.

    The base is named by a file that may have come with the project. So one that lies in the bounds gives nothing that is not
    in them anyway, and no `site-packages` is believed that is reached through them, or by a link that leads out of the base.
    """
    base = base_of(prefix)
    if base is None or lies_within(base, bounds):
        return []
    found = []
    for site in sites:
        place = Path(os.path.realpath(site))
        way = [folder for folder in (site, *site.parents) if folder != base and folder.is_relative_to(base)]
        if (
            place.name in _PACKAGE_FOLDERS
            and lies_within(place, base)
            and not any(lies_within(folder, bounds) for folder in way)
        ):
            found.append(place)
    return found


def _base_sites(prefix: Path) -> list[Path]:
    """The `site-packages` of the interpreter that an environment was made from, where it imports from them too."""
    wanted = settings(prefix).get("include-system-site-packages", "").lower() == "true"
    base = base_of(prefix) if wanted else None
    return [] if base is None or base == prefix else _site_folders(base)


def settings(prefix: Path) -> dict[str, str]:
    """Read `pyvenv.cfg` of an environment; empty where there is none."""
    try:
        text = read_text(prefix / "pyvenv.cfg", limit=_LARGEST, within=prefix, errors="replace")
    except OSError:
        return {}
    pairs = (line.partition("=") for line in text.splitlines())
    return {key.strip().lower(): value.strip() for key, equals, value in pairs if equals}


def python_version(prefix: Path) -> str | None:
    """Read the version of an environment's interpreter, such as `3.11.7`, without running it."""
    said = settings(prefix)
    text = said.get("version") or said.get("version_info") or _conda_python(prefix)
    numbers = re.match(r"\d{1,9}(?:\.\d{1,9}){1,2}", text)
    return numbers[0] if numbers else None


def base_of(prefix: Path) -> Path | None:
    """Find the installation that a virtual environment was made from; itself if it is not virtual.

    The file that names it may be anybody's, so the installation is where it really lies. Another virtual environment is not
    taken for one, and neither is what is another folder for each process (`/proc/self/cwd`).
    """
    home = settings(prefix).get("home")
    if home is None:
        return prefix
    if "\0" in home or not Path(home).is_absolute():
        return None
    folder = Path(os.path.realpath(home))
    if any(
        each.is_relative_to(place) for each in (Path(os.path.normpath(home)), folder) for place in _NO_PLACE
    ):
        return None
    base = folder if (folder / "Lib").is_dir() else folder.parent  # Windows has its executable at the top
    return None if os.path.lexists(base / "pyvenv.cfg") else base


def standard_library_of(prefix: Path) -> Path | None:
    """Find the folder of the standard library that an environment imports from."""
    base, version = base_of(prefix), python_version(prefix)
    if base is None or version is None:
        return None
    minor = ".".join(version.split(".")[:2])
    for folder in (base / "lib" / f"python{minor}", base / "lib" / f"pypy{minor}", base / "Lib"):
        if (folder / "os.py").is_file() and lies_within(folder, base):
            return folder
    return None


def named_by_pth(
    files: Iterable[Path], within: tuple[Path, ...] | None = None, most: int = _MOST_NAMED
) -> list[Path]:
    """List the existing folders that `.pth` files name, each once; lines that are code are never run.

    Args:
        files: the `.pth` files.
        within: the folders in one of which each must really lie.
        most: how many lines are looked at.
    """
    named = islice((folder for pth in files for folder in _lines(pth, within)), most)
    return [folder for folder in dict.fromkeys(named) if folder.is_dir()]


def _lines(pth: Path, within: tuple[Path, ...] | None) -> Iterator[Path]:
    try:
        text = read_text(pth, limit=_LARGEST_PTH, within=within, errors="replace")
    except OSError:
        return
    for line in text.splitlines():
        named = line.strip()
        if named and not named.startswith(("#", "import ", "import\t")) and "\0" not in named:
            yield pth.parent / named


def _prefixes(
    folders: Sequence[Path], root: Path, environ: Mapping[str, str], own_prefix: Path | None
) -> Iterator[tuple[str, Path, bool]]:
    for folder in folders:
        for name in VENV_NAMES:
            if (folder / name / "pyvenv.cfg").is_file():
                yield label_of(folder / name, root), folder / name, False
    for variable in _VARIABLES:
        if (value := environ.get(variable)) and Path(value).is_dir():
            yield variable, Path(value), False
    if own_prefix is not None:
        yield OWN_LABEL, own_prefix, True


def _site_folders(prefix: Path) -> list[Path]:
    """The `site-packages` under a prefix, those of the environment's own Python first.

    A folder left over from another Python is no place to import from, where there is one of the right Python.
    """
    version = python_version(prefix)
    minor = int(version.split(".")[1]) if version else None
    found: list[tuple[int, Path]] = []
    for lib in ("lib", "lib64"):
        for folder in _children(prefix / lib):
            python = _PYTHON_FOLDER.fullmatch(folder.name)
            if python:
                found += [
                    (int(python[1] or -1), folder / packages)
                    for packages in _PACKAGE_FOLDERS
                    if (folder / packages).is_dir()
                ]
    if any(number == minor for number, _ in found):
        found = [(number, folder) for number, folder in found if number == minor]
    sites = [folder for _, folder in sorted(found, key=lambda each: -each[0])]
    windows = prefix / "Lib" / "site-packages"
    debian = prefix / "lib" / "python3" / "dist-packages"
    return sites + [site for site in (windows, debian) if site.is_dir() and site not in sites]


def _pth_folders(site: Path, bounds: tuple[Path, ...] | None) -> list[Path]:
    return named_by_pth((site / name for name in _names(site) if name.endswith(".pth")), bounds)


def _children(folder: Path) -> list[Path]:
    return [folder / name for name in _names(folder)]


def _names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208  names are enough, and most need no path
    except OSError:
        return []


def _conda_python(prefix: Path) -> str:
    """The version in the name of conda's record of its Python, `conda-meta/python-3.11.7-*.json`."""
    for path in _children(prefix / "conda-meta"):
        if found := re.fullmatch(r"python-(\d[\w.]*)-[^-]+\.json", path.name):
            return found[1]
    return ""
