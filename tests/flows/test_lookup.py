"""The look-up decision, taken by a plugin in the place of KR's own."""

import re

import pytest
from support.projects import Given, found

from kr_core.plugin import EntryMatch, LookupDecision
from kr_core.toolkit import TopicLookup

pytestmark = pytest.mark.req("P1")

SOURCES = {"a": Given(found())}


class Counting(TopicLookup):
    """KR's own rules; it counts how often it is asked."""

    asked = 0

    def judge(self, *arguments):
        self.asked += 1
        return super().judge(*arguments)


def deciding(**methods):
    """KR's own rules, with some methods in their place."""
    return type("Ours", (TopicLookup,), methods)()


def test_it_decides_what_is_a_hit(bench):
    """A report that KR would serve is researched again where the look-up says so, and the new report says why."""
    stale = deciding(judge=lambda *_: LookupDecision("stale", ("we do not trust Mondays",)))
    assert bench.result(SOURCES).status == "success"
    assert bench.result(SOURCES).status == "cache-hit"
    result = bench.result(SOURCES, lookup=stale)
    assert result.status == "success"
    assert "an earlier report was replaced: we do not trust Mondays" in result.results.degradation_notes


def test_it_decides_which_entry_answers(bench):
    """An entry that KR would not find is the answer where the look-up finds it; the result says what the look-up says."""
    any_entry = deciding(
        find=lambda _self, _query, entries, _rules: EntryMatch(entries[0], "topic", 0.1, exact=True),
        judge=lambda *_: LookupDecision("hit", ("it is all we have",)),
    )
    bench.result(SOURCES)
    other = bench.request(topic="insurance of a letter", tags=["insurance"])
    result = bench.result(SOURCES, other, lookup=any_entry)
    assert (result.status, result.results.match.warning) == ("cache-hit", "it is all we have")


def _fail(*_arguments):
    raise SystemExit("odd")


@pytest.mark.req("P2")
@pytest.mark.parametrize(
    ("methods", "fault"),
    [
        ({"find": _fail}, "SystemExit: odd"),
        ({"judge": _fail}, "SystemExit: odd"),
        ({"find": lambda *_: "it"}, "TypeError: `find` returned str, not an EntryMatch or None"),
        (
            {"find": lambda _self, _query, entries, _rules: EntryMatch(entries[0].model_copy(), "full", 1.0, exact=True)},
            "TypeError: `find` returned an entry that is not one of those it was given",
        ),
        (
            {"find": lambda _self, _query, entries, _rules: EntryMatch(entries[0], "near", 1.0, exact=True)},
            "TypeError: `find` returned an EntryMatch whose `tier` or `overlap` is not one",
        ),
        ({"judge": lambda *_: True}, "TypeError: `judge` returned bool, not a LookupDecision"),
        (
            {"judge": lambda *_: LookupDecision("old")},
            "TypeError: `judge` returned a state that is not `hit`, `stale` or `miss`",
        ),
        (
            {"judge": lambda *_: LookupDecision("hit", "why")},
            "TypeError: `judge` returned reasons that are not a tuple of texts",
        ),
    ],
)  # fmt: skip
def test_where_it_fails_kr_decides_and_names_it(bench, methods, fault):
    """A look-up that raises or returns something else: KR's own rules serve the hit, with one note that says which failed and why."""
    bench.result(SOURCES)
    result = bench.result(SOURCES, lookup=deciding(**methods))
    assert result.status == "cache-hit"
    (note,) = result.results.degradation_notes
    own_line = r" \(test_lookup\.py:\d+\)" if "odd" in fault else ""
    assert re.fullmatch(
        rf"lookup Ours: it failed \({re.escape(fault)}{own_line}\); KR's own look-up decided", note
    )


def test_an_interruption_passes_through(bench):
    """Ctrl-C in a look-up ends the run."""

    def interrupt(*_arguments):
        raise KeyboardInterrupt

    bench.result(SOURCES)
    with pytest.raises(KeyboardInterrupt):
        bench.result(SOURCES, lookup=deciding(judge=interrupt))


def test_a_repeated_answer_does_not_ask_it_again(bench):
    """The pipeline gives the same answer again without a look-up, as long as nothing changed."""
    bench.result(SOURCES)
    lookup = Counting()
    pipeline = bench.pipeline(SOURCES, lookup=lookup)
    request = pipeline.read_request(bench.request())
    for _ in range(1000):  # an answer is kept once its files have been the same for a moment
        pipeline.research(request)
        if bench.kinds()[-1] == "run.repeated":
            break
    asked = lookup.asked
    bench.events.clear()
    results = [pipeline.research(request).result for _ in range(5)]
    assert {result.status for result in results} == {"cache-hit"}
    assert bench.kinds() == ["run.repeated"] * 5
    assert lookup.asked == asked


def test_an_entry_whose_report_is_gone_is_not_offered_again(bench):
    """The look-up is asked once more, without the entry."""
    offered = []

    def find(_self, query, entries, rules):
        offered.append(len(entries))
        return TopicLookup().find(query, entries, rules)

    bench.result(SOURCES)
    (report,) = (bench.folder / "knowledge-base/frameworks").rglob("*.md")
    report.unlink()
    assert bench.result(SOURCES, lookup=deciding(find=find)).status == "success"
    assert offered[:2] == [1, 0]


def test_the_configuration_names_it(kr_here, project_folder):
    """A name that no plugin has is an error with file and line; KR's own is called `match`."""
    (project_folder / "kr.yaml").write_text("lookup: match\n")
    assert kr_here("doctor").code == 0
    (project_folder / "kr.yaml").write_text("lookup: mach\n")
    done = kr_here("research", "How do I set the timeout of a parcel in parcel?")
    assert done.code != 0
    assert "kr.yaml:1" in done.err
    assert "did you mean `match`?" in done.err
