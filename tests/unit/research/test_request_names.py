"""Names that an asker expects in the answer (A14)."""

from __future__ import annotations

import pytest
from support.projects import Bench, Given, found

from kr_core.model import ResearchRequest
from kr_core.net.redaction import outgoing
from kr_core.research.request_form import InvalidRequest


@pytest.fixture
def bench(tmp_path):
    made = Bench(tmp_path / "work")
    yield made
    made.close()


@pytest.mark.req("A14", "R1")
def test_names_reach_the_query_from_a_request_and_from_a_question(bench):
    """Each once, without back-ticks, brackets and spaces."""
    pipeline = bench.pipeline({"docs": Given(found())})
    names = [" `parcel.send()` ", "timeout", "timeout"]
    assert pipeline.read_request(bench.request(names=names)).query.names == ("parcel.send", "timeout")
    asked = pipeline.request("How do I send a parcel?", framework="parcel", names=("parcel.send",))
    assert asked.query.names == ("parcel.send",)
    bare = pipeline.read_request({"question": "How?", "framework": "parcel", "names": ["send"]})
    assert isinstance(bare, ResearchRequest)
    assert bare.query.names == ("send",)


@pytest.mark.req("A14", "R2")
@pytest.mark.parametrize(
    "names", ["timeout", [1.5, None], ["x" * 201], ["a\x00b"], [""], ["n"] * 21, {"a": 1}]
)
def test_names_that_are_none_are_refused(bench, names):
    """With the field that is wrong; nothing is asked."""
    made = bench.pipeline({"docs": Given(found())}).read_request(bench.request(names=names))
    assert isinstance(made, InvalidRequest)
    assert {fault.field for fault in made.faults} == {"research_query.names"}


@pytest.mark.req("A14", "A10")
def test_only_a_name_that_was_not_looked_up_makes_another_question(bench):
    """The same question with the same names, or with fewer, is a hit; a further one is looked up."""
    sources = {"docs": Given(found())}
    assert bench.result(sources, bench.request(names=["parcel.send"])).status == "success"
    assert bench.result(sources, bench.request(names=["parcel.send"])).status == "cache-hit"
    assert bench.result(sources, bench.request()).status == "cache-hit"
    assert bench.result(sources, bench.request(names=["parcel.dispatch_all"])).status == "success"


@pytest.mark.req("A14", "R19")
def test_names_leave_the_machine_only_with_the_question(bench):
    """And never one that is a secret."""
    pipeline = bench.pipeline({"docs": Given(found())})
    secret = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
    query = pipeline.read_request(bench.request(names=["parcel.send", secret])).query
    assert outgoing(query, "question").query.names == ("parcel.send",)
    assert outgoing(query, "names").query.names == ()
