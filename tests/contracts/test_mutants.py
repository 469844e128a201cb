"""The contracts catch what they are for: right plugins pass, and plugins that are wrong on purpose do not."""

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

FOLDER = Path(__file__).parent / "mutants"
sys.path.insert(0, str(FOLDER))  # the right plugins are imported by name, as installed ones are
from table import MUTANTS  # noqa: E402  they lie in the folder that the line above names
from twins import TWINS, CommandSourceTwin, PartialLogTwin  # noqa: E402  as above

SECONDS = 1_800
"""Nothing takes so long; it keeps a failure from waiting for ever."""


def module_of(noun, mutant):
    return f"{noun}_{re.sub(r'[^a-z0-9]+', '_', mutant.name)}"


@pytest.mark.req("P4")
def test_every_mutant_is_caught_and_told_what_to_mend(tmp_path):
    """Each wrong plugin fails the contract test that it breaks, with a message that says what and how to mend it."""
    survivors = []
    failures = failures_in(tmp_path)
    for noun, mutants in MUTANTS.items():
        for number, mutant in enumerate(mutants):
            messages = failures.get(f"TestMutant_{noun}_{number}", [])
            if not messages:
                survivors.append(f"{noun}, {mutant.name}: {mutant.test} passed")
            elif not any(all(word in message for word in mutant.words) for message in messages):
                survivors.append(f"{noun}, {mutant.name}: {mutant.words} not in {messages[0][:600]!r}")
    assert not survivors, "\n".join(survivors)


def failures_in(folder):
    """What pytest says of each mutant, all in one run: class to the messages of what failed."""
    wanted = []
    for noun, mutants in MUTANTS.items():
        right = (FOLDER / f"right_{noun}.py").read_text("utf-8")
        twin = TWINS[noun].__name__
        tests = [f"from twins import {twin}"]
        for number, mutant in enumerate(mutants):
            assert right.count(mutant.old) == 1, (
                f"{mutant.name}: the text to replace stands {right.count(mutant.old)} times"
            )
            module = module_of(noun, mutant)
            (folder / f"{module}.py").write_text(right.replace(mutant.old, mutant.new), "utf-8")
            tests.append(f"class TestMutant_{noun}_{number}({twin}):\n    module = {module!r}\n")
            wanted.append(f"test_{noun}.py::TestMutant_{noun}_{number}::{mutant.test}")
        (folder / f"test_{noun}.py").write_text("\n\n".join(tests), "utf-8")
    compiling = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error", "--junitxml=seen.xml",
         "--rootdir", folder, "--basetemp", folder / "work", "-o", "junit_logging=no", *wanted],
        cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False,
        env={**compiling, "PYTHONPATH": f"{folder}{os.pathsep}{FOLDER}", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    failures = {}
    for case in ET.parse(folder / "seen.xml").iter("testcase"):
        said = [(failure.get("message") or "") + (failure.text or "") for failure in case.iter("failure")]
        failures.setdefault(case.get("classname").rpartition(".")[2], []).extend(said)
    return failures


def test_there_are_enough_mutants():
    """At least 25 over all kinds, some for each."""
    assert sum(map(len, MUTANTS.values())) >= 25
    assert all(len(mutants) >= 5 for mutants in MUTANTS.values())


@pytest.mark.req("P4")
class TestRightSource(TWINS["source"]):
    """The right source passes."""


@pytest.mark.req("P4")
class TestRightExternalSource(TWINS["external_source"]):
    """The right external source passes."""


@pytest.mark.req("P4", "Z8")
class TestRightCommandSource(CommandSourceTwin):
    """A source passes that runs what a setting names, takes one of two settings, and is an object of its module."""


@pytest.mark.req("P4")
class TestRightStore(TWINS["store"]):
    """The right store passes."""


@pytest.mark.req("P4")
class TestRightJournal(TWINS["journal"]):
    """The right journal passes."""


@pytest.mark.req("P4")
class TestRightLog(TWINS["log"]):
    """The right log passes."""


@pytest.mark.req("P4")
class TestRightPartialLog(PartialLogTwin):
    """A log passes that keeps the kinds of events that it says it keeps."""


@pytest.mark.req("P4")
class TestRightLookup(TWINS["lookup"]):
    """The right look-up passes."""


@pytest.mark.req("P4")
class TestRightScorer(TWINS["scorer"]):
    """The right scorer passes."""


@pytest.mark.req("P4")
class TestRightRenderer(TWINS["renderer"]):
    """The right renderer passes."""


@pytest.mark.req("P4")
class TestRightEmbedder(TWINS["embedder"]):
    """The right embedder passes."""


@pytest.mark.req("P4")
class TestRightAgent(TWINS["agent"]):
    """The right agent passes."""


@pytest.mark.req("P4")
class TestRightRouter(TWINS["router"]):
    """The right router passes."""


@pytest.mark.req("P4")
class TestRightEscalation(TWINS["escalation"]):
    """The right way to a human passes."""


@pytest.mark.req("P4")
class TestRightRuntime(TWINS["runtime"]):
    """The right runtime passes."""
