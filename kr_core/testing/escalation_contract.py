"""What every way to a human keeps to (`kr_core.plugin.Escalation`)."""

from __future__ import annotations

import asyncio
import re
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import pytest

from kr_core.aio import run
from kr_core.errors import RequestError
from kr_core.escalation.render import shown
from kr_core.model import Outcome
from kr_core.model.questions import Answer, EscalationRequest, HumanResponse, Question
from kr_core.plugin_calls import OverdueError, call_within
from kr_core.protocols import Ephemeral, HumanReply, Notice, OpenCase, PollResult, UnparsedReply
from kr_core.testing.checks import raises_nothing
from kr_core.testing.faults import FaultyTransport, NetworkFault
from kr_core.testing.samples import EVALUATED, HOSTILE
from kr_core.testing.service_contract import NETWORK_FAULTS, ServiceContract
from kr_core.testing.surroundings import context_in

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
    from pathlib import Path

    import httpx

    from kr_core.protocols import CaseView, Escalation, EscalationContext

Result = TypeVar("Result")

_LIMIT_SECONDS = 30.0
"""For one call."""
_BLOCKED_SECONDS = 2.0
"""How long after its limit a call is left behind that does not await."""
_AT_ONCE = 5
_STEERS = re.compile("[\0-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f\u202a-\u202e\u2066-\u2069]|\x1b\\]|\x1b\\[2J")
_FAULT_SECONDS = 5.0
_ENDED = Notice("E7@2-ended", "ended", "E7 is answered, by ada (confirm)")
_NOTICES = (
    Notice("E7-reminder-1", "reminder", "E7@2 waits for a reply, for 24h now", "", ("ann",)),
    Notice("E7-help-1", "help", "say what to do"),
    Notice("E7-1", "refused", "E7@1 is an older answer"),
    Notice("E7-2", "understood", "ann has added context to E7"),
    _ENDED,
)
"""What is said about a case in the course of time."""
_TALK = (
    "this can't be confirmed",
    "> /kr confirm E7@2",
    "```\n/kr confirm E7@2\n```",
    "Please confirm E7@2.",
)


class EscalationContract(ServiceContract):
    """The rules for escalations, tested with all kinds of cases.

    Attributes:
        replies: whether `poll` returns replies; False for a channel that only shows cases.
    """

    noun = "escalation"
    replies: ClassVar[bool] = True

    def seen(self, project: Path) -> str:
        """Everything that a person can see of the cases; by default the texts of the project's files."""
        files = sorted(path for path in project.rglob("*") if path.is_file())
        return "\n".join(file.read_text("utf-8", errors="replace") for file in files)

    def answer(self, project: Path, case: CaseView, text: str) -> None:
        """Reply to a case as a person would, in the place where it is shown."""
        del project, case, text
        raise NotImplementedError(
            "override `answer` in the contract class to reply as a person would, or say `replies = False`"
        )

    # -- showing -----------------------------------------------------------------------------------------

    def test_a_case_is_shown_whole(self, project: Path) -> None:
        """A person sees the question, the tentative answer, its doubts and how to reply; `open` returns where."""
        channel, case = self.build(project), _case()
        self._opened(project, channel, case)
        self._sees(
            project,
            "E7@2",
            "Which session store",
            "Use Redis.",
            "It is quick.",
            "How many",
            "/kr confirm E7@2",
        )

    def test_cases_of_all_kinds_are_shown(self, project: Path) -> None:
        """The channel shows cases without an answer, with several answers, and with choices."""
        channel = self.build(project)
        answer = _answer("Use Postgres.")
        for case, words in (
            (_case("E1", answer=None), "/kr correct E1@2"),
            (_case("E2", answer=None, alternatives=(_answer("Use Redis."), answer)), "Use Postgres."),
            (_case("E3", question=Question(text="Which?", choices=("Etcd", "Consul"))), "Consul"),
        ):
            self._opened(project, channel, case)
            self._sees(project, words)

    def test_a_new_revision_is_shown(self, project: Path) -> None:
        """When the agent answers again, a person sees the new answer under its own number."""
        channel = self.build(project)
        self._opened(project, channel, _case())
        self._opened(project, channel, _case(revision=3, answer=_answer("Use Redis Cluster.")))
        self._sees(project, "E7@3", "Use Redis Cluster.")

    def test_several_at_once_are_shown(self, project: Path) -> None:
        """The channel shows many cases at the same time."""
        channel = self.build(project)
        cases = [_case(f"E{number}") for number in range(1, _AT_ONCE + 1)]

        async def together() -> list[Any]:
            tried = (self._call(project, partial(channel.open, case)) for case in cases)
            return await asyncio.gather(*tried, return_exceptions=True)

        wrong = [place for place in _run(together()) if not isinstance(place, str)]
        assert not wrong, f"of {_AT_ONCE} cases at once, `open` failed with {wrong[0]!r}"
        self._sees(project, *(f"E{number}@2" for number in range(1, _AT_ONCE + 1)))

    @pytest.mark.parametrize("kind", HOSTILE)
    def test_hostile_text_is_shown_as_data(self, project: Path, kind: str) -> None:
        """The channel shows any text, even of a megabyte, without evaluating it or controlling the terminal."""
        text = _hostile(kind)
        answer = _answer(text, rationale=text, uncertainty_reasons=(text,))
        case = _case(question=Question(text=text, topic=text, context=text), answer=answer, reason=text)
        channel = self.build(project)
        self._opened(project, channel, case)
        self._acknowledged(project, channel, case, _ENDED)
        seen = self.seen(project)
        assert EVALUATED not in seen, (
            f"the channel evaluated `7191 * 7193`, which stood in a case ({kind}); it is data: never format, template or run it"
        )
        steers = _STEERS.search(seen)
        assert steers is None, (
            f"{steers and steers[0]!r} of a hostile text ({kind}) is shown; show `case.message`, which is fit to be shown, in "
            "place of the texts of `case.request`"
        )

    # -- replies -----------------------------------------------------------------------------------------

    def test_nobody_has_replied(self, project: Path) -> None:
        """Without replies `poll` returns none, and does not wait for one."""
        channel, case = self.build(project), _case()
        assert not self._polled(project, channel, [])
        place = self._opened(project, channel, case)
        assert not self._polled(project, channel, [_shown(case, place)]), (
            "`poll` brought a reply that nobody has given"
        )

    def test_a_reply_is_read(self, project: Path) -> None:
        """A command that a person writes at the case comes back with its meaning and a unique id."""
        if not self.replies:
            return
        channel, case = self.build(project), _case()
        shown = [_shown(case, self._opened(project, channel, case))]
        self.answer(project, case, "Hello,\n\n/kr correct E7@2 Use Postgres.")
        reply = self._one(self._polled(project, channel, shown))
        meant = (reply.escalation_id, reply.response.action, reply.response.content, reply.response.revision)
        assert meant == ("E7", "correct", "Use Postgres.", 2), (
            f"`/kr correct E7@2 Use Postgres.` was read as {meant}; read replies with kr_core.toolkit.read_replies"
        )
        assert reply.response.by.strip(), "the reply does not say who gave it; `by` is for the record"
        again = self._polled(project, self.build(project), shown)
        assert all(one.external_id and one.external_id == reply.external_id for one in again), (
            "the same reply came again as another; give it an `external_id` that stays the same, so that it is applied once"
        )

    @pytest.mark.parametrize("text", _TALK)
    def test_talk_is_no_reply(self, project: Path, text: str) -> None:
        """Text that only mentions confirming, quotes and code decide nothing."""
        if not self.replies:
            return
        channel, case = self.build(project), _case()
        place = self._opened(project, channel, case)
        self.answer(project, case, text)
        brought = self._polled(project, channel, [_shown(case, place)])
        found = [reply for reply in brought if isinstance(reply, HumanReply)]
        assert not found, (
            f"{text!r} was taken for `{found[0].response.action}`; read replies with kr_core.toolkit.read_replies"
        )

    @pytest.mark.parametrize("kind", HOSTILE)
    def test_a_hostile_reply(self, project: Path, kind: str) -> None:
        """A hostile reply does not keep `poll` from returning the replies of others."""
        if not self.replies or kind == "command":  # that one is a reply
            return
        channel, case = self.build(project), _case()
        place = self._opened(project, channel, case)
        self.answer(project, case, _hostile(kind))
        self.answer(project, case, "/kr choose E7@2 B")
        brought = self._polled(project, channel, [_shown(case, place)])
        found = [reply.response.action for reply in brought if isinstance(reply, HumanReply)]
        assert found == ["choose"], (
            f"beside a hostile text ({kind}) the reply `/kr choose E7@2 B` came as {found}; give `read_replies` the text of each "
            "person's message alone: a quote or a fence that one leaves open would swallow the next"
        )

    def test_what_was_understood_is_said(self, project: Path) -> None:
        """The channel tells a person what happened to a reply."""
        channel, case = self.build(project), _case()
        self._opened(project, channel, case)
        self._acknowledged(project, channel, case, _ENDED)
        self._sees(project, "E7 is answered, by ada (confirm)")

    def test_a_late_reply_is_brought(self, project: Path) -> None:
        """A reply to a decided case comes back like any other, so that KR can tell its author."""
        if not self.replies:
            return
        channel, case = self.build(project), _case()
        decided = _shown(case, self._opened(project, channel, case))._replace(waits=False)
        self.answer(project, case, "/kr confirm E7@2")
        brought = [type(reply).__name__ for reply in self._polled(project, channel, [decided])]
        assert brought == ["HumanReply"], (
            f"for a reply to a case that waits no longer `poll` brought {brought}; it is a reply, which KR refuses with the "
            "reason: give `read_replies` the ids of those that do not wait as `closed`"
        )

    def test_what_is_new_is_brought(self, project: Path) -> None:
        """With an earlier mark, `poll` returns new replies, even in another process; the rest is unchanged."""
        if not self.replies:
            return
        channel, case = self.build(project), _case()
        shown = [_shown(case, self._opened(project, channel, case))]
        self.answer(project, case, "/kr context E7@2 We have 40 servers.")
        first = self._heard(project, channel, shown)
        self.answer(project, case, "/kr correct E7@2 Use Postgres.")
        second = self._heard(project, self.build(project), shown, first.mark)
        told = {reply.external_id for reply in first.replies}
        new = [
            reply.response.content
            for reply in second.replies
            if isinstance(reply, HumanReply) and reply.external_id not in told
        ]
        assert new == ["Use Postgres."], (
            f"after the mark {first.mark!r} one reply was given, and `poll` brought {new} as new; the mark says how far was told, "
            "and each reply keeps its `external_id`"
        )

    def test_what_was_said_is_no_reply(self, project: Path) -> None:
        """The channel reads neither the case with its instructions nor KR's notices as replies."""
        channel, case = self.build(project), _case()
        shown = [_shown(case, self._opened(project, channel, case))]
        for notice in _NOTICES:
            self._acknowledged(project, channel, case, notice)
        brought = self._polled(project, channel, shown)
        assert not brought, (
            f"`poll` brought {brought[0]!r}, which nobody wrote but KR; leave out what is KR's own"
        )

    # -- once --------------------------------------------------------------------------------------------

    def test_a_case_is_not_shown_twice(self, project: Path) -> None:
        """If KR repeats `open` after a crash or from another process, the channel does not show a case twice."""
        channel, case = self.build(project), _case()
        place = self._opened(project, channel, case)
        if self._is_momentary(channel):
            return
        once = self.seen(project).count("/kr confirm E7@2")
        for known in (None, place):
            again = self._opened(project, self.build(project), case._replace(location=known))
            assert again == place, f"`open` said that the case stands at {place!r}, and then at {again!r}"
        assert self.seen(project).count("/kr confirm E7@2") == once, (
            "the same revision of a case is shown twice; look whether it is there before you show it: `open` may be called again "
            "after a crash, when nobody could note that it was done"
        )

    def test_notices_of_all_kinds_are_said(self, project: Path) -> None:
        """A person sees notices of understood and refused replies, help, reminders and the end of the case."""
        channel, case = self.build(project), _case()
        place = self._opened(project, channel, case)
        notices = self._to_be_said()
        for notice in notices:
            self._acknowledged(project, channel, case._replace(location=place), notice)
        self._sees(project, *(notice.message for notice in notices))

    def test_a_notice_is_not_said_twice(self, project: Path) -> None:
        """If KR repeats a notice, after a crash or from another process, the channel does not send it twice."""
        channel, case = self.build(project), _case()
        place = self._opened(project, channel, case)
        if self._is_momentary(channel):
            return
        for notice in self._to_be_said():
            for _ in range(2):
                self._acknowledged(project, self.build(project), case._replace(location=place), notice)
            count = self.seen(project).count(notice.message)
            assert count == 1, (
                f"a notice ({notice.kind}) that was to be said twice with the same `id` is seen {count} times; keep its `id` with "
                "it, and look for that before you say it"
            )

    # -- failures ----------------------------------------------------------------------------------------

    @pytest.mark.parametrize("fault", NETWORK_FAULTS)
    def test_a_network_fault_is_a_request_error(self, project: Path, fault: NetworkFault) -> None:
        """If the network fails, a channel that uses it raises RequestError with an outcome, and nothing else."""
        channel, case = self.build(project), _case()
        place = self._opened(project, channel, case)
        calls: dict[str, Callable[[EscalationContext], Awaitable[object]]] = {
            "open": partial(channel.open, _case(revision=3)._replace(location=place)),
            "poll": partial(channel.poll, [_shown(case, place)], ""),
            "acknowledge": partial(channel.acknowledge, case._replace(location=place), _ENDED),
        }
        for name, call in calls.items():
            transport = FaultyTransport([fault] * 100)
            try:
                _run(self._call(project, call, transport, _FAULT_SECONDS))
            except RequestError as error:
                outcome: str | None = error.outcome
            except Exception as error:
                raise AssertionError(
                    f"`{name}` raised {type(error).__name__} while the network failed ({fault.value}): {error}; raise "
                    "kr_core.RequestError with the outcome that says what failed"
                ) from error
            else:
                outcome = None
            assert outcome is None or outcome in list(Outcome), (
                f"`{name}` raised a RequestError with the outcome {outcome!r}; give a value of kr_core.Outcome"
            )
            if outcome is None:
                assert not transport.requests, (
                    f"`{name}` said nothing of it though the network failed ({fault.value}); check status, type and body of an "
                    "answer before reading it, and raise kr_core.RequestError"
                )

    # -- parts -------------------------------------------------------------------------------------------

    async def _call(
        self,
        project: Path,
        work: Callable[[EscalationContext], Awaitable[Result]],
        transport: httpx.AsyncBaseTransport | None = None,
        seconds: float = _LIMIT_SECONDS,
    ) -> Result:
        deadline = asyncio.get_running_loop().time() + seconds
        async with context_in(project, deadline, transport or self._transport()) as context:
            return await work(context)

    def _to_be_said(self) -> tuple[Notice, ...]:
        """What people have to see: where they cannot reply, nobody has to be told what became of a reply."""
        return _NOTICES if self.replies else (_ENDED,)

    @staticmethod
    def _is_momentary(channel: Escalation) -> bool:
        return isinstance(channel, Ephemeral) and channel.momentary

    def _opened(self, project: Path, channel: Escalation, case: CaseView) -> str:
        with _ends("open"), raises_nothing("`open`", "show `case.message` as it is: texts may hold anything"):
            place = _run(self._call(project, partial(channel.open, case)))
        assert isinstance(place, str) and place.strip(), (  # noqa: PT018  one message for both
            f"`open` returned {place!r}; say where the case stands, such as `terminal` or a URL; None is for nobody there"
        )
        return place

    def _acknowledged(self, project: Path, channel: Escalation, case: CaseView, notice: Notice) -> None:
        with (
            _ends("acknowledge"),
            raises_nothing("`acknowledge`", "say `notice.message` as it is: texts may hold anything"),
        ):
            _run(self._call(project, partial(channel.acknowledge, case, notice)))

    def _polled(
        self, project: Path, channel: Escalation, shown: Sequence[OpenCase], mark: str = ""
    ) -> Sequence[HumanReply | UnparsedReply]:
        return self._heard(project, channel, shown, mark).replies

    def _heard(
        self, project: Path, channel: Escalation, shown: Sequence[OpenCase], mark: str = ""
    ) -> PollResult:
        hint = "bring what can be read, and pass over the rest"
        with _ends("poll"), raises_nothing("`poll`", hint):
            heard = _run(self._call(project, partial(channel.poll, shown, mark)))
        assert isinstance(heard, PollResult), (
            f"`poll` returned {type(heard).__name__}; return kr_core.plugin.PollResult with the replies"
        )
        assert isinstance(heard.mark, str), f"the mark of `poll` is {heard.mark!r}; it is a text"
        wrong = [reply for reply in heard.replies if not _is_reply(reply)]
        assert not wrong, (
            f"`poll` returned {type(wrong[0]).__name__}; return kr_core.plugin.HumanReply with a kr_core.HumanResponse, or "
            "kr_core.plugin.UnparsedReply"
        )
        return heard

    @staticmethod
    def _one(found: Sequence[HumanReply | UnparsedReply]) -> HumanReply:
        assert len(found) == 1, f"one reply was given, and `poll` brought {len(found)}"
        assert isinstance(found[0], HumanReply), f"a reply that is one came as unclear: {found[0].message}"
        return found[0]

    def _sees(self, project: Path, *words: str) -> None:
        seen = self.seen(project)
        missing = [word for word in words if word not in seen]
        assert not missing, (
            f"a person does not see {missing[0]!r}; show the whole of `case.message` before `open` returns, or override `seen` "
            "in the contract class to say where it is shown"
        )


def _run(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a call to its end.

    Raises:
        OverdueError: it did not end; a call that blocks the event loop is left behind.
    """

    async def limited() -> Result:
        limit = asyncio.timeout(_LIMIT_SECONDS)
        try:
            async with limit:
                return await work
        except TimeoutError as error:
            if limit.expired():
                raise OverdueError from error
            raise

    return call_within(lambda: run(limited()), _LIMIT_SECONDS + _BLOCKED_SECONDS)


_IN_TIME = {
    "open": "show the case, return where it is shown, and wait for no reply: `poll` brings it",
    "acknowledge": "say the notice and return",
    "poll": "bring what is there, and wait for no one",
}
"""What each call does, so that it ends."""


@contextmanager
def _ends(call: str) -> Iterator[None]:
    """Make a call that does not end a failed test that says what it should do."""
    try:
        yield
    except OverdueError:
        hint = f"{_IN_TIME[call]}; `context.deadline` says when a call must have ended"
        raise AssertionError(f"`{call}` did not return within {_LIMIT_SECONDS:g} s; {hint}") from None


def _is_reply(reply: object) -> bool:
    return isinstance(reply, UnparsedReply) or (
        isinstance(reply, HumanReply) and isinstance(reply.response, HumanResponse)
    )


def _shown(case: CaseView, place: str) -> OpenCase:
    return OpenCase(case.request.id, case.request.revision, place, waits=True)


def _hostile(kind: str) -> str:
    """A hostile text as values have it, which refuse lone surrogates."""
    return HOSTILE[kind].encode("utf-8", "replace").decode()


def _answer(content: str = "Use Redis.", **values: Any) -> Answer:
    known = {"rationale": "It is quick.", "confidence": 65, "uncertainty_reasons": ("How many sessions",)}
    return Answer(question_id="q-1", content=content, agent="duc", **{**known, **values})


def _case(escalation_id: str = "E7", **values: Any) -> CaseView:
    known: dict[str, Any] = {
        "revision": 2,
        "exchange_id": "x-1",
        "question": Question(text="Which session store should we use?", topic="authentication"),
        "answer": _answer(),
        "agent": "duc",
        "threshold": 80,
        "reason": "confidence 65 is below 80",
    }
    return shown(EscalationRequest(id=escalation_id, **{**known, **values}), ())
