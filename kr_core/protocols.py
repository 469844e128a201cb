"""What a component of each kind must offer; the engine, not pluggy, calls these methods.

Async only where there is waiting for the outside (`Source`, `Agent`, `Escalation`). Everything else is sync, so that a cache hit
starts no event loop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    import inspect
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from concurrent.futures import Future
    from contextlib import AbstractAsyncContextManager
    from datetime import date
    from pathlib import Path

    import httpx

    from kr_core.model import (
        Draft,
        Entry,
        Event,
        Finding,
        Page,
        Program,
        Report,
        ResearchQuery,
        ResearchResult,
        Score,
        ToolResult,
    )
    from kr_core.model.questions import EscalationRequest, HumanResponse, Question, Reply
    from kr_core.model.routing import Route

__all__ = [
    "Agent",
    "Cache",
    "Candidates",
    "Case",
    "Document",
    "Embedder",
    "Escalation",
    "Exchange",
    "Flaw",
    "Heard",
    "HumanReply",
    "Job",
    "Journal",
    "Kept",
    "Log",
    "LogRecord",
    "Momentary",
    "Moved",
    "Notice",
    "Project",
    "Rate",
    "Rebuilt",
    "Receiver",
    "Renderer",
    "Repairable",
    "Router",
    "Scorer",
    "Shown",
    "SinkContext",
    "Source",
    "SourceContext",
    "Store",
    "Unclear",
    "Verifier",
]


class Project(Protocol):
    """The project that KR works in."""

    root: Path
    working_folder: Path

    def version_of(self, framework: str) -> tuple[str, str] | None:
        """The version in use and the file or environment it was read from, or None where unknown."""


class Rate(NamedTuple):
    """At most so many requests in so many seconds, over all questions that are asked at once."""

    calls: int
    seconds: float


class Cache(Protocol):
    """What a source remembers on disk, apart from other sources; it may forget anything at any time.

    Values are plain data, as JSON has it.
    """

    async def get(self, key: str) -> Any:
        """The value kept under a key; None if there is none, or its time is over."""

    async def set(self, key: str, value: Any, seconds: float) -> None:
        """Keep a value for so many seconds."""


class Exchange(Protocol):
    """One request that does not go through `http`: what its source says of it, for the event."""

    status: int | None
    """The HTTP status of the answer."""
    received: int
    """Bytes of the answer."""

    def was_sent(self) -> None:
        """The request is on its way: from now on the consultation costs a call."""


class SourceContext(Protocol):
    """What a source is handed with each question."""

    deadline: float
    """When the call will be cancelled, in the event loop's time (`loop.time()`)."""
    project: Project
    emit: Callable[[str, dict[str, Any]], None]
    """`emit(kind, data)` reports progress or a request that was sent; never raises."""

    @property
    def http(self) -> httpx.AsyncClient:
        """The shared HTTP client; closed by the engine.

        It sends again what failed in passing, honours `Retry-After`, keeps to the source's rate, leaves alone a host that
        keeps failing, reads no answer beyond 8 MB, and makes one event of each request. It follows no redirect.
        """

    @property
    def cache(self) -> Cache:
        """What the source remembers from one question to the next."""

    def exchange(
        self, host: str, method: str, url: str, sent: str = "", *, limited: bool = True
    ) -> AbstractAsyncContextManager[Exchange]:
        """One request that does not go through `http`: it has its turn, its circuit and its event all the same.

        Args:
            host: whose circuit it is (`mcp.example.org:443`).
            method: `tools/call` and the like.
            url: where it goes; for the event.
            sent: what is told there; for the event, without what looks like a secret.
            limited: whether it takes a turn of the source's rate.

        Raises:
            httpx.ConnectError: the host is left alone for now, or there is no turn before the deadline.
        """

    async def fetch(self, url: str, *, allow_hosts: Sequence[str] = ()) -> Page:
        """One page of the web, fetched safely: from the public internet alone, bounded, as its robots.txt allows.

        Args:
            url: where it is; http or https.
            allow_hosts: `host` or `host:port`, as they stand in URLs, that may be fetched although they are private.

        Raises:
            RequestError: it must not be fetched, or could not be; its `outcome` says of which kind that is.
        """

    async def call_tool(
        self,
        server: str | Program,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        headers: Mapping[str, str] = ...,
    ) -> ToolResult:
        """One call of a tool of an MCP server; needs the extra `mcp`.

        Args:
            server: a streamable-HTTP address, or the program to start.
            tool: the tool's name.
            arguments: what it is called with.
            headers: sent with each HTTP request.

        Raises:
            RequestError: it could not be called; its `outcome` says of which kind that is.
        """


class Source(Protocol):
    """Finds passages that answer a question."""

    external: bool
    """True when a consultation leaves the machine, and so costs a call of the budget."""
    timeout_seconds: float
    """The limit for one consultation where nothing is configured."""

    async def query(self, query: ResearchQuery, context: SourceContext) -> Finding:
        """Return a finding with a typed outcome; cancellation must pass through.

        Whatever is raised becomes the outcome `unavailable` and a note; it never reaches the caller.
        """


@runtime_checkable
class Versioned(Protocol):
    """A component with a program behind it: `kr doctor` tells its version."""

    async def version(self) -> str:
        """The program's version, as it says it itself.

        Raises:
            RequestError: it cannot be started, or does not say it.
        """


@runtime_checkable
class Unready(Protocol):
    """A source or an agent that can be built without all that it needs: `kr doctor` tells what is missing."""

    unready: str
    """Why it cannot be asked as it is configured, and what to do; empty where it can."""


@runtime_checkable
class Limited(Protocol):
    """A source that may send only so often."""

    rate: Rate


@runtime_checkable
class Selective(Protocol):
    """A source that knows beforehand which frameworks it has anything about.

    The default chain lists such a source only where this returns True; a configured chain is obeyed exactly.
    """

    def knows(self, query: ResearchQuery, project: Project) -> bool:
        """Whether the source has documentation of the query's framework."""


class Candidates(NamedTuple):
    """The entries that may match a query, and what went wrong while reading them."""

    entries: Sequence[Entry]
    warnings: Sequence[str] = ()
    files: Sequence[Path] = ()
    """The files that this answer was read from; a change of any of them makes it void."""


class Kept(NamedTuple):
    """What a write did."""

    entry: Entry | None
    """The entry as it stands in the index; None for a report that is not indexed."""
    path: str
    """The report's path, relative to the knowledge base."""
    index_count: int
    evicted: int = 0
    """Entries beyond the limit that the engine had archived after this write; -1 when that failed. Stores leave it 0."""
    files: Sequence[Path] = ()
    """The files that were written or removed, where the store keeps any: what a commit of this write holds."""


class Moved(NamedTuple):
    """What a change of several entries came to."""

    entries: Sequence[Entry]
    """The entries as they stand now."""
    files: Sequence[Path] = ()
    """The files that were written, where the store keeps any."""


class Rebuilt(NamedTuple):
    """What was done to make an index anew."""

    said: Sequence[str] = ()
    """A line for each thing; none where nothing had to be done."""
    files: Sequence[Path] = ()
    """The files that were written, where the store keeps any."""


class Flaw(NamedTuple):
    """Something that is wrong with a knowledge base."""

    kind: str
    """`unreadable`, `orphan` (a report that no entry leads to), `dangling` (an entry without its report), `stale`, ..."""
    place: str
    """The file and line, the report's path, or the entry's id."""
    said: str
    todo: str


class Store(Protocol):
    """The knowledge base.

    Which entries are archived or stale is decided by the engine; a store only keeps.
    """

    def candidates(self, query: ResearchQuery) -> Candidates:
        """Entries that may answer the query, or a superset. A broken index is a warning, not an error."""

    def entries(self) -> Sequence[Entry]:
        """All entries, in the order of the index.

        Raises:
            StorageError: the index cannot be read.
        """

    def read(self, entry: Entry) -> tuple[str, dict[str, Any]] | None:
        """The report's text and its evidence ({} where there is none), or None if it is gone or empty."""

    def write(self, report: str, evidence: Mapping[str, Any], entry: Entry, *, index: bool = True) -> Kept:
        """Keep a report and its entry, atomically; an entry with the same id is updated in place.

        With `index=False` only the report is written, and never over one that is there.

        Raises:
            StorageError: nothing was changed, or the report is there and the index is as it was.
        """

    def touch(self, entry: Entry, today: date) -> int:
        """Note that the entry was used today (at most one write a day) and return the number of entries.

        Raises:
            StorageError: the index cannot be written.
        """

    def drop(self, entry: Entry) -> None:
        """Remove an entry whose report is gone.

        Raises:
            StorageError: the index cannot be written.
        """

    def mark_stale(self, choose: Callable[[Sequence[Entry]], Sequence[Entry]]) -> Moved:
        """Give the chosen entries the status `stale`; their other values and their reports stay.

        `choose` is handed all entries while nobody else writes, so that none is marked that was just brought up to date.

        Raises:
            StorageError: the index cannot be read or written; nothing was changed.
        """

    def archive(self, choose: Callable[[Sequence[Entry]], Sequence[Entry]]) -> Moved:
        """Move the chosen entries to the archive, with the status `archived`; their reports stay.

        `choose` is handed all entries while nobody else writes, so that none goes that was just used.

        Raises:
            StorageError: the index cannot be read or written; no entry was lost.
        """

    def archived(self) -> Sequence[Entry]:
        """The archived entries; they are neither candidates nor among `entries`, and can be read.

        Raises:
            StorageError: the archive cannot be read.
        """

    def restore(self, entry: Entry) -> Kept:
        """Move an archived entry back, as it is given; it is told by its id and path.

        Raises:
            StorageError: it is not in the archive, another entry has its id, or the index cannot be written.
        """


@runtime_checkable
class Repairable(Protocol):
    """A store that can say what is wrong with it, and make its index anew."""

    def check(self) -> Sequence[Flaw]:
        """Everything that is wrong; nothing is changed. Whether an answer is stale is not the store's to say."""

    def rebuild(self) -> Rebuilt:
        """Make the index anew from the reports, with what the old one still tells; no report is changed.

        The old index is set aside first. Where nothing would change, nothing is written.

        Raises:
            StorageError: it cannot be written.
        """


class Scorer(Protocol):
    """Says how sure an answer is."""

    def score(self, query: ResearchQuery, findings: Sequence[tuple[str, Finding]], draft: Draft) -> Score:
        """Score what the named sources found and what the draft makes of it; pure."""


class Renderer(Protocol):
    """Turns a report into text."""

    def render(self, report: Report) -> str:
        """The report as text; pure but for reading templates."""


class Router(Protocol):
    """Says where a question goes."""

    def route(self, question: Question) -> Route | None:
        """The way of a question, or None where this router does not know; pure.

        Raises:
            ConfigError: the question itself names a target that there is not.
        """


class Job(Protocol):
    """One prompt for an agent, and all that it needs to carry it to a model."""

    name: str
    """The agent's name in the roster."""
    question: Question
    """What was asked, in plain form; the prompt holds it already."""
    system: str
    """Who answers: persona and knowledge."""
    prompt: str
    """What is asked, and in which form."""
    schema: Mapping[str, Any]
    """The reply's form as a JSON schema: one flat object, every property required, and no others allowed."""
    model: str | None
    """The model that is configured; None for the plugin's own."""
    max_tokens: int | None
    """The longest reply that is wanted, in tokens; None for the plugin's own limit."""
    deadline: float
    """When the call will be cancelled, in the event loop's time (`loop.time()`)."""
    emit: Callable[[str, dict[str, Any]], None]
    """`emit(kind, data)` reports progress; never raises."""

    @property
    def http(self) -> httpx.AsyncClient:
        """The shared HTTP client, as `SourceContext.http`; give `timeout=` with a request, since models think for long.

        A POST that failed in passing is sent again where it says that it changes nothing: `extensions={"repeat": may_pass}`,
        with a function of the answer that tells a failure in passing from one for good.
        """

    async def research(self, question: str, **options: Any) -> ResearchResult:
        """Answer a question from the sources, as `Pipeline.aresearch` does."""


class Agent(Protocol):
    """Carries a prompt to a model, and the reply back.

    Prompts, the form of replies, their validation, a second try and what follows a failure are the engine's.
    """

    async def run(self, job: Job) -> Reply:
        """Run one prompt; cancellation must pass through, with nothing left running.

        Raises:
            RequestError: there is no reply; its `outcome` says of which kind that is: `timeout`, `limited`, `blocked` (it
                refused, or must not be asked), `unavailable`, or `bad_answer` (cut off, say).
        """


class Case(NamedTuple):
    """An escalation as a sink shows it."""

    request: EscalationRequest
    said: str
    """The whole case as Markdown, with how to answer."""
    place: str | None = None
    """Where this sink has shown an earlier revision, as its `open` told; None if it has not."""


class Notice(NamedTuple):
    """What a person is told about a case that they have seen."""

    id: str
    """The same each time this is tried: what a sink looks for that may not say a thing twice."""
    kind: Literal["understood", "refused", "help", "reminder", "ended"]
    """A reply was applied, was refused, was not understood; nobody has replied yet; the case needs no reply any more."""
    said: str
    """Markdown; no line of it is a command, and nothing in it mentions anybody."""
    reply_to: str = ""
    """The `external_id` of the reply that it answers; empty where it answers none."""
    ask: tuple[str, ...] = ()
    """Whom a reminder is meant for, by the names that the configuration has for them."""


class Shown(NamedTuple):
    """A case that a sink has shown, as far as it is needed to read replies."""

    escalation_id: str
    revision: int
    place: str
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


class Unclear(NamedTuple):
    """What a person wrote that cannot be applied, whatever the case is: it was not understood, or it is not theirs to say."""

    escalation_id: str
    """The case that it is about; where that is not clear, any of those that it may be about."""
    by: str
    kind: Literal["refused", "help", "edited"]
    """It is not theirs to say, was not understood, or was changed after it had been read; the last two are said as `help`."""
    said: str
    """What the person is told, once for each case and kind; as `Notice.said`."""
    external_id: str
    """As that of a reply."""


class Heard(NamedTuple):
    """What people have written."""

    replies: Sequence[HumanReply | Unclear] = ()
    """In the order in which they were written; what was told before may be told again."""
    mark: str = ""
    """How far that is. The next `poll` is given it, once all replies are on the record; empty at first."""
    complete: bool = True
    """Whether that is all that has been written. Where it is not, no time limit ends a case, since somebody may have replied,
    and `poll` is called again: soon, where the mark has moved, else as after a fault."""


class SinkContext(Protocol):
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

    async def open(self, case: Case, context: SinkContext) -> str | None:
        """Show a case; None where nobody is there to see it, else where it stands (`terminal`, a URL).

        Raises:
            RequestError: it could not be shown now; it is tried again later.
        """

    async def poll(self, shown: Sequence[Shown], mark: str, context: SinkContext) -> Heard:
        """What people have written since a mark; waits for nobody.

        Args:
            shown: the cases that wait, and those that were decided lately.
            mark: as the last `Heard` had it.
            context: of this call.

        Raises:
            RequestError: it cannot be asked now; it is tried again later.
        """

    async def acknowledge(self, case: Case, notice: Notice, context: SinkContext) -> None:
        """Tell people what was understood, refused or decided, or that they are waited for.

        Raises:
            RequestError: it could not be told now; it is tried again later.
        """


@runtime_checkable
class Momentary(Protocol):
    """A way to a human that shows a case once, to whoever sits before the process that asks; nothing is owed to it later."""

    momentary: bool


class Receiver(Escalation, Protocol):
    """A way to a human that a service calls by itself, beside being asked: its webhook is `/hooks/NAME` of `kr serve`."""

    async def receive(
        self, shown: Sequence[Shown], headers: Mapping[str, str], body: bytes, context: SinkContext
    ) -> Heard:
        """What a call of the service tells; its `mark` is not used.

        Args:
            shown: as for `poll`.
            headers: of the call; names in lower case.
            body: as it came in, byte for byte.
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
            headers: of the call; names in lower case.
            body: as it came in, byte for byte.

        Raises:
            RequestError: the call is not the service's (`blocked`), or cannot be understood (`bad_answer`).
        """


class Document(NamedTuple):
    """Something that changes, and of which the journal keeps the latest version: an escalation, say."""

    kind: str
    key: str
    """Unique in its kind."""
    status: str
    """What it is listed by."""
    version: int
    """1 when it is new, and one more with each change."""
    data: dict[str, Any]
    """JSON values."""


class Journal(Protocol):
    """Append-only events, step results and budgets: what may not be lost."""

    def append(self, events: Sequence[Event]) -> Future[None]:
        """Queue events; the future resolves when they are durable.

        It fails with StorageError when they are not.
        """

    def read(self, after: int, limit: int) -> Sequence[tuple[int, Event]]:
        """Up to `limit` events with a number greater than `after`, in order."""

    def entries(
        self, *, feature: str = "", exchange: str = "", after: int = 0, limit: int = 1000
    ) -> Sequence[tuple[int, Event]]:
        """Up to `limit` events of a feature, or of an exchange, with a number greater than `after`, in order.

        An event's feature is the `feature_id` of its data, its exchange the run. With neither: all that have a feature.
        """

    def verify(self) -> Sequence[Flaw]:
        """What is wrong with the record: each event is tied by a hash to the one before it. Empty if it is whole."""

    def number(self, kind: str) -> int:
        """The next number of a kind, from 1; no number is given twice, whoever asks."""

    def document(self, kind: str, key: str) -> Document | None:
        """The latest version of a document, or None."""

    def documents(
        self, kind: str, status: str = "", limit: int = 1000, after: str = ""
    ) -> Sequence[Document]:
        """The latest versions of a kind's documents (of one status, if given), oldest document first.

        With `after`, the key of one of them, those that were new after it: so they are read page by page.
        """

    def versions(self, kind: str) -> Sequence[tuple[str, str, int]]:
        """Key, status and version of each of a kind's documents, oldest first: what has changed is seen without reading them."""

    def change(self, document: Document, events: Sequence[Event] = ()) -> bool:
        """Keep a document and append the events, in one transaction; durable on return.

        Returns:
            False where somebody was first: the version that is kept is not `document.version - 1` (none is 0). Nothing is
            kept then, neither the document nor the events.
        """

    def cursor(self, log: str) -> int:
        """The number of the last event that this log has confirmed; 0 at first."""

    def advance(self, log: str, number: int) -> None:
        """Note that the log has everything up to this event."""

    def step(self, run: str, key: str) -> Any | None:
        """The kept result of a step, or None; JSON values."""

    def keep_step(self, run: str, key: str, result: Any) -> None:
        """Keep the result of a step; durable on return. A second result for the same step is ignored."""

    def spend(self, session_id: str, story_key: str, grant: str, limit: int) -> bool:
        """Take one call of the story's budget if fewer than `limit` are taken; exact across processes.

        A grant that was already given is not charged again.
        """

    def refund(self, grant: str) -> None:
        """Give back a call that was never sent."""

    def spent(self, session_id: str, story_key: str) -> int:
        """Calls taken by the story in this session."""

    def close(self) -> None:
        """Wait until everything queued is durable, and let go of the file."""


class LogRecord(NamedTuple):
    """An event with its number in the journal."""

    number: int
    event: Event


class Log(Protocol):
    """Receives every event, once, in order; fed from the journal by a cursor of its own."""

    def write(self, records: Sequence[LogRecord]) -> None:
        """Take the events; on return they are kept. Numbers it already has are skipped.

        Whatever is raised is noted, and the same events come again later.
        """


class Embedder(Protocol):
    """Makes vectors of texts: those that mean the same lie near each other."""

    identity: str
    """The model, and whatever else the vectors depend on: vectors are kept under it, and never compared with others."""

    def embed(self, texts: Sequence[str]) -> Any:
        """The vectors of texts, in their order: an array [n, d] of float32, or as many sequences of d numbers.

        Raises:
            RequestError: the model is a service that does not answer.
        """


def lacking(component: Any, protocol: type) -> Iterator[str]:
    """What a component lacks of a protocol, one clause for each."""
    import inspect  # which the answer to a repeated question does without

    for name in protocol.__annotations__:
        if not _has(component, name):
            yield f"it has no attribute `{name}`: set it on the class"
    for name, expected in vars(protocol).items():
        if name.startswith("_") or not inspect.isfunction(expected):
            continue
        method, wanted = getattr(component, name, None), inspect.signature(expected)
        if not callable(method):
            yield f"it has no method `{name}`: write `def {name}{_plain(wanted)}`"
            continue
        is_async = inspect.iscoroutinefunction(inspect.unwrap(method))
        if inspect.iscoroutinefunction(expected) and not is_async:
            yield f"`{name}` is not async: write `async def {name}{_plain(wanted)}`"
        elif is_async and not inspect.iscoroutinefunction(expected):
            yield f"`{name}` is async, but the engine does not await it: write `def {name}{_plain(wanted)}`"
        refused = _refused(method, wanted)
        if refused:
            yield f"`{name}` cannot be called as the engine does ({refused}): write `{name}{_plain(wanted)}`"


def _has(component: Any, name: str) -> bool:
    """Whether an attribute is there; one that raises is, and its fault is told when it is used."""
    try:
        return hasattr(component, name)
    except KeyboardInterrupt:
        raise
    except BaseException:
        return True


def _plain(signature: inspect.Signature) -> str:
    import inspect

    bare = [
        parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()
    ]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))


def _refused(method: Callable[..., Any], wanted: inspect.Signature) -> str:
    """Why a method does not take the arguments of a signature; empty if it does."""
    import inspect

    parameters = list(wanted.parameters.values())[1:]  # without self
    placed = [one.name for one in parameters if one.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    named = {one.name: None for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY}
    try:
        signature = inspect.signature(method)
        signature.bind(*placed, **named)
        signature.bind(*placed)  # keyword-only arguments have defaults in every protocol
    except TypeError as error:
        return str(error)
    except ValueError:  # written in C: it has no signature to look at
        return ""
    return ""
