"""Routers other than the rules: asked in order, and none of them can stop a question."""

import pytest
from support.asked import Says, said

from kr_core import ConfigError, KnowledgeRouterService, Pipeline, Question, Route

pytestmark = pytest.mark.req("P1", "Q2")
QUESTION = Question(text="Who is told of an outage at night?", topic="weather")


class Router:
    def __init__(self, made):
        self.made = made
        self.asked = 0

    def route(self, question):
        self.asked += 1
        if isinstance(self.made, BaseException):
            raise self.made
        return self.made


def ask(folder, *routers):
    config = {"knowledge_research": {"knowledge_base_path": str(folder / "kb")}}
    pipeline = Pipeline(
        config, routers={f"r{n}": one for n, one in enumerate(routers)}, agents={"duc": Says(said())}
    )
    with KnowledgeRouterService(pipeline) as made:
        return made.ask(QUESTION)


TO_DUC = Route(target="duc", agent="duc", reason="on call", threshold=70)


def test_the_first_that_knows_decides(tmp_path, monkeypatch):
    """One that does not know is passed over; those after the one that does are not asked."""
    monkeypatch.chdir(tmp_path)
    first, second, third = Router(None), Router(TO_DUC), Router(TO_DUC)
    result = ask(tmp_path, first, second, third)
    assert (result.status, result.route) == ("accepted", TO_DUC)
    assert result.threshold == 70
    assert (first.asked, second.asked, third.asked) == (1, 1, 0)


@pytest.mark.parametrize("error", [RuntimeError("the rota\x1b[2J is gone"), KeyError("x"), RecursionError()])
def test_one_that_fails_is_noted_and_the_next_is_asked(tmp_path, monkeypatch, error):
    """With its name and what it raised, fit to be shown."""
    monkeypatch.chdir(tmp_path)
    result = ask(tmp_path, Router(error), Router(TO_DUC))
    assert result.status == "accepted"
    (note,) = result.notes
    assert note.startswith(f"router r0: {type(error).__name__}: ")
    assert "\x1b" not in note


@pytest.mark.parametrize(
    ("made", "told"),
    [
        ("duc", "returned str instead of a kr_core.Route"),
        (
            TO_DUC.model_copy(update={"agent": "nobody"}),
            "sent the question to `nobody`, which is not an agent",
        ),
        (
            TO_DUC.model_copy(update={"also": ("ghost",)}),
            "sent the question to `ghost`, which is not an agent",
        ),
    ],
)
def test_a_route_that_leads_nowhere_is_noted_and_the_next_is_asked(tmp_path, monkeypatch, made, told):
    """What is no route, or names nobody of the roster."""
    monkeypatch.chdir(tmp_path)
    result = ask(tmp_path, Router(made), Router(TO_DUC))
    assert (result.status, result.notes) == ("accepted", (f"router r0: {told}",))


def test_where_none_knows_a_human_is_asked(tmp_path, monkeypatch):
    """As `unknown topic`, also without any router."""
    monkeypatch.chdir(tmp_path)
    for routers in ((), (Router(None),)):
        assert ask(tmp_path, *routers).escalation.reason == "unknown topic"


def test_one_may_refuse_a_question(tmp_path, monkeypatch):
    """By ConfigError, for a question that names a target that there is not."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="no such rota"):
        ask(tmp_path, Router(ConfigError("no such rota", where="target")), Router(TO_DUC))
