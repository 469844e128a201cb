"""`kr init --client`: a coding agent's client is told of `kr mcp`, and its agent of when and how to ask.

Nothing is kept of it elsewhere. In the client's configuration KR's entry is known by its value; a text for the agent ends with
its own checksum, and names the folder that KR made for it. What was changed is the user's, and is neither replaced nor removed; nor are a
configuration that is not word for word what KR makes where none was, and folders that were there before.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.cli import json_edit, output
from kr_core.config import load
from kr_core.config.template_trust import template_folders, unused_note
from kr_core.entry_points import require
from kr_core.errors import ConfigError, PluginError
from kr_core.file_edits import FileEdit as _FileEdit
from kr_core.file_edits import check_writable, difference, text_of
from kr_core.files import write_atomically
from kr_core.templates import render
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping, Sequence

_SERVERS, _NAME = "mcpServers", "kr"
_OWN_FOLDER = "kr"
"""Of KR's skill and its agent for BMAD; nobody else has a reason to make it."""
_OWN_FOLDERS = 2
"""It and the one below it."""
_SEAL = "<!-- Written by `kr init`{}, sha256:{}. Change it as you like: KR then leaves it alone. -->\n"
_MADE = " with the folder `{}`"
_SEALED = re.compile(
    r"(?P<text>.*)<!-- Written by `kr init`(?: with the folder `(?P<made>[^`\n]+)`)?, sha256:(?P<sum>[0-9a-f]{16})"
    + re.escape(_SEAL.rpartition("{}")[2]),
    re.DOTALL,
)


class _Client(NamedTuple):
    """Where a client looks for what it is told."""

    configuration: str | None
    texts: Mapping[str, str]
    """The files of its agents, each with its template."""
    needs: str = ""
    """A folder that is in a project of this client's."""


_BMAD_AGENT = "clients/bmad-agent.md.j2"
CLIENTS = {
    "claude-code": _Client(".mcp.json", {".claude/skills/kr/SKILL.md": "clients/skill.md.j2"}),
    "cursor": _Client(".cursor/mcp.json", {".cursor/rules/kr.mdc": "clients/rule.mdc.j2"}),
    "bmad": _Client(
        None,
        {
            "_bmad/kr/agents/knowledge-researcher.md": _BMAD_AGENT,
            ".claude/agents/kr-knowledge-researcher.md": _BMAD_AGENT,
        },
        needs="_bmad",
    ),
}


def run(options: argparse.Namespace) -> int:
    """Show what would change, and change it where that was agreed to; 2 where nobody could be asked."""
    folder = (options.folder or Path.cwd()).resolve()
    if options.force:
        raise ConfigError(
            "--force beside --client", where="kr init", hint="it is for kr.yaml alone; leave it out"
        )
    client = CLIENTS[options.client]
    if client.needs and not (folder / client.needs).is_dir():
        hint = f"run it in the folder that has `{client.needs}/`, or name that folder with -C"
        raise ConfigError(f"has no `{client.needs}/`", where=str(folder), hint=hint)
    changes = list(_undone(folder, client) if options.undo else _done(folder, options.config, client))
    changes = [change for change in changes if change.before != change.after]
    if not changes:
        print("there is nothing to undo" if options.undo else "all of it is there already")
        return 0
    for change in changes:
        check_writable(change.path)
        print(printable(difference(folder, change)), end="")
    if not options.yes and not output.agreed("--yes applies it"):
        print("nothing was changed")
        return 0 if sys.stdin.isatty() else 2
    _apply_all(folder, changes)
    if not options.undo and client.configuration is not None:
        _tell_what_is_missing()
    return 0


def _tell_what_is_missing() -> None:
    """Say why the client could not start the server, here or on the computer of another."""
    if _program() != ["kr"]:
        print("note: no `kr` is on the path, so the entry has a path of this computer")
    try:
        require("mcp", "mcp")
    except PluginError as error:
        print(f"note: the client cannot start KR yet: {error}")


def _done(folder: Path, file: Path | None, client: _Client) -> Iterator[_FileEdit]:
    if client.configuration is not None:
        configuration = folder / client.configuration
        before = text_of(folder, configuration)
        yield _FileEdit(configuration, before, _with_server(configuration, before, _server(folder, file)))
    config = load(folder, file)
    base, folders = config.knowledge_base_path, template_folders(folder, config.environ)
    if note := unused_note(folder, config.environ):
        print(printable(f"note: {note}"))
    for name, template in client.texts.items():
        path = folder / name
        before = text_of(folder, path)
        if before is None and client.needs and not (folder / Path(name).parts[0]).is_dir():
            continue  # of another program, which this project does not use
        if _is_ours(before):
            made = render(folders, template, knowledge_base=_shown(folder, base))
            with_folder = _folder_made(before) or _first_missing(folder, path)
            seal = _SEAL.format(with_folder and _MADE.format(with_folder), _checksum(made))
            yield _FileEdit(path, before, made + seal)
        else:
            print(f"note: {name} is not KR's, or was changed; it stays as it is")


def _shown(folder: Path, base: Path) -> str:
    """The knowledge base as the agent finds it from the project's folder."""
    return str(base.relative_to(folder) if base.is_relative_to(folder) else base)


def _undone(folder: Path, client: _Client) -> Iterator[_FileEdit]:
    if client.configuration is not None:
        configuration = folder / client.configuration
        before = text_of(folder, configuration)
        if before is not None:
            is_made = before == _made_anew(configuration, before) and not configuration.is_symlink()
            after = None if is_made else _without_server(configuration, before)
            yield _FileEdit(configuration, before, after)
    for name in client.texts:
        path = folder / name
        before = text_of(folder, path)
        if path.is_symlink():
            print(f"note: {name} is a link, which KR has not made; it stays as it is")
        elif _is_ours(before):
            yield _FileEdit(path, before, None)
        else:
            print(f"note: {name} is not KR's, or was changed; it stays as it is")


def _server(folder: Path, file: Path | None) -> dict[str, Any]:
    """The entry; the client starts it in the project's folder."""
    program, *arguments = _program()
    if file is not None:
        path = file.resolve()
        name = path.relative_to(folder) if path.is_relative_to(folder) else path
        arguments += ["--config", str(name)]
    return {"command": program, "args": [*arguments, "mcp"]}


def _program() -> list[str]:
    """What starts KR: its name where the path has it, otherwise the program beside this Python, or this Python itself."""
    if shutil.which("kr") is not None:
        return ["kr"]
    beside = shutil.which("kr", path=os.path.dirname(sys.executable))  # noqa: PTH120  text, as `which` wants it
    # -P: the client starts it in the project's folder, where a `kr_core` of the project's own may lie
    return [sys.executable, "-P", "-m", "kr_core"] if beside is None else [beside]


def _is_server(value: Any) -> bool:
    """Whether KR has written an entry, with any configuration."""
    if (
        not isinstance(value, dict)
        or set(value) != {"command", "args"}
        or not isinstance(value["args"], list)
    ):
        return False
    program = _program()
    whole = [value["command"], *value["args"]]
    if whole[: len(program)] != program:
        program = ["kr"]
    if whole[: len(program)] != program:
        return False
    match whole[len(program) :]:
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
    return json_edit.dump(whole, like=text, where=str(path), by_hand=by_hand)


def _without_server(path: Path, text: str) -> str:
    by_hand = f"take `{_SERVERS}.{_NAME}` out by hand"
    whole = json_edit.load(text, where=str(path), by_hand=by_hand)
    servers = whole.get(_SERVERS)
    if not isinstance(servers, dict) or _NAME not in servers or not _may_change(path, servers):
        return text
    del servers[_NAME]
    if not servers:
        del whole[_SERVERS]
    return json_edit.dump(whole, like=text, where=str(path), by_hand=by_hand)


def _made_anew(path: Path, text: str) -> str | None:
    """What KR writes where no file was, with the entry that a text has; None where that is none of KR's."""
    servers = json_edit.load(text, where=str(path), by_hand=f"take `{_SERVERS}.{_NAME}` out by hand").get(
        _SERVERS
    )
    server = servers.get(_NAME) if isinstance(servers, dict) else None
    return _with_server(path, None, server) if isinstance(server, dict) and _is_server(server) else None


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
    sealed = _sealed(text)
    return sealed is not None and sealed["sum"] == _checksum(sealed["text"])


def _sealed(text: str) -> re.Match[str] | None:
    return _SEALED.fullmatch(text.replace("\r\n", "\n"))


def _folder_made(text: str | None) -> str:
    """The highest folder that KR made for a text, as the text says; empty if it says none."""
    sealed = _sealed(text) if text else None
    return (sealed["made"] or "") if sealed else ""


def _first_missing(folder: Path, path: Path) -> str:
    """The highest folder that will be made for a file."""
    above = [one for one in path.parents if one.is_relative_to(folder) and not one.exists()]
    return above[-1].relative_to(folder).as_posix() if above else ""


def _checksum(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]


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
            _apply(folder, change)
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
    if text_of(folder, change.path) != change.before:
        hint = "nothing was changed; run this again"
        raise ConfigError("was changed by someone else meanwhile", where=str(change.path), hint=hint)


def _apply(folder: Path, change: _FileEdit) -> None:
    if change.after is not None:
        write_atomically(change.path.resolve(), change.after)  # a link stays one
        return
    change.path.unlink()
    made = _folder_made(change.before)
    for number, above in enumerate(
        change.path.parents
    ):  # those that KR has not made may have been empty before
        own = number < _OWN_FOLDERS and _OWN_FOLDER in (above.name, above.parent.name)
        by_us = made and folder / made in (above, *above.parents)
        if above == folder or not (own or by_us) or above.is_symlink() or any(above.iterdir()):
            return
        above.rmdir()


def _put_back(folder: Path, change: _FileEdit, missing: Sequence[Path]) -> None:
    """Undo a change, as far as it was made, unless it has changed again."""
    with suppress(OSError, ConfigError):
        if text_of(folder, change.path) == change.after:
            if change.before is None:
                change.path.resolve().unlink()
            else:
                write_atomically(change.path.resolve(), change.before)
    with suppress(OSError):
        for above in missing:
            above.rmdir()
