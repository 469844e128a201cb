"""The contract for hooks catches what KR refuses or warns of."""

import textwrap

import pytest

from kr_core.testing import HookContract

pytestmark = pytest.mark.req("P1", "P4")

HOOK = """
from kr_core.plugin import hookimpl

@hookimpl
def kr_report_ready(report):
    return report.model_copy(update={"notes": (*report.notes, "Seen.")})
"""


def failures(monkeypatch, folder, name, source):
    """What the contract says of a plugin, test by test."""
    (folder / f"{name}.py").write_text(textwrap.dedent(source))
    monkeypatch.syspath_prepend(str(folder))
    trial = type("Trial", (HookContract,), {"module": name})()
    said = {}
    for test in (
        trial.test_its_hooks_fit,
        trial.test_it_is_written_for_this_contract,
        trial.test_it_imports_public_modules_only,
    ):
        try:
            test()
        except (AssertionError, pytest.fail.Exception) as error:
            said[test.__name__] = str(error)
    return said


def test_a_right_hook_passes(monkeypatch, tmp_path):
    """A hook that keeps to the contract has no failure."""
    assert failures(monkeypatch, tmp_path, "hook_right", HOOK) == {}


@pytest.mark.parametrize("version", [1, 3])
def test_a_hook_for_another_contract_fails(monkeypatch, tmp_path, version):
    """KR refuses a plugin for contract 1 or 3, and so does its own test."""
    said = failures(monkeypatch, tmp_path, f"hook_for_{version}", f"KR_CONTRACT = {version}\n{HOOK}")
    (failure,) = said.values()
    assert f"it is written for contract {version}, this KR offers 2" in failure


def test_a_private_import_fails(monkeypatch, tmp_path):
    """`kr doctor` warns of imports of what is not public; the test fails, with file and line."""
    source = f"from kr_plugins.sources.sections import rank\nimport kr_core.text\n{HOOK}"
    (failure,) = failures(monkeypatch, tmp_path, "hook_private", source).values()
    assert "kr_plugins.sources.sections (hook_private.py:1), kr_core.text (hook_private.py:2)" in failure


def test_a_wrong_argument_fails_with_those_that_there_are(monkeypatch, tmp_path):
    """The contract lists the arguments that KR passes."""
    source = HOOK.replace("(report)", "(rapport)").replace("report.", "rapport.")
    said = failures(monkeypatch, tmp_path, "hook_argument", source)["test_its_hooks_fit"]
    assert "kr_report_ready takes `rapport`, which KR does not pass; its arguments are report" in said
