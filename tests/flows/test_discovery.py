"""Plugins of strangers, built and installed as real packages: what is wrong with one is said, and hurts no other."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ASK = ("research", "How do I set the timeout of a parcel?", "--framework", "parcel", "--json")
TRACE = "import os, pathlib\npathlib.Path(os.environ['TRACE'], __name__).touch()\n"
SOURCE = """
import kr_core

class Fine:
    external = False
    timeout_seconds = 5.0

    async def query(self, query, context):
        said = "Set the timeout of a parcel with care."
        one = kr_core.Passage(text=said, url="https://docs.example/parcel", lead=said, coverage=1.0)
        return kr_core.Finding(outcome=kr_core.Outcome.ok, passages=(one,))

@kr_core.hookimpl
def kr_source():
    return kr_core.Provider(lambda settings, setup: Fine())
"""
HOOK = "import kr_core\n@kr_core.hookimpl\n"
PACKAGES = {
    "kr-fine": ({"fine": SOURCE}, ""),
    "kr-chatty": ({"chatty": "print('hello')" + SOURCE}, ""),
    "kr-raises": ({"raises": "1 / 0\n"}, ""),
    "kr-lacks": ({"lacks": "import kr_no_such_module\n"}, 'optional-dependencies.web = ["kr-no-such-module>=2"]'),
    "kr-misspelt": ({"misspelt": HOOK + "def kr_sorce(): ...\n"}, ""),
    "kr-takes": ({"takes": HOOK + "def kr_source(config): ...\n"}, ""),
    "kr-empty": ({"empty": ""}, ""),
    "kr-one": ({"pair": SOURCE}, ""),
    "kr-other": ({"pair": SOURCE}, ""),
    "kr-newer": ({"newer": "from kr_core import NotYet\nKR_CONTRACT = 3\n"}, ""),
    "kr-later": ({"later": "KR_CONTRACT = 3\n" + SOURCE}, ""),
    "kr-older": ({"older": "KR_CONTRACT = 1\n" + SOURCE}, ""),
    "kr-wants": ({"wants": "from kr_core import NotYet\n"}, 'dependencies = ["kr-core>=99"]'),
}  # fmt: skip
"""Each distribution with its plugins, and further lines of its `[project]`."""
FAULTS = {
    "raises": "failed to import: ZeroDivisionError: division by zero (kr_raises_raises.py:3)",
    "lacks": 'it needs the module `kr_no_such_module`, which is not installed; `pip install "kr-lacks[web]"`',
    "misspelt": "there is no hook called kr_sorce; did you mean `kr_source`?",
    "takes": "failed to register: TypeError: kr_source(config): a hook takes no arguments",
    "empty": "it has no hook; mark a function kr_source with @kr_core.hookimpl",
    "pair": "two plugins have this name: from kr-one 1.0 and kr-other 1.0; uninstall one: `pip uninstall kr-other`",
    "newer": "it is written for contract 3, this KR offers 2; upgrade KR: `pip install -U kr-core`",
    "later": "it is written for contract 3, this KR offers 2; upgrade KR: `pip install -U kr-core`",
    "older": "it is written for contract 1, this KR offers 2; upgrade the plugin: `pip install -U kr-older`",
    "wants": 'it asks for kr-core>=99, and this is 0.1.0: `pip install -U "kr-core>=99"`',
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with all the packages, built and installed."""
    folder = tmp_path_factory.mktemp("strangers")
    for name, (plugins, more) in PACKAGES.items():
        package = folder / name
        package.mkdir()
        points, modules = [], []
        for plugin, source in plugins.items():
            module = f"{name.replace('-', '_')}_{plugin}"
            (package / f"{module}.py").write_text(TRACE + source)
            points.append(f'{plugin} = "{module}"')
            modules.append(f"{module}.py")
        (package / "pyproject.toml").write_text(
            '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
            f'[project]\nname = "{name}"\nversion = "1.0"\n{more}\n'
            f"[project.entry-points.kr]\n{chr(10).join(points)}\n"
            f"[tool.hatch.build.targets.wheel]\ninclude = {modules}\n"
        )
    site = folder / "site"
    uv = Path(sys.executable).with_name("uv")
    command = [uv, "pip", "install", "--quiet", "--offline", "--no-deps", "--no-build-isolation", "--python", sys.executable,
               "--target", site, *(folder / name for name in PACKAGES)]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True, text=True)
    return site


@pytest.fixture
def strangers(kr, site, tmp_path, project_folder):
    """`kr` where the strangers' packages are installed; `strangers.imported()` names what was imported of them."""
    trace = tmp_path / "trace"
    trace.mkdir()

    def run(*arguments, configuration="", **more):
        (project_folder / "kr.yaml").write_text(configuration)
        return kr(*arguments, env={"PYTHONPATH": str(site), "TRACE": str(trace)}, **more)

    run.imported = lambda: sorted(path.name for path in trace.iterdir())
    return run


@pytest.mark.req("P2")
def test_the_list(strangers):
    """Every plugin is listed with its distribution, both of one name, and none is imported."""
    configuration = "knowledge_research: {sources: [fine, pair, gone]}\n"
    rows = strangers("plugins", "--json", configuration=configuration).json
    states = {(row["name"], row["distribution"]): row["state"] for row in rows}
    assert {name for name, _ in states} >= {*FAULTS, "fine", "files", "gone"}
    assert states["fine", "kr-fine"] == "installed"
    assert states["pair", "kr-one"] == states["pair", "kr-other"] == "twice"
    assert states["gone", ""] == "missing"
    assert {row["name"] for row in rows if row["active"]} >= {"fine", "pair", "gone", "files", "sqlite"}
    assert not any(row["active"] for row in rows if row["name"] in {"raises", "installed_docs"})
    text = strangers("plugins", configuration=configuration).out
    assert re.search(r"^fine +active +kr-fine 1\.0 +kr_fine_fine$", text, re.MULTILINE)
    assert "\n    two plugins have this name; uninstall one\n" in text
    assert "\n    no installed plugin has this name; " in text
    assert strangers.imported() == []


@pytest.mark.req("P2")
def test_the_list_with_faults(strangers):
    """With -v each plugin is imported; what is wrong with it is said below its line, with what to do."""
    done = strangers("plugins", "-v")
    assert done.code == 0, done
    for name, fault in FAULTS.items():
        _, _, below = f"\n{done.out}".partition(f"\n{name} ")
        assert fault in below.split("\n")[1], (name, done.out)
    assert "kr_fine_fine" in strangers.imported()
    rows = strangers("plugins", "-v", "--json").json
    assert {row["name"] for row in rows if "fault" in row} == set(FAULTS)
    assert [row["kinds"] for row in rows if row["name"] == "fine"] == [["source"]]


@pytest.mark.req("P2")
def test_in_a_list_a_broken_one_is_unavailable(strangers):
    """Each is a note with what to do, and the source after all of them answers."""
    done = strangers(*ASK, configuration=f"knowledge_research: {{sources: [{', '.join(FAULTS)}, fine]}}\n")
    assert (done.code, done.err) == (0, ""), done
    notes = done.json["results"]["degradation_notes"]
    for name, fault in FAULTS.items():
        (note,) = [note for note in notes if note.startswith(f"{name}: unavailable: plugin `{name}`")]
        assert fault in note
    assert [line["status"] for line in done.json["results"]["sources_consulted"]] == [*["unavailable"] * len(FAULTS), "success"]  # fmt: skip


@pytest.mark.req("P2", "R14")
def test_what_a_plugin_prints_is_no_part_of_the_result(strangers):
    """A source that prints as it is imported does so on standard error; the result stands alone."""
    done = strangers(*ASK, configuration="knowledge_research: {sources: [chatty]}\n")
    assert done.json["results"]["sources_consulted"][0]["status"] == "success"
    assert "hello" in done.err


@pytest.mark.req("P2")
@pytest.mark.parametrize("name", FAULTS)
def test_alone_a_broken_one_ends_the_program(strangers, name):
    """As the store it ends with 3, one line, and what to do."""
    done = strangers(*ASK, configuration=f"store: {name}\n")
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith(f"kr: plugin `{name}`")
    assert len(done.err.splitlines()) == 1
    assert FAULTS[name].partition(" (")[0].replace("kr_source", "kr_store") in done.err.replace(
        "kr_source", "kr_store"
    )


@pytest.mark.req("P2")
def test_the_doctor(strangers):
    """What is active and broken is a fault; what is not active is looked into with -v only, and broken it is a note."""
    configuration = "knowledge_research: {sources: [fine, lacks]}\n"
    done = strangers("doctor", configuration=configuration)
    assert done.code == 2
    assert "plugin chatty: installed, not active" in done.out
    assert set(strangers.imported()) <= {"kr_fine_fine", "kr_lacks_lacks"}
    done = strangers("doctor", "-v", configuration=configuration)
    assert "plugin chatty: installed, not active; name it in `knowledge_research.sources`" in done.out
    lines = done.out.splitlines()
    assert [line for line in lines if line.startswith("fault")] == [
        f"fault  source lacks: plugin `lacks` (kr-lacks 1.0): {FAULTS['lacks']}"
    ]
    for name in FAULTS.keys() - {"lacks"}:
        (line,) = [
            line for line in lines if line.startswith(f"note   plugin {name}: not active, and broken: ")
        ]
        assert FAULTS[name] in line
    assert any(
        line.startswith("note   distribution kr-wants 1.0: asks for kr-core>=99, and this is")
        for line in lines
    )
    done = strangers("doctor", "--json", configuration="knowledge_research: {sources: [chatty]}\n")
    assert (done.code, done.err) == (0, "hello\n")
    assert {"name": "source chatty", "state": "ok", "message": "built"} in done.json


FOUND = """
import json
from importlib.metadata import entry_points
from kr_core.entry_points import installed
ours = [plugin[:4] for plugin in installed()]
theirs = [(point.name, point.value, point.dist.name, point.dist.version) for point in entry_points(group="kr")]
print(json.dumps([sorted(map(list, ours)), sorted(map(list, theirs))]))
"""


@pytest.mark.req("P2")
def test_the_same_is_found_as_by_importlib(site, tmp_path, environ):
    """Also with a second copy later on the path, an old leftover, a zip file, and metadata that is damaged."""
    second, third = tmp_path / "second", tmp_path / "third"
    for folder, name, version in (
        (second, "kr_fine", "9.0"),
        (second, "kr.Second", "1.0"),
        (third, "nothing", "1.0"),
    ):
        info = folder / f"{name}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\nName: x\n"
        )
        (info / "entry_points.txt").write_text(
            "# a word\n[other]\nx = y\n\n[kr]\n# x = y\nfine = second : a [b]\n"
        )
    egg = second / "kr_egg.egg-info"
    egg.mkdir()
    (egg / "PKG-INFO").write_text("Name: kr-egg\nVersion: 3\n")
    (egg / "entry_points.txt").write_text("[kr]\negg=kr_egg\n")
    (third / "nothing-1.0.dist-info/entry_points.txt").unlink()
    (third / "damaged.dist-info").mkdir()
    (tmp_path / "file.txt").write_text("")
    paths = [site, second, third, tmp_path / "not-there"]
    for more in ([], [tmp_path / "file.txt"]):  # with a file on the path importlib is asked itself
        path = os.pathsep.join(map(str, [*paths, *more]))
        done = subprocess.run([sys.executable, "-c", FOUND], env={**environ, "PYTHONPATH": path}, capture_output=True, text=True, check=True)  # fmt: skip
        ours, theirs = json.loads(done.stdout)
        assert ours == theirs
        assert ["fine", "second : a [b]", "kr.Second", "1.0"] in ours
        assert ["egg", "kr_egg", "kr-egg", "3"] in ours
        assert not any(version == "9.0" for *_, version in ours)


@pytest.mark.req("P2")
def test_what_stops_importlib_does_not_stop_the_list(tmp_path, environ):
    """One damaged entry_points.txt is that distribution's misfortune alone."""
    for name, text in (("bad", "[kr]\nno equals sign\n\xff"), ("good", "[kr]\ngood = good")):
        info = tmp_path / f"{name}-1.dist-info"
        info.mkdir()
        (info / "entry_points.txt").write_bytes(text.encode("latin-1"))
    done = subprocess.run([sys.executable, "-c", "from kr_core.entry_points import installed; print(*(one.name for one in installed()))"],
                          env={**environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=True)  # fmt: skip
    assert "good" in done.stdout.split()


@pytest.mark.req("P2")
@pytest.mark.parametrize("configuration", ["", "store: files\nlogs: [jsonl]\n"])
def test_the_list_imports_little(site, project_folder, environ, tmp_path, configuration):
    """`kr plugins` loads neither the schema nor an event loop nor importlib.metadata, and no plugin."""
    if configuration:
        (project_folder / "kr.yaml").write_text(configuration)
    code = "import sys\nfrom kr_core.cli import main\nmain(['plugins'])\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], cwd=project_folder, capture_output=True, text=True, check=True,
                          env={**environ, "PYTHONPATH": str(site), "TRACE": str(tmp_path)})  # fmt: skip
    loaded = set(done.stderr.split())
    heavy = {
        "pydantic",
        "pydantic_core",
        "asyncio",
        "pluggy",
        "importlib.metadata",
        "httpx",
        "jinja2",
        "json",
        "inspect",
    }
    assert not loaded & heavy
    assert ("yaml" in loaded) == bool(configuration)
    assert not any(
        name.startswith(("kr_plugins", *(package.replace("-", "_") for package in PACKAGES)))
        for name in loaded
    )
    assert {name for name in loaded if name.startswith("kr_core")} <= {
        "kr_core", "kr_core._door", "kr_core._version", "kr_core.cli", "kr_core.cli.command_runner", "kr_core.cli.command_options", "kr_core.cli.command_parser", "kr_core.cli.plugins", "kr_core.config",
        "kr_core.config.config_file", "kr_core.config.plugin_names", "kr_core.errors",
        "kr_core.files", "kr_core.entry_points", "kr_core.terminal_text", "kr_core.user_state", "kr_core.yaml_text",
    }  # fmt: skip
