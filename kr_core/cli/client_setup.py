"""`kr init --client`: a coding agent's client is told of `kr mcp`, and its agent of when and how to ask.

Nothing is kept of it elsewhere. In the client's configuration KR's entry is known by its value; a text for the agent ends with
its own checksum. What was changed is the user's, and is neither replaced nor removed; nor are a configuration and folders that
may have been there before.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import shutil
import sys
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.cli import json_edit
from kr_core.config import load
from kr_core.errors import ConfigError
from kr_core.files import read_bytes, write_atomically
from kr_core.templates import render, search_folders
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping, Sequence

_SERVERS, _NAME = "mcpServers", "kr"
_OWN_FOLDER = "kr"
"""Of KR's skill; nobody else has a reason to make it."""
_LARGEST = 200_000
_BY_HAND = "change it by hand"
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


class _FileEdit(NamedTuple):
    """A file as it is, and as it shall be; None where there is none. Only a text of KR's own is removed."""

    path: Path
    before: str | None
    after: str | None


def run(options: argparse.Namespace) -> int:
    """Show what would change, and change it where that was agreed to; 2 where nobody could be asked."""
    folder = (options.folder or Path.cwd()).resolve()
    if options.force:
        raise ConfigError(
            "--force beside --client", where="kr init", hint="it is for kr.yaml alone; leave it out"
        )
    client = CLIENTS[options.client]
    changes = list(_undone(folder, client) if options.undo else _done(folder, options.config, client))
    changes = [change for change in changes if change.before != change.after]
    if not changes:
        print("there is nothing to undo" if options.undo else "all of it is there already")
        return 0
    for change in changes:
        _check_writable(change.path)
        print(printable(_difference(folder, change)), end="")
    if not options.yes and not _agreed():
        print("nothing was changed")
        return 0 if sys.stdin.isatty() else 2
    _apply_all(folder, changes)
    if not options.undo and shutil.which("kr") is None:
        print("note: no `kr` is on the path here; the client has to find one when it starts")
    return 0


def _done(folder: Path, file: Path | None, client: _Client) -> Iterator[_FileEdit]:
    configuration = folder / client.configuration
    before = _text(folder, configuration)
    yield _FileEdit(configuration, before, _with_server(configuration, before, _server(folder, file)))
    text = folder / client.text
    before = _text(folder, text)
    base = load(folder, file).settings.knowledge_research.knowledge_base_path
    if _is_ours(before):
        made = render(search_folders(folder), client.template, knowledge_base=str(base))
        yield _FileEdit(text, before, made + _SEAL.format(_checksum(made)))
    else:
        print(f"note: {client.text} is not KR's, or was changed; it stays as it is")


def _undone(folder: Path, client: _Client) -> Iterator[_FileEdit]:
    configuration = folder / client.configuration
    before = _text(folder, configuration)
    if before is not None:
        yield _FileEdit(configuration, before, _without_server(configuration, before))
    text = folder / client.text
    before = _text(folder, text)
    if text.is_symlink():
        print(f"note: {client.text} is a link, which KR has not made; it stays as it is")
    elif _is_ours(before):
        yield _FileEdit(text, before, None)
    else:
        print(f"note: {client.text} is not KR's, or was changed; it stays as it is")


def _server(folder: Path, file: Path | None) -> dict[str, Any]:
    """The entry; the client starts it in the project's folder."""
    if file is None:
        return {"command": "kr", "args": ["mcp"]}
    path = file.resolve()
    name = path.relative_to(folder) if path.is_relative_to(folder) else path
    return {"command": "kr", "args": ["--config", str(name), "mcp"]}


def _is_server(value: Any) -> bool:
    """Whether KR has written an entry, with any configuration."""
    if not isinstance(value, dict) or set(value) != {"command", "args"} or value["command"] != "kr":
        return False
    match value["args"]:
        case ["mcp"] | ["--config", str(), "mcp"]:
            return True
    return False


def _with_server(path: Path, text: str | None, server: Mapping[str, Any]) -> str:
    text = text or ""
    by_hand = f"add it by hand: {json.dumps({_SERVERS: {_NAME: server}})}"
    whole = json_edit.load(text, where=str(path), by_hand=by_hand)
    servers = whole.setdefault(_SERVERS, {})
    if not isinstance(servers, dict):
        raise ConfigError(
            f"`{_SERVERS}` is not an object", where=str(path), hint="mend it, and run this again"
        )
    if servers.get(_NAME) == server or not _may_change(path, servers):
        return text
    servers[_NAME] = server
    return json_edit.dump(whole, like=text)


def _without_server(path: Path, text: str) -> str:
    by_hand = f"take `{_SERVERS}.{_NAME}` out by hand"
    whole = json_edit.load(text, where=str(path), by_hand=by_hand)
    servers = whole.get(_SERVERS)
    if not isinstance(servers, dict) or _NAME not in servers or not _may_change(path, servers):
        return text
    del servers[_NAME]
    if not servers and len(whole) > 1:  # where it is all there is, the user may have made it
        del whole[_SERVERS]
    return json_edit.dump(whole, like=text)


def _may_change(path: Path, servers: Mapping[str, Any]) -> bool:
    """Whether the entry of KR's name is KR's, or there is none; says so of another one."""
    if _NAME not in servers or _is_server(servers[_NAME]):
        return True
    print(f"note: `{_SERVERS}.{_NAME}` of {path.name} is another one; it stays as it is")
    return False


def _is_ours(text: str | None) -> bool:
    """Whether a text for an agent may be replaced: there is none, or it is as KR has written it."""
    if text is None:
        return True
    sealed = _SEALED.fullmatch(text.replace("\r\n", "\n"))
    return sealed is not None and sealed["sum"] == _checksum(sealed["text"])


def _checksum(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]


def _text(folder: Path, path: Path) -> str | None:
    """What stands in a file of the project, with its line ends; None where there is none."""
    try:
        target = path.resolve()
        if not target.is_relative_to(folder):
            raise ConfigError(f"leads out of the project, to {target}", where=str(path), hint=_BY_HAND)
        if not target.exists():
            if path.is_symlink():
                raise ConfigError(
                    f"is a link to {target}, which is not there", where=str(path), hint=_BY_HAND
                )
            return None
        if not target.is_file():  # a pipe would be waited for
            raise ConfigError("is not a regular file", where=str(path), hint=_BY_HAND)
        return read_bytes(target, limit=_LARGEST, within=folder).decode()
    except UnicodeDecodeError as error:
        raise ConfigError("is not UTF-8 text", where=str(path), hint="save it in UTF-8") from error
    except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle
        said = getattr(error, "strerror", None) or error
        raise ConfigError(f"cannot be read: {said}", where=str(path)) from error


def _check_writable(path: Path) -> None:
    """A file that is protected is not replaced by another one, though the folder would allow it."""
    target = path.resolve()
    if target.exists() and not (target.stat().st_mode & 0o222 and os.access(target, os.W_OK)):
        raise ConfigError("may not be written", where=str(path), hint="allow it, and run this again")


def _difference(folder: Path, change: _FileEdit) -> str:
    name = str(change.path.relative_to(folder))
    before, after = (
        (text or "").removeprefix("\ufeff").replace("\r\n", "\n").splitlines(keepends=True)
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
        print("kr: there is no one to ask here; --yes applies it", file=sys.stderr)
        return False
    try:
        return input("Apply? [y/N] ").strip().casefold() in {"y", "yes"}
    except EOFError:
        return False


def _apply_all(folder: Path, changes: Sequence[_FileEdit]) -> None:
    """Make all changes or none; what has changed since it was shown is not overwritten."""
    made: list[tuple[_FileEdit, list[Path]]] = []
    try:
        for change in changes:
            _check_unchanged(folder, change)
        for change in changes:
            missing = [above for above in change.path.resolve().parents if not above.exists()]
            made.append((change, missing))
            _check_unchanged(folder, change)
            _apply(change)
    except (OSError, ConfigError) as error:
        for change, missing in reversed(made):
            _put_back(folder, change, missing)
        if isinstance(error, ConfigError):
            raise
        said = f"cannot be changed: {error.strerror or error}"
        raise ConfigError(said, where=str(made[-1][0].path), hint="nothing was changed") from error
    for change in changes:
        print(f"{'removed' if change.after is None else 'wrote'} {change.path.relative_to(folder)}")


def _check_unchanged(folder: Path, change: _FileEdit) -> None:
    if _text(folder, change.path) != change.before:
        hint = "nothing was changed; run this again"
        raise ConfigError("was changed by someone else meanwhile", where=str(change.path), hint=hint)


def _apply(change: _FileEdit) -> None:
    if change.after is not None:
        write_atomically(change.path.resolve(), change.after)  # a link stays one
        return
    change.path.unlink()
    above = change.path.parent
    if above.name == _OWN_FOLDER and not above.is_symlink() and not any(above.iterdir()):
        above.rmdir()  # those above it may have been there before


def _put_back(folder: Path, change: _FileEdit, missing: Sequence[Path]) -> None:
    """Undo a change, as far as it was made, unless somebody has changed it again."""
    with suppress(OSError, ConfigError):
        if _text(folder, change.path) == change.after:
            if change.before is None:
                change.path.resolve().unlink()
            else:
                write_atomically(change.path.resolve(), change.before)
    with suppress(OSError):
        for above in missing:
            above.rmdir()
