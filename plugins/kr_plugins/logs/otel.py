"""Questions and answers as OpenTelemetry traces, in the GenAI conventions.

    logs: [jsonl, otel]
    plugins:
      otel: {endpoint: "https://collector.example:4318", headers: {authorization: {env: OTEL_TOKEN}}}

It needs the extra `otel`: `pip install "kr-core[otel]"`. Each exchange is a trace, each of its entries a span, sent as
OTLP over HTTP (https://opentelemetry.io/docs/specs/otlp/). The first span, `ask`, lasts as long as the exchange and is
sent at its end; what a human decides later is below it. A request to a model service is below the agent that sent it.
Trace and span ids derive from the ids of exchange and entry, so an entry that is sent twice, after a crash between
sending and recording it, is the same span. It sends neither questions nor answers unless `content` is true.

The names are those of https://opentelemetry.io/docs/specs/semconv/gen-ai/ (an agent: `invoke_agent NAME`, a request to a
model service: `chat MODEL`), and `kr.*` for everything else. It does not use the SDK's own sender, which would send the content of
    OTEL_EXPORTER_OTLP_HEADERS to any address in a project's configuration.
"""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from pydantic import Field

from kr_core import StorageError
from kr_core.plugin import Log, Provider, Settings, hookimpl

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import SpanContext, SpanKind

    from kr_core import Event
    from kr_core.plugin import LogRecord

__all__ = ["OpenTelemetry", "OtelSettings", "kr_log"]

_PROVIDERS = {"claude_cli": "anthropic", "openai_compatible": "openai"}
"""The provider by plugin, where it has another name in the conventions."""
Key = TypeVar("Key")
Known = TypeVar("Known")
_NOT_SPANS = frozenset({"agent.started", "agent.repaired"})
"""What is told by the span of the agent's answer or failure."""
_TOLD = (
    "topic", "target", "agent", "rule", "confidence", "raw_confidence", "threshold", "accepted", "status", "action",
    "escalation_id", "revision", "channel", "outcome", "applied", "validated_by", "cost_usd", "always_escalate",
)  # fmt: skip
"""What is sent of an entry's data: no text that a person or a model wrote."""
_MAX_SECONDS_LENGTH = 1e7
_MAX_REMEMBERED = 1000
"""Agents, and questions, of which so many are remembered until they have their answer."""
_MODEL = re.compile(r'\s*\{\s*"model"\s*:\s*"([^"\\]{1,200})"')
"""How the body of a request begins that names its model."""
_PORTS = {"https": 443, "http": 80}


class OtelSettings(Settings):
    endpoint: str = Field("http://127.0.0.1:4318", pattern=r"^https?://[^\s/?#@]+(?:/[^\s?#]*)?$")
    """The address of the collector; spans go to `/v1/traces` below it. Put credentials into `headers`, because error
    messages show the address.
    """
    headers: dict[str, str] = Field(default_factory=dict)
    """Headers of each request, such as `{authorization: {env: OTEL_TOKEN}}`."""
    content: bool = False
    """Whether to send questions and answers too."""
    service: str = "kr"
    """The service name of the spans."""
    timeout_seconds: float = 5.0
    """The time limit of one request; KR sends the events again later if it fails."""


@hookimpl
def kr_log() -> Provider[Log]:
    """Provide the log; the SDK is imported when it is built."""
    return Provider(
        lambda settings, _: OpenTelemetry(_sender(settings), settings.service, content=settings.content),
        OtelSettings,
    )


class OpenTelemetry:
    """A log that hands the entries of exchanges to an exporter, as spans; all other events it leaves out.

    Args:
        exporter: where the spans go.
        service: the name of the service that they are of.
        content: whether questions and answers are in them.
    """

    def __init__(self, exporter: SpanExporter, service: str = "kr", *, content: bool = False) -> None:
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.util.instrumentation import InstrumentationScope

        self._exporter = exporter
        self._content = content
        self._resource = Resource({"service.name": service})
        self._scope = InstrumentationScope("kr_core")
        self._asked: OrderedDict[str, Mapping[str, Any]] = OrderedDict()
        self._agents: OrderedDict[tuple[str, str], _AgentCalls] = OrderedDict()

    def write(self, records: Sequence[LogRecord]) -> None:
        """Hand over the entries of exchanges.

        Raises:
            StorageError: they could not be handed over.
        """
        from opentelemetry.sdk.trace.export import SpanExportResult

        spans = [
            span
            for record in records
            if isinstance(record.event.data.get("exchange_id"), str)
            and (span := self._span(record.event)) is not None
        ]
        if spans and self._exporter.export(spans) is not SpanExportResult.SUCCESS:
            raise StorageError("the exporter did not take the spans")

    def _span(self, event: Event) -> ReadableSpan | None:
        from opentelemetry.trace import SpanKind

        kind, data = event.kind, event.data
        exchange, agent = data["exchange_id"], data.get("agent")
        root = _context(exchange)
        if kind == "agent.started":
            _remember(self._agents, (exchange, str(agent)), _AgentCalls()).started = data
        if kind in _NOT_SPANS:
            return None
        if kind == "question.asked":
            _remember(self._asked, exchange, data)
            return self._made(event, kind, self._of_question(data), parent=root)
        if kind == "exchange.finished" and isinstance(data.get("seconds"), int | float):
            topic = self._asked.get(exchange, {}).get("topic")
            return self._made(event, "ask", {"kr.topic": topic}, context=root)
        if kind == "agent.request":
            told = self._of_request(data)
            name = " ".join(filter(None, ("chat", told["gen_ai.request.model"])))
            return self._made(event, name, told, parent=self._call(event), kind=SpanKind.CLIENT)
        if agent and kind in {"answer.received", "agent.failed"} and not data.get("validated_by"):
            call = self._call(event, ends=True)
            return self._made(
                event, f"invoke_agent {agent}", self._of_agent(event), parent=root, context=call
            )
        return self._made(event, kind, {}, parent=root)

    def _call(self, event: Event, *, ends: bool = False) -> SpanContext:
        """The ids of the span of an agent that was asked: the same before its answer and after, and after a restart."""
        exchange, agent = event.data["exchange_id"], str(event.data.get("agent"))
        calls = self._agents.get((exchange, agent)) or _AgentCalls()
        return _context(exchange, f"agent {agent}\n{calls.number(event.id, ends=ends)}")

    def _of_question(self, data: Mapping[str, Any]) -> dict[str, Any]:
        if not self._content:
            return {}
        return {"gen_ai.input.messages": _message("user", data.get("text"))}

    def _of_request(self, data: Mapping[str, Any]) -> dict[str, Any]:
        told = self._of_model("chat", data)
        sent = data.get("sent")
        named = _MODEL.match(sent) if isinstance(sent, str) else None
        address, port = _place(str(data.get("url")))
        return {
            **told,
            "gen_ai.request.model": told["gen_ai.request.model"] or (named[1] if named else None),
            "server.address": address,
            "server.port": port,
            "http.response.status_code": data.get("status"),
            "error.type": str(data.get("error") or "").partition(":")[0] or None,
        }

    def _of_agent(self, event: Event) -> dict[str, Any]:
        data = event.data
        told = {
            **self._of_model("invoke_agent", data),
            "gen_ai.response.model": data.get("model") or None,
            "gen_ai.usage.input_tokens": data.get("input_tokens"),
            "gen_ai.response.finish_reasons": _reasons(data.get("finish_reason")),
            "gen_ai.usage.output_tokens": data.get("output_tokens"),
            "error.type": str(data.get("outcome") or "error") if event.kind == "agent.failed" else None,
        }
        if self._content and event.kind == "answer.received":
            told["gen_ai.output.messages"] = _message("assistant", data.get("content"))
        return told

    def _of_model(self, operation: str, data: Mapping[str, Any]) -> dict[str, Any]:
        agent = str(data.get("agent"))
        calls = self._agents.get((data["exchange_id"], agent))
        started = calls.started if calls else {}
        plugin, model = str(started.get("plugin") or "kr"), started.get("model")
        return {
            "gen_ai.operation.name": operation,
            "gen_ai.provider.name": _PROVIDERS.get(plugin, plugin),
            "gen_ai.agent.name": agent,
            "gen_ai.request.model": model if isinstance(model, str) else None,
        }

    def _made(
        self,
        event: Event,
        name: str,
        attributes: Mapping[str, Any],
        *,
        parent: SpanContext | None = None,
        context: SpanContext | None = None,
        kind: SpanKind | None = None,
    ) -> ReadableSpan:
        from opentelemetry.sdk.trace import ReadableSpan
        from opentelemetry.trace import Link, SpanKind, Status, StatusCode

        data = event.data
        exchange, follows = data["exchange_id"], data.get("parent_id")
        told = {
            "gen_ai.conversation.id": exchange,
            "kr.entry.id": event.id,
            "kr.feature.id": data.get("feature_id"),
            "kr.question.id": data.get("question_id"),
            **{f"kr.{key}": data.get(key) for key in _TOLD},
            **attributes,
        }
        failed = told.get("error.type") is not None
        seconds = data.get("seconds")
        took = seconds if isinstance(seconds, int | float) and 0 < seconds < _MAX_SECONDS_LENGTH else 0
        end = round(event.time.timestamp() * 1e9)
        return ReadableSpan(
            name=_fit(name),
            context=context or _context(exchange, event.id),
            parent=parent,
            links=[Link(_context(follows))] if parent is None and isinstance(follows, str) else (),
            attributes={
                key: _fit(value)
                for key, value in told.items()
                if isinstance(value, str | int | float | tuple)
            },
            kind=kind or SpanKind.INTERNAL,
            status=Status(StatusCode.ERROR) if failed else Status(StatusCode.UNSET),
            start_time=end - round(took * 1e9),
            end_time=end,
            resource=self._resource,
            instrumentation_scope=self._scope,
        )


@dataclass
class _AgentCalls:
    """How often an agent was asked in an exchange; which call an entry belongs to stays the same when it comes again."""

    started: Mapping[str, Any] = field(default_factory=dict)
    ended: int = 0
    numbers: dict[str, int] = field(default_factory=dict)

    def number(self, entry: str, *, ends: bool) -> int:
        """The number of the call that an entry belongs to, or ends."""
        number = self.numbers.setdefault(entry, self.ended)
        if ends and number == self.ended:
            self.ended += 1
        return number


def _remember(known: OrderedDict[Key, Known], key: Key, value: Known) -> Known:
    """What is known under a key, the value if it is new; the oldest is forgotten."""
    found = known.setdefault(key, value)
    if len(known) > _MAX_REMEMBERED:
        known.popitem(last=False)
    return found


def _context(exchange: str, entry: str | None = None) -> SpanContext:
    """The ids of an entry's span, or of the exchange's first one."""
    from opentelemetry.trace import SpanContext, TraceFlags

    trace = sha256(exchange.encode(errors="surrogatepass")).digest()
    span = trace if entry is None else sha256(f"{exchange}\n{entry}".encode(errors="surrogatepass")).digest()
    return SpanContext(
        int.from_bytes(trace[:16]) or 1,
        int.from_bytes(span[16:24]) or 1,
        is_remote=False,
        trace_flags=TraceFlags(TraceFlags.SAMPLED),
    )


def _fit(value: Any) -> Any:
    """A value as OTLP can have it: UTF-8, and whole numbers of 64 bits."""
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    return str(value) if isinstance(value, int) and abs(value) >= 2**63 else value


def _reasons(said: Any) -> tuple[str, ...] | None:
    """Why the model ended, as the conventions have it: one of each answer."""
    return (_fit(said),) if isinstance(said, str) and said else None


def _place(url: str) -> tuple[str | None, int | None]:
    """The host and the port of an address."""
    try:
        parts = urlsplit(url)
        return parts.hostname, parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return None, None


def _message(role: str, text: Any) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": str(text)}]}])


def _sender(settings: OtelSettings) -> SpanExporter:
    """What sends spans as OTLP over HTTP; imported here, since the SDK is an extra."""
    import httpx
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
    from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

    url = f"{settings.endpoint.rstrip('/')}/v1/traces"

    class Sender(SpanExporter):
        def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
            body = encode_spans(spans).SerializeToString()
            headers = {**settings.headers, "content-type": "application/x-protobuf"}
            try:
                answer = httpx.post(url, content=body, headers=headers, timeout=settings.timeout_seconds)
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                raise StorageError(
                    f"the spans could not be sent ({type(error).__name__}: {error})",
                    where=url,
                    hint="see that the collector runs; they are sent later",
                ) from error
            if not answer.is_success:
                raise StorageError(
                    f"the collector answered {answer.status_code}",
                    where=url,
                    hint="see its log; the spans are sent later",
                )
            return SpanExportResult.SUCCESS

    return Sender()
