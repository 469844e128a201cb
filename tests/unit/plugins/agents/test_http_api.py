"""Agents that ask a service over HTTP, against a real server on loopback."""

import json

import pytest
from support.model_server import (
    ANSWER,
    CUT,
    FENCED,
    LIMITED,
    NO_QUOTA,
    OVERLOADED,
    PROSE,
    REFUSES,
    RESET,
    TOKENS_IN,
    TOKENS_OUT,
    TWICE,
    Fails,
    Raw,
    Says,
    model_server,
)

from kr_core import ConfigError, RequestError

KEY = "sk-test-" + "a1b2c3d4" * 4
PLUGINS = ("openai_compatible", "anthropic", "ollama")
KEYED = ("openai_compatible", "anthropic")


def settings(plugin, server, **more):
    base = f"{server.url}/v1" if plugin == "openai_compatible" else server.url
    key = {"api_key": KEY} if plugin in KEYED else {}
    return {"base_url": base, "model": "scripted-1", **key, **more}


def ask(asking, plugin, *script, unknown=(), times=1, more=None, **job):
    """What came of asking an agent of this plugin: the reply or the error, and the calls."""
    with model_server(*script, unknown=unknown) as server:
        agent = asking.agent(plugin, **settings(plugin, server, **(more or {})))
        try:
            answered = asking.ask(agent, times=times, **job)
        except RequestError as error:
            answered = error
        return answered, server.calls


@pytest.mark.req("Q4")
@pytest.mark.parametrize("plugin", PLUGINS)
def test_a_reply_is_brought_back(asking, plugin):
    """The text, the model and the tokens come back; thoughts do not."""
    reply, [call] = ask(asking, plugin, Says(thinking="Perhaps {not this}."))
    assert json.loads(reply.text) == ANSWER
    assert (reply.model, reply.input_tokens, reply.output_tokens) == ("scripted-1", TOKENS_IN, TOKENS_OUT)
    assert call.form == "json_schema"


@pytest.mark.parametrize("plugin", PLUGINS)
def test_it_sends_what_the_job_says(asking, plugin):
    """System, prompt, schema and the job's own model go out."""
    _reply, [call] = ask(asking, plugin, system="You are Duc.", prompt="Which store?", model="another-2")
    assert call.body["model"] == "another-2"
    messages = [message["content"] for message in call.body["messages"]]
    told = [call.body["system"], *messages] if plugin == "anthropic" else messages
    assert told == ["You are Duc.", "Which store?"]
    assert '"additionalProperties": false' in call.texts
    assert "temperature" not in call.body


@pytest.mark.req("R17")
def test_a_shorter_reply_is_asked_for_where_one_is_wanted(asking):
    """What the job wants holds where it is less than what is configured."""
    _reply, [openai] = ask(asking, "openai_compatible", max_tokens=400)
    assert openai.body["max_completion_tokens"] == 400
    _reply, [anthropic] = ask(asking, "anthropic", more={"max_tokens": 300}, max_tokens=400)
    assert anthropic.body["max_tokens"] == 300
    _reply, [ollama] = ask(asking, "ollama", max_tokens=400)
    assert ollama.body["options"]["num_predict"] == 400
    error, _calls = ask(asking, "ollama", CUT, max_tokens=1)
    assert "cut off at 1 tokens" in str(error)


def test_each_service_is_asked_in_its_own_words(asking):
    """Headers and limits are those that the service knows."""
    _reply, [openai] = ask(asking, "openai_compatible", more={"max_tokens": 500})
    assert openai.headers["authorization"] == f"Bearer {KEY}"
    assert openai.body["max_completion_tokens"] == 500
    assert openai.body["response_format"]["json_schema"]["strict"] is True
    _reply, [older] = ask(asking, "openai_compatible", more={"max_tokens_parameter": "max_tokens"})
    assert older.body["max_tokens"] == 8192
    assert "max_completion_tokens" not in older.body
    _reply, [anthropic] = ask(asking, "anthropic")
    assert (anthropic.headers["x-api-key"], anthropic.headers["anthropic-version"]) == (KEY, "2023-06-01")
    _reply, [ollama] = ask(asking, "ollama", more={"num_ctx": 2048})
    assert (ollama.body["options"], ollama.body["stream"], ollama.body["truncate"]) == (
        {"num_ctx": 2048},
        False,
        False,
    )


@pytest.mark.parametrize("plugin", PLUGINS)
@pytest.mark.parametrize("line", [Says(PROSE), FENCED, TWICE], ids=["prose", "fenced", "twice"])
def test_what_is_not_in_the_form_is_handed_over_as_it_is(asking, plugin, line):
    """A server may ignore the schema: what its model wrote is the engine's to read."""
    reply, _calls = ask(asking, plugin, line)
    assert (reply.text, reply.data) == (line.text.strip(), None)


@pytest.mark.parametrize("plugin", ["openai_compatible", "ollama"])
def test_thoughts_in_front_of_the_text_are_left_out(asking, plugin):
    """Some servers leave in the text what a model thought first."""
    reply, _calls = ask(asking, plugin, Says('<think>{"answer": "no"}</think>\n' + json.dumps(ANSWER)))
    assert json.loads(reply.text) == ANSWER


def test_a_text_in_parts_is_put_together(asking):
    """Some servers send the content of a message as a list."""
    parts = [
        {"type": "text", "text": '{"answer":'},
        {"type": "image"},
        {"type": "text", "text": ' "x"}'},
        None,
    ]
    told = {"choices": [{"message": {"role": "assistant", "content": parts}, "finish_reason": "stop"}]}
    reply, _calls = ask(asking, "openai_compatible", Raw(json.dumps(told)))
    assert reply.text == '{"answer": "x"}'


# -- forms -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("plugin", "unknown", "forms"),
    [
        ("openai_compatible", {"json_schema"}, ["json_schema", "json_object"]),
        ("openai_compatible", {"json_schema", "json_object"}, ["json_schema", "json_object", ""]),
        ("anthropic", {"json_schema"}, ["json_schema", ""]),
    ],
)
def test_a_form_that_is_refused_is_not_asked_for_again(asking, plugin, unknown, forms):
    """The ladder is climbed down once; the next question begins where it ended."""
    replies, calls = ask(asking, plugin, unknown=unknown, times=2)
    assert [json.loads(reply.text) for reply in replies] == [ANSWER, ANSWER]
    assert [call.form for call in calls] == [*forms, forms[-1]]


@pytest.mark.parametrize("plugin", KEYED)
def test_a_prompt_that_is_too_long_is_so_in_any_form(asking, plugin):
    """What is not about the form is not tried in another one."""
    line = Fails(400, "context_length_exceeded", "This model's maximum context length is 8192 tokens.")
    error, calls = ask(asking, plugin, line)
    assert (error.outcome, len(calls)) == ("bad_answer", 1)
    assert "maximum context length" in str(error)


def test_a_request_that_is_wrong_in_any_form_is_told_as_it_is(asking):
    """The last refusal is told; nothing is remembered of the forms."""
    error, calls = ask(asking, "openai_compatible", Fails(400, "", "no such thing as messages"))
    assert (error.outcome, len(calls)) == ("bad_answer", 3)
    assert "no such thing as messages" in str(error)


# -- failures --------------------------------------------------------------------------------------------------


@pytest.mark.req("Q7")
@pytest.mark.parametrize("plugin", PLUGINS)
@pytest.mark.parametrize(
    ("line", "outcome"),
    [
        (CUT, "bad_answer"),
        (Says(""), "bad_answer"),
        (Raw("<html>Sign in</html>", "text/html"), "bad_answer"),
        (Raw('{"choices": [{"mess'), "bad_answer"),
        (Raw("[]"), "bad_answer"),
        (Raw("{}"), "bad_answer"),
        (Raw("[" * 100_000), "bad_answer"),
        (Raw("x" * 9 * 2**20), "bad_answer"),
        (Fails(401), "blocked"),
        (Fails(402), "limited"),
        (Fails(403), "blocked"),
        (Fails(404), "unavailable"),
        (Fails(429), "limited"),
    ],
    ids=[
        "cut",
        "empty",
        "html",
        "cut-json",
        "list",
        "no-fields",
        "deep",
        "9 MB",
        "401",
        "402",
        "403",
        "404",
        "429",
    ],
)
def test_a_failure_says_of_which_kind_it_is(asking, plugin, line, outcome):
    """What is no answer is a `RequestError` with its outcome, after one request."""
    error, calls = ask(asking, plugin, line)
    assert isinstance(error, RequestError)
    assert (error.outcome, len(calls)) == (outcome, 1)


@pytest.mark.parametrize("plugin", KEYED)
def test_a_refusal_of_the_model_is_told(asking, plugin):
    """A refusal is looked for before anything else."""
    error, _calls = ask(asking, plugin, REFUSES._replace(cut=plugin == "openai_compatible"))
    assert error.outcome == "blocked"
    assert REFUSES.refusal in str(error)


@pytest.mark.parametrize("plugin", PLUGINS)
@pytest.mark.parametrize("line", [LIMITED, Fails(500), OVERLOADED, RESET], ids=["429", "500", "529", "reset"])
def test_what_failed_in_passing_is_asked_again(asking, plugin, line):
    """A model call changes nothing: it is sent again, at once where the service names no time."""
    reply, calls = ask(asking, plugin, line, Says())
    assert json.loads(reply.text) == ANSWER
    assert len(calls) == 2


def test_a_quota_that_is_used_up_is_not_asked_again(asking):
    """It says 429 and when to come back, and means that there is nothing to come back for."""
    error, calls = ask(asking, "openai_compatible", NO_QUOTA)
    assert (error.outcome, len(calls)) == ("limited", 1)
    assert "insufficient_quota" in str(error)


def test_a_service_that_says_not_to_come_back_is_obeyed(asking):
    """`x-should-retry` has the last word."""
    never = LIMITED._replace(headers={**LIMITED.headers, "X-Should-Retry": "false"})
    error, calls = ask(asking, "openai_compatible", never)
    assert (error.outcome, len(calls)) == ("limited", 1)


@pytest.mark.parametrize("plugin", PLUGINS)
def test_a_service_that_is_not_there_is_unavailable(asking, plugin):
    """No connection is an outcome like others, with the address."""
    agent = asking.agent(
        plugin, base_url="http://127.0.0.1:9", model="m", **({"api_key": KEY} if plugin in KEYED else {})
    )
    with pytest.raises(RequestError, match=r"http://127\.0\.0\.1:9/.*cannot be reached") as raised:
        asking.ask(agent)
    assert raised.value.outcome == "unavailable"


@pytest.mark.req("Q7")
@pytest.mark.parametrize("plugin", PLUGINS)
def test_a_deadline_ends_the_wait(asking, plugin):
    """Cancelled, an agent that waits for a service ends at once."""
    with model_server("nothing") as server:
        agent = asking.agent(plugin, **settings(plugin, server))
        with pytest.raises(TimeoutError):
            asking.ask(agent, seconds=0.3)
        assert len(server.calls) == 1


# -- windows ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", [Says(tokens_in=1024), Says(tokens_in=2000), CUT, Says(tokens_in=None)])
def test_ollama_cutting_the_prompt_is_a_failure(asking, line):
    """A prompt that filled the window was cut, whatever was made of the rest; the setting to change is named."""
    error, _calls = ask(asking, "ollama", line, more={"num_ctx": 1024}, prompt="word " * 2000)
    assert error.outcome == "bad_answer"
    assert "`plugins.ollama.num_ctx` higher than 1024" in str(error)


def test_ollama_fits_what_is_in_its_cache(asking):
    """A count that is not told is no reason to doubt a short prompt."""
    reply, _calls = ask(asking, "ollama", Says(tokens_in=None))
    assert json.loads(reply.text) == ANSWER
    assert reply.input_tokens is None


# -- settings and secrets --------------------------------------------------------------------------------------


@pytest.mark.req("G5")
@pytest.mark.parametrize("plugin", KEYED)
@pytest.mark.parametrize(
    "line", [Says(), Fails(401, "invalid_api_key", f"Incorrect API key provided: {KEY}."), RESET, Raw(KEY)]
)
def test_the_key_stays_in_its_header(asking, plugin, line):
    """Neither events nor errors nor replies hold the key, also where the service repeats it."""
    answered, calls = ask(asking, plugin, line)
    assert KEY in str(calls[0].headers)
    assert asking.events
    assert KEY not in repr((answered, str(answered), asking.events))


@pytest.mark.req("G5")
@pytest.mark.parametrize("plugin", KEYED)
@pytest.mark.parametrize("key", ["sk two", "sk\nx-evil: 1", "sk-é"])
def test_a_key_that_is_none_is_refused_unseen(asking, plugin, key):
    """A key with characters that no header has is refused without being shown."""
    with pytest.raises(ConfigError) as raised:
        asking.agent(plugin, api_key=key)
    assert key not in str(raised.value)


@pytest.mark.parametrize("plugin", KEYED)
def test_without_a_key_the_service_itself_is_not_asked(asking, plugin):
    """The service's own address needs a key; the agent says so before anything is sent."""
    agent = asking.agent(plugin, model="m")
    assert f"plugins.{plugin}.api_key" in agent.unready
    with pytest.raises(RequestError) as raised:
        asking.ask(agent)
    assert raised.value.outcome == "unavailable"
    assert not asking.events
    assert asking.agent(plugin, base_url="http://127.0.0.1:9").unready == ""


@pytest.mark.parametrize("plugin", PLUGINS)
def test_without_a_model_the_settings_to_set_are_named(asking, plugin):
    """A model is named by the agent or by the plugin."""
    with pytest.raises(RequestError, match=rf"`agents\.tried\.model`, or `plugins\.{plugin}\.model`"):
        asking.ask(asking.agent(plugin, base_url="http://127.0.0.1:9", model=None))


@pytest.mark.req("G5")
@pytest.mark.parametrize("plugin", PLUGINS)
def test_credentials_in_the_address_are_refused(asking, plugin):
    """They would be told with each request."""
    with pytest.raises(ValueError, match="base_url"):
        asking.agent(plugin, base_url="http://ada:geheim@127.0.0.1:9/v1", model="m")
    assert asking.agent(plugin, base_url="http://127.0.0.1:9/@v1", model="m")
