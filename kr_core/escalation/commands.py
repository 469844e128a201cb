"""What people reply, read by one grammar for the terminal, GitHub and the web; no model ever decides what a human meant.

A command stands at the very start of a line, outside quotes, code and HTML comments:

    /kr confirm E7@2
    /kr correct E7@2 TEXT
    /kr context E7@2 TEXT
    /kr choose E7@2 B
    /kr chat E7@2

TEXT runs to the next command or the end; where it is one fenced block, it is what stands in the block. The id may be left
out where one case waits. What looks like a command and is none becomes a fault, which says what to write instead.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from functools import cached_property
from heapq import nsmallest
from typing import TYPE_CHECKING, Literal, NamedTuple

from kr_core.errors import suggestion
from kr_core.escalation.sanitize import harmless_line
from kr_core.markup.markdown import outside
from kr_core.model.questions import HumanResponse

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["HELP", "CommandFault", "ParsedReplies", "ReplyCommand", "help_for", "read_replies"]

Action = Literal["confirm", "correct", "add_context", "choose", "chat"]

_MEANINGS: dict[str, tuple[str, str]] = {
    "confirm": ("", "the answer is right"),
    "correct": (" TEXT", "this is the answer instead"),
    "context": (" TEXT", "ask again, with this known as well"),
    "choose": (" B", "this one of the choices"),
    "chat": ("", "talk about the question first"),
}


def help_for(name: str, verbs: Collection[str] = tuple(_MEANINGS)) -> str:
    """The commands for a case (`E7@2`): those that fit it."""
    fitting = [
        (f"/kr {verb} {name}{_MEANINGS[verb][0]}", _MEANINGS[verb][1]) for verb in _MEANINGS if verb in verbs
    ]
    width = max(len(command) for command, _ in fitting)
    listed = "".join(f"    {command:<{width}}     {meaning}\n" for command, meaning in fitting)
    return f"Reply with one of these, each at the start of a line:\n\n{listed}"


HELP = help_for("E7@2")
"""What somebody is told once whose reply could not be understood."""

_ACTIONS: dict[str, Action] = {
    "confirm": "confirm",
    "correct": "correct",
    "context": "add_context",
    "choose": "choose",
    "chat": "chat",
}
_ALONE = ("confirm", "chat")
_COMMAND = re.compile(r"/kr(?=[ \t]|$)[ \t]*+(\S*+)[ \t]*+(.*)", re.IGNORECASE)
_ID = re.compile(r"(E[0-9]{1,9})(?:@([0-9]{1,9}))?[:,]?(?=[ \t]|$)[ \t]*", re.IGNORECASE)
_ALMOST_ID = re.compile(r"E[0-9]+@\S*", re.IGNORECASE)
_FENCE = re.compile(r" {0,3}(`{3,}+|~{3,}+)[^\n]*+\n")
_MAX_ECHO_LENGTH = 40
_MAX_LISTED = 20
_MAX_COMMANDS = 100
_MAX_FAULTS = 20
_MANY = "this is too much for one text; what stands from here on was not read, so write it in another one"


class ReplyCommand(NamedTuple):
    """A parsed command."""

    escalation_id: str
    revision: int | None
    """None if left out."""
    action: Action
    content: str
    line: int
    """Its line, from 1."""

    def response(self, by: str) -> HumanResponse:
        """The person's decision."""
        return HumanResponse(action=self.action, content=self.content, by=by, revision=self.revision)


class CommandFault(NamedTuple):
    """A text that looks like a command but cannot be understood.

    `kind` is `verb` (no such command), `id` (no such case, or not written as one), `which` (the id is needed), `text` (the
    text is missing), `prose` (there is more than the command takes), `quote` (it belongs to the quote above it) or `many`
    (there are too many, and the rest is not read).
    """

    kind: Literal["verb", "id", "which", "text", "prose", "quote", "many"]
    line: int
    message: str
    """The message to the person; no part of it is a command or a mention."""
    escalation_id: str | None = None
    """The case that the line names; None if it names none, or one that is not here."""


class ParsedReplies(NamedTuple):
    """All commands and faults of a text; without either, it is a comment, not a reply."""

    commands: tuple[ReplyCommand, ...]
    faults: tuple[CommandFault, ...]


def read_replies(
    text: str, waiting: Collection[str], closed: Collection[str] = (), *, others: bool = False
) -> ParsedReplies:
    """Parse the commands in a text.

    Args:
        text: a person's text; Markdown, with any line endings.
        waiting: the ids of the cases that wait.
        closed: ids of cases that no longer wait; a command for one of them is valid here, and KR refuses it later.
        others: whether a command for any other case is valid too, because it may have been decided long ago.

    Returns:
        The first hundred commands, and the first twenty faults.
    """
    lines = re.split(r"\r\n|\r|\n", text)
    if not any(line[:3].lower() == "/kr" for line in lines):  # most comments are talk
        return ParsedReplies((), ())
    places = outside(lines)
    starts = [
        (number, found)
        for number, line in enumerate(lines)
        if places[number] != "hidden" and (found := _COMMAND.fullmatch(line))
    ]
    ids = _Ids(set(waiting), closed if isinstance(closed, AbstractSet) else set(closed), others)
    ends = [*(number for number, _ in starts), len(lines)][1:]
    commands: list[ReplyCommand] = []
    faults: list[CommandFault] = []
    for (number, found), end in zip(starts, ends, strict=True):
        if len(commands) == _MAX_COMMANDS or len(faults) == _MAX_FAULTS:
            faults.append(CommandFault("many", number + 1, _MANY))
            break
        below = lines[number + 1 : end]
        prose = bool(below and below[0].strip()) and places[number + 1] != "hidden"
        if places[number] == "quoted":
            read: ReplyCommand | CommandFault = CommandFault(
                "quote",
                number + 1,
                "a command right below a quote is part of it; leave an empty line between",
            )
        else:
            read = _read(number + 1, found[1], found[2], below, prose, ids)
        if isinstance(read, ReplyCommand):
            commands.append(read)
        else:
            faults.append(read._replace(escalation_id=ids.named_in(found[2])))
    return ParsedReplies(tuple(commands), tuple(faults))


def _read(
    line: int,
    verb: str,
    rest: str,
    below: list[str],
    prose: bool,
    ids: _Ids,
) -> ReplyCommand | CommandFault:
    known = verb.lower()
    if known not in _ACTIONS:
        return CommandFault("verb", line, _unknown(verb))
    found = _ID.match(rest)
    if found is None and (almost := _ALMOST_ID.match(rest)):
        return CommandFault("id", line, f"`{_echo(almost[0])}` is not an id; write it as `E7@2`")
    which = _which(line, None if found is None else found[1].upper(), ids)
    if isinstance(which, CommandFault):
        return which
    revision = None if found is None or found[2] is None else int(found[2])
    text = rest if found is None else rest[found.end() :]
    if known in _ALONE and (text.strip() or prose):
        said = f"`{known}` stands alone, with an empty line below it; nothing was done, since there is more"
        return CommandFault("prose", line, f"{said}: `{_echo(text.strip() or below[0])}`")
    if known == "choose" and prose:
        said = "`choose` takes one choice and an empty line below it; nothing was done, since there is more"
        return CommandFault("prose", line, f"{said}: `{_echo(below[0])}`")
    content = "" if known in _ALONE else text.strip() if known == "choose" else _text(text, below)
    if known not in _ALONE and not content:
        what = "which one" if known == "choose" else "a text"
        return CommandFault("text", line, f"`{known}` needs {what}: `{known} {which} ...`")
    return ReplyCommand(which, revision, _ACTIONS[known], content, line)


class _Ids:
    """The cases that a text may name."""

    def __init__(self, waiting: AbstractSet[str], closed: AbstractSet[str], others: bool) -> None:
        self.waiting = waiting
        self.closed = closed
        self.others = others

    def named_in(self, rest: str) -> str | None:
        """The case that the rest of a command begins with, if it may be named."""
        found = _ID.match(rest)
        name = found[1].upper() if found else ""
        return name if name in self.waiting or name in self.closed else None

    @cached_property
    def listed(self) -> str:
        """The ids of what waits, the first ones if there are many."""
        names = nsmallest(_MAX_LISTED, self.waiting, key=lambda name: int(name[1:]))
        more = len(self.waiting) - len(names)
        return ", ".join(names) + (f" and {more} more" if more else "")


def _which(line: int, written: str | None, ids: _Ids) -> str | CommandFault:
    if written is not None:
        if ids.others or written in ids.waiting or written in ids.closed:
            return written
        there = f"waiting: {ids.listed}" if ids.waiting else "nothing waits"
        return CommandFault("id", line, f"there is no {written}; {there}")
    if len(ids.waiting) == 1:
        return next(iter(ids.waiting))
    if not ids.waiting:
        return CommandFault("which", line, "nothing waits for an answer")
    return CommandFault("which", line, f"several wait, so say which: {ids.listed}")


def _unknown(verb: str) -> str:
    if not verb:
        return f"say what to do; commands: {', '.join(_ACTIONS)}"
    return (
        f"`{_echo(verb)}` is no command; {suggestion(verb[:_MAX_ECHO_LENGTH].lower(), _ACTIONS, 'commands')}"
    )


def _text(first: str, below: list[str]) -> str:
    """The text of a command: what stands in the fence, if it is one fenced block."""
    text = "\n".join([first, *below]).strip("\n").rstrip()
    inside = _in_fence(text)
    return text.strip() if inside is None else inside


def _in_fence(text: str) -> str | None:
    """What a text that is one fenced block holds; a closing fence may be longer than the opening one, and end a line."""
    opening = _FENCE.match(text)
    if opening is None:
        return None
    end = text.rstrip(" \t")
    start = len(end.rstrip("`~"))
    fence = opening[1]
    while len(fence) >= 3 and fence not in end[start:]:
        fence = fence[1:]
    if len(fence) < 3:
        return None
    body = end[: end.index(fence, start)][opening.end() :]
    blanks = min(3, len(body) - len(body.rstrip(" ")))
    body = body[: len(body) - blanks].removesuffix("\n")
    return None if re.search(rf"^ {{0,3}}{re.escape(fence)}", body, re.MULTILINE) else body


def _echo(text: str) -> str:
    """The beginning of what somebody wrote, fit to be said back."""
    return harmless_line(text, _MAX_ECHO_LENGTH).replace("`", "'")
