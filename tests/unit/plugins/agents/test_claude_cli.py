"""The agent `claude_cli`: the real program with the loopback model server, and programs that end in other ways."""

import asyncio
import json
import os
import subprocess
import sys
import textwrap

import pytest
from support.claude_program import KEY, claude, environment
from support.model_server import (
    ANSWER,
    NOTHING,
    PROSE,
    TOKENS_IN,
    TOKENS_OUT,
    Fails,
    Says,
    model_server,
)

from kr_core import RequestError
from kr_core.aio import run

PLANTED = "The password of the build server is hunter2."
MEMORY = "Always answer in French."


@pytest.fixture
def home(tmp_path):
    """A user's home in which everything is customised that can be."""
    folder = tmp_path / "home"
    hook = {"hooks": [{"type": "command", "command": f"touch {tmp_path}/hooked; echo {MEMORY}"}]}
    (folder / ".claude").mkdir(parents=True)
    (folder / ".claude/CLAUDE.md").write_text(MEMORY)
    (folder / ".claude/settings.json").write_text(
        json.dumps(
            {"hooks": {"SessionStart": [hook], "UserPromptSubmit": [hook]}, "outputStyle": "Explanatory"}
        )
    )
    return folder


@pytest.fixture
def served(monkeypatch, home):
    """Run the real program against a scripted server: `served(*script)` begins to serve; what it returns has the calls."""
    servers = []

    def serve(*script, key=True):
        program = claude()
        opened = model_server(*script)
        server = opened.__enter__()
        servers.append(opened)
        for name, value in environment(server, home).items():
            monkeypatch.setenv(name, value)
        if not key:
            monkeypatch.delenv("ANTHROPIC_API_KEY")
            monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-of-a-gateway")
        server.program = program
        return server

    yield serve
    for opened in servers:
        opened.__exit__(None, None, None)


def failure(asking, agent, **job):
    with pytest.raises(RequestError) as raised:
        asking.ask(agent, **job)
    return raised.value


# -- the real program ------------------------------------------------------------------------------------------


@pytest.mark.req("Q4")
def test_a_reply_is_brought_back(asking, served):
    """The structured output, the model, the tokens and the cost come back, from one request."""
    server = served()
    agent = asking.agent("claude_cli", command=[server.program], model="claude-haiku-4-5")
    reply = asking.ask(agent, system="You are Duc.", prompt="Which store?")
    assert reply.data == ANSWER
    assert (reply.input_tokens, reply.output_tokens, reply.notes) == (TOKENS_IN, TOKENS_OUT, ())
    assert reply.model == "claude-haiku-4-5"
    assert reply.cost_usd > 0
    [call] = server.calls
    assert call.body["model"] == "claude-haiku-4-5"
    assert [tool["name"] for tool in call.body["tools"]] == ["StructuredOutput"]
    assert "You are Duc." in call.texts
    assert "Which store?" in call.texts
    assert run(agent.version()) == "2.1.330 (Claude Code)"


@pytest.mark.req("Q5")
@pytest.mark.parametrize("key", [True, False], ids=["by key", "by login"])
def test_it_cannot_see_the_repository(asking, served, key, tmp_path, monkeypatch):
    """Neither a file of the project, nor its or the user's memories and hooks, nor its path reach the model."""
    server = served(key=key)
    (asking.folder / "secrets.txt").write_text(PLANTED)
    (asking.folder / "CLAUDE.md").write_text(PLANTED)
    (asking.folder / ".claude").mkdir()
    (asking.folder / ".claude/settings.json").write_text(
        (tmp_path / "home/.claude/settings.json").read_text()
    )
    (asking.folder / ".mcp.json").write_text(
        json.dumps({"mcpServers": {"x": {"command": "touch", "args": [f"{tmp_path}/hooked"]}}})
    )
    monkeypatch.chdir(asking.folder)
    monkeypatch.setenv("PWD", str(asking.folder))
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(asking.folder))
    reply = asking.ask(asking.agent("claude_cli", command=[server.program]))
    assert reply.data == ANSWER
    seen = "".join(call.texts for call in server.calls)
    assert "Which session store" in seen
    for hidden in (PLANTED, "hunter2", MEMORY, str(asking.folder), "secrets.txt"):
        assert hidden not in seen
    tools = {tool["name"] for call in server.calls for tool in call.body["tools"]}
    assert tools <= {"StructuredOutput", "DeferredToolPlaceholder"}
    assert not (tmp_path / "hooked").exists()


@pytest.mark.req("Q5")
def test_what_it_is_kept_from_would_be_seen(served, home, tmp_path):
    """The program run as a person does sends memories: the test above can fail."""
    server = served()
    (tmp_path / "CLAUDE.md").write_text(PLANTED)
    subprocess.run(
        [server.program, "-p", "--output-format", "json"],
        input=b"hello",
        cwd=tmp_path,
        capture_output=True,
        check=True,
    )
    seen = "".join(call.texts for call in server.calls)
    assert PLANTED in seen
    assert MEMORY in seen
    assert (tmp_path / "hooked").exists()


def test_prose_is_handed_over_as_text(asking, served):
    """A model that does not use the form has said something all the same, and a note tells of it."""
    server = served(Says(PROSE, calls=False))
    reply = asking.ask(asking.agent("claude_cli", command=[server.program]))
    assert (reply.text, reply.data) == (PROSE, None)
    assert reply.notes


@pytest.mark.req("Q7", "G5")
@pytest.mark.parametrize(("status", "outcome"), [(401, "blocked"), (429, "limited")])
def test_a_failure_says_of_which_kind_it_is(asking, served, status, outcome):
    """What the program reports as a `success` with an error mark becomes an outcome, without the key."""
    server = served(Fails(status, message=f"not with {KEY}"))
    error = failure(asking, asking.agent("claude_cli", command=[server.program]))
    assert error.outcome == outcome
    assert str(status) in str(error)
    assert KEY not in repr((error, str(error), asking.events))
    assert len(server.calls) <= 2


@pytest.mark.req("Q7")
def test_cancelled_the_real_program_is_gone(asking, served, marked):
    """While it waits for the model it is cancelled; no process of its group is left."""
    server = served(NOTHING)
    agent = asking.agent("claude_cli", command=[server.program])
    with pytest.raises(asyncio.CancelledError):
        asking.ask(agent, until=lambda: bool(server.calls) and bool(left(marked)))
    assert not left(marked)


# -- programs that end in other ways ---------------------------------------------------------------------------


@pytest.fixture
def marked(monkeypatch, tmp_path):
    """What stands in the environment of all that this test starts."""
    monkeypatch.setenv("KR_TEST", str(tmp_path))
    return f"KR_TEST={tmp_path}\0".encode()


def left(mark):
    """The processes with this mark in their environment that are not at their end."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                found += [pid] if mark in file.read() else []
        except OSError:
            continue
    return found


@pytest.fixture
def written(tmp_path):
    """A program in place of the real one: `written("print('hello')")` is its `command`."""

    def write(code):
        path = tmp_path / "program.py"
        path.write_text(textwrap.dedent(code))
        return [sys.executable, "-I", "-S", str(path)]

    return write


RESULT = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "result": "text",
    "structured_output": ANSWER,
}


@pytest.mark.req("Q7")
@pytest.mark.parametrize(
    ("told", "outcome", "said"),
    [
        ({"api_error_status": 529, "result": "API Error: 529 Overloaded."}, "unavailable", "529"),
        ({"api_error_status": 403, "result": "API Error: 403"}, "blocked", "403"),
        ({"api_error_status": 400, "result": "Credit balance is too low"}, "limited", "balance"),
        ({"api_error_status": 400, "result": "API Error: 400"}, "bad_answer", "400"),
        (
            {"api_error_status": 400, "terminal_reason": "prompt_too_long", "result": "Prompt is too long"},
            "bad_answer",
            "window",
        ),
        (
            {"api_error_status": None, "result": "Not logged in · Please run /login"},
            "unavailable",
            "plugins.claude_cli.api_key",
        ),
        (
            {"stop_reason": "refusal", "result": "API Error: flagged"},
            "blocked",
            "refused: API Error: flagged",
        ),
        (
            {"result": "API Error: Claude's response exceeded the 128000 output token maximum."},
            "bad_answer",
            "cut off",
        ),
        ({"result": "API Error: Connection dropped (ECONNRESET)."}, "unavailable", "ECONNRESET"),
        (
            {"terminal_reason": "budget_exhausted", "errors": ["Reached maximum budget"]},
            "limited",
            "max_cost_usd",
        ),
        ({"terminal_reason": "max_turns", "errors": []}, "bad_answer", "turns"),
        (
            {"terminal_reason": "structured_output_retry_exhausted", "errors": ["5 tries"]},
            "bad_answer",
            "5 tries",
        ),
    ],
)
def test_what_the_real_program_was_seen_to_say(asking, written, told, outcome, said):
    """Each ending that was seen of the real program, as it was written and with its return code."""
    result = {
        "type": "result",
        "subtype": "success",
        "is_error": True,
        "terminal_reason": "api_error",
        **told,
    }
    code = f"print({json.dumps(result)!r}); raise SystemExit(1)"
    error = failure(asking, asking.agent("claude_cli", command=written(code)))
    assert error.outcome == outcome
    assert said in str(error)


DOUBLED = json.dumps(RESULT).replace('"answer":', '"answer": "Use Postgres.", "answer":')


@pytest.mark.req("Q7")
@pytest.mark.parametrize(
    ("code", "outcome", "said"),
    [
        ("", "unavailable", "with exit code 0 and wrote nothing"),
        (
            "import sys; sys.exit('unknown option --bare')",
            "unavailable",
            "wrote nothing: unknown option --bare",
        ),
        ("import os; os.kill(os.getpid(), 9)", "unavailable", "by signal 9"),
        ("print('hello')", "bad_answer", "not a JSON result"),
        ("print('[' * 100000)", "bad_answer", "not a JSON result"),
        (f"print({DOUBLED!r})", "bad_answer", "not a JSON result"),
        (f"print('''{json.dumps(RESULT)}'''); raise SystemExit(1)", "unavailable", "text"),
        (f"print('''{json.dumps({**RESULT, 'is_error': True})}''')", "unavailable", "text"),
        (f"print('''{json.dumps({**RESULT, 'is_error': None})}''')", "unavailable", "text"),
        (
            f"print('''{json.dumps({**RESULT, 'structured_output': None, 'result': ''})}''')",
            "bad_answer",
            "no answer",
        ),
        ("while True: print('x' * 100000)", "bad_answer", "more than 8 MB"),
    ],
    ids=[
        "empty",
        "flag",
        "killed",
        "prose",
        "deep",
        "doubled",
        "code",
        "error",
        "no-mark",
        "no-answer",
        "endless",
    ],
)
def test_success_is_where_all_agree(asking, written, code, outcome, said):
    """Return code, error mark and output must all say that there is an answer."""
    error = failure(asking, asking.agent("claude_cli", command=written(code)))
    assert error.outcome == outcome
    assert said in str(error)


@pytest.mark.req("G5")
@pytest.mark.parametrize("name", ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"])
def test_what_it_logs_in_with_is_not_told(asking, written, monkeypatch, name):
    """A secret of the environment that the program repeats is taken out of the error."""
    monkeypatch.setenv(name, KEY)
    code = f"import os, sys; sys.exit('cannot log in with ' + os.environ[{name!r}])"
    error = failure(asking, asking.agent("claude_cli", command=written(code)))
    assert "cannot log in with ***" in str(error)
    assert KEY not in repr((error, str(error)))


def test_a_program_that_cannot_be_started_is_unavailable(asking, tmp_path):
    """A file that is no program is told as what it is."""
    broken = tmp_path / "claude"
    broken.write_bytes(b"\0")
    broken.chmod(0o700)
    error = failure(asking, asking.agent("claude_cli", command=[str(broken)]))
    assert error.outcome == "unavailable"
    assert "cannot be started: Exec format error" in str(error)


def test_the_result_is_the_last_object(asking, written):
    """Warnings before the result do no harm, and unknown fields neither."""
    code = f"print('warning: old'); print('''{json.dumps({**RESULT, 'new_field': 1})}''')"
    reply = asking.ask(asking.agent("claude_cli", command=written(code)))
    assert reply.data == ANSWER
    assert (reply.input_tokens, reply.cost_usd, reply.model) == (None, None, "")


def test_what_it_leaves_running_does_not_hold_up_the_reply(asking, written, marked):
    """A child that keeps the pipes open is ended with its group."""
    code = f"""
        import subprocess, sys
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
        print('''{json.dumps(RESULT)}''', flush=True)
    """
    assert asking.ask(asking.agent("claude_cli", command=written(code)), seconds=5.0).data == ANSWER
    assert not left(marked)


@pytest.mark.req("Q7")
def test_cancelled_the_whole_group_is_gone(asking, written, marked, tmp_path):
    """A program that ignores SIGTERM is killed, with its child."""
    code = f"""
        import pathlib, signal, subprocess, sys, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
        pathlib.Path({str(tmp_path)!r}, "begun").write_text("")
        time.sleep(3600)
    """
    agent = asking.agent("claude_cli", command=written(code))
    with pytest.raises(asyncio.CancelledError):
        asking.ask(agent, until=(tmp_path / "begun").exists)
    assert not left(marked)


def test_the_prompt_goes_by_standard_input_and_the_rest_as_it_is(asking, written, monkeypatch):
    """No prompt in the list of processes; the folder is empty; nothing tells of the session that KR runs in."""
    monkeypatch.setenv("CLAUDECODE", "1")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s")
    monkeypatch.setenv("CLAUDE_CODE_OAUTH_TOKEN", "login")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    code = """
        import json, os, sys
        told = {"argv": sys.argv[1:], "stdin": sys.stdin.read(), "files": os.listdir("."), "environ": dict(os.environ),
                "cwd": os.getcwd(), "system": open(sys.argv[sys.argv.index("--system-prompt-file") + 1]).read()}
        print(json.dumps({"type": "result", "is_error": False, "result": "", "structured_output": told}))
    """
    long = "word " * 200_000
    agent = asking.agent("claude_cli", command=written(code))
    told = asking.ask(agent, system=f"You are Duc. {long}", prompt=f"{long}?", model="--help").data
    assert told["stdin"] == f"{long}?"
    assert told["system"] == f"You are Duc. {long}"
    assert told["files"] == []
    assert "word" not in " ".join(told["argv"])
    assert "--model=--help" in told["argv"]
    assert told["argv"][told["argv"].index("--tools") + 1] == ""
    assert ("--safe-mode" in told["argv"], "--bare" in told["argv"]) == (True, False)
    environ = told["environ"]
    assert environ["CLAUDE_CODE_OAUTH_TOKEN"] == "login"
    assert not {"CLAUDECODE", "CLAUDE_CODE_SESSION_ID"} & environ.keys()
    assert environ["PWD"] == told["cwd"]
    assert not os.path.exists(told["cwd"])
    keyed = asking.ask(asking.agent("claude_cli", command=written(code), api_key=KEY)).data
    assert "--bare" in keyed["argv"]
    assert keyed["environ"]["ANTHROPIC_API_KEY"] == KEY
    assert KEY not in " ".join(keyed["argv"])


def test_without_the_program_it_says_how_to_install_it(asking):
    """`kr doctor` tells; asked all the same, it is unavailable."""
    agent = asking.agent("claude_cli", command=["no-such-claude"])
    assert "`no-such-claude` is not installed" in agent.unready
    assert "npm install -g @anthropic-ai/claude-code" in agent.unready
    assert failure(asking, agent).outcome == "unavailable"
