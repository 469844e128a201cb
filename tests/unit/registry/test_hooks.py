"""The hooks around the stages: called in order, checked, and skipped where they fail."""

import asyncio
import textwrap
import threading
from datetime import date

import pytest

from kr_core.entry_points import InstalledPlugin
from kr_core.errors import ConfigError
from kr_core.hookspecs import STAGE_HOOKS
from kr_core.model import Draft, Passage, Report, ResearchQuery, Score
from kr_core.registry import StageHooks

pytestmark = pytest.mark.req("P1")

REPORT = Report(
    query=ResearchQuery(question="How?", framework="httpx", framework_version="1", topic="how", tags=()),
    research_date=date(2026, 1, 2),
    score=Score(score=90, level="high"),
    draft=Draft(),
)
QUERY = REPORT.query
ADDS = """
    from kr_core import hookimpl

    @hookimpl
    def kr_report_ready(report):
        return report.model_copy(update={"notes": (*report.notes, "NAME")})
"""


def hooks(*sources, seconds=30.0):
    """Hooks of plugins with these sources, called `one`, `two` and so on."""
    names = ("one", "two", "three")[: len(sources)]
    modules = {}
    for name, source in zip(names, sources, strict=True):
        module = type(threading)(f"plugin_{name}")
        exec(textwrap.dedent(source).replace("NAME", name), module.__dict__)
        modules[name] = (InstalledPlugin(name, module.__name__, f"kr-{name}", "1.2", ""), module)
    return StageHooks(names, modules.__getitem__, seconds=seconds)


def ready(found):
    notes = []
    return found.report_ready(REPORT, notes), notes


def test_the_first_plugin_of_the_configuration_comes_first():
    """Each implementation gets what those before it have made of the value."""
    report, notes = ready(hooks(ADDS, ADDS, ADDS))
    assert report.notes == ("one", "two", "three")
    assert notes == []


def test_pluggys_order_is_kept():
    """`trylast` and `tryfirst` win over the order of the configuration."""
    last = ADDS.replace("@hookimpl", "@hookimpl(trylast=True)")
    first = ADDS.replace("@hookimpl", "@hookimpl(tryfirst=True)")
    report, _ = ready(hooks(last, ADDS, first))
    assert report.notes == ("three", "two", "one")


def test_a_wrapper_sees_what_the_others_made():
    """A wrapper gets the value after all others at its `yield`, and may replace it."""
    wrapper = """
        from kr_core import hookimpl

        @hookimpl(wrapper=True)
        def kr_report_ready(report):
            assert report.notes == ()
            report = yield
            return report.model_copy(update={"notes": (*report.notes, "around")})
    """
    report, notes = ready(hooks(wrapper, ADDS))
    assert report.notes == ("two", "around")
    assert notes == []


def test_none_leaves_the_value_as_it_is():
    """A hook that only looks returns None."""
    report, notes = ready(hooks(ADDS.replace("return", "assert"), ADDS))
    assert report.notes == ("two",)
    assert notes == []


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise ValueError('no disk')", "ValueError: no disk"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("return 'a report'", "kr_report_ready returned str; return a kr_core.plugin.Report, or None"),
        ("return [report]", "kr_report_ready returned list"),
        ("return report.model_copy(update={'notes': None})", "whose `notes` are not a tuple of texts"),
        ("return report.model_copy(update={'notes': (7,)})", "whose `notes` are not a tuple of texts"),
    ],
)
def test_one_that_fails_is_named_and_skipped(body, said):
    """What a plugin raises or returns wrongly is noted with its name, and the others are called."""
    wrong = f"""
        from kr_core import hookimpl

        @hookimpl
        def kr_report_ready(report):
            {body}
    """
    report, notes = ready(hooks(ADDS, wrong, ADDS))
    assert report.notes == ("one", "three")
    (note,) = notes
    assert note.startswith("hook two: ")
    assert said in note
    assert note.endswith("it was skipped")


@pytest.mark.parametrize("place", ["before", "after"])
def test_a_wrapper_that_fails_hurts_no_other(place):
    """A wrapper may raise before or after the others; they are called all the same."""
    lines = ["raise ValueError('here')", "report = yield"]
    wrong = f"""
        from kr_core import hookimpl

        @hookimpl(wrapper=True)
        def kr_report_ready(report):
            {lines[0] if place == "before" else lines[1]}
            {lines[1] if place == "before" else lines[0]}
    """
    report, notes = ready(hooks(wrong, ADDS))
    assert report.notes == ("two",)
    assert [note.partition(":")[0] for note in notes] == ["hook one"]


def test_one_that_hangs_is_given_up_and_not_called_again():
    """A hook that does not end within its deadline is named with what to do; the next run does not wait for it."""
    hangs = """
        import threading
        from kr_core import hookimpl
        called = []

        @hookimpl
        def kr_report_ready(report):
            called.append(1)
            threading.Event().wait()
    """
    found = hooks(hangs, ADDS, seconds=0.05)
    report, notes = ready(found)
    assert report.notes == ("two",)
    (note,) = notes
    assert note.startswith("hook one: kr_report_ready did not end within 0.05 s and is not called again; ")
    assert note.endswith("take `one` out of `hooks`, or upgrade kr-one 1.2")
    assert ready(found)[1] == ["hook one: kr_report_ready is not called, since it hung before"]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("", "it has no hook around a stage"),
        (ADDS.replace("@hookimpl", "@hookimpl(hookwrapper=True)"), "@kr_core.hookimpl(wrapper=True)"),
        (ADDS.replace("(report)", "(rapport)").replace("report.", "rapport."), "rapport"),
    ],
)
def test_one_that_does_not_fit_is_named(source, said):
    """What pluggy could not call is noted, and the others are called."""
    report, notes = ready(hooks(source, ADDS))
    assert report.notes == ("two",)
    assert said in notes[0]
    assert notes[0].startswith("hook one: ")


def test_a_name_that_is_not_installed_is_noted():
    """A plugin that cannot be found is noted in each run, and the run goes on."""

    def load(name):
        raise ConfigError(f"no plugin is called `{name}`")

    found = StageHooks(("gone",), load)
    for _ in range(2):
        assert ready(found) == (REPORT, ["hook gone: no plugin is called `gone`; it was skipped"])


def test_an_argument_with_a_default_is_the_plugins_own():
    """pluggy passes what an implementation asks for without a default, and no more."""
    own = """
        from kr_core.plugin import hookimpl

        @hookimpl
        def kr_report_ready(report, prefix="by "):
            return report.model_copy(update={"notes": (prefix + "NAME",)})
    """
    assert ready(hooks(own))[0].notes == ("by one",)


def test_an_observer_returns_nothing():
    """A hook that only observes, and returns something, is told so."""
    wrong = """
        from kr_core import hookimpl

        @hookimpl
        def kr_answer_accepted(question):
            return question
    """
    found = hooks(wrong)
    result = asyncio.run(found.answer_accepted(*accepted()))
    assert "kr_answer_accepted returned Question; it only observes, so return None" in result.notes[0]


def accepted():
    from kr_core.model.questions import AskResult, Question
    from kr_core.model.routing import Route

    route = Route(target="duc", agent="duc", threshold=80, reason="rule")
    result = AskResult(exchange_id="e", question_id="q", status="accepted", route=route, threshold=80)
    return result, Question(text="Which?", topic="api")


def test_passages_may_come_as_a_list():
    """Passages come back as a tuple, whatever the plugin returned; others than passages are refused."""
    reverse = """
        from kr_core import hookimpl

        @hookimpl
        def kr_passages_found(passages):
            return list(reversed(passages))
    """
    wrong = reverse.replace("list(reversed(passages))", "['text']")
    passages = (Passage(text="a", url="u"), Passage(text="b", url="u"))
    notes = []
    found = asyncio.run(hooks(reverse, wrong).passages_found(QUERY, "notes", passages, notes))
    assert found == tuple(reversed(passages))
    assert "return a list of kr_core.Passage, or None to change nothing" in notes[0]


def test_without_plugins_nothing_is_loaded():
    """Where the configuration names no plugin, values pass through."""
    notes = []
    assert StageHooks().report_ready(REPORT, notes) is REPORT
    assert asyncio.run(StageHooks().before_consult(QUERY, "notes", notes)) is QUERY
    assert notes == []


def test_each_hook_names_what_it_may_replace():
    """The table of hooks agrees with their specifications."""
    import inspect

    from kr_core import hookspecs

    for hook, changed in STAGE_HOOKS.items():
        signature = inspect.signature(getattr(hookspecs, hook))
        assert (changed in signature.parameters) == bool(changed)
        assert (signature.return_annotation == "None") == (not changed)
