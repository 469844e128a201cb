"""Messages of several lines: pretty-printed JSON is joined until it is complete, within bounds of lines, bytes and time."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from kr_core.model import Fault
from kr_core.team import messages
from kr_core.team.line_io import MAX_LINE_LENGTH

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_LINES = 10_000
"""Of a message; a request of a hundred queries takes a fifth of it, one value a line."""
MAX_SECONDS = 30.0
"""From the first line of a message to its last."""
_MAX_DEPTH = 100
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+("?)')
"""A text of JSON; one without an end goes on to the line's."""
_FENCE = "```"
"""A model puts one around what it sends."""


class MessageAssembler:
    """Makes messages of lines, in order.

    A line that begins a new message ends an unfinished one, which gets its error. What is left of a message that was
    refused gets no error of its own, nor has each line of a text one: that goes on to the next line that begins a
    message, or to a pause.

    Args:
        clock: gives seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lines: list[str] = []
        """Of the unfinished message."""
        self._size = 0
        self._depth = 0
        self._since = 0.0
        self._last = ""
        """The last sign of the unfinished message that is not blank."""
        self._failed = False
        """Whether the line before was refused, or is what is left of a message that was."""
        self._refused = False
        """Whether that message has no end yet, so that a key of it may look like the name of a message."""
        self._heard = 0.0
        """When the last line came."""

    @property
    def seconds_left(self) -> float | None:
        """How long the unfinished message may still take; None where there is none."""
        return max(0.0, self._since + MAX_SECONDS - self._clock()) if self._lines else None

    def take(self, line: str | Fault) -> list[messages.TeamMessage | Fault]:
        """What the next line completes: messages, and faults of what is none. A fault is that of a line without text."""
        if isinstance(line, Fault):
            return [*self.end("a line that cannot be read comes before its end"), line]
        if line.startswith(_FENCE):
            return []
        if self._clock() - self._heard > MAX_SECONDS:  # what comes now is something else
            self._failed = self._refused = False
        self._heard = self._clock()
        begins = self._begins(line)
        if self._lines and not begins:
            return self._noted(self._go_on(line))
        if not line.strip():
            return []
        if self._failed and not begins:
            self._last = line.rstrip()[-1]
            return []
        goes_on = self._is_inside and messages.has_no_body(line)
        found = [*self.end("a new message begins before its end"), *self._noted(self._begin(line))]
        self._failed |= goes_on  # it may have been a line of a text, whose rest follows
        return found

    def end(self, why: str = "the input ends before it does") -> list[messages.TeamMessage | Fault]:
        """The fault of the message that is unfinished, if one is."""
        self._failed = self._refused = False
        if not self._lines:
            return []
        count, self._lines = len(self._lines), []
        lines = f"{count} line{'s' * (count != 1)}"
        return [messages.not_a_message(f"is not complete after {lines}: {why}")]

    def expire(self) -> list[messages.TeamMessage | Fault]:
        """Give up an unfinished message whose time is over."""
        return [] if self.seconds_left else self._give_up(f"its end did not come within {MAX_SECONDS:.0f} s")

    @property
    def _is_inside(self) -> bool:
        """Whether a message has begun that has no end yet."""
        return bool(self._lines) or self._refused

    def _begins(self, line: str) -> bool:
        """Whether a line can only be the first of a message."""
        if messages.is_named(line, inside=self._is_inside):
            return True
        if not line.startswith("{"):
            return False
        return self._last not in "[,:" or isinstance(messages.read(line), messages.TeamMessage)

    def _noted(self, found: list[messages.TeamMessage | Fault]) -> list[messages.TeamMessage | Fault]:
        self._failed = any(isinstance(one, Fault) for one in found)
        return found

    def _begin(self, line: str) -> list[messages.TeamMessage | Fault]:
        self._last = "" if line.strip() in messages.KNOWN else line.rstrip()[-1]
        message = messages.read(line)
        body = messages.body_of(line)
        if isinstance(message, messages.TeamMessage) or body is None:
            self._refused = isinstance(message, Fault) and line.strip() in messages.KNOWN
            return [message]
        self._size = self._depth = 0
        self._since, self._last = self._clock(), ""
        if not self._is_open(body):
            self._refused = self._depth > 0
            return [message]
        self._lines.append(line)
        self._size = len(line)
        return [] if messages.may_go_on(line) else self._refuse(message)

    def _refuse(self, fault: Fault) -> list[messages.TeamMessage | Fault]:
        self._lines, self._refused = [], True
        return [fault]

    def _give_up(self, why: str) -> list[messages.TeamMessage | Fault]:
        faults = self.end(why)
        self._failed = self._refused = True
        self._heard = self._clock()
        return faults

    def _go_on(self, line: str) -> list[messages.TeamMessage | Fault]:
        self._lines.append(line)
        self._size += len(line)
        if len(self._lines) > MAX_LINES:
            return self._give_up(f"at most {MAX_LINES} lines are read")
        if self._size > MAX_LINE_LENGTH:
            return self._give_up(f"at most {MAX_LINE_LENGTH} characters are read")
        if self._is_open(line):
            return []
        if self._depth > 0:
            return self._give_up("a text in it has no end, or it is nested too deeply")
        text = "\n".join(self._lines)
        message = messages.read(text)
        self._lines = []
        is_whole = self._last in "}]" and messages.body_of(text) is not None
        self._refused = isinstance(message, Fault) and not is_whole
        return [message]

    def _is_open(self, text: str) -> bool:
        """Count the brackets of a piece of JSON; whether the next line may go on with it."""
        rest = _STRING.sub(lambda found: '""' if found[1] else '"', text)
        self._depth += rest.count("{") + rest.count("[") - rest.count("}") - rest.count("]")
        self._last = rest.rstrip()[-1:] or self._last
        if rest.replace('""', "").count('"'):
            return False
        is_first = not self._lines
        return 0 < self._depth <= _MAX_DEPTH or (is_first and not text.strip())
