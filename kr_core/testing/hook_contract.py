"""What every plugin keeps to that adds to a stage (`kr_core.hookspecs.STAGE_HOOKS`)."""

from __future__ import annotations

import asyncio
from datetime import date
from importlib import import_module
from typing import ClassVar

import pytest

from kr_core.entry_points import InstalledPlugin
from kr_core.errors import KRError
from kr_core.hookspecs import STAGE_HOOKS
from kr_core.model import Draft, Passage, Report, ResearchQuery, Score
from kr_core.model.questions import Answer, AskResult, EscalationRequest, Question
from kr_core.model.routing import Route
from kr_core.registry import StageHooks, contract
from kr_core.testing.plugin_contract import CompatibilityRules
from kr_core.testing.samples import HOSTILE

__all__ = ["HookContract"]


class HookContract(CompatibilityRules):
    """The rules for plugins with hooks around stages.

    Attributes:
        module: the value of the entry point: the module with the hooks.
    """

    module: ClassVar[str]

    def test_its_hooks_fit(self) -> None:
        """The module has a hook around a stage; each hook is marked, sync, and takes arguments that KR provides."""
        module = import_module(self.module)
        there = [hook for hook in STAGE_HOOKS if hasattr(getattr(module, hook, None), "kr_impl")]
        assert there, f"`{self.module}` has no hook around a stage; mark one of {', '.join(STAGE_HOOKS)}"
        try:
            contract.check_hooks(module)
        except TypeError as error:
            pytest.fail(str(error))
        notes = self._called("How do I deploy?")
        assert not notes, "\n".join(notes)

    @pytest.mark.parametrize("kind", HOSTILE)
    def test_hostile_text_hurts_no_hook(self, kind: str) -> None:
        """No text of a question, passage or answer makes a hook raise, hang or return the wrong type."""
        notes = self._called(HOSTILE[kind])
        assert not notes, f"{kind}: " + "\n".join(notes)

    def test_a_hook_is_called_by_many_threads_at_once(self) -> None:
        """Hooks that run for several questions at once give each its own result."""

        async def many() -> list[list[str]]:
            return await asyncio.gather(
                *(asyncio.to_thread(self._called, f"Question {n}?") for n in range(8))
            )

        assert not any(asyncio.run(many()))

    def test_no_passages_and_no_answer_are_fine(self) -> None:
        """Hooks accept a report without claims and a case without an answer."""
        notes: list[str] = []
        hooks, (query, _, report, case, _, _) = self._hooks(), _values("How do I deploy?")
        hooks.report_ready(report.model_copy(update={"draft": Draft()}), notes)
        asyncio.run(hooks.case_opened(case.model_copy(update={"answer": None}), notes))
        asyncio.run(hooks.before_consult(query.model_copy(update={"tags": ()}), "notes", notes))
        assert not notes, "\n".join(notes)

    def _hooks(self) -> StageHooks:
        plugin = InstalledPlugin(self.module, self.module, "", "", "")
        return StageHooks((self.module,), lambda _: (plugin, import_module(self.module)))

    def _called(self, text: str) -> list[str]:
        """What is noted of one call of each hook with values that hold a text."""
        hooks, notes = self._hooks(), list[str]()
        query, passages, report, case, exchange, question = _values(text)

        async def go() -> None:
            await hooks.before_consult(query, "notes", notes)
            await hooks.passages_found(query, "notes", passages, notes)
            hooks.report_ready(report, notes)
            await hooks.case_opened(case, notes)
            result = await hooks.answer_accepted(exchange, question)
            notes.extend(result.notes)

        try:
            asyncio.run(go())
        except KRError as error:
            pytest.fail(f"`{self.module}` cannot be loaded: {error}")
        return list(dict.fromkeys(notes))


def _values(
    text: str,
) -> tuple[ResearchQuery, tuple[Passage, ...], Report, EscalationRequest, AskResult, Question]:
    """One value for each hook, each with the text where people and models write."""
    text = text.strip().replace("\ud800", "") or "?"  # which no value of KR can hold
    query = ResearchQuery(
        question="How do I deploy?", framework="orders", framework_version="1.0", topic="deploy", tags=()
    )
    passages = tuple(
        Passage(text=text, url="file:notes.md", title=title, kind=kind, symbol=symbol)
        for title, kind, symbol in (("Deploy", "section", None), ("deploy", "symbol", "orders.deploy"))
    )
    score = Score(score=80, level="high")
    report = Report(
        query=query,
        research_date=date(2026, 1, 2),
        score=score,
        draft=Draft(passages=dict(enumerate(passages, 1))),
    )
    question = Question(text=text[:1000], topic="deploy")
    route = Route(target="duc", agent="duc", threshold=80, reason="a rule")
    answer = Answer(question_id=question.id, agent="duc", content=text[:1000], confidence=90)
    case = EscalationRequest(
        id="E1", exchange_id="1", question=question, answer=answer, agent="duc", threshold=95, reason="unsure"
    )
    exchange = AskResult(
        exchange_id="1", question_id=question.id, status="accepted", route=route, answer=answer, threshold=80
    )
    return query, passages, report, case, exchange, question
