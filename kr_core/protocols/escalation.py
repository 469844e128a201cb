"""What a way to a human must offer, what it is handed, and what it brings back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import httpx

    from kr_core.model.questions import EscalationRequest, HumanResponse

__all__ = [
    "CaseView",
    "Ephemeral",
    "Escalation",
    "EscalationContext",
    "HumanReply",
    "Notice",
    "OpenCase",
    "PollResult",
    "Receiver",
    "UnparsedReply",
    "Verifier",
]


class CaseView(NamedTuple):
    """An escalation as a sink shows it."""

    request: EscalationRequest
    message: str
    """The whole case as Markdown, with how to answer."""
    location: str | None = None
    """Where this sink has shown an earlier revision, as its `open` told; None if it has not."""


class Notice(NamedTuple):
    """What a person is told about a case that they have seen."""

    id: str
    """The same each time this is tried: what a sink looks for that may not say a thing twice."""
    kind: Literal["understood", "refused", "help", "reminder", "ended"]
    """A reply was applied, was refused, was not understood; nobody has replied yet; the case needs no reply any more."""
    message: str
    """Markdown; no line of it is a command, and nothing in it mentions anybody."""
    reply_to: str = ""
    """The `external_id` of the reply that it answers; empty where it answers none."""
    ask: tuple[str, ...] = ()
    """Whom a reminder is meant for, by the names that the configuration has for them."""


class OpenCase(NamedTuple):
    """A case that a sink has shown, as far as it is needed to read replies."""

    escalation_id: str
    revision: int
    location: str
    """Where, as `open` told."""
    waits: bool
    """Whether nobody has decided it yet; a reply to one that is decided is refused with the reason."""


class HumanReply(NamedTuple):
    """What a person replied by a sink."""

    escalation_id: str
    """As the person wrote it; where it is none of those that the sink was handed, it may have been decided long ago."""
    response: HumanResponse
    external_id: str = ""
    """What tells this reply from any other of the sink, so that it is applied once; empty where it comes but once."""
    beside: str = ""
    """A case that stands in the same place: by it the person is told where the sink has shown no case of that id."""


class UnparsedReply(NamedTuple):
    """What a person wrote that cannot be applied, whatever the case is: it was not understood, or it is not theirs to say."""

    escalation_id: str
    """The case that it is about; where that is not clear, any of those that it may be about."""
    by: str
    kind: Literal["refused", "help", "edited"]
    """It is not theirs to say, was not understood, or was changed after it had been read; the last two are said as `help`."""
    message: str
    """What the person is told: the same once for each case, and something else a few times; as `Notice.said`."""
    external_id: str
    """As that of a reply."""


class PollResult(NamedTuple):
    """What people have written."""

    replies: Sequence[HumanReply | UnparsedReply] = ()
    """In the order in which they were written; what was told before may be told again."""
    mark: str = ""
    """How far that is. The next `poll` is given it, once all replies are on the record; empty at first."""
    complete: bool = True
    """Whether that is all that has been written. Where it is not, no time limit ends a case, since somebody may have replied,
    and `poll` is called again: soon, where the mark has moved, else as after a fault."""


class EscalationContext(Protocol):
    """What a way to a human is handed with each call."""

    deadline: float
    """When the call will be cancelled, in the event loop's time (`loop.time()`)."""
    emit: Callable[[str, dict[str, Any]], None]
    """`emit(kind, data)` reports progress; never raises."""

    @property
    def http(self) -> httpx.AsyncClient:
        """The shared HTTP client, as `SourceContext.http`; it sends no POST twice."""


class Escalation(Protocol):
    """A way to a human: it shows cases, and brings replies back.

    Each call may be made again, also by another process after a crash in the middle of it: a sink looks first whether it
    has shown or said the same before. Calls of one sink are made one after the other, whatever the number of processes.
    """

    async def open(self, case: CaseView, context: EscalationContext) -> str | None:
        """Show a case; None where nobody is there to see it, else where it stands (`terminal`, a URL).

        Raises:
            RequestError: it could not be shown now; it is tried again later.
        """

    async def poll(self, shown: Sequence[OpenCase], mark: str, context: EscalationContext) -> PollResult:
        """What people have written since a mark; waits for nobody.

        Args:
            shown: the cases that wait, and those that were decided lately.
            mark: as the last `PollResult` had it.
            context: of this call.

        Raises:
            RequestError: it cannot be asked now; it is tried again later.
        """

    async def acknowledge(self, case: CaseView, notice: Notice, context: EscalationContext) -> None:
        """Tell people what was understood, refused or decided, or that they are waited for.

        Raises:
            RequestError: it could not be told now; it is tried again later.
        """


@runtime_checkable
class Ephemeral(Protocol):
    """A way to a human that shows a case once, to whoever sits before the process that asks; nothing is owed to it later."""

    momentary: bool


class Receiver(Escalation, Protocol):
    """A way to a human that a service calls by itself, beside being asked: its webhook is `/hooks/NAME` of `kr serve`."""

    async def receive(
        self, shown: Sequence[OpenCase], headers: Mapping[str, str], body: bytes, context: EscalationContext
    ) -> PollResult:
        """What a call of the service tells; its `mark` is not used.

        Args:
            shown: as for `poll`.
            headers: the headers of the call, with names in lower case.
            body: the body of the call, byte for byte.
            context: of this call.

        Raises:
            RequestError: the call is not the service's (`blocked`), or cannot be understood (`bad_answer`).
        """


@runtime_checkable
class Verifier(Protocol):
    """A `Receiver` that tells by a call alone whether it is the service's, before anybody waits or reads a case for it."""

    def verify(self, headers: Mapping[str, str], body: bytes) -> None:
        """Let a call pass that is the service's; pure, and quick.

        Args:
            headers: the headers of the call, with names in lower case.
            body: the body of the call, byte for byte.

        Raises:
            RequestError: the call is not the service's (`blocked`), or cannot be understood (`bad_answer`).
        """
