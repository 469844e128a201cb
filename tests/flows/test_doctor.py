"""`kr doctor`: each thing that can be wrong is a line, and each line that is not `ok` says what to do."""

from pathlib import Path

import pytest
from support.projects import install

REFERENCE = Path(__file__).parents[2] / "docs/reference/configuration.md"
OUTSIDE = """\
import kr_core

class Outside:
    external = True
    timeout_seconds = 5.0

    async def query(self, query, context): ...

@kr_core.hookimpl
def kr_source():
    return kr_core.Provider(lambda settings, setup: Outside())
"""


@pytest.fixture
def doctor(kr, kr_here, project_folder):
    """`doctor(configuration, environment)`: the exit code, and what is said by name and state."""

    def run(configuration="", env=None):
        (project_folder / "kr.yaml").write_text(configuration)
        if "PYTHONPATH" in (env or {}):  # what is installed elsewhere is there for another process alone
            done = kr("doctor", env=env)
        else:
            done = kr_here("doctor", env={"KR_TRUST": "", **(env or {})})
        assert (done.err, "Traceback" in done.out) == ("", False)
        said = {}
        for line in done.out.splitlines():
            state, _, rest = line.partition("  ")
            name, _, text = rest.strip().partition(": ")
            said.setdefault((name, state.strip()), []).append(text)
        return done.code, said

    return run


@pytest.fixture
def outside(tmp_path):
    """The environment in which a source that leaves the machine is installed."""
    site = tmp_path / "extra"
    folder = install(site, "kr-outside", "1.0", {"kr_outside.py": OUTSIDE})
    (folder / "entry_points.txt").write_text("[kr]\noutside = kr_outside\n")
    return {"PYTHONPATH": str(site)}


def test_a_knowledge_base_that_cannot_be(doctor, project_folder):
    """A file in the way of the knowledge base or of the state folder is a fault that says so."""
    (project_folder / ".kr").write_text("")
    code, said = doctor()
    assert code == 2
    assert said["journal", "fault"] == [
        f"{project_folder / '.kr'} is not a folder; remove it, or name another place"
    ]
    (project_folder / "taken").write_text("")
    code, said = doctor("knowledge_research: {knowledge_base_path: taken/deep}\n")
    assert code == 2
    assert said["knowledge base", "fault"] == [
        f"{project_folder / 'taken'} is not a folder; remove it, or name another place"
    ]


def test_a_damaged_index(doctor, project_folder):
    """An index that cannot be read is a fault with its file."""
    (project_folder / "knowledge-base").mkdir()
    (project_folder / "knowledge-base/index.yaml").write_text("entries: [")
    code, said = doctor()
    assert code == 2
    assert "index.yaml" in said["knowledge base", "fault"][0]


@pytest.mark.req("P2")
def test_the_network(doctor, outside, tmp_path):
    """Which sources leave the machine is said, by which proxy, and certificates that are not there."""
    none = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR"), "")  # fmt: skip
    none["PATH"] = str(tmp_path)  # no agent's program is there
    at_home = "knowledge_research: {sources: [installed_docs]}\n"
    assert doctor(at_home, none)[1]["network", "ok"] == ["no active source or agent leaves this machine"]
    model = "agents: {duc: {plugin: ollama, model: m}}\n"
    assert doctor(at_home + model, none)[1]["network", "ok"] == [
        "no active source or agent leaves this machine"
    ]
    away = f"{at_home}{model}plugins: {{ollama: {{base_url: 'https://models.example'}}}}\n"
    said = doctor(away, {**none, "KR_TRUST": "all"})[1]
    assert said["network", "ok"] == ["ollama: questions leave this machine"]
    assert doctor(env=none)[1]["network", "ok"] == ["context7, deepwiki: questions leave this machine"]
    chain = "knowledge_research: {sources: [outside, installed_docs]}\n"
    proxy = {**none, **outside, "HTTPS_PROXY": "http://me:hunter2@proxy.example"}
    code, said = doctor(chain, proxy)
    assert (code, said["network", "ok"]) == (
        0,
        ["outside: questions leave this machine; through HTTPS_PROXY"],
    )
    gone = str(tmp_path / "gone.pem")
    code, said = doctor(chain, {**none, **outside, "SSL_CERT_FILE": gone})
    assert code == 2
    assert said["network", "fault"] == [
        f"SSL_CERT_FILE names {gone}, which is not there; correct it, or unset it"
    ]
    code, said = doctor(at_home, {**none, "SSL_CERT_FILE": gone})
    assert (code, ("network", "note") in said) == (0, True)


def test_no_environment(kr, tmp_path):
    """Without an environment of the project KR says whose versions it takes, and what to make."""
    empty = tmp_path / "empty"
    empty.mkdir()
    done = kr("doctor", cwd=empty)
    assert done.code == 0
    assert "note   environment: none found; make a .venv, or set VIRTUAL_ENV" in done.out


def test_old_dependencies(doctor, tmp_path):
    """A dependency older than KR's metadata asks for, or a missing one, is a fault with the command."""
    site = tmp_path / "old"
    site.mkdir()
    install(site, "httpx", "0.1", {})
    code, said = doctor("", {"PYTHONPATH": str(site)})
    assert code == 2
    assert said["dependencies", "fault"] == ['httpx 0.1; `pip install -U "httpx>=0.27"`']


@pytest.mark.req("Q4")
def test_the_agents_of_the_roster(doctor, tmp_path):
    """Each plugin that carries questions to agents has a line: what is missing, or which version of its program is there."""
    nowhere = {"PATH": str(tmp_path)}
    _code, said = doctor(
        "agents:\n  duc: {plugin: ollama}\n  anna: {plugin: anthropic, role: architect}\n", env=nowhere
    )
    (modelless,) = said["agent ollama", "note"]
    assert modelless.startswith("no model is configured for duc; set `agents.duc.model`")
    assert ("agent ollama", "ok") not in said
    _code, said = doctor(
        "agents:\n  duc: {plugin: ollama}\n  dede: {plugin: ollama, model: m}\n", env=nowhere
    )
    assert said["agent ollama", "ok"] == ["built; for dede"]
    assert "for duc;" in said["agent ollama", "note"][0]
    _code, said = doctor("agents:\n  anna: {plugin: anthropic, role: architect}\n", env=nowhere)
    [missing] = said["agent claude_cli", "note"]
    assert "`claude` is not installed; `npm install -g @anthropic-ai/claude-code`" in missing
    assert "till then `kr ask` puts their questions to a human" in missing
    assert "veuve" not in missing, "who installs KR has not heard of them"
    [unset] = said["agent anthropic", "note"]
    assert "plugins.anthropic.api_key" in unset
    assert ("plugin claude_cli", "ok") not in said
    _code, said = doctor("agents:\n  duc: {threshold: 70}\n", env=nowhere)
    assert "till then duc, veuve, marie" in said["agent claude_cli", "note"][0]


@pytest.mark.req("Q4")
def test_the_version_of_an_agents_program(doctor, tmp_path):
    """The program itself is asked; one that fails is noted, and one that the file names waits for `kr trust`."""
    program = tmp_path / "claude"
    program.write_text("#!/bin/sh\necho '9.9.9 (Claude Code)'\n")
    program.chmod(0o700)
    found = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    _code, said = doctor(env=found)
    assert said["agent claude_cli", "ok"] == [
        "9.9.9 (Claude Code); for duc, veuve, marie, dede, gustave, degaulle"
    ]
    program.write_text("#!/bin/sh\necho 'cannot run here' >&2; exit 3\n")
    _code, said = doctor(env=found)
    assert "`--version` failed: cannot run here" in said["agent claude_cli", "note"][0]
    configured = f"plugins:\n  claude_cli:\n    command: [{program}]\n"
    code, said = doctor(configured, env=found)
    assert code == 2
    assert "kr trust" in said["agent claude_cli", "fault"][0]
    _code, said = doctor(configured, env={**found, "KR_TRUST": "all"})
    assert ("agent claude_cli", "note") in said
