"""The stages of a run in one list, and the files that its answer depends on."""

import pytest
from support.projects import Bench, Given, found

from kr_core import model
from kr_core.research import stages


@pytest.fixture
def bench(tmp_path):
    made = Bench(tmp_path / "work")
    yield made
    made.close()


@pytest.mark.req("P1")
def test_the_list_of_stages_is_that_of_the_events():
    """A run goes through the stages that its events name, in their order."""
    assert tuple(stage.__name__ for stage in stages.STAGES) == model.STAGE_NAMES


@pytest.mark.req("R4")
def test_a_new_answer_and_the_hit_after_it_depend_on_the_same_files(bench):
    """A new answer names the files that the next look-up of the same question reads, its own report among them."""
    new, hit = bench.ask({"docs": Given(found())}), bench.ask({"docs": Given(found())})
    assert (new.result.results.cache_hit, hit.result.results.cache_hit) == (False, True)
    assert new.depends_on == hit.depends_on
    assert bench.folder / "knowledge-base" / new.result.results.report_path in new.depends_on


@pytest.mark.req("R4")
def test_what_was_not_indexed_depends_on_nothing(bench):
    """A skeleton, which no look-up finds, names no files."""
    assert bench.ask({}).depends_on == ()


@pytest.mark.req("R4")
def test_a_look_up_without_an_answer_says_nothing(bench):
    """To recall what the knowledge base does not have leaves no event."""
    pipeline = bench.pipeline({"docs": Given(found())})
    assert pipeline.recall(pipeline.read_request(bench.request())) is None
    assert pipeline.peek(pipeline.read_request(bench.request())) is None
    assert bench.events == []
