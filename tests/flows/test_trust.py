"""`kr trust` as a person meets it: a project that came from elsewhere runs nothing and sends nothing before."""

import json
import subprocess
import sys

import pytest
from support.projects import install

PLUGIN = """\
import subprocess
import kr_core


class ToolSettings(kr_core.Settings):
    command: str = ""
    base_url: str = ""
    api_key: str = ""


class Tool:
    external = False
    timeout_seconds = 5.0

    def __init__(self, settings):
        self._settings = settings
        if settings.command:
            subprocess.run(settings.command, shell=True, check=True)

    async def query(self, query, context):
        said = f"Set the timeout of a parcel with {self._settings.api_key or 'care'}."
        one = kr_core.Passage(text=said, url="https://docs.example/parcel", lead=said, coverage=1.0)
        return kr_core.Finding(outcome=kr_core.Outcome.ok, passages=(one,))

    def write(self, records):
        pass


@kr_core.hookimpl
def kr_source():
    return kr_core.Provider(lambda settings, setup: Tool(settings), ToolSettings)


@kr_core.hookimpl
def kr_log():
    return kr_core.Provider(lambda settings, setup: Tool(settings), ToolSettings)
"""
ASK = ("research", "How do I set the timeout of a parcel?", "--framework", "parcel", "--json")
RUNS = """\
knowledge_research: {sources: [tool]}
plugins:
  tool:
    command: touch ran
"""
SENDS = """\
knowledge_research: {sources: [tool]}
plugins:
  tool:
    base_url: https://evil.example
    api_key: {env: SECRET_OF_MINE}
"""


@pytest.fixture
def tool(kr, tmp_path, project_folder):
    """`kr` where the plugin `tool` is installed, and a function that writes the configuration."""
    site = tmp_path / "extra"
    folder = install(site, "kr-tool", "1.0", {"kr_tool.py": PLUGIN})
    (folder / "entry_points.txt").write_text("[kr]\ntool = kr_tool\n")

    def run(*arguments, env=None, **more):
        return kr(
            *arguments, env={"PYTHONPATH": str(site), "SECRET_OF_MINE": "hunter2", **(env or {})}, **more
        )

    run.ran = (project_folder / "ran").exists
    run.configure = lambda text, name="kr.yaml": _write(project_folder / name, text)
    return run


def _write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.req("Z8")
def test_a_program_runs_only_after_trust_and_not_after_a_change(tool):
    """The run ends with 2 and says where, what and what to do; trusted it runs; changed it asks anew."""
    tool.configure(RUNS)
    refused = tool(*ASK)
    assert (refused.code, refused.out, tool.ran()) == (2, "", False)
    assert refused.err == (
        "kr: kr.yaml:4: `plugins.tool.command` runs `touch ran`, and this file is not trusted; "
        "read it, then allow it with `kr trust`\n"
    )
    trusted = tool("trust")
    assert (trusted.code, trusted.err, tool.ran()) == (0, "", False)
    assert trusted.out.splitlines()[0] == "kr.yaml:4: plugins.tool.command runs `touch ran`"
    assert tool(*ASK).json["status"] == "success"
    assert tool.ran()
    tool.configure(RUNS + "    # changed\n")
    assert tool(*ASK, "--refresh").code == 2


@pytest.mark.req("Z8", "G5")
def test_a_secret_is_sent_to_the_projects_address_only_after_trust(tool):
    """It is not even read before, and never printed."""
    tool.configure(SENDS)
    for env in ({}, {"SECRET_OF_MINE": ""}):
        refused = tool(*ASK, env=env)
        assert refused.code == 2
        assert (
            "kr.yaml:4: `plugins.tool.base_url` sends SECRET_OF_MINE to `https://evil.example`" in refused.err
        )
        assert "hunter2" not in refused.err
    assert "hunter2" not in tool("trust").out
    assert tool(*ASK).code == 0
    assert tool("trust", "--forget").out == "kr.yaml: no longer trusted\n"
    assert tool(*ASK, "--refresh").code == 2
    assert tool("trust", "--forget").out == "kr.yaml: was not trusted\n"


@pytest.mark.req("Z8")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("kr.yaml", RUNS.replace("tool]", "mine]").replace("  tool:\n", "  mine:\n    use: tool\n")),
        ("kr.yaml", "x: &x {command: touch ran}\n" + RUNS.replace("tool:\n    command: touch ran", "tool: *x")),
        ("kr.yaml", "knowledge_research: {sources: [tool]}\nplugins: {tool: {command: '{project-root}/x'}}\n"),
        ("pyproject.toml", '[tool.kr]\nknowledge_research.sources = ["tool"]\n[tool.kr.plugins.tool]\ncommand = "touch ran"\n'),
    ],
)  # fmt: skip
def test_other_ways_to_write_it(tool, name, text):
    """As an instance, by an alias, with a placeholder, in a pyproject.toml: nothing runs untrusted."""
    tool.configure(text, name)
    assert tool(*ASK).code == 2
    assert not tool.ran()


@pytest.mark.req("Z8")
def test_a_file_named_by_hand(tool, tmp_path):
    """A file given with --config is trusted by nobody either; trust is for that file alone."""
    other = _write(tmp_path / "elsewhere/mine.yaml", RUNS)
    tool.configure(RUNS)
    assert tool("trust").code == 0
    assert tool(*ASK, "--config", other).code == 2
    assert tool("--config", other, "trust").code == 0
    assert tool(*ASK, "--config", other).code == 0


@pytest.mark.req("Z8", "P2")
def test_a_bmad_configuration(tool):
    """There the source is unavailable with the reason, the next one is asked, and nothing runs."""
    tool.configure(RUNS.replace("[tool]", "[tool, installed_docs]"), "_bmad/bso/config.yaml")
    done = tool(*ASK)
    assert (done.code, tool.ran()) == (0, False), done
    (note,) = [note for note in done.json["results"]["degradation_notes"] if note.startswith("tool: ")]
    assert note.startswith(
        "tool: unavailable: _bmad/bso/config.yaml:4: `plugins.tool.command` runs `touch ran`"
    )
    assert note.endswith("allow it with `kr trust`")


@pytest.mark.req("Z8")
def test_what_builds_no_such_plugin_still_works(tool):
    """Hits, listings and checks need no trust; an entry that nobody uses hurts nobody."""
    tool.configure(RUNS)
    assert tool(*ASK, env={"KR_TRUST": "all"}).json["status"] == "success"
    for _ in range(2):
        assert tool(*ASK).json["status"] == "cache-hit"
    for command in (("cache", "list"), ("versions",), ("plugins",), ("plugins", "-v")):
        assert tool(*command).code == 0, command
    tool.configure(RUNS.replace("[tool]", "[installed_docs]"))
    assert tool(*ASK, "--refresh").code == 0


@pytest.mark.req("Z8")
def test_a_log(tool):
    """A log is a plugin like any other."""
    tool.configure("logs: [tool]\nplugins: {tool: {command: touch ran}}\n")
    done = tool(*ASK)
    assert (done.code, tool.ran()) == (2, False)
    assert "kr trust" in done.err


@pytest.mark.req("Z8")
def test_ci_trusts_all(tool):
    """KR_TRUST=all allows everything; any other value is an error that names it."""
    tool.configure(RUNS)
    wrong = tool(*ASK, env={"KR_TRUST": "yes"})
    assert (wrong.code, tool.ran()) == (2, False)
    assert wrong.err.startswith("kr: environment: KR_TRUST is 'yes'; its only value is `all`")
    assert tool(*ASK, env={"KR_TRUST": "all"}).code == 0
    assert tool.ran()


@pytest.mark.req("Z8")
def test_the_doctor_shows_what_is_not_trusted(tool):
    """Each setting is a fault with its line and the command; what it would run is not run to check it."""
    tool.configure(RUNS + "  other: {use: tool, base_url: //x, api_key: {env: SECRET_OF_MINE}}\n")
    done = tool("doctor")
    assert (done.code, tool.ran()) == (2, False)
    faults = [line for line in done.out.splitlines() if line.startswith("fault")]
    assert [line.split()[1:3] for line in faults] == [
        ["trust:", "kr.yaml:4:"],
        ["trust:", "kr.yaml:5:"],
        ["source", "tool:"],
    ]
    assert all("kr trust" in line for line in faults)
    assert tool("trust").code == 0
    done = tool("doctor")
    assert done.code == 0
    assert (
        "trust: 2 settings run programs, send to addresses of the project's own or lead out of it, allowed by `kr trust`"
        in done.out
    )


@pytest.mark.req("Z8", "G5")
def test_a_file_that_would_hide_what_it_runs(tool):
    """What would run is shown whole; an escape sequence in it cannot wipe it off the terminal."""
    tool.configure(RUNS.replace("touch ran", '"touch ran; #\\e[2K\\r\\nharmless"'))
    for done in (tool(*ASK), tool("doctor"), tool("trust")):
        shown = done.out + done.err
        assert "runs `touch ran; #\N{REPLACEMENT CHARACTER}[2K" in shown
        assert not {"\x1b", "\r"} & set(shown)
        assert "\nharmless" not in shown


@pytest.mark.req("Z8")
def test_nothing_to_trust(tool):
    """A file that neither runs nor sends anything is said to be such; without a file there is nothing to trust."""
    missing = tool("trust")
    assert (missing.code, missing.out) == (2, "")
    assert "no configuration file" in missing.err
    tool.configure("store: files\n")
    assert tool("trust").out.startswith("kr.yaml runs nothing and sends no secret")


@pytest.mark.req("Z8")
def test_init_trusts_what_it_wrote(tool, tmp_path, project_folder):
    """The file of `kr init` is KR's own."""
    assert tool("init").code == 0
    kept = json.loads((tmp_path / "state/kr/trusted.json").read_text())["files"]
    assert list(kept) == [str(project_folder / "kr.yaml")]


@pytest.mark.req("Z8", "P5")
def test_a_program_that_embeds_kr(tool, project_folder, tmp_path, environ):
    """A file is held back there too; what the program itself gives as configuration is its own."""
    tool.configure(RUNS)
    code = """
import kr_core
for config in (None, {"knowledge_research": {"sources": ["tool"]}, "plugins": {"tool": {"command": "true"}}}):
    with kr_core.Pipeline.open(config) as pipeline:
        try:
            pipeline.registry.build("source", "tool")
        except kr_core.ConfigError as error:
            print("refused", error.where)
        else:
            print("built")
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=project_folder, capture_output=True, text=True, check=True,
                          env={**environ, "PYTHONPATH": str(tmp_path / "extra")})  # fmt: skip
    assert done.stdout.split("\n") == ["refused kr.yaml:4", "built", ""]
    assert not tool.ran()
