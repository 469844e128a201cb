"""What every router keeps to (`kr_core.plugin.Router`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from kr_core.errors import ConfigError
from kr_core.model.questions import Question
from kr_core.model.routing import HUMAN, Route
from kr_core.testing.checks import check_purity
from kr_core.testing.plugin_contract import PluginContract
from kr_core.testing.samples import HOSTILE
from kr_core.testing.surroundings import TABLE

if TYPE_CHECKING:
    from pathlib import Path

    from kr_core.protocols import Router


class RouterContract(PluginContract):
    """The rules for routers, tested with a known and an unknown question.

    Attributes:
        known: a question that it sends to an agent of the built-in roster.
        unknown: a question for which it has no route.
    """

    noun = "router"
    known: ClassVar[Question]
    unknown: ClassVar[Question] = Question(text="What colour is the sky?", topic="weather")

    def test_a_known_question_is_sent_to_somebody(self, project: Path) -> None:
        """A route names an agent of the roster or a human, with a reason."""
        route = self._routed(self.build(project), self.known)
        assert isinstance(route, Route), (
            f"the router returned {type(route).__name__} for {self.known.text!r}; return a kr_core.Route, as "
            "`setup.routing().routed(topic, target, reason)` makes it"
        )
        self._is_of_the_roster(route)
        assert route.reason.strip(), (
            "the route has no `reason`; `kr route --explain` shows it: say what decided"
        )

    def test_an_unknown_question_is_left_to_others(self, project: Path) -> None:
        """For an unknown question the router returns None; KR asks the next one, and finally a human."""
        route = self._routed(self.build(project), self.unknown)
        assert route is None, (
            f"the router sent {self.unknown.text!r} to {getattr(route, 'target', route)!r}; return None where it does not "
            "know: the routers after it are asked then, and in the end a human"
        )

    def test_it_is_pure(self, project: Path) -> None:
        """The same question always gets the same route, and the router reads nothing else."""
        check_purity(
            "the router",
            lambda: self.build(project),
            lambda router: (self._routed(router, self.known), self._routed(router, self.unknown)),
        )

    @pytest.mark.parametrize("kind", sorted(HOSTILE.keys() - {"surrogate"}))  # no question can hold one
    def test_hostile_text_is_routed(self, project: Path, kind: str) -> None:
        """Any text in a question gives a route or None."""
        text = HOSTILE[kind]
        router = self.build(project)
        for asked in (
            Question(text=text, topic=self.known.topic),
            Question(text=self.known.text, topic=text),
            Question(text=self.known.text, topic=self.known.topic, context=text, choices=(text, "B")),
        ):
            route = self._routed(router, asked)
            assert route is None or isinstance(route, Route), (
                f"a hostile text ({kind}) was routed to {route!r}; return a kr_core.Route or None"
            )
            if route is not None:
                self._is_of_the_roster(route)

    def test_a_target_that_there_is_not(self, project: Path) -> None:
        """The router refuses a question with an unknown target with ConfigError, or leaves it to others."""
        asked = self.known.model_copy(update={"suggested_target": "nobody of this name"})
        route = self._routed(self.build(project), asked, refused=True)
        if route is not None:
            self._is_of_the_roster(route)

    @staticmethod
    def _routed(router: Router, question: Question, *, refused: bool = False) -> Any:
        """The route; `refused`: whether it may refuse the question."""
        try:
            return router.route(question)
        except Exception as error:
            if refused and isinstance(error, ConfigError):
                return None
            raise AssertionError(
                f"the router raised {type(error).__name__}: {error}; return None where it does not know. Only a question "
                "that itself names a target that there is not may be refused, with kr_core.ConfigError"
            ) from error

    @staticmethod
    def _is_of_the_roster(route: Route) -> None:
        for agent in (route.agent, *route.also):
            assert agent is None or agent in TABLE.agents, (
                f"the route's agent {agent!r} is nobody of the roster; take targets from `setup.routing().targets()`, and "
                "routes from `setup.routing().routed(topic, target, reason)`"
            )
        assert (route.agent is None) is (route.target == HUMAN), (
            f"the route's target is {route.target!r} and its agent {route.agent!r}; the agent is None where the target is "
            f"`{HUMAN}`, and nowhere else"
        )
