"""`kr ask` with each agent plugin on the loopback model server: accepted, escalated, failed, and on record."""

import json
import sys

import pytest
from support.claude_program import claude, environment
from support.model_server import ANSWER, LIMITED, PROSE, Fails, Says, model_server

QUESTION = "Which session store should we use?"
KEY = "sk-test-" + "a1b2c3d4" * 4
PLANTED = "The password of the build server is hunter2."
KNOWN = "Sessions live for one hour."
ASKS = """\
import json, sys, urllib.request
body = {"model": "m", "messages": [{"role": "user", "content": sys.stdin.read()}]}
request = urllib.request.Request(sys.argv[1] + "/v1/chat/completions", json.dumps(body).encode())
print(json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"])
"""
"""A program that asks the model by itself."""


def configuration(plugin, server):
    """The configuration under which the architect's questions go by a plugin."""
    settings = {
        "openai_compatible": {"base_url": f"{server.url}/v1", "api_key": {"env": "MODEL_KEY"}, "model": "scripted-1"},
        "anthropic": {"base_url": server.url, "api_key": {"env": "MODEL_KEY"}, "model": "scripted-1"},
        "ollama": {"base_url": server.url, "model": "scripted-1"},
        "command": {"argv": [sys.executable, "-I", "-c", ASKS, server.url]},
    }  # fmt: skip
    if plugin == "claude_cli":
        settings[plugin] = {"command": [claude()], "api_key": {"env": "MODEL_KEY"}}
    duc = {"plugin": plugin, "knowledge": "knowledge/duc"}
    return json.dumps({"agents": {"duc": duc}, "plugins": {plugin: settings[plugin]}})


PLUGINS = ("claude_cli", "openai_compatible", "anthropic", "ollama", "command")


@pytest.fixture
def ask(kr_here, project_folder, tmp_path):
    """`ask(plugin, *script)`: what `kr ask` does, and the calls of the model.

    What is kept holds no key, and what the model sees is of the project only what the agent knows by heart.
    """

    (project_folder / "knowledge/duc").mkdir(parents=True)
    (project_folder / "knowledge/duc/sessions.md").write_text(KNOWN)
    for name in ("secrets.txt", "CLAUDE.md", "AGENTS.md", "knowledge/secrets.md"):
        (project_folder / name).write_text(PLANTED)

    def run(plugin, *script):
        with model_server(*script) as server:
            (project_folder / "kr.yaml").write_text(configuration(plugin, server))
            env = {
                **environment(server, tmp_path),
                "ANTHROPIC_API_KEY": "",
                "MODEL_KEY": KEY,
                "KR_TRUST": "all",
            }
            done = kr_here("ask", QUESTION, "--topic", "authentication", "--json", env=env)
        kept = b"".join(path.read_bytes() for path in (project_folder / ".kr").rglob("*") if path.is_file())
        assert QUESTION.encode() in kept
        assert KEY.encode() not in kept
        assert KEY not in done.out + done.err
        seen = "".join(call.texts for call in server.calls)
        assert KNOWN in seen
        assert not [hidden for hidden in ("hunter2", "secrets", str(project_folder)) if hidden in seen]
        return done, server.calls

    return run


@pytest.mark.req("Q4", "Q5", "Q6", "G1", "G5")
@pytest.mark.parametrize("plugin", PLUGINS)
def test_an_answer_that_is_sure_is_accepted_and_another_put_to_a_human(ask, kr_here, project_folder, plugin):
    """The architect's model is asked; from 80 on its answer is accepted, below a human decides; the record of both is whole."""
    sure, [call, *_] = ask(plugin, Says())
    assert sure.code == 0, sure
    told = sure.json
    assert (told["status"], told["route"]["agent"], told["escalation"]) == ("accepted", "duc", None)
    assert told["answer"]["content"] == ANSWER["answer"]
    assert (told["answer"]["confidence"], told["answer"]["uncertainty_reasons"]) == (
        90,
        ANSWER["uncertainty_reasons"],
    )
    assert QUESTION in call.texts

    unsure, _calls = ask(plugin, Says(json.dumps({**ANSWER, "confidence": 79})))
    assert unsure.code == 5, unsure
    told = unsure.json
    assert told["status"] == "escalated"
    assert (told["answer"]["content"], told["answer"]["confidence"]) == (ANSWER["answer"], 79)

    logged = (project_folder / ".kr/log.jsonl").read_text("utf-8")
    assert all(one.json["exchange_id"] in logged for one in (sure, unsure))
    if plugin == PLUGINS[0]:  # how the record is read and checked does not depend on who answered
        entries = [json.loads(line) for line in kr_here("log", "--json").out.splitlines()]
        assert {entry["exchange_id"] for entry in entries} == {
            one.json["exchange_id"] for one in (sure, unsure)
        }
        assert kr_here("log", "--verify").code == 0


@pytest.mark.req("Q4")
@pytest.mark.parametrize("plugin", ["openai_compatible", "command"])
def test_a_reply_in_prose_has_a_second_chance(ask, plugin):
    """A model that ignores the form is told so, once, and what it then writes counts."""
    done, calls = ask(plugin, Says(PROSE), Says())
    assert (done.code, done.json["status"], len(calls)) == (0, "accepted", 2)
    assert PROSE in calls[1].texts


@pytest.mark.req("Q7", "G5")
@pytest.mark.parametrize("plugin", ["claude_cli", "anthropic", "command"])
def test_a_service_that_fails_is_told_to_a_human(ask, plugin):
    """An agent that cannot answer is noted as unavailable, and the question waits for a human."""
    done, _calls = ask(plugin, Fails(401, message=f"Incorrect API key provided: {KEY}"))
    assert done.code == 5, done
    told = done.json
    assert (told["status"], told["answer"]) == ("escalated", None)
    assert "Agent unavailable" in told["escalation"]["reason"]
    assert "401" in json.dumps(told)


@pytest.mark.req("Q4")
def test_a_limit_that_passes_is_waited_for(ask):
    """A service that says when to come back is asked again in time."""
    done, calls = ask("openai_compatible", LIMITED, Says())
    assert (done.code, len(calls)) == (0, 2)


@pytest.mark.req("Q4")
def test_research_answers_for_an_agent(kr, project_folder):
    """A topic can be routed to documentation: the report's summary is the answer, its score the confidence."""
    (project_folder / "kr.yaml").write_text(
        "agents:\n  docs: {plugin: research, role: librarian, threshold: 40}\n"
        "routing:\n  rules:\n  - {topic: 'libraries/*', agent: docs}\n"
    )
    done = kr(
        "ask", "How do I set a timeout for a parcel in parcel?", "--topic", "libraries/parcel", "--json"
    )
    assert done.code == 0, done
    answer = done.json["answer"]
    assert "timeout" in answer["content"]
    assert "Sources:" in answer["content"]
    assert answer["confidence"] >= 40
