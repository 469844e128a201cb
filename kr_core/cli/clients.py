"""`kr init --client`: a coding agent's client is told of `kr mcp`, and its agent of when and how to ask.

Nothing is kept of it elsewhere. In the client's configuration KR's entry is known by its value; a text for the agent ends with
its own checksum. What was changed is the user's, and is neither replaced nor removed.
"""

from __future__ import annotations

import difflib
import re
import shutil
import sys
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kr_core.cli.jsontext import member, with_member, without_member
from kr_core.config import load
from kr_core.errors import ConfigError
from kr_core.files import write_atomically
from kr_core.printable import printable
from kr_core.templating import render, search_folders

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

_SERVER = {"command": "kr", "args": ["mcp"]}
_PLACE = ("mcpServers", "kr")
_BOM = "\N{ZERO WIDTH NO-BREAK SPACE}"
_SEAL = "<!-- Written by `kr init`, sha256:{}. Change it as you like: KR then leaves it alone. -->\n"
_SEALED = re.compile(r"(?P<text>.*)" + re.escape(_SEAL).replace(r"\{\}", "(?P<sum>[0-9a-f]{16})"), re.DOTALL)


class _Client(NamedTuple):
    """Where a client looks for what it is told."""

    configuration: str
    text: str
    template: str


CLIENTS = {
    "claude-code": _Client(".mcp.json", ".claude/skills/kr/SKILL.md", "clients/skill.md.j2"),
    "cursor": _Client(".cursor/mcp.json", ".cursor/rules/kr.mdc", "clients/rule.mdc.j2"),
}


class _Change(NamedTuple):
    """A file as it is, and as it shall be; None where there is none."""

    path: Path
    before: str | None
    after: str | None


def run(options: argparse.Namespace) -> int:
    """Show what would change, and change it where that was agreed to; 2 where nobody could be asked."""
    folder = (options.folder or Path.cwd()).resolve()
    if options.force:
        raise ConfigError(
            "--force beside --client", where="kr init", todo="it is for kr.yaml alone; leave it out"
        )
    client = CLIENTS[options.client]
    changes = list(_undone(folder, client) if options.undo else _done(folder, options.config, client))
    changes = [change for change in changes if change.before != change.after]
    if not changes:
        print("there is nothing to undo" if options.undo else "all of it is there already")
        return 0
    for change in changes:
        print(printable(_difference(folder, change)), end="")
    if not options.yes and not _agreed():
        print("nothing was changed")
        return 0 if sys.stdin.isatty() else 2
    for change in changes:
        _apply(folder, change)
    if not options.undo and shutil.which("kr") is None:
        print("note: no `kr` is on the path here; the client has to find one when it starts")
    return 0


def _done(folder: Path, file: Path | None, client: _Client) -> Iterator[_Change]:
    configuration = folder / client.configuration
    before = _text(configuration)
    yield _Change(configuration, before, _with_server(configuration, before))
    text = folder / client.text
    before = _text(text)
    base = load(folder, file).settings.knowledge_research.knowledge_base_path
    if _is_ours(before):
        made = render(search_folders(folder), client.template, knowledge_base=str(base))
        yield _Change(text, before, made + _SEAL.format(_checksum(made)))
    else:
        print(f"note: {client.text} is not KR's, or was changed; it stays as it is")


def _undone(folder: Path, client: _Client) -> Iterator[_Change]:
    configuration = folder / client.configuration
    before = _text(configuration)
    if before is not None:
        yield _Change(configuration, before, _without_server(configuration, before))
    text = folder / client.text
    before = _text(text)
    if _is_ours(before):
        yield _Change(text, before, None)
    else:
        print(f"note: {client.text} is not KR's, or was changed; it stays as it is")


def _with_server(path: Path, text: str | None) -> str:
    if text is None or not text.removeprefix(_BOM).strip():
        text = "{}\n"
    bom, bare = _BOM if text.startswith(_BOM) else "", text.removeprefix(_BOM)
    if _is_another(path, bare):
        return text
    return bom + with_member(bare, _PLACE, _SERVER, where=str(path))


def _without_server(path: Path, text: str) -> str | None:
    bom, bare = _BOM if text.startswith(_BOM) else "", text.removeprefix(_BOM)
    if _is_another(path, bare):
        return text
    left = without_member(bare, _PLACE, where=str(path))
    return None if left is None else bom + left


def _is_another(path: Path, text: str) -> bool:
    """Whether the user has an entry of this name that KR did not write."""
    there = member(text, _PLACE, where=str(path))
    if there is None or there == _SERVER:
        return False
    print(f"note: `{'.'.join(_PLACE)}` of {path.name} is another one; it stays as it is")
    return True


def _is_ours(text: str | None) -> bool:
    """Whether a text for an agent may be replaced: there is none, or it is as KR has written it."""
    if text is None:
        return True
    sealed = _SEALED.fullmatch(text.replace("\r\n", "\n"))
    return sealed is not None and sealed["sum"] == _checksum(sealed["text"])


def _checksum(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]


def _text(path: Path) -> str | None:
    """What stands in a file, with its line ends; None where there is none."""
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise ConfigError("is not UTF-8 text", where=str(path), todo="save it in UTF-8") from error
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror or error}", where=str(path)) from error


def _difference(folder: Path, change: _Change) -> str:
    name = str(change.path.relative_to(folder))
    before, after = (
        (text or "").removeprefix(_BOM).replace("\r\n", "\n").splitlines(keepends=True)
        for text in (change.before, change.after)
    )
    old, new = (
        "/dev/null" if text is None else f"{side}/{name}"
        for text, side in ((change.before, "a"), (change.after, "b"))
    )
    lines = difflib.unified_diff(before, after, old, new)
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def _agreed() -> bool:
    """Whether a person at the terminal says yes; where nobody is there, the answer is how to."""
    if not sys.stdin.isatty():
        print("kr: nobody is asked here: --yes applies it", file=sys.stderr)
        return False
    try:
        return input("Apply? [y/N] ").strip().casefold() in {"y", "yes"}
    except EOFError:
        return False


def _apply(folder: Path, change: _Change) -> None:
    name = change.path.relative_to(folder)
    try:
        if change.after is None:
            _remove(folder, change.path)
        else:
            write_atomically(change.path.resolve(), change.after)  # a link stays one
    except OSError as error:
        raise ConfigError(f"cannot be changed: {error.strerror or error}", where=str(change.path)) from error
    print(f"{'removed' if change.after is None else 'wrote'} {name}")


def _remove(folder: Path, file: Path) -> None:
    """Remove a file, and the folders that are empty then."""
    file.unlink()
    for above in file.parents:
        if above == folder or any(above.iterdir()):
            return
        above.rmdir()
