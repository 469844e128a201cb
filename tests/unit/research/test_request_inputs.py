"""Requests as the workflow's own page prints them: in `inputs`, with comments, and with a context."""

from __future__ import annotations

import pytest
from support.projects import Bench, Given, found

from kr_core import yaml_text
from kr_core.lessons.lesson_requests import lessons_from_mapping, wants_lessons
from kr_core.model import ResearchRequest
from kr_core.model.lessons import LessonsRequest
from kr_core.research.request_form import InvalidRequest
from kr_core.team import request as team_request

RESEARCH = """\
inputs:
  required:
    story_key: "3-1"                          # Epic-Story
    mode: "research"
    session_id: "sprint-2026-02-07-001"
    research_query:
      framework: "vue-easytable"
      framework_version: "2.x"
      topic: "virtual scrolling configuration"
      tags: ["virtual-scroll", "row-height", "performance"]
      question: "How to configure virtual scrolling with dynamic row heights?"
  optional:
    config_overrides:
      max_calls: 3
      timeout_seconds: 600
"""
LESSONS = """\
inputs:
  required:
    story_key: "3-1"
    mode: "lessons-inject"
    session_id: "sprint-2026-02-07-001"
    lessons_inject:
      phase: "dev-execution"
  optional:
    config_overrides: {}
"""


@pytest.fixture
def pipeline(tmp_path):
    made = Bench(tmp_path / "work")
    (made.folder / "requirements.txt").write_text("parcel==1.4.0\nletter==2.0\n")
    yield made.pipeline({"docs": Given(found())})
    made.close()


@pytest.mark.req("R1")
def test_inputs_with_required_and_optional_are_a_request(pipeline):
    """The form of the workflow's page is the same request as the fields without it."""
    raw = yaml_text.load(RESEARCH)
    made = pipeline.read_request(raw)
    assert isinstance(made, ResearchRequest), made
    assert made == pipeline.read_request({**raw["inputs"]["required"], **raw["inputs"]["optional"]})
    assert (made.max_calls, made.timeout_seconds, made.query.framework) == (3, 600, "vue-easytable")
    assert pipeline.read_request({**raw, "refresh": True}).refresh
    required = {"inputs": {"required": raw["inputs"]["required"], "optional": None}}
    assert isinstance(pipeline.read_request(required), ResearchRequest)


@pytest.mark.req("L1")
def test_inputs_of_lessons_are_a_request_for_lessons():
    raw = yaml_text.load(LESSONS)
    assert wants_lessons(raw)
    made = lessons_from_mapping(raw)
    assert isinstance(made, LessonsRequest), made
    assert (made.phase, made.story_key) == ("dev-execution", "3-1")


@pytest.mark.req("R2")
@pytest.mark.parametrize(
    ("raw", "field"),
    [
        ({"inputs": {"required": [1]}}, "inputs"),
        ({"inputs": {"required": {"mode": "research"}, "optional": {"mode": "research"}}}, "inputs.mode"),
        ({"mode": "research", "inputs": {"optional": {"mode": "x"}}}, "inputs.mode"),
        ({"inputs": [1], "mode": "research"}, "inputs"),
        ({"inputs": {"required": {}, "optional": {"colour": 1}}}, "colour"),
        ({"inputs": {"inputs": {}}}, "inputs"),
    ],
)
def test_inputs_that_are_wrong_are_refused_by_name(pipeline, raw, field):
    """A field that is there twice, is unknown, or is not a field; the others are checked as well."""
    made = pipeline.read_request(raw)
    assert isinstance(made, InvalidRequest)
    assert field in {fault.field for fault in made.faults}


@pytest.mark.req("R1", "T1")
@pytest.mark.parametrize(
    "context", ["We use parcel 1.4.0 to send.", {"library": "parcel"}, ["the", "parcel"]]
)
def test_a_context_names_the_library_of_a_question_that_names_none(pipeline, context):
    """In a bare question and in a query of a team; in the published form, which names its library, it does no harm."""
    asked = {"question": "How do I set the timeout?", "mode": "research"}
    assert isinstance(pipeline.read_request(asked), InvalidRequest)
    made = pipeline.read_request({**asked, "context": context})
    assert isinstance(made, ResearchRequest), made
    assert (made.query.framework, made.query.question) == ("parcel", asked["question"])
    body = {"story_key": "3-1", "requesting_agent": "a", "queries": [{"query": asked["question"]}]}
    for request in (
        {**body, "context": context},
        {**body, "queries": [{"query": asked["question"], "context": context}]},
    ):
        (query,) = team_request.read(request, pipeline.read_request, "s").queries
        assert (query.request.query.framework, query.notes) == ("parcel", ())
    published = {**yaml_text.load(RESEARCH)["inputs"]["required"], "context": context}
    published["research_query"] = {**published["research_query"], "context": context}
    assert pipeline.read_request(published).query.framework == "vue-easytable"
