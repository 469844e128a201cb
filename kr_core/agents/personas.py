"""Who an agent is: its persona, from the project's own files or a template.

A BMAD agent is named `bmad:bmm:agents:architect` and lies in the project, as Markdown with XML or YAML in it; menus and
activation steps are for a person who chats with it, and are left out (R11).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kr_core.files import lies_within, read_text
from kr_core.net.redaction import redacted
from kr_core.templates import is_accepted, render
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from pathlib import Path

    from kr_core.config import Config
    from kr_core.model.routing import AgentProfile

__all__ = ["hidden", "persona", "researcher", "stripped"]

_FAILED = "persona_load_failed: using lean persona"
_ROLES = ("architect", "product", "qa", "developer", "devops", "reviewer")
_FOLDERS = ("_bmad", "bmad", ".bmad", ".bmad-core", ".claude/commands/bmad")
_ENDINGS = (".md", ".agent.yaml", ".yaml")
_READ = {".md", ".yaml", ".yml", ".j2", ".txt"}
"""Endings of a file that may be a persona: no other file of a project is sent to a model as one."""
_LONGEST = 50_000
"""Characters: the longest persona of BMAD has a tenth of it."""
_LARGEST = 4 * _LONGEST
"""Bytes of a file of that length."""
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_PARTS = re.compile(
    r"<(agent-activation|activation|menu|menu-handlers|handlers|prompts|rules|cmds|commands)\b[^>]{0,1000}+>",
    re.IGNORECASE,
)
_YAML_PARTS = re.compile(
    r"^(?P<indent> *)(?:activation-instructions|activation|commands|menu|dependencies|critical_actions|prompts|"
    r"IDE-FILE-RESOLUTION|REQUEST-RESOLUTION|request-resolution|triggers|webskip)\s*:.*\n(?:(?P=indent)(?:[ -].*)?\n|\s*\n)*",
    re.MULTILINE,
)
_ORDERS = re.compile(
    r"^.*\b(?:ACTIVATION-NOTICE|COMPLETE AGENT DEFINITION|CRITICAL:|You must fully embody|NEVER break character|"
    r"Read the full YAML|exit command).*$\n?",
    re.MULTILINE,
)
_WRAPPER = re.compile(
    r"^[ \t]*</?agent\b[^>\n]{0,1000}+>[ \t]*$\n?|</?agent\b[^>]{0,1000}+>", re.IGNORECASE | re.MULTILINE
)
"""What BMAD wraps an agent in: it names a file and an icon, and ends nothing that stands around it in a prompt."""
_FENCE = re.compile(r"^```\w*\s*$\n?", re.MULTILINE)


def persona(folders: tuple[Path, ...], profile: AgentProfile, root: Path) -> tuple[str, list[str]]:
    """An agent's persona, and a note where the configured one cannot be read."""
    notes: list[str] = []
    if profile.persona is not None:
        text, fault = _found(folders, profile.persona, root)
        if text:
            return text, notes
        notes.append(f"{_FAILED} ({profile.name}: {fault})")
    name = profile.role if profile.role in _ROLES else "default"
    return render(folders, f"personas/{name}.md.j2", agent=profile).strip(), notes


def researcher(folders: tuple[Path, ...], config: Config) -> tuple[str, list[str]]:
    """The persona for research, as `role_mapping.knowledge_researcher_persona` names it, and a note where it cannot be read."""
    wanted = config.settings.role_mapping.knowledge_researcher_persona
    if wanted is not None:
        text, _fault = _found(folders, wanted, config.root)
        if text:
            return text, []
    lean = render(folders, "personas/researcher.md.j2").strip()
    return lean, [] if wanted is None else [_FAILED]


def stripped(text: str) -> str:
    """A persona without front matter, menus, activation steps and what tells a chat program how to behave."""
    text = _FRONT_MATTER.sub("", text.replace("\r\n", "\n"))
    text = _without_parts(text)
    for pattern in (_WRAPPER, _YAML_PARTS, _ORDERS, _FENCE):
        text = pattern.sub("", text)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def _without_parts(text: str) -> str:
    """A text without each part that is opened and closed."""
    kept, start, place, unclosed = [], 0, 0, set()
    while (opening := _PARTS.search(text, place)) is not None:
        name = opening[1].lower()
        end = re.compile(f"</{name}>", re.IGNORECASE)
        closing = None if name in unclosed else end.search(text, opening.end())
        if closing is None:
            unclosed.add(name)
            place = opening.start() + 1
            continue
        kept.append(text[start : opening.start()])
        start = place = closing.end()
    return "".join([*kept, text[start:]])


def hidden(path: Path, *folders: Path) -> bool:
    """Whether a file, or what it is a link to, has a name or lies in a folder that begins with a dot; BMAD's own do not count.

    Args:
        path: of the file.
        folders: below one of which it lies; the first one that it is below counts.
    """
    for one, bases in ((path, folders), (path.resolve(), [folder.resolve() for folder in folders])):
        base = next((folder for folder in bases if one.is_relative_to(folder)), None)
        if base is None:
            continue  # of a file named by `..`; what it leads to is looked at
        name = one.relative_to(base).as_posix()
        own = next((folder for folder in _FOLDERS if name.startswith(f"{folder}/")), "")
        if any(part.startswith(".") for part in name.removeprefix(own).split("/")):
            return True
    return False


def _found(folders: tuple[Path, ...], wanted: str, root: Path) -> tuple[str, str]:
    """The text of a persona, or why there is none."""
    fault = "there is no such file"
    for path, base in _candidates(folders, wanted, root):
        try:
            if not lies_within(path, base):
                fault = f"{path.name} leads out of the project"  # and what lies there is nobody's to send to a model
                continue
            if any(one.suffix.lower() not in _READ for one in (path, path.resolve())):
                fault = f"{path.name} is no text that may be a persona ({', '.join(sorted(_READ))})"
                continue
            if hidden(path, *folders, root):
                fault = f"{path.name} is hidden and is not read"
                continue
            written = read_text(path, limit=_LARGEST, within=base)
            if not is_accepted(base, f"personas/{path.name}", written):
                fault = f"{path.name} is not trusted; read it, then allow it with `kr trust`"
                continue
            text = redacted(stripped(written[:_LONGEST]))
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:
            fault = printable(f"{path.name}: {getattr(error, 'strerror', None) or error}")
            continue
        if text:
            return text, ""
        fault = f"{path.name} is empty"
    return "", fault


def _candidates(folders: tuple[Path, ...], wanted: str, root: Path) -> list[tuple[Path, Path]]:
    """Where a persona may lie, with the folder that it belongs to: BMAD's folders, a file of the project, a template."""
    parts = [part for part in wanted.split(":") if part not in {"", "bmad"}]
    if len(parts) > 1 and all(re.fullmatch(r"[\w.-]+", part) and not part.startswith(".") for part in parts):
        tail = "/".join(parts)
        short = "/".join(parts[-2:])  # `.bmad-core` has no modules
        return [
            (root / folder / f"{name}{ending}", root)
            for folder in _FOLDERS
            for name in dict.fromkeys((tail, short))
            for ending in _ENDINGS
        ]
    templates = (
        [(folder / "personas" / f"{wanted}.md", folder) for folder in folders] if "/" not in wanted else []
    )
    return [(root / wanted, root), *templates]
