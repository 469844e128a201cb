"""The prompts of agents, from templates that a project may replace.

Whatever comes from outside (question, context, knowledge, earlier replies) stands in a fence that it cannot close, or as text
in JSON on one line (a topic, a name): it is data, and the prompt says so.
"""

from __future__ import annotations

import errno
import json
import re
from hashlib import sha256
from typing import TYPE_CHECKING

from kr_core.agents.personas import hidden, persona
from kr_core.files import read_text
from kr_core.net.redaction import redacted
from kr_core.templates import render
from kr_core.terminal_text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from kr_core.model.questions import EscalationRequest, Question
    from kr_core.model.routing import AgentProfile

__all__ = ["answer", "chat", "fenced", "quoted", "repair", "system", "version"]

_MAX_QUOTED_LENGTH = 4000
_MAX_TALK = 60_000
"""Characters of a talk that are said again with each message."""


def system(folders: tuple[Path, ...], profile: AgentProfile, root: Path) -> tuple[str, list[str]]:
    """Who answers: the persona, and the knowledge folder's texts; with notes of what could not be read."""
    who, notes = persona(folders, profile, root)
    knowledge, more = _knowledge(profile, root)
    text = render(folders, "prompts/system.md.j2", persona=who, agent=profile, knowledge=knowledge)
    return text, notes + more


def version(folders: tuple[Path, ...], profile: AgentProfile, root: Path) -> str:
    """What tells the persona and prompts of an agent from others; its knowledge grows without changing it."""
    who, _notes = persona(folders, profile, root)
    asked = render(folders, "prompts/system.md.j2", persona=who, agent=profile, knowledge=[])
    asked += render(folders, "prompts/answer.md.j2", question="", context="", topic="", choices="")
    return sha256(asked.encode("utf-8", "replace")).hexdigest()[:12]


def answer(folders: tuple[Path, ...], question: Question, context: str) -> str:
    """What is asked: the question, its context and choices.

    Args:
        folders: where templates are looked for.
        question: what is asked.
        context: the question's own, and the answers it builds on.
    """
    return render(
        folders,
        "prompts/answer.md.j2",
        question=fenced(question.text),
        context=fenced(context) if context.strip() else "",
        topic=quoted(question.topic) if question.topic.strip() else "",
        choices=_listed(question.choices),
    )


def chat(
    folders: tuple[Path, ...], request: EscalationRequest, turns: Sequence[tuple[str, str]], message: str
) -> str:
    """What is asked in a talk about one question.

    Args:
        folders: where templates are looked for.
        request: the question, and the answer that was not sure enough.
        turns: what was said so far, and by whom; of a long talk, what was said last.
        message: what is said now.
    """
    kept: list[tuple[str, str]] = []
    left = _MAX_TALK
    for who, text in reversed(turns):
        left -= len(text)
        if left < 0:
            break
        kept.append((quoted(who), fenced(text)))
    question, tentative = request.question, request.answer
    mine = tentative is None or tentative.agent == request.partner
    return render(
        folders,
        "prompts/chat.md.j2",
        question=fenced(question.text),
        context=fenced(question.context) if question.context.strip() else "",
        topic=quoted(question.topic) if question.topic.strip() else "",
        choices=_listed(question.choices),
        answer="" if tentative is None else fenced(tentative.content),
        answerer="" if mine or tentative is None else quoted(tentative.agent),
        turns=kept[::-1],
        message=fenced(message),
    )


def repair(folders: tuple[Path, ...], prompt: str, reply: str, fault: str) -> str:
    """The same once more, with what was wrong with the reply."""
    return render(
        folders, "prompts/repair.md.j2", prompt=prompt, reply=fenced(reply[:_MAX_QUOTED_LENGTH]), fault=fault
    )


def fenced(text: str) -> str:
    """A text in a fence longer than any in it, so that nothing in it ends the fence."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}text\n{text.strip()}\n{fence}"


def quoted(text: str) -> str:
    """A short text as JSON, on one line."""
    return json.dumps(" ".join(text.split()), ensure_ascii=False)


def _listed(choices: Sequence[str]) -> str:
    """Choices in a fence, a line each; empty for none."""
    return fenced("\n".join(f"- {' '.join(choice.split())}" for choice in choices)) if choices else ""


_MAX_KNOWLEDGE = 200_000
"""Characters: some 50,000 tokens, which fit any model in use beside question and answer."""
_LARGEST = 4 * _MAX_KNOWLEDGE
"""Bytes of so many characters."""
_READ = {".md", ".txt", ".rst", ".adoc"}


def _knowledge(profile: AgentProfile, root: Path) -> tuple[list[tuple[str, str]], list[str]]:
    """The texts of an agent's knowledge folder, by name, as far as they fit."""
    if profile.knowledge is None:
        return [], []
    folder = root / profile.knowledge
    if not folder.resolve().is_relative_to(root.resolve()):  # a project's file could name anybody's folder
        return [], [
            f"knowledge of {profile.name}: {profile.knowledge} leads out of the project and is not read"
        ]
    texts: list[tuple[str, str]] = []
    notes: list[str] = []
    left = _MAX_KNOWLEDGE
    try:
        files = sorted(path for path in folder.rglob("*") if _is_knowledge(path, root) and path.is_file())
    except OSError as error:
        files, notes = [], [f"knowledge of {profile.name}: cannot be read: {error.strerror or error}"]
    if not files and not notes:
        notes.append(f"knowledge of {profile.name}: {profile.knowledge} has no text in it")
    for path in files:
        name = one_line(path.relative_to(folder).as_posix())
        if not path.resolve().is_relative_to(folder.resolve()):
            notes.append(f"knowledge of {profile.name}: {name} leads out of its folder and was left out")
            continue
        try:
            text = read_text(path, limit=_LARGEST, within=folder, errors="replace").strip()
        except OSError as error:
            if error.errno == errno.EFBIG:
                notes.append(f"knowledge of {profile.name}: {name} did not fit and was left out")
                continue
            notes.append(f"knowledge of {profile.name}: {name}: {error.strerror or error}")
            continue
        text = redacted(text) if len(text) <= left else text  # which takes its time
        if len(text) > left:
            notes.append(f"knowledge of {profile.name}: {name} did not fit any more and was left out")
            continue
        left -= len(text)
        texts.append((quoted(name), fenced(text)))
    return texts, notes


def _is_knowledge(path: Path, root: Path) -> bool:
    """Whether a file is one to be known by heart, also where it is a link: `notes.md` may lead to `.env`."""
    return all(one.suffix.lower() in _READ for one in (path, path.resolve())) and not hidden(path, root)
