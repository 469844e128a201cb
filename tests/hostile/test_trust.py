"""Where a project that came from elsewhere would write, and whom it would ask, before `kr trust`: nowhere and nobody."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from threading import Thread
from types import SimpleNamespace

import pytest
from flows.conftest import NOWHERE
from support.commands import run_here
from support.fork_server import run_program
from support.loopback import serving
from support.projects import PARCEL, Done, install, make_environment
from support.services import Context7

pytestmark = pytest.mark.req("Z8")

ASK = ("research", "How do I set the timeout of a parcel?", "--framework", "parcel", "--json")
LESSON = ("lessons", "add", "Wait for the parcel.", "--phase", "dev")


@pytest.fixture
def clone(tmp_path, monkeypatch, capsys):
    """A clone beside the home folder of who cloned it; `kr` and the program run in it."""
    root, home = tmp_path / "clone", tmp_path / "home"
    (home / ".claude/agents").mkdir(parents=True)
    (home / ".claude/agents/mine.md").write_text("mine\n")
    (home / "secret.yaml").write_text("password: hunter2\nentries: []\n")
    root.mkdir()
    install(make_environment(root), "parcel", "1.4.0", {"parcel/__init__.py": PARCEL})
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("KR_", "VIRTUAL_ENV", "CONDA"))
    }
    own = {
        "HOME": str(home),
        "KR_CACHE_DIR": str(tmp_path / "cache"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "NO_COLOR": "1",
    }

    def run(*arguments, **env):
        known = {**kept, **NOWHERE, **own, **env}
        return run_here(monkeypatch, capsys, arguments, cwd=root, environ=known, may_repeat=True)

    def program(*arguments, **env):
        known = {**kept, **NOWHERE, **own, **env}
        return Done(run_program(arguments, cwd=root, environ=known))

    def configure(text):
        (root / "kr.yaml").write_text(text)

    return SimpleNamespace(
        kr=run,
        program=program,
        root=root,
        home=home,
        agents=home / ".claude/agents",
        configure=configure,
        seen=_contents(home),
    )


def _contents(folder):
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}


def _link(place, target):
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)


# -- outside the project ---------------------------------------------------------------------------------


def _named(path):
    return lambda clone: clone.configure(
        f"knowledge_research: {{knowledge_base_path: '{path.format(home=clone.home)}'}}\n"
    )


def _linked(*links, path="kb"):
    def write(clone):
        for place, target in links:
            _link(clone.root / place, target.format(home=clone.home))
        _named(path)(clone)

    return write


OUTSIDE = {
    "absolute": _named("{home}/.claude/agents"),
    "home": _named("~/.claude/agents"),
    "parent": _named("../home/.claude/agents"),
    "parent of the root": _named("{{project-root}}/../home/.claude/agents"),
    "not yet there": _named("~/.claude/agents/deeper"),
    "link": _linked(("kb", "{home}/.claude/agents")),
    "link to what is not there": _linked(("kb", "{home}/.claude/agents/deeper")),
    "link by a relative path": _linked(("kb", "../home/.claude/agents")),
    "link inside a link": _linked(("kb", "turn"), ("turn", "{home}/.claude/agents")),
    "link on the way": _linked(("way", "{home}/.claude"), path="way/agents"),
    "link through a folder": _linked(("a/b", "../way"), ("way", "{home}/.claude"), path="a/b/agents"),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_knowledge_base_outside_of_the_project_is_written_only_after_trust(clone, name):
    """Neither a report nor a lesson goes there before; the message names the line and the real place."""
    OUTSIDE[name](clone)
    for command in (ASK, LESSON):
        refused = clone.kr(*command)
        assert (refused.code, refused.out) == (2, ""), refused
        assert "kr.yaml:1: `knowledge_research.knowledge_base_path` leads to `" in refused.err
        assert f"{clone.agents}" in refused.err
        assert "read it, then allow it with `kr trust`" in refused.err
    assert _contents(clone.home) == clone.seen
    assert "leads to `" in clone.kr("trust").out
    (clone.agents / "deeper").mkdir()  # where a link leads nowhere, no folder can be made
    assert clone.kr(*ASK).json["status"] == "success"
    assert _contents(clone.home) != clone.seen


def test_a_link_in_place_of_the_usual_folder_is_refused_where_no_file_names_it(clone):
    """There is nothing to trust then; a file of the project may name the folder."""
    _link(clone.root / "knowledge-base", clone.agents)
    for command in (ASK, LESSON):
        refused = clone.program(*command)
        assert refused.code == 2, refused
        assert "remove the link, or name its folder in a `kr.yaml`" in refused.err
    assert clone.program("trust").code == 2
    assert _contents(clone.home) == clone.seen
    assert clone.program(*ASK, KR_TRUST="all").code == 0


def test_a_fresh_configuration_does_not_trust_where_a_link_of_the_project_leads(clone):
    """`kr init` trusts its own text alone, and says what is held back."""
    _link(clone.root / "knowledge-base", clone.agents)
    made = clone.kr("init")
    assert made.code == 0
    assert "note: kr.yaml:3: `knowledge_research.knowledge_base_path` leads to" in made.out
    assert "that place is not trusted" in clone.kr(*ASK).err
    assert _contents(clone.home) == clone.seen
    assert clone.kr("trust").code == 0
    assert clone.kr(*ASK).code == 0


def test_a_folder_that_became_a_link_after_trust_is_asked_about_again(clone):
    """The file is the same, and where it leads is not."""
    clone.configure("knowledge_research: {knowledge_base_path: kb}\n")
    assert clone.kr("trust").code == 0
    assert clone.kr(*ASK).code == 0
    (clone.root / "kb").rename(clone.root / "before")
    _link(clone.root / "kb", clone.agents)
    refused = clone.kr(*ASK, "--refresh")
    assert (refused.code, _contents(clone.home)) == (2, clone.seen)
    assert "and that place is not trusted; read it, then allow it with `kr trust`" in refused.err
    assert clone.kr("trust").code == 0
    assert clone.kr(*ASK, "--refresh").code == 0
    (clone.root / "kb").unlink()
    _link(clone.root / "kb", clone.home)
    assert clone.kr(*ASK, "--refresh").code == 2


@pytest.mark.parametrize(
    "path", ["~nobody-of-this-name/kb", "way/../kb", "a/../kb", "{project-root}/kb", "./kb/."]
)
def test_a_knowledge_base_in_the_project_needs_no_trust_however_it_is_written(clone, path):
    """A `..` is taken out before any link is followed, for the check as for the write."""
    _link(clone.root / "way", clone.agents)
    clone.configure(f"knowledge_research: {{knowledge_base_path: '{path}'}}\n")
    done = clone.kr(*ASK)
    assert done.json["status"] == "success", done
    base = next(clone.root.rglob("index.yaml")).parent
    assert base.name == "kb"
    assert _contents(clone.home) == clone.seen


def test_a_knowledge_base_that_is_a_file_is_said_to_be_one(clone):
    (clone.root / "kb").write_text("a file\n")
    clone.configure("knowledge_research: {knowledge_base_path: kb}\n")
    done = clone.kr(*ASK)
    assert done.json["status"] == "partial", done
    assert f"{clone.root / 'kb'}: the knowledge base cannot be written" in done.out
    assert (clone.root / "kb").read_text() == "a file\n"


def test_a_file_that_is_named_by_hand_is_held_back_as_any_other(clone, tmp_path):
    other = tmp_path / "elsewhere/mine.yaml"
    other.parent.mkdir()
    other.write_text("knowledge_research: {knowledge_base_path: ../home/.claude/agents}\n")
    assert clone.kr(*ASK, "--config", other).code == 2
    assert _contents(clone.home) == clone.seen
    assert clone.kr("--config", other, "trust").code == 0
    assert clone.kr(*ASK, "--config", other).code == 0


@pytest.mark.req("P2")
def test_a_bmad_configuration_needs_trust_only_where_it_leads_out(clone):
    file = clone.root / "_bmad/bso/config.yaml"
    file.parent.mkdir(parents=True)
    inside = "knowledge_research:\n  knowledge_base_path: '{project-root}/_bmad-output/knowledge-base'\n"
    file.write_text(inside)
    done = clone.kr(*ASK)
    assert done.code == 0, done
    assert (clone.root / "_bmad-output/knowledge-base/index.yaml").exists()
    file.write_text(inside.replace("{project-root}", str(clone.home)))
    assert clone.kr(*ASK).code == 2
    assert _contents(clone.home) == clone.seen


def test_the_doctor_names_a_knowledge_base_outside_and_does_not_look_into_it(clone):
    clone.configure("knowledge_research: {knowledge_base_path: ~/.claude/agents}\n")
    (clone.agents / "index.yaml").write_text("hunter2: [\n")
    done = clone.kr("doctor")
    assert done.code == 2
    assert "fault  trust: kr.yaml:1: `knowledge_research.knowledge_base_path` leads to" in done.out
    assert "hunter2" not in done.out + done.err
    assert clone.kr("trust").code == 0
    assert "allowed by `kr trust`" in clone.kr("doctor").out


def test_a_folder_outside_that_a_plugin_reads_needs_trust(clone):
    """Also by a link, by a list, and by a variable."""
    _link(clone.root / "pages", clone.home)
    for folder in ("'~'", "../home", "pages", "{env: HOME}"):
        clone.configure(f"plugins: {{installed_docs: {{folders: [docs, {folder}]}}}}\n")
        refused = clone.kr(*ASK)
        assert refused.code == 2, refused
        assert "kr.yaml:1: `plugins.installed_docs.folders[1]` leads to" in refused.err
    clone.configure("plugins: {installed_docs: {folders: [docs]}}\n")
    assert clone.kr(*ASK).code == 0


@pytest.mark.parametrize("path", [".git", ".git/modules/x", ".GIT/kb", "sub/.Git", "way", "way/deeper"])
def test_a_knowledge_base_inside_git_is_refused_trusted_or_not(clone, path):
    """What lies there may run: hooks and settings are git's. A link to it is no way around."""
    hooks = clone.root / ".git/hooks"
    hooks.mkdir(parents=True)
    _link(clone.root / "way", ".git/hooks")
    clone.configure(f"knowledge_research: {{knowledge_base_path: '{path}'}}\n")
    for env in ({}, {"KR_TRUST": "all"}):
        for command in (ASK, LESSON, ("trust",), ("doctor",)):
            refused = clone.kr(*command, **env)
            assert refused.code == 2, refused
            said = refused.out + refused.err
            assert (
                "kr.yaml:1: `knowledge_research.knowledge_base_path` leads into a `.git` folder, which is git's alone; "
                "name a folder that is not inside of `.git`, such as `knowledge-base`"
            ) in said
            assert "no longer trusted" not in said
    assert not (clone.home.parent / "state/kr/trusted.json").exists()
    assert [path for path in clone.root.rglob("*") if path.name == "index.yaml"] == []
    assert list(hooks.iterdir()) == []


@pytest.mark.parametrize("path", [".github/kb", "kb.git", "git/kb"])
def test_a_folder_that_is_called_almost_as_gits_is_nothing_special(clone, path):
    clone.configure(f"knowledge_research: {{knowledge_base_path: '{path}'}}\n")
    assert clone.kr(*ASK).json["status"] == "success"
    assert (clone.root / path / "index.yaml").exists()


# -- out of the knowledge base ---------------------------------------------------------------------------


def _report_of(clone):
    """Where the report lies, and the knowledge base empty again."""
    done = clone.kr(*ASK)
    base = clone.root / "knowledge-base"
    base.rename(clone.root / "before")
    return base / done.json["results"]["report_path"]


@pytest.mark.parametrize(
    ("place", "target"),
    [
        ("frameworks", ".claude/agents"),
        ("frameworks", ".claude/new"),
        ("frameworks/parcel", ".claude/agents"),
        ("{report}", ".claude/agents/mine.md"),
        ("{report}", ".claude/agents/new.md"),
        ("index.yaml", "secret.yaml"),
        ("index.yaml", ".claude/new.yaml"),
    ],
)
@pytest.mark.req("Z1")
def test_a_link_out_of_the_knowledge_base_is_said_and_not_followed(clone, place, target):
    """The report is not kept, nothing of what lies there comes into the project, and nothing of it is changed."""
    report = _report_of(clone)
    base = clone.root / "knowledge-base"
    _link(base / place.format(report=report.relative_to(base)), clone.home / target)
    done = clone.kr(*ASK, "--refresh")
    assert done.json["status"] == "partial", done
    assert (
        "a link leads out of " in done.err and "remove the link" in done.err
    ) or "would lie outside" in done.err
    assert _contents(clone.home) == clone.seen
    assert not [
        file
        for file in base.rglob("*")
        if not file.is_symlink() and file.is_file() and b"hunter2" in file.read_bytes()
    ]


@pytest.mark.parametrize(
    ("place", "target"),
    [
        ("{folder}/.{stem}.md.new", ".claude/agents/new.md"),
        ("{folder}/.{stem}.md.new", ".claude/agents/mine.md"),
        ("{folder}/.{stem}.evidence.json.new", ".claude/agents/new.json"),
        ("{folder}/.{stem}.evidence.json.new", ".claude/agents/mine.md"),
        ("{folder}/{stem}.evidence.json", ".claude/agents/new.json"),
        ("lessons", ".claude/agents"),
        ("lessons", ".claude/new"),
        ("lessons/_lessons-learned.md", ".claude/agents/new.md"),
        ("_archived-index.yaml", "secret.yaml"),
        ("_archived-index.yaml", ".claude/new.yaml"),
    ],
)
@pytest.mark.req("Z1")
def test_a_link_beside_the_report_is_not_written_through(clone, place, target):
    """The report is kept, and nothing outside is changed; no lesson goes there either."""
    report = _report_of(clone)
    base = clone.root / "knowledge-base"
    folder = report.parent.relative_to(base)
    _link(base / place.format(folder=folder, stem=report.stem), clone.home / target)
    done = clone.kr(*ASK, "--refresh")
    assert done.code == 0, done
    assert not report.is_symlink()
    assert report.read_text().startswith("# parcel")
    clone.kr(*LESSON)
    clone.kr("cache", "rebuild")
    clone.kr("cache", "gc")
    assert _contents(clone.home) == clone.seen


# -- the internal network --------------------------------------------------------------------------------


@pytest.fixture
def internal():
    """A service of the internal network: on this machine, by an address that is not one of loopback."""
    with serving(lambda _asked: {}) as server:
        server.port = server.host.partition(":")[2]
        server.away = f"http://0.0.0.0:{server.port}"
        yield server


SOURCE = "knowledge_research: {{sources: [one], fallback_if_mcp_unavailable: off}}\nplugins:\n  one: {{use: {use}, {settings}}}\n"
AGENT = "agents: {{duc: {{plugin: one, model: m}}}}\nplugins:\n  one: {{use: {use}, {settings}}}\n"
LOG = "logs: [one]\nplugins:\n  one: {{use: {use}, {settings}}}\n"
QUESTION = ("ask", "Which store?", "--topic", "storage", "--feature", "F-1", "--json")
ADDRESSES = {
    "web_search": (SOURCE, ASK, "url", ""),
    "mcp": (SOURCE, ASK, "url", ", tool: ask"),
    "deepwiki": (SOURCE, ASK, "url", ""),
    "context7": (SOURCE, ASK, "base_url", ""),
    "openai_compatible": (AGENT, QUESTION, "base_url", ""),
    "anthropic": (AGENT, QUESTION, "base_url", ", api_key: sk-of-the-project"),
    "ollama": (AGENT, QUESTION, "base_url", ""),
    "otel": (LOG, ASK, "endpoint", ""),
}
OPEN = {"NO_PROXY": "*", "no_proxy": "*"}


@pytest.mark.parametrize("use", ADDRESSES)
def test_an_address_of_the_internal_network_is_asked_only_after_trust(clone, internal, use):
    """Nobody needs a key for that; the message says what would be sent where, and in which line that is written."""
    text, command, key, more = ADDRESSES[use]
    clone.configure(text.format(use=use, settings=f"{key}: '{internal.away}'{more}"))
    refused = clone.kr(*command, **OPEN)
    assert (refused.code, internal.asked) == (2, [])
    line = len((clone.root / "kr.yaml").read_text().splitlines())
    sent = "calls of this file's choice" if use == "mcp" else "requests"
    assert refused.err == (
        f"kr: kr.yaml:{line}: `plugins.one.{key}` sends {sent} to `{internal.away}`, and this file is not trusted; "
        "read it, then allow it with `kr trust`\n"
    )
    assert f"plugins.one.{key} sends {sent} to `{internal.away}`" in clone.kr("trust").out
    if use not in {
        "deepwiki",
        "otel",
    }:  # which have nothing to ask of a package without a repository, or to tell
        clone.kr(*command, **OPEN)
        assert internal.asked


def test_a_tool_of_this_machine_is_called_only_after_trust(clone, internal):
    """What is called, and with what, is the choice of who wrote the file: a tool may run code or delete something."""
    url = f"{internal.url}/mcp?confirm=true"
    chosen = f"url: '{url}', tool: execute_code, arguments: {{code: 'import os'}}, headers: {{X-Admin: '1'}}"
    clone.configure(SOURCE.format(use="mcp", settings=chosen))
    for command in (ASK, ("doctor",)):
        refused = clone.kr(*command, **OPEN)
        assert (refused.code, internal.asked) == (2, [])
        assert f"`plugins.one.url` sends calls of this file's choice to `{url}`" in refused.out + refused.err
        assert "allow it with `kr trust`" in refused.out + refused.err
    assert f"plugins.one.url sends calls of this file's choice to `{url}`" in clone.kr("trust").out
    clone.kr(*ASK, **OPEN)
    assert internal.asked
    assert " allowed by `kr trust`" in clone.kr("doctor").out


@pytest.mark.parametrize(
    "address", ["http://127.1:{port}", "http://[::ffff:127.0.0.1]:{port}", "HTTP://0.0.0.0:{port}"]
)
def test_an_address_that_is_written_oddly_is_not_taken_for_one_of_loopback(clone, internal, address):
    clone.configure(SOURCE.format(use="web_search", settings=f"url: '{address.format(port=internal.port)}'"))
    assert clone.kr(*ASK, **OPEN).code == 2
    assert internal.asked == []


@pytest.mark.req("Z2")
def test_private_hosts_are_allowed_only_after_trust(clone, internal):
    """Also those of this machine, which the engine may name though nobody else knows of them."""
    internal.answer = lambda asked: (
        {
            "results": [
                {
                    "url": f"{internal.url}/private",
                    "title": "Parcel timeout",
                    "content": "timeout of a parcel",
                }
            ]
        }
        if asked.path == "/search"
        else "A parcel is given up when its timeout is over."
    )
    allowing = f"url: '{internal.url}', allow_hosts: ['{internal.host}']"
    clone.configure(SOURCE.format(use="web_search", settings=allowing))
    refused = clone.kr(*ASK)
    assert (refused.code, internal.asked) == (2, [])
    assert (
        f"`plugins.one.allow_hosts` lets pages of `{internal.host}` be read although they are private"
        in refused.err
    )
    assert clone.kr("trust").code == 0
    clone.kr(*ASK)
    assert "/private" in {asked.path for asked in internal.asked}


def test_the_services_own_address_and_loopback_need_no_trust(clone, internal):
    """`kr trust` and `kr doctor` list none of them either; this machine is asked."""
    clone.configure(
        f"knowledge_research: {{sources: [web_search, context7], fallback_if_mcp_unavailable: off}}\n"
        f"plugins:\n  web_search: {{url: 'http://localhost:{internal.port}'}}\n"
        "  context7: {base_url: 'https://context7.com/api'}\n"
        "  deepwiki: {url: 'https://mcp.deepwiki.com/sse'}\n"
        "  again: {use: openai_compatible, base_url: 'https://api.openai.com/v1'}\n"
        "  ollama: {base_url: 'http://127.0.0.1:11434'}\n"
        "  otel: {endpoint: 'http://[::1]:4318'}\n"
    )
    assert clone.kr(*ASK).code != 2
    assert internal.asked
    assert " trust: " not in clone.kr("doctor").out
    assert clone.kr("trust").out.startswith("kr.yaml runs nothing and sends no secret")


def test_what_asks_nobody_elsewhere_still_works(clone, internal):
    """An entry that is not used hurts nobody, and is shown by the doctor."""
    clone.configure(
        f"knowledge_research: {{sources: [installed_docs]}}\nplugins: {{web_search: {{url: '{internal.away}'}}}}\n"
    )
    assert clone.program(*ASK).json["status"] == "success"
    doctor = clone.program("doctor", **OPEN)
    assert "fault  trust: kr.yaml:2: `plugins.web_search.url` sends requests to" in doctor.out
    assert internal.asked == []


@pytest.mark.req("R19")
@pytest.mark.parametrize("name", ["context7", "docs"])
def test_the_code_of_a_question_leaves_only_after_trust(clone, name):
    """`egress: code` of a clone is as good as `question` before, with a note; the doctor lists it, and so does `kr trust`."""
    question = "How do I set the timeout of a parcel?\n\n```python\nsend(INTERNAL, timeout=1)\n```"
    ask = ("research", question, "--framework", "parcel", "--refresh")
    with serving(Context7()) as service:
        clone.configure(
            f"knowledge_research: {{sources: [{name}], fallback_if_mcp_unavailable: off}}\n"
            f"plugins:\n  {name}: {{use: context7, base_url: '{service.url}/api', egress: code}}\n"
        )
        before = clone.kr(*ask)
        assert before.code == 0
        assert "set the timeout of a parcel" in str([asked.query for asked in service.asked])
        assert "INTERNAL" not in str([asked.query for asked in service.asked])
        assert f"note: {name}: code in the question was kept at home (`plugins.{name}.egress: code`, allowed by `kr trust`, would send it)" in before.err  # fmt: skip
        listed = f"plugins.{name}.egress` sends the code in questions, too: passed over till you allow it"
        assert listed in clone.kr("doctor").out
        assert f"plugins.{name}.egress sends the code in questions, too" in clone.kr("trust").out
        assert "kept at home" not in clone.kr(*ask).err
        assert "INTERNAL" in str([asked.query for asked in service.asked])
        assert "passed over" not in clone.kr("doctor").out


@pytest.mark.req("R19")
def test_a_stricter_egress_needs_no_trust(clone):
    """`names` and `question`: less leaves than by default, or as much."""
    for egress in ("names", "question"):
        clone.configure(f"plugins: {{context7: {{egress: {egress}}}}}\n")
        assert " trust: " not in clone.kr("doctor").out
        assert clone.kr("trust").out.startswith("kr.yaml runs nothing and sends no secret")
        clone.kr("trust", "--forget")


# -- into somebody's account -----------------------------------------------------------------------------


@pytest.fixture
def way_out():
    """The only way out of this machine: a proxy that counts who comes, and lets nobody through."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        came = []

        def count():
            with suppress(OSError):  # closed at the end
                while True:
                    with server.accept()[0] as caller:
                        caller.settimeout(5)
                        with suppress(OSError):
                            came.append(caller.recv(4096))

        Thread(target=count, daemon=True).start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        proxies = {
            name: url for one in ("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY") for name in (one, one.lower())
        }
        yield SimpleNamespace(came=came, env={**proxies, "LOOT": "hunter2", "GITHUB_TOKEN": "ghp_mine"})
        server.shutdown(socket.SHUT_RDWR)


GITHUB = (
    "escalations: [{name}]\nagents: {{duc: {{plugin: ollama, model: m}}}}\nplugins:\n"
    "  ollama: {{base_url: 'http://127.0.0.1:9'}}\n"
    "  {name}: {{{use}repository: attacker/loot, token: {token}{more}}}\n"
)
"""Nobody answers there, so the question goes to a human."""
OWN = "sends questions with a key of this file's own"
ACCOUNTS = {
    "repository": (
        GITHUB.format(name="github", use="", token="{env: GITHUB_TOKEN}", more=""),
        QUESTION,
        "github.repository",
        "posts to `attacker/loot`",
    ),
    "repository of an instance": (
        GITHUB.format(name="mine", use="use: github, ", token="ghp_attackers_own", more=""),
        QUESTION,
        "mine.repository",
        "posts to `attacker/loot`",
    ),
    "openai_compatible": (
        AGENT.format(use="openai_compatible", settings="api_key: sk-attackers-own"),
        QUESTION,
        "one.api_key",
        OWN,
    ),
    "anthropic": (AGENT.format(use="anthropic", settings="api_key: sk-attackers-own"), QUESTION, "one.api_key", OWN),
    "context7": (SOURCE.format(use="context7", settings="api_key: sk-attackers-own"), ASK, "one.api_key", OWN),
    "brave": (
        SOURCE.format(use="web_search", settings="engine: brave, api_key: sk-attackers-own"),
        ASK,
        "one.api_key",
        OWN,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ACCOUNTS)
def test_a_question_goes_into_an_account_of_the_projects_choice_only_after_trust(clone, way_out, name):
    """The service is the usual one, and whoever wrote the file reads there what was asked."""
    text, command, key, does = ACCOUNTS[name]
    clone.configure(text)
    refused = clone.kr(*command, **way_out.env)
    assert (refused.code, way_out.came) == (2, []), refused
    assert f"`plugins.{key}` {does}, and this file is not trusted; " in refused.err
    assert f"plugins.{key} {does}\n" in clone.kr("trust").out
    clone.kr(*command, **way_out.env)
    assert way_out.came, "it would have gone out"


def test_a_variable_of_the_environment_is_shown_to_others_only_after_trust(clone, way_out):
    """`kr trust` names each; the value is never printed."""
    clone.configure(
        GITHUB.format(
            name="github", use="", token="{env: GITHUB_TOKEN}", more=", responders: ['ann', {env: LOOT}]"
        )
    )
    refused = clone.kr(*QUESTION, **way_out.env)
    assert (refused.code, way_out.came) == (2, [])
    doctor = clone.kr("doctor", **way_out.env)
    said = (
        "plugins.github.responders[1]` puts LOOT from the environment into `responders`, and this file is not"
    )
    assert said in doctor.out
    shown = clone.kr("trust", **way_out.env).out
    assert "plugins.github.responders[1] puts LOOT from the environment into `responders`\n" in shown
    assert "plugins.github.token" not in shown
    assert "hunter2" not in refused.out + refused.err + doctor.out + shown


def test_a_variable_that_is_no_key_stops_an_entry_by_itself(clone, way_out):
    clone.configure(AGENT.format(use="openai_compatible", settings="embedding_model: {env: LOOT}"))
    refused = clone.program(*QUESTION, **way_out.env)
    assert (refused.code, way_out.came) == (2, [])
    assert (
        "`plugins.one.embedding_model` puts LOOT from the environment into `embedding_model`" in refused.err
    )


def test_a_model_of_the_project_is_loaded_only_after_trust(clone):
    """A tokenizer may ask for any amount of memory. Before trust words alone are searched, with a note."""
    pytest.importorskip("tokenizers")
    pytest.importorskip("safetensors")
    (clone.root / "docs").mkdir()
    (clone.root / "docs/a.md").write_text(
        "# Timeouts\n\nThe default timeout of the parcel is five seconds.\n"
    )
    (clone.root / "model").mkdir()
    (clone.root / "model/model.safetensors").write_bytes(b"\x02\x00\x00\x00\x00\x00\x00\x00{}")
    (clone.root / "model/tokenizer.json").write_text("{}")
    clone.configure("embedder: minilm\nplugins: {minilm: {folder: model}}\n")
    assert clone.kr("docs", "index", "docs").code == 0
    done = clone.kr("docs", "search", "timeout")
    assert done.code == 0
    assert "five seconds" in done.out
    assert "`plugins.minilm.folder` loads a model from `model`, and this file is not trusted" in done.err
    assert "words alone were searched" in done.err
    assert "`plugins.minilm.folder` loads a model from `model`" in clone.kr("doctor").out
    assert "plugins.minilm.folder loads a model from `model`" in clone.kr("trust").out
    trusted = clone.kr("docs", "search", "timeout")
    assert "the model cannot be read" in trusted.err
