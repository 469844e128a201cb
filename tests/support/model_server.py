"""A model server on loopback that says what a test has written down, in the words of OpenAI, Anthropic or Ollama.

    with model_server(Fails(429, "rate_limit_exceeded"), Says("...")) as server:
        client = openai.OpenAI(base_url=f"{server.url}/v1", api_key="key", max_retries=1)

Each request takes the next line of the script; the last line is said again and again. A line may be a function, which is given
the call and returns the line. The paths decide whose words they are:
`/v1/chat/completions` (plain and streamed), `/v1/messages` (the same), `/api/chat` and `/api/show`.
"""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from typing import NamedTuple

from support.loopback import Answer, Server

ANSWER = {
    "answer": "Keep sessions in Redis, with a time to live of one hour.",
    "rationale": "Several processes serve requests, and a session must outlive each of them.",
    "confidence": 90,
    "uncertainty_reasons": ["The load was not told."],
}
"""What is answered where a test says nothing else."""
PROSE = "I would keep sessions in Redis. I am quite sure of it."
TOKENS_IN, TOKENS_OUT = 11, 7
MODEL = "scripted-1"
_KINDS = {
    400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
    429: "rate_limit_error", 500: "api_error", 529: "overloaded_error",
}  # fmt: skip


class Says(NamedTuple):
    """What the model writes."""

    text: str = json.dumps(ANSWER)
    seconds: float = 0.0
    """So long it thinks first."""
    thinking: str = ""
    """What it writes for itself, before."""
    cut: bool = False
    """It reaches its limit of tokens in the middle."""
    refusal: str = ""
    """It refuses, with these words, in place of the text."""
    calls: bool = True
    """Where it is given the tool StructuredOutput, it uses it."""
    tokens_in: int | None = TOKENS_IN
    """What it says of the length of the prompt; None for nothing."""


class Uses(NamedTuple):
    """A tool that the model uses; Anthropic's words only."""

    tool: str
    given: dict


class Fails(NamedTuple):
    """What the service says in place of an answer."""

    status: int
    code: str = ""
    """`insufficient_quota` and the like, where the service has such codes."""
    message: str = "refused by the script"
    headers: dict = {}  # noqa: RUF012  never changed


class Raw(NamedTuple):
    """A body as it is, with status 200: HTML, JSON that ends too early."""

    body: str
    kind: str = "application/json"


RESET = "reset"
"""The connection ends without an answer."""
NOTHING = "nothing"
"""No answer ever comes."""
FENCED = Says(f"Here it is:\n```json\n{json.dumps(ANSWER)}\n```\n")
TWICE = Says(f"{json.dumps(ANSWER)}\n{json.dumps(ANSWER)}")
CUT = Says(json.dumps(ANSWER)[:60], cut=True)
REFUSES = Says("", refusal="I cannot help with that.")
LIMITED = Fails(
    429, "rate_limit_exceeded", "Too many requests.", {"Retry-After": "1", "Retry-After-Ms": "10"}
)
NO_QUOTA = Fails(429, "insufficient_quota", "You exceeded your current quota.", LIMITED.headers)
OVERLOADED = Fails(529, "", "Overloaded.", LIMITED.headers)


class Call(NamedTuple):
    """A request to the model."""

    path: str
    headers: dict
    body: dict

    @property
    def texts(self):
        """Everything that the model was given to read, as one text."""
        return json.dumps(self.body, ensure_ascii=False)

    @property
    def form(self):
        """How the answer's form is asked for: `json_schema`, `json_object` or nothing."""
        if "format" in self.body:  # Ollama's: the schema itself, or "json"
            return "json_schema" if isinstance(self.body["format"], dict) else "json_object"
        told = self.body.get("response_format") or (self.body.get("output_config") or {}).get("format") or {}
        return told.get("type", "")


class ModelServer(Server):
    """See the module.

    Args:
        script: what is said, in order.
        unknown: the forms of answers that it does not know, and refuses with 400: `json_schema`, `json_object`.
    """

    def __init__(self, script, unknown=()):
        self.calls = []
        """What it was asked to answer."""
        self._script = list(script) or [Says()]
        self._unknown = frozenset(unknown)
        self._ends = threading.Event()
        self._turn = threading.Lock()
        super().__init__(self._say)

    def close(self):
        self._ends.set()  # who waits for nothing waits no longer
        super().close()

    def _say(self, asked):
        wire = _WIRES.get(asked.path)
        if wire is None or asked.method != "POST":
            return Answer(404, {"error": "not found"})
        call = Call(asked.path, asked.headers, json.loads(asked.body))
        if wire is _Ollama and "messages" not in call.body:
            return {"model_info": {"general.architecture": "llama", "llama.context_length": 4096}}
        with self._turn:
            self.calls.append(call)
            if call.form in self._unknown:
                return wire.failure(Fails(400, "unknown", f"'{call.form}' is not supported by this server"))
            line = self._script.pop(0) if self._script[1:] else self._script[0]
        if callable(line):
            line = line(call)
        if isinstance(line, Says) and line.seconds:
            self._ends.wait(line.seconds)
        if line == NOTHING:
            self._ends.wait()
        if line in (RESET, NOTHING):  # a line may be no key
            return Answer(reset=True)
        if isinstance(line, Raw):
            return Answer(200, line.body, {"Content-Type": line.kind})
        if isinstance(line, Fails):
            return wire.failure(line)
        if call.body.get("stream"):
            return Answer(200, wire.stream(line, call), {"Content-Type": "text/event-stream"})
        return wire.answer(line, call)


@contextmanager
def model_server(*script, unknown=()):
    """A model server for the time of a test."""
    server = ModelServer(script, unknown)
    try:
        yield server
    finally:
        server.close()


# -- the wires -------------------------------------------------------------------------------------------------


class _OpenAI:
    """Chat completions: https://platform.openai.com/docs/api-reference/chat."""

    @staticmethod
    def failure(line):
        error = {
            "message": line.message,
            "type": line.code or _KINDS.get(line.status, "api_error"),
            "param": None,
        }
        return Answer(line.status, {"error": {**error, "code": line.code or None}}, line.headers)

    @classmethod
    def answer(cls, line, call):
        message = {
            "role": "assistant", "content": None if line.refusal else line.text, "refusal": line.refusal or None,
            **({"reasoning_content": line.thinking} if line.thinking else {}),
        }  # fmt: skip
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": cls._ending(line)}
        return {**cls._head("chat.completion", call), "choices": [choice], "usage": cls._usage(line)}

    @classmethod
    def stream(cls, line, call):
        head = cls._head("chat.completion.chunk", call)
        written = {"refusal": line.refusal} if line.refusal else {"content": line.text}
        (field, text), half = next(iter(written.items())), len(next(iter(written.values()))) // 2
        deltas = [{"role": "assistant"}, {field: text[:half]}, {field: text[half:]}]
        chunks = [
            {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
        ]
        chunks.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": cls._ending(line)}]})
        if (call.body.get("stream_options") or {}).get("include_usage"):
            chunks.append({**head, "choices": [], "usage": cls._usage(line)})
        return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"

    @staticmethod
    def _head(kind, call):
        return {
            "id": "chatcmpl-1",
            "object": kind,
            "created": 1760000000,
            "model": call.body.get("model") or MODEL,
        }

    @staticmethod
    def _ending(line):
        return "length" if line.cut else "stop"

    @staticmethod
    def _usage(line):
        told = line.tokens_in or 0
        return {"prompt_tokens": told, "completion_tokens": TOKENS_OUT, "total_tokens": told + TOKENS_OUT}


class _Anthropic:
    """Messages: https://docs.anthropic.com/en/api/messages."""

    @staticmethod
    def failure(line):
        error = {"type": line.code or _KINDS.get(line.status, "api_error"), "message": line.message}
        return Answer(line.status, {"type": "error", "error": error, "request_id": "req_1"}, line.headers)

    @classmethod
    def answer(cls, line, call):
        blocks, ending = cls._blocks(line, call)
        return {**cls._head(line, call), "content": blocks, "stop_reason": ending}

    @classmethod
    def stream(cls, line, call):
        blocks, ending = cls._blocks(line, call)
        events = [("message_start", {"message": {**cls._head(line, call), "content": []}})]
        for number, block in enumerate(blocks):
            begun, delta = cls._piecemeal(block)
            events += [
                ("content_block_start", {"index": number, "content_block": begun}),
                ("content_block_delta", {"index": number, "delta": delta}),
                ("content_block_stop", {"index": number}),
            ]
        delta = {"stop_reason": ending, "stop_sequence": None}
        events += [
            ("message_delta", {"delta": delta, "usage": {"output_tokens": TOKENS_OUT}}),
            ("message_stop", {}),
        ]
        return "".join(
            f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n" for kind, data in events
        )

    @classmethod
    def _blocks(cls, line, call):
        if isinstance(line, Uses):
            used = {
                "type": "tool_use",
                "id": f"toolu_{len(call.body['messages'])}",
                "name": line.tool,
                "input": line.given,
            }
            return [used], "tool_use"
        thought = [{"type": "thinking", "thinking": line.thinking, "signature": "s"}] if line.thinking else []
        if line.refusal:
            return [*thought, {"type": "text", "text": line.refusal}], "refusal"
        tools = [tool["name"] for tool in call.body.get("tools") or ()]
        if line.calls and "StructuredOutput" in tools and not line.cut:
            if cls._has_result(call):
                return [{"type": "text", "text": "Done."}], "end_turn"
            used = {
                "type": "tool_use",
                "id": "toolu_1",
                "name": "StructuredOutput",
                "input": json.loads(line.text),
            }
            return [*thought, used], "tool_use"
        return [*thought, {"type": "text", "text": line.text}], "max_tokens" if line.cut else "end_turn"

    @staticmethod
    def _has_result(call):
        """Whether the tool was used already, and what it said is in the last message."""
        content = call.body["messages"][-1]["content"]
        return isinstance(content, list) and any(block.get("type") == "tool_result" for block in content)

    @staticmethod
    def _piecemeal(block):
        """A block as it begins, and what then comes of it."""
        match block["type"]:
            case "text":
                return {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
            case "thinking":
                return {**block, "thinking": ""}, {"type": "thinking_delta", "thinking": block["thinking"]}
            case _:
                return {**block, "input": {}}, {
                    "type": "input_json_delta",
                    "partial_json": json.dumps(block["input"]),
                }

    @staticmethod
    def _head(line, call):
        tokens_in = TOKENS_IN if isinstance(line, Uses) else line.tokens_in or 0
        usage = {"input_tokens": tokens_in, "output_tokens": TOKENS_OUT}
        return {
            "id": "msg_1", "type": "message", "role": "assistant", "model": call.body.get("model") or MODEL,
            "stop_reason": None, "stop_sequence": None, "usage": usage,
        }  # fmt: skip


class _Ollama:
    """The native API: https://github.com/ollama/ollama/blob/main/docs/api.md."""

    @staticmethod
    def failure(line):
        return Answer(line.status, {"error": line.message}, line.headers)

    @staticmethod
    def answer(line, call):
        message = {"role": "assistant", "content": line.refusal or line.text}
        told = {} if line.tokens_in is None else {"prompt_eval_count": line.tokens_in}
        return {
            "model": call.body["model"], "created_at": "2026-02-05T00:00:00Z", "done": True,
            "message": {**message, **({"thinking": line.thinking} if line.thinking else {})},
            "done_reason": "length" if line.cut else "stop", "eval_count": TOKENS_OUT, **told,
        }  # fmt: skip

    @classmethod
    def stream(cls, line, call):
        return json.dumps(cls.answer(line, call)) + "\n"


_WIRES = {
    "/v1/chat/completions": _OpenAI,
    "/v1/messages": _Anthropic,
    "/api/chat": _Ollama,
    "/api/show": _Ollama,
}
