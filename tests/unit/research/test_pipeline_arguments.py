"""What a `Pipeline` says of an argument of the wrong kind."""

import pytest

from kr_core.errors import ConfigError
from kr_core.research import Pipeline

pytestmark = pytest.mark.req("P6")


@pytest.mark.parametrize("wrong", [{"project": "folder"}, {"project": 1}, {"today": "2026-01-01"}])
def test_a_wrong_argument_gets_the_documented_error(wrong):
    """The error names the argument and what to hand over, in place of an AttributeError from inside."""
    (name,) = wrong
    with pytest.raises(ConfigError) as caught:
        Pipeline({}, **wrong)
    assert caught.value.where == f"Pipeline({name}=...)"
    assert caught.value.hint


@pytest.mark.parametrize("wrong", [{"folder": 3}, {"config": 5}])
def test_opening_takes_paths(wrong):
    """What is no path is named, in place of a TypeError from inside."""
    (name,) = wrong
    with pytest.raises(ConfigError) as caught:
        Pipeline.open(**wrong)
    assert f"Pipeline.open({name}" in caught.value.where


@pytest.mark.parametrize(
    "wrong", [{"framework": ["httpx"]}, {"tags": 3}, {"tags": "redirects"}, {"tags": [None]}]
)
def test_a_wrong_option_of_a_question_is_a_failure(tmp_path, wrong):
    """The result names the field, as it does for a request in the published form."""
    with Pipeline.open({}, folder=tmp_path) as pipeline:
        result = pipeline.research("How do I follow redirects in httpx?", **wrong).result
    assert result.status == "failure"
    assert [fault.field for fault in result.errors] == list(wrong)


@pytest.mark.parametrize("method", ["peek", "recall"])
@pytest.mark.parametrize("wrong", ["How do I follow redirects in httpx?", None])
def test_a_look_up_takes_a_request(tmp_path, method, wrong):
    """Another value is named, with the method that makes one, in place of an AttributeError from inside."""
    with Pipeline.open({}, folder=tmp_path) as pipeline, pytest.raises(ConfigError) as caught:
        getattr(pipeline, method)(wrong)
    assert caught.value.where == f"Pipeline.{method}(request)"
    assert "Pipeline.request" in caught.value.hint


def test_a_look_up_says_what_is_wrong_with_its_request(tmp_path):
    """A question that makes no request is not looked up as one; its faults are in the error."""
    with (
        Pipeline.open({}, folder=tmp_path) as pipeline,
        pytest.raises(ConfigError, match="must not be empty"),
    ):
        pipeline.recall(pipeline.request(""))


def test_a_question_is_a_text(tmp_path):
    """Another value is a failure that shows it."""
    with Pipeline.open({}, folder=tmp_path) as pipeline:
        (fault,) = pipeline.request(42).faults
    assert (fault.field, fault.message) == ("question", "Validation failed: question: must be a text, not 42")


def test_an_unknown_option_is_named(tmp_path):
    """The error lists the options that there are, and no class from inside."""
    with Pipeline.open({}, folder=tmp_path) as pipeline, pytest.raises(TypeError) as caught:
        pipeline.request("How do I follow redirects in httpx?", framwork="httpx")
    assert "unknown options: framwork; there are framework, version" in str(caught.value)


def test_a_number_is_a_name():
    """A request in YAML may name a version or a library by a number; so may a program."""
    with Pipeline({}) as pipeline:
        assert pipeline.request("How do I follow redirects?", framework=3).query.framework == "3"
