"""What every agent keeps to (`kr_core.plugin.Agent`)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from traceback import format_exception
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from kr_core.aio import run
from kr_core.errors import RequestError
from kr_core.model import Outcome
from kr_core.model.questions import Reply
from kr_core.testing.faults import FaultyTransport, NetworkFault
from kr_core.testing.samples import EVALUATED, HOSTILE
from kr_core.testing.service_contract import NETWORK_FAULTS, ServiceContract
from kr_core.testing.surroundings import JobOptions, build, job_in
from kr_core.testing.watchers import watched

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import httpx

    from kr_core.model import ResearchResult
    from kr_core.protocols import Agent

_LIMIT_SECONDS = 30.0
"""For one reply."""
_CANCEL_SECONDS = 2.0
"""The engine waits for one second; a program takes half of it to end."""
_AT_ONCE = 5
_OUTCOMES = sorted(
    {Outcome.timeout, Outcome.limited, Outcome.unavailable, Outcome.blocked, Outcome.bad_answer}
)
_SECRET = ("key", "passphrase", "password", "secret", "token")


class AgentContract(ServiceContract):
    """The rules for agents, tested with a question that the agent answers.

    Attributes:
        question: what is asked.
        hanging: settings with which it never answers, for an agent that does not use HTTP, such as a program that
            sleeps.
    """

    noun = "agent"
    question: ClassVar[str] = "Which session store should we use?"
    hanging: ClassVar[Mapping[str, Any]] = {}

    async def research(self, question: str, **options: Any) -> ResearchResult:
        """Answer like the sources, for an agent that asks them."""
        del options
        raise RequestError(
            Outcome.unavailable, f"override `research` in the contract class to answer {question!r}"
        )

    # -- replies -----------------------------------------------------------------------------------------

    def test_a_question_is_answered(self, project: Path) -> None:
        """A job returns a reply with content, as text or as the requested object."""
        reply = self._replied(project)
        assert reply.text.strip() or reply.data, (
            "the reply has neither `text` nor `data`; give what the model wrote as `text`, or raise RequestError with the "
            "outcome `bad_answer` where it wrote nothing"
        )
        try:
            json.dumps(reply.data)
            Reply.model_validate_json(reply.model_dump_json())
        except ValueError as error:
            raise AssertionError(
                f"the reply cannot be kept: {error}; `data` holds values of JSON, and texts have no lone surrogates"
            ) from error

    def test_what_it_counts_is_told_in_whole_numbers(self, project: Path) -> None:
        """Tokens and cost are not negative, or None if the service does not report them."""
        reply = self._replied(project)
        for name in ("input_tokens", "output_tokens", "cost_usd"):
            count = getattr(reply, name)
            assert count is None or count >= 0, f"`{name}` is {count}; give None where it is not known"

    def test_several_at_once_are_answered(self, project: Path) -> None:
        """An agent answers many questions at the same time."""
        agent = self.build(project)

        async def together() -> list[Reply | BaseException]:
            asked = (
                self._ask(agent, project, prompt=f"{self.question} ({number})") for number in range(_AT_ONCE)
            )
            return await asyncio.gather(*asked, return_exceptions=True)

        wrong = [reply for reply in run(together()) if not isinstance(reply, Reply)]
        assert not wrong, (
            f"asked {_AT_ONCE} times at once, the agent failed with {wrong[0]!r}; keep what belongs to a job in local "
            "variables of `run`, not on the object"
        )

    @pytest.mark.parametrize("kind", HOSTILE)
    def test_hostile_text_stays_data(self, project: Path, kind: str) -> None:
        """Any prompt or persona, even of a megabyte, gives a reply or a RequestError; the agent evaluates nothing."""
        for prompt, system in ((HOSTILE[kind], ""), (self.question, HOSTILE[kind])):
            made = self._attempt(self.build(project), project, prompt=prompt, system=system)
            self._is_reply_or_request_error(made, f"for a text that is hostile ({kind})")
            assert EVALUATED not in f"{made!r} {made}", (
                f"the agent evaluated `7191 * 7193`, which stood in what it was given ({kind}); it is data: never format, "
                "template or run it"
            )

    # -- failures ----------------------------------------------------------------------------------------

    @pytest.mark.parametrize("fault", NETWORK_FAULTS)
    def test_a_network_fault_is_a_request_error(self, project: Path, fault: NetworkFault) -> None:
        """If the network fails, an agent that uses it raises RequestError with an outcome, and nothing else."""
        transport = FaultyTransport([fault] * 100)
        made = self._attempt(self.build(project), project, transport)
        self._is_reply_or_request_error(made, f"though the network failed ({fault.value})")
        if transport.requests:
            assert not isinstance(made, Reply), (
                f"the agent gave a reply though the network failed ({fault.value}); check status, type and body of the "
                "answer before reading it, and raise RequestError with the outcome that says what failed"
            )

    @pytest.mark.parametrize("fault", [None, *NETWORK_FAULTS])
    def test_secrets_are_not_told(self, project: Path, fault: NetworkFault | None) -> None:
        """No event, error or reply contains a secret from the settings."""
        secrets = list(_secrets(self.settings))
        if not secrets:
            pytest.skip("the contract's `settings` hold no secret")
        events: list[Any] = []
        transport = None if fault is None else FaultyTransport([fault] * 100)
        made = self._attempt(
            self.build(project), project, transport, emit=lambda *event: events.append(event)
        )
        for secret in secrets:
            told = [
                place
                for place, text in (("an event", repr(events)), ("what it made", f"{made!r} {made}"))
                if secret in text
            ]
            assert not told, (
                f"a secret of the settings stands in {told[0]}; send it in a header, and leave it out of what is told"
            )

    # -- the event loop ----------------------------------------------------------------------------------

    @pytest.mark.parametrize("seconds", [0.0, 0.01, 0.1, 0.5])
    def test_cancellation_passes(self, project: Path, seconds: float) -> None:
        """An agent that is cancelled at its deadline stops promptly, even while it waits for a service."""
        settings = {**self.settings, **self.hanging}
        agent = build(self.module, self.noun, settings, project) if self.hanging else self.build(project)
        transport = FaultyTransport([NetworkFault.hangs] * 100)
        asking = self._ask(agent, project, transport, seconds=seconds)
        self._ends_when_cancelled(asking, seconds, _CANCEL_SECONDS, "a reply")

    # -- the outside -------------------------------------------------------------------------------------

    def test_it_goes_out_only_by_the_client_of_the_job(self, project: Path) -> None:
        """Requests go through `job.http`, which limits and records them."""
        agent = self.build(project)
        with watched("network", every_thread=True) as touched:
            self._attempt(agent, project)
        assert not touched, (
            f"the agent went to the network by itself ({touched[0]}); send requests through `job.http`"
        )

    def test_it_runs_only_what_its_settings_name(self, project: Path) -> None:
        """The agent starts only programs from settings whose names tell KR that they run one."""
        self._runs_only_what_is_named(lambda: self._attempt(self.build(project), project))

    # -- parts -------------------------------------------------------------------------------------------

    async def _ask(
        self,
        agent: Agent,
        project: Path,
        transport: httpx.AsyncBaseTransport | None = None,
        *,
        seconds: float = _LIMIT_SECONDS,
        emit: Callable[[str, dict[str, Any]], None] = lambda _kind, _data: None,
        **options: Any,
    ) -> Reply:
        """One reply; nothing is cancelled at the deadline here."""
        deadline = asyncio.get_running_loop().time() + seconds
        answering = transport or self._transport()
        async with job_in(
            project,
            self.question,
            deadline,
            answering,
            options=JobOptions(**options),
            emit=emit,
            researcher=self.research,
        ) as made:
            return await agent.run(made)

    def _attempt(
        self, agent: Agent, project: Path, transport: httpx.AsyncBaseTransport | None = None, **job: Any
    ) -> Any:
        """What the agent returns or raises."""

        async def asked() -> Any:
            async with asyncio.timeout(_LIMIT_SECONDS):
                return await self._ask(agent, project, transport, **job)

        try:
            return run(asked())
        except Exception as error:  # an agent may raise anything
            return error

    def _replied(self, project: Path) -> Reply:
        """The reply to the question; whatever else comes fails the test."""
        made = self._attempt(self.build(project), project)
        shown = "".join(format_exception(made)) if isinstance(made, Exception) else repr(made)
        assert isinstance(made, Reply), (
            f"the agent made no kr_core.plugin.Reply of {self.question!r}, but:\n{shown}"
        )
        return made

    @staticmethod
    def _is_reply_or_request_error(made: Any, when: str) -> None:
        assert isinstance(made, Reply | RequestError), (
            f"the agent raised or returned {type(made).__name__} {when}: {made}; return kr_core.plugin.Reply, or raise "
            f"kr_core.RequestError with one of the outcomes {', '.join(_OUTCOMES)}"
        )
        if isinstance(made, RequestError):
            assert made.outcome in _OUTCOMES, (
                f"the RequestError has the outcome {made.outcome!r}; give one of {', '.join(_OUTCOMES)}"
            )
            assert made.what.strip(), "the RequestError says nothing; say in one sentence what is wrong"


def _secrets(settings: Mapping[str, Any]) -> Iterator[str]:
    """The values in settings whose names say that they are secret, at any depth."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _secrets(value)
        elif value and str(name).lower().endswith(_SECRET):
            yield str(value)
