"""The loopback model server speaks as the services do: their own clients understand it."""

import json

import httpx
import pytest
from support.model_server import (
    ANSWER,
    CUT,
    LIMITED,
    MODEL,
    NO_QUOTA,
    OVERLOADED,
    REFUSES,
    RESET,
    TOKENS_IN,
    TOKENS_OUT,
    Fails,
    Says,
    model_server,
)

QUESTION = [{"role": "user", "content": "Which session store?"}]


def of_openai(server, retries=0):
    import openai  # which takes half a second, in each process that collects the tests

    return openai.OpenAI(base_url=f"{server.url}/v1", api_key="sk-test", max_retries=retries)


def of_anthropic(server, retries=0):
    import anthropic  # which takes a second

    return anthropic.Anthropic(base_url=server.url, api_key="sk-test", max_retries=retries)


def completion(client, **more):
    return client.chat.completions.create(model=MODEL, messages=QUESTION, **more)


def message(client, **more):
    return client.messages.create(model=MODEL, max_tokens=100, messages=QUESTION, **more)


def test_openai_reads_a_completion():
    """The official client finds text, ending and tokens, and the server what it was asked."""
    with model_server(Says(thinking="Hm.")) as server, of_openai(server) as client:
        told = completion(client, response_format={"type": "json_object"})
    assert json.loads(told.choices[0].message.content) == ANSWER
    assert told.choices[0].finish_reason == "stop"
    assert (told.usage.prompt_tokens, told.usage.completion_tokens) == (TOKENS_IN, TOKENS_OUT)
    [call] = server.calls
    assert (call.form, call.body["messages"], call.headers["authorization"]) == (
        "json_object",
        QUESTION,
        "Bearer sk-test",
    )


def test_openai_reads_a_stream():
    """The official client puts the pieces together, with the tokens at the end."""
    with model_server() as server, of_openai(server) as client:
        chunks = list(completion(client, stream=True, stream_options={"include_usage": True}))
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert json.loads(text) == ANSWER
    assert chunks[-1].usage.completion_tokens == TOKENS_OUT


def test_openai_reads_refusals_and_cut_texts():
    """A refusal is no content, and a cut text says that it is."""
    with model_server(REFUSES, CUT) as server, of_openai(server) as client:
        refused, cut = completion(client).choices[0], completion(client).choices[0]
    assert refused.message.refusal == REFUSES.refusal
    assert refused.message.content is None
    assert cut.finish_reason == "length"


@pytest.mark.parametrize(
    ("line", "error", "code"),
    [
        (Fails(400, "context_length_exceeded"), "BadRequestError", "context_length_exceeded"),
        (Fails(401, "invalid_api_key"), "AuthenticationError", "invalid_api_key"),
        (LIMITED, "RateLimitError", "rate_limit_exceeded"),
        (NO_QUOTA, "RateLimitError", "insufficient_quota"),
        (Fails(500), "InternalServerError", None),
    ],
)
def test_openai_raises_its_errors(line, error, code):
    """The official client knows each failure by its own class and code."""
    import openai

    expected = getattr(openai, error)
    with model_server(line) as server, of_openai(server) as client, pytest.raises(expected) as raised:
        completion(client)
    assert raised.value.code == code


def test_openai_comes_back_after_a_limit_and_a_reset():
    """The official client sends again what failed in passing."""
    with model_server(LIMITED, RESET, Says()) as server, of_openai(server, retries=2) as client:
        assert completion(client).choices[0].message.content
    assert len(server.calls) == 3


def test_anthropic_reads_a_message():
    """The official client finds the blocks, the ending and the tokens."""
    with model_server(Says(thinking="Hm.")) as server, of_anthropic(server) as client:
        told = message(
            client, output_config={"format": {"type": "json_schema", "schema": {"type": "object"}}}
        )
    assert [block.type for block in told.content] == ["thinking", "text"]
    assert json.loads(told.content[1].text) == ANSWER
    assert (told.stop_reason, told.usage.input_tokens, told.usage.output_tokens) == (
        "end_turn",
        TOKENS_IN,
        TOKENS_OUT,
    )
    [call] = server.calls
    assert (call.form, call.headers["authorization"]) == ("json_schema", "Bearer sk-test")


@pytest.mark.parametrize("line", [Says(thinking="Hm."), REFUSES, CUT])
def test_anthropic_reads_a_stream(line):
    """The official client makes of the events what it would have read whole."""
    with model_server(line) as server, of_anthropic(server) as client:
        with client.messages.stream(model=MODEL, max_tokens=100, messages=QUESTION) as stream:
            streamed = stream.get_final_message()
        whole = message(client)
    assert (
        streamed.stop_reason
        == whole.stop_reason
        == ("refusal" if line.refusal else "max_tokens" if line.cut else "end_turn")
    )
    assert [block.type for block in streamed.content] == [block.type for block in whole.content]
    assert streamed.content[-1].text == whole.content[-1].text


def test_anthropic_reads_the_use_of_a_tool():
    """Given the tool by which the command line asks for a form, the model uses it, and ends once it has the result."""
    tools = [{"name": "StructuredOutput", "input_schema": {"type": "object"}}]
    with model_server() as server, of_anthropic(server) as client:
        with client.messages.stream(model=MODEL, max_tokens=100, messages=QUESTION, tools=tools) as stream:
            used = stream.get_final_message().content[0]
        result = [{"type": "tool_result", "tool_use_id": used.id, "content": "ok"}]
        after = client.messages.create(
            model=MODEL,
            max_tokens=100,
            tools=tools,
            messages=[*QUESTION, {"role": "user", "content": result}],
        )
    assert (used.type, used.input) == ("tool_use", ANSWER)
    assert after.stop_reason == "end_turn"


@pytest.mark.parametrize(
    ("line", "error", "kind"),
    [
        (Fails(400), "BadRequestError", "invalid_request_error"),
        (Fails(401), "AuthenticationError", "authentication_error"),
        (Fails(429), "RateLimitError", "rate_limit_error"),
        (Fails(500), "InternalServerError", "api_error"),
        (OVERLOADED, "InternalServerError", "overloaded_error"),
    ],
)
def test_anthropic_raises_its_errors(line, error, kind):
    """The official client knows each failure by its own class and type."""
    import anthropic

    expected = getattr(anthropic, error)
    with model_server(line) as server, of_anthropic(server) as client, pytest.raises(expected) as raised:
        message(client)
    assert raised.value.body["error"]["type"] == kind


def test_anthropic_comes_back_after_an_overload():
    """The official client sends again what failed in passing."""
    with model_server(OVERLOADED, Says()) as server, of_anthropic(server, retries=1) as client:
        assert message(client).content
    assert len(server.calls) == 2


def test_a_form_that_is_unknown_is_refused():
    """A server can be told what it does not know; that takes no line of its script."""
    import openai

    with model_server(Says(), unknown={"json_schema"}) as server, of_openai(server) as client:
        with pytest.raises(openai.BadRequestError):
            completion(
                client, response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": {}}}
            )
        assert completion(client, response_format={"type": "json_object"}).choices


def test_ollama_answers_as_its_documentation_says():
    """There is no official client among the tools here: the documented fields are there."""
    body = {"model": "llama", "messages": QUESTION, "stream": False, "format": {"type": "object"}}
    with model_server(Says(tokens_in=4000), CUT, Fails(404, message="model 'llama' not found")) as server, httpx.Client(base_url=server.url) as client:  # fmt: skip
        told = client.post("/api/chat", json=body).json()
        cut = client.post("/api/chat", json=body).json()
        missing = client.post("/api/chat", json=body)
        shown = client.post("/api/show", json={"model": "llama"}).json()
    assert (told["done"], told["done_reason"], told["prompt_eval_count"]) == (True, "stop", 4000)
    assert json.loads(told["message"]["content"]) == ANSWER
    assert cut["done_reason"] == "length"
    assert (missing.status_code, missing.json()) == (404, {"error": "model 'llama' not found"})
    assert shown["model_info"]["llama.context_length"] == 4096
    assert [call.form for call in server.calls] == ["json_schema"] * 3
