"""What the service says of an argument of the wrong kind."""

import pytest

from kr_core import AsyncKnowledgeRouterService, KnowledgeRouterService, Question
from kr_core.errors import ConfigError

pytestmark = pytest.mark.req("P6")


@pytest.fixture
def service(tmp_path):
    with KnowledgeRouterService.open({}, folder=tmp_path) as opened:
        yield opened


@pytest.mark.parametrize(
    ("method", "arguments", "where"),
    [
        ("ask", ["Which session store?"], "ask(question)"),
        ("ask_all", ["Which session store?"], "ask_all(questions)"),
        ("ask_all", [[Question(text="Which?"), {"text": "Which?"}]], "ask_all(questions)"),
        ("reply", ["E1", "confirm"], "reply(response)"),
        ("reply", [1, None], "reply(escalation_id)"),
        ("chat", ["E1", None], "chat(response)"),
        ("route_question", [None], "route_question(question)"),
        ("submit_answer", [{"confidence": 90}], "submit_answer(answer)"),
        ("escalate_to_human", [None, "Which?"], "escalate_to_human(question)"),
        ("handle_human_response", ["E1", None], "handle_human_response(request)"),
        ("get_agent_status", ["duc"], "get_agent_status(handle)"),
        ("configure_routing", [None], "configure_routing(rules)"),
        ("get_qa_log", [None], "get_qa_log(feature_id)"),
        ("generate_retro", [7], "generate_retro(feature_id)"),
        ("result_of", [7], "result_of(escalation_id)"),
        ("shown", ["E1"], "shown(request)"),
    ],
)
def test_a_wrong_argument_gets_the_documented_error(service, method, arguments, where):
    """The error names the method, the argument and what to hand over, in place of an AttributeError from inside."""
    with pytest.raises(ConfigError) as caught:
        getattr(service, method)(*arguments)
    assert caught.value.where == where
    assert caught.value.hint


@pytest.mark.parametrize("face", [KnowledgeRouterService, AsyncKnowledgeRouterService])
def test_a_service_is_given_a_pipeline(face):
    """A folder in its place is named, with the method that takes one."""
    with pytest.raises(ConfigError, match="not a `Pipeline`") as caught:
        face("folder")
    assert f"{face.__name__}.open" in caught.value.hint
