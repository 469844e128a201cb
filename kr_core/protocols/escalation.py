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
    "Review",
    "ReviewChannel",
    "UnparsedReply",
    "Verifier",
]


class CaseView(NamedTuple):
    """A case as a channel shows it."""

    request: EscalationRequest
    message: str
    """The whole case as Markdown, including how to answer."""
    location: str | None = None
    """Where this channel showed an earlier revision, as returned by its `open`; None if it did not."""


class Notice(NamedTuple):
    """A message to people about a case that they have seen."""

    id: str
    """The same on every attempt, so that a channel can check whether it has already sent the notice."""
    kind: Literal["understood", "refused", "help", "reminder", "ended"]
    """A reply was applied, was refused, or was not understood; no one has replied yet; the case no longer needs a
    reply.
    """
    message: str
    """Markdown; no line is a command, and it mentions no one."""
    reply_to: str = ""
    """The `external_id` of the reply that it answers; empty if it answers none."""
    ask: tuple[str, ...] = ()
    """The people whom a reminder addresses, by their names in the configuration."""


class OpenCase(NamedTuple):
    """A case that a channel has shown, with what it needs to read replies."""

    escalation_id: str
    revision: int
    location: str
    """Where it was shown, as returned by `open`."""
    waits: bool
    """Whether the case is still undecided; KR refuses a reply to a decided case, with the reason."""


class HumanReply(NamedTuple):
    """A person's reply through a channel."""

    escalation_id: str
    """As the person wrote it; a case that the channel did not receive may have been decided long ago."""
    response: HumanResponse
    external_id: str = ""
    """An id that is unique among the channel's replies, so that KR applies it once; empty if the channel returns it
    only once.
    """
    beside: str = ""
    """Another case in the same place. KR uses it to answer the person if the channel has shown no case with that id."""


class UnparsedReply(NamedTuple):
    """Something that a person wrote and KR cannot apply: it was not understood, or the person may not reply."""

    escalation_id: str
    """The case that it refers to; if unclear, any case that it may refer to."""
    by: str
    kind: Literal["refused", "help", "edited"]
    """The person may not reply, the text was not understood, or it changed after the channel read it; people see the
    last two as `help`.
    """
    message: str
    """The answer to the person. KR sends the same message once for each case, and different messages a few times."""
    external_id: str
    """As in `HumanReply`."""


class PollResult(NamedTuple):
    """The replies that a channel found."""

    replies: Sequence[HumanReply | UnparsedReply] = ()
    """In the order in which they were written; earlier replies may be included again."""
    mark: str = ""
    """How far the channel has read. KR passes it to the next `poll`, once all replies are on the record; empty at
    first.
    """
    complete: bool = True
    """Whether these are all replies. If not, KR applies no time limit, because someone may have replied, and calls
    `poll` again: soon if the mark has moved, otherwise as after a failure.
    """


class EscalationContext(Protocol):
    """What a channel receives with each call."""

    deadline: float
    """When KR cancels the call, in the event loop's time (`loop.time()`)."""
    emit: Callable[[str, dict[str, Any]], None]
    """`emit(kind, data)` reports progress; never raises."""

    @property
    def http(self) -> httpx.AsyncClient:
        """The shared HTTP client, as `SourceContext.http`; it never repeats a POST."""


class Escalation(Protocol):
    """A channel to humans: it shows cases and returns replies.

    KR may repeat each call, also from another process after a crash in the middle of it, so a channel first checks
    whether it has already shown or said the same. KR calls one channel sequentially, across all processes.
    """

    async def open(self, case: CaseView, context: EscalationContext) -> str | None:
        """Show a case and return where it is (`terminal`, a URL), or None if no one is there to see it.

        Raises:
            RequestError: the case could not be shown now; KR tries again later.
        """

    async def poll(self, shown: Sequence[OpenCase], mark: str, context: EscalationContext) -> PollResult:
        """Return what people wrote since a mark, without waiting.

        Args:
            shown: the cases that wait, and those decided recently.
            mark: the mark of the last `PollResult`.
            context: the context of this call.

        Raises:
            RequestError: the channel cannot be polled now; KR tries again later.
        """

    async def acknowledge(self, case: CaseView, notice: Notice, context: EscalationContext) -> None:
        """Tell people what was understood, refused or decided, or remind them.

        Raises:
            RequestError: the notice could not be sent now; KR tries again later.
        """


@runtime_checkable
class Ephemeral(Protocol):
    """A channel that shows a case once, to the person at the process that asks. KR owes it no later call."""

    momentary: bool


@runtime_checkable
class Receiver(Escalation, Protocol):
    """A channel that also accepts webhooks: a service calls `/hooks/NAME` of `kr serve`."""

    async def receive(
        self, shown: Sequence[OpenCase], headers: Mapping[str, str], body: bytes, context: EscalationContext
    ) -> PollResult:
        """Read the replies in a call of the service; KR ignores the `mark`.

        Args:
            shown: as for `poll`.
            headers: the headers of the call, with names in lower case.
            body: the body of the call, byte for byte.
            context: the context of this call.

        Raises:
            RequestError: the call is not from the service (`blocked`), or cannot be understood (`bad_answer`).
        """


@runtime_checkable
class Verifier(Protocol):
    """A `Receiver` that can tell from a call alone whether it comes from the service, before KR reads a case."""

    def verify(self, headers: Mapping[str, str], body: bytes) -> None:
        """Accept a call of the service, otherwise raise; pure and fast.

        Args:
            headers: the headers of the call, with names in lower case.
            body: the body of the call, byte for byte.

        Raises:
            RequestError: the call is not from the service (`blocked`), or cannot be understood (`bad_answer`).
        """


class Review(NamedTuple):
    """A reviewer's comments on the work of a branch."""

    id: str
    """The same on every attempt, so that a channel can check whether it has already posted the review."""
    branch: str
    """The branch, without `refs/heads/`."""
    message: str
    """Markdown; no line is a command, and it mentions no one."""


@runtime_checkable
class ReviewChannel(Protocol):
    """A channel that can also post a review where people discuss a branch, such as its pull request."""

    async def review(self, review: Review, context: EscalationContext) -> str | None:
        """Post a review and return where it is, or None if the branch has no such place.

        Raises:
            RequestError: it could not be posted; the log has it.
        """
