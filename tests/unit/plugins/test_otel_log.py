"""The log that sends exchanges as traces of OpenTelemetry."""

import json
import logging
from datetime import UTC, datetime, timedelta

import pytest
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
from opentelemetry.semconv.attributes import error_attributes, http_attributes, server_attributes
from support.collector import collecting

from kr_core import ConfigError, Event, Pipeline, StorageError
from kr_core.config import load
from kr_core.plugin import LogRecord
from kr_plugins.logs.otel import OpenTelemetry, OtelSettings, kr_log

BEGIN = datetime(2026, 2, 5, 10, tzinfo=UTC)
SECRET = "Which session store should we use?"


def record(kind, *, at=0.0, exchange="e1", number=1, name=None, **data):
    about = {"exchange_id": exchange, "parent_id": None, "feature_id": "login", "question_id": "q1"}
    event = Event(
        kind, exchange, {**about, **data}, name or f"{exchange}-{kind}-{at}", BEGIN + timedelta(seconds=at)
    )
    return LogRecord(number, event)


EXCHANGE = [
    record("question.asked", topic="auth", text=SECRET, context=SECRET),
    record("question.routed", at=0.1, topic="auth", target="architect", agent="baron", threshold=80, reason=SECRET),
    record("agent.started", at=0.2, agent="baron", plugin="claude_cli", model="opus", timeout_seconds=60),
    record("agent.request", at=1.2, agent="baron", method="POST", url="https://api.example/v1?key=k", sent=SECRET,
           status=529, received=3, seconds=0.5, error=""),
    record("answer.received", at=3.2, agent="baron", model="opus-5", content=SECRET, confidence=90, rationale=SECRET,
           input_tokens=100, output_tokens=20, seconds=3.0, cost_usd=0.5, validated_by=None, finish_reason="stop"),
    record("answer.gated", at=3.3, accepted=True, confidence=90, threshold=80, reason=SECRET),
    record("exchange.finished", at=3.4, status="accepted", agent="baron", confidence=90, seconds=3.4),
]  # fmt: skip


@pytest.fixture
def exporter():
    return InMemorySpanExporter()


@pytest.fixture
def spans(exporter):
    """The spans of what is written, by name."""

    def write(*records, **settings):
        OpenTelemetry(exporter, **settings).write(records)
        return {span.name: span for span in exporter.get_finished_spans()}

    return write


@pytest.mark.req("G2")
def test_an_exchange_is_a_trace(spans):
    """The whole exchange is the first span and ends last; all other entries are below it, in time and order."""
    found = spans(*EXCHANGE)
    assert list(found) == [
        "question.asked", "question.routed", "chat opus", "invoke_agent baron", "answer.gated", "ask",
    ]  # fmt: skip
    assert len({span.context.trace_id for span in found.values()}) == 1
    root, agent = found["ask"], found["invoke_agent baron"]
    assert root.parent is None
    below = {name: span.parent.span_id for name, span in found.items() if span is not root}
    assert below.pop("chat opus") == agent.context.span_id, "the request is the agent's"
    assert set(below.values()) == {root.context.span_id}
    assert root.attributes["kr.topic"] == "auth"
    assert root.attributes["gen_ai.conversation.id"] == "e1"
    assert root.attributes["kr.status"] == "accepted"


@pytest.mark.req("G2")
def test_the_root_span_lasts_as_long_as_the_exchange(exporter):
    """From the question to its end, also where the log began after the question; each other span lies within it."""
    OpenTelemetry(exporter).write(EXCHANGE)
    *others, root = exporter.get_finished_spans()
    assert (root.start_time, root.end_time) == (others[0].start_time, others[0].start_time + 3_400_000_000)
    assert all(root.start_time <= span.start_time <= span.end_time <= root.end_time for span in others)
    exporter.clear()
    OpenTelemetry(exporter).write(EXCHANGE[-1:])
    [again] = exporter.get_finished_spans()
    assert (again.context, again.start_time, again.end_time) == (root.context, root.start_time, root.end_time)


@pytest.mark.req("G2", "H1")
def test_a_decision_that_comes_later_is_below_the_root_span(spans):
    """The exchange ended when a human was asked; what they decide is a span of its own, and no second root."""
    decided = record(
        "exchange.finished", at=90.0, status="answered", agent="duc", confidence=90, seconds=None
    )
    found = spans(*EXCHANGE, decided)
    assert found["exchange.finished"].parent.span_id == found["ask"].context.span_id


@pytest.mark.req("G2", "G3")
def test_a_request_is_below_its_agent_after_a_restart(exporter):
    """A log that has not seen the agent begin sends the same parent; an agent that is asked twice has two spans."""
    OpenTelemetry(exporter).write(EXCHANGE[:4])
    OpenTelemetry(exporter).write(EXCHANGE[4:])
    found = {span.name: span for span in exporter.get_finished_spans()}
    assert found["chat opus"].parent.span_id == found["invoke_agent baron"].context.span_id
    exporter.clear()
    again = [
        record(one.event.kind, name=f"again-{n}", **one.event.data) for n, one in enumerate(EXCHANGE[2:5])
    ]
    log = OpenTelemetry(exporter)
    for _tries in range(2):  # the first time the answer of the collector was lost
        log.write([*EXCHANGE[2:5], *again])
    first, second = exporter.get_finished_spans()[:4], exporter.get_finished_spans()[4:]
    assert [span.context.span_id for span in first] == [span.context.span_id for span in second]
    assert [span.parent.span_id for span in first[::2]] == [span.context.span_id for span in first[1::2]]
    assert len({span.context.span_id for span in first}) == 4


@pytest.mark.req("G2")
def test_an_agent_in_the_genai_conventions(spans):
    """An agent's answer has operation, provider, models and tokens, and the time that it took."""
    found = spans(*EXCHANGE)
    agent = found["invoke_agent baron"]
    told = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.agent.name": "baron",
        "gen_ai.request.model": "opus",
        "gen_ai.response.model": "opus-5",
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 20,
        "gen_ai.response.finish_reasons": ("stop",),
    }
    assert {key: agent.attributes[key] for key in told} == told
    assert agent.end_time - agent.start_time == 3_000_000_000
    assert agent.status.is_unset
    chat = found["chat opus"].attributes
    assert (chat["gen_ai.operation.name"], chat["gen_ai.request.model"]) == ("chat", "opus")
    assert (chat["server.address"], chat["server.port"]) == ("api.example", 443)
    assert chat["http.response.status_code"] == 529


@pytest.mark.req("G2")
def test_the_names_are_those_of_the_conventions(spans):
    """Each name in `gen_ai`, `server`, `error` and `http` stands in the official package."""
    known = {
        value
        for module in (gen_ai_attributes, server_attributes, error_attributes, http_attributes)
        for value in vars(module).values()
        if isinstance(value, str)
    }
    failed = record("agent.failed", at=9.0, agent="duc", outcome="timeout", reason="", seconds=9)
    sent = {name for span in spans(*EXCHANGE, failed, content=True).values() for name in span.attributes}
    assert {name for name in sent if not name.startswith("kr.")} <= known


@pytest.mark.req("G2")
@pytest.mark.parametrize(
    ("url", "sent", "name", "port"),
    [
        ("http://127.0.0.1:8080/v1", '{"model":"small-1","messages":[]}', "chat small-1", 8080),
        ("http://api.example/v1", '{"messages":[]}', "chat", 80),
        ("https://[::1]:x/", '["model"]', "chat", None),
        ("https://api.example:99999/", '{"model":5', "chat", None),
    ],
)
def test_a_request_tells_the_model_and_the_port(spans, url, sent, name, port):
    """Where no model is configured for the agent, the request's own counts; a port that the address leaves out is the usual one."""
    started = record("agent.started", agent="duc", plugin="ollama", model=None, timeout_seconds=60)
    asked = record(
        "agent.request", at=1.0, agent="duc", method="POST", url=url, sent=sent, status=200, seconds=0.5
    )
    chat = spans(started, asked)[name]
    assert chat.attributes.get("server.port") == port
    assert chat.attributes.get("gen_ai.request.model") == (name.partition(" ")[2] or None)


@pytest.mark.req("G2")
def test_an_agent_that_failed(spans):
    """A failure has its type, also where the start was not seen."""
    agent = spans(record("agent.failed", agent="baron", outcome="timeout", reason=SECRET, seconds=9))[
        "invoke_agent baron"
    ]
    assert agent.attributes["error.type"] == "timeout"
    assert not agent.status.is_ok
    assert agent.attributes["gen_ai.provider.name"] == "kr"


@pytest.mark.req("G2")
def test_a_follower_leads_back(spans):
    """The trace of an exchange that follows another has a link to that one's first span."""
    OpenTelemetry(first := InMemorySpanExporter()).write([EXCHANGE[-1]])
    follower = spans(record("exchange.finished", exchange="e2", parent_id="e1", seconds=1))["ask"]
    [one] = first.get_finished_spans()
    assert follower.context.trace_id != one.context.trace_id
    assert [(link.context.trace_id, link.context.span_id) for link in follower.links] == [
        (one.context.trace_id, one.context.span_id)
    ]


@pytest.mark.req("G2", "G3")
def test_what_comes_again_is_the_same_span(exporter):
    """After a crash the same entries are the same spans; no two entries have one id."""
    OpenTelemetry(exporter).write(EXCHANGE)
    OpenTelemetry(exporter).write(EXCHANGE)
    ids = [(span.context.trace_id, span.context.span_id) for span in exporter.get_finished_spans()]
    assert ids[:6] == ids[6:]
    assert len(set(ids)) == 6


@pytest.mark.req("G5")
def test_texts_stay_at_home(spans):
    """Neither what people wrote nor what models wrote is in a span, unless it is asked for."""
    assert SECRET not in "".join(span.to_json() for span in spans(*EXCHANGE).values())


@pytest.mark.req("G2")
def test_texts_where_they_are_asked_for(spans):
    """With `content` the question and the answer are there, in the form of the conventions."""
    found = spans(*EXCHANGE, content=True)
    message = {"role": "user", "parts": [{"type": "text", "content": SECRET}]}
    assert json.loads(found["question.asked"].attributes["gen_ai.input.messages"]) == [message]
    [answer] = json.loads(found["invoke_agent baron"].attributes["gen_ai.output.messages"])
    assert answer == {**message, "role": "assistant"}


@pytest.mark.req("G2")
def test_all_else_is_left_out(spans):
    """Events that belong to no exchange are no spans."""
    assert spans(LogRecord(1, Event("run.started", "r1", {"question": "?"}))) == {}


@pytest.mark.req("G3")
@pytest.mark.parametrize(
    "value", [None, "\udc80", 2**70, -(2**63), float("nan"), [1], {"a": 1}, True, "", 1e300]
)
def test_whatever_stands_there(value):
    """Data of any kind is sent, so that one strange entry does not hold up all that come after it."""
    data = dict.fromkeys(
        (
            "agent",
            "model",
            "seconds",
            "url",
            "sent",
            "topic",
            "confidence",
            "parent_id",
            "error",
            "finish_reason",
        ),
        value,
    )
    kinds = (
        "question.asked",
        "agent.started",
        "agent.request",
        "answer.received",
        "agent.failed",
        "exchange.finished",
        "own.\udc80",
    )
    records = [record(kind, name=f"{number}", **data) for number, kind in enumerate(kinds)]
    with collecting() as collector:
        built(collector).write(records)
        assert len(collector.spans()) == 6


def built(collector, **settings):
    return kr_log().build(OtelSettings(endpoint=collector.url, **settings), None)


@pytest.mark.req("G5")
@pytest.mark.parametrize(
    "address", ["http://ada:geheim@collector", "http://geheim@collector/", "ftp://x", ""]
)
def test_credentials_in_the_address_are_refused(tmp_path, address):
    """They would stand in each failure to send; the refusal does not show them."""
    settings = {"logs": ["otel"], "plugins": {"otel": {"endpoint": address}}}
    (tmp_path / "kr.yaml").write_text(json.dumps(settings))
    pipeline = Pipeline(load(tmp_path, environ={"KR_TRUST": "all"}))
    with pytest.raises(ConfigError) as refused:
        pipeline.components.logs()
    assert "endpoint" in str(refused.value)
    assert "geheim" not in str(refused.value)


@pytest.mark.req("G2", "G5")
def test_sent_to_a_collector(monkeypatch):
    """A collector gets the spans with the headers that are set, and none from the environment."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=of-somebody-else")
    with collecting() as collector:
        built(collector, headers={"x-tenant": "kr"}, service="ours").write(EXCHANGE)
        assert [span.name for span in collector.spans()][3] == "invoke_agent baron"
        headers = collector.server.asked[0].headers
    sent = {key.lower(): value for key, value in headers.items()}
    assert sent["x-tenant"] == "kr"
    assert "authorization" not in sent


@pytest.mark.req("G3")
def test_a_collector_that_refuses(caplog):
    """What a collector does not take is an error, so that it is sent again; so is one that is not there."""
    with caplog.at_level(logging.DEBUG), collecting() as collector:
        log = built(collector)
        collector.status = 503
        with pytest.raises(StorageError, match="answered 503"):
            log.write(EXCHANGE)
    with pytest.raises(StorageError, match="could not be sent") as caught:
        log.write(EXCHANGE)
    assert caught.value.where.endswith("/v1/traces")


@pytest.mark.req("G3")
def test_an_exporter_that_fails():
    """An exporter that says that it failed is an error, too."""

    class Failing(SpanExporter):
        def export(self, _spans):
            return SpanExportResult.FAILURE

    with pytest.raises(StorageError, match="did not take"):
        OpenTelemetry(Failing()).write(EXCHANGE)


def test_agents_under_way_are_not_remembered_for_ever():
    """However many agents are started and never answer, few are remembered."""
    log = OpenTelemetry(InMemorySpanExporter())
    for kind in ("agent.started", "question.asked"):
        log.write([record(kind, exchange=f"e{n}", agent="a") for n in range(3000)])
    assert len(log._agents) == len(log._asked) == 1000
