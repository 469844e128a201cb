"""What a collector of OpenTelemetry gets of a question, read with the official messages."""

import json

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from support.collector import collecting
from support.model_server import Says, model_server

QUESTION = "Which session store should we use?"
REASONS = {"openai_compatible": "stop", "anthropic": "end_turn", "ollama": "stop"}


def value(of):
    """An attribute's value, whatever its type."""
    kind = of.WhichOneof("value")
    return tuple(value(one) for one in of.array_value.values) if kind == "array_value" else getattr(of, kind)


@pytest.mark.req("G2", "Q4")
@pytest.mark.parametrize("plugin", REASONS)
def test_an_agents_request_is_below_its_agent_in_the_genai_conventions(kr_here, project_folder, plugin):
    """`kr ask` with a model service: `chat MODEL` in `invoke_agent NAME` in `ask`, each as long as it took."""
    with model_server(Says()) as server, collecting() as collector:
        url = server.url if plugin != "openai_compatible" else f"{server.url}/v1"
        settings = {"base_url": url, "model": "scripted-1"}
        if plugin != "ollama":
            settings["api_key"] = "sk-test-1"
        plugins = {plugin: settings, "otel": {"endpoint": collector.url}}
        config = {"agents": {"duc": {"plugin": plugin}}, "logs": ["jsonl", "otel"], "plugins": plugins}
        (project_folder / "kr.yaml").write_text(json.dumps(config))
        done = kr_here("ask", QUESTION, "--topic", "authentication", env={"KR_TRUST": "all"})
        assert done.code == 0, done
        spans = {span.name: span for span in collector.spans()}
        port = int(server.url.rpartition(":")[2])
    root, agent, chat = spans["ask"], spans["invoke_agent duc"], spans["chat scripted-1"]
    assert (root.parent_span_id, agent.parent_span_id, chat.parent_span_id) == (
        b"",
        root.span_id,
        agent.span_id,
    )
    assert (
        root.start_time_unix_nano
        < agent.start_time_unix_nano
        < agent.end_time_unix_nano
        <= root.end_time_unix_nano
    )
    assert chat.end_time_unix_nano > chat.start_time_unix_nano
    assert chat.kind == Span.SPAN_KIND_CLIENT
    told = {one.key: value(one.value) for one in chat.attributes}
    assert (told["server.address"], told["server.port"]) == ("127.0.0.1", port)
    assert (told["gen_ai.operation.name"], told["gen_ai.request.model"]) == ("chat", "scripted-1")
    told = {one.key: value(one.value) for one in agent.attributes}
    assert (told["gen_ai.operation.name"], told["gen_ai.response.finish_reasons"]) == (
        "invoke_agent",
        (REASONS[plugin],),
    )
