"""Schemas of tools."""

from typing import Annotated

from pydantic import Field

from kr_core.model.base import Value
from kr_core.server.mcp import tool_schemas
from kr_core.server.mcp.tool_arguments import Arguments


class Inner(Value):
    """Of no interest to a client."""

    title: str
    size: int | None = None


class Taken(Arguments):
    """Of no interest to a client."""

    name: Annotated[str, Field(min_length=1, description="A name.")]
    tags: Annotated[tuple[str, ...] | None, Field(description="Tags.")] = None
    deep: bool = False


class Given(Value):
    """Of no interest to a client."""

    inner: Inner
    others: tuple[Inner, ...] = ()


def test_arguments_are_told_with_their_own_types():
    """What may be left out is no null, has no title, and keeps its description and limits."""
    assert tool_schemas.of_arguments(Taken) == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "minLength": 1, "description": "A name."},
            "tags": {"type": "array", "items": {"type": "string"}, "description": "Tags."},
            "deep": {"type": "boolean", "default": False},
        },
        "required": ["name"],
        "additionalProperties": False,
    }


def test_results_have_no_references_and_keep_what_may_be_null():
    """A property that is called `title` is no title of a schema."""
    inner = {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "size": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
        },
        "required": ["title"],
        "additionalProperties": False,
    }
    made = tool_schemas.of_result(Given)
    assert made["properties"]["inner"] == inner
    assert made["properties"]["others"]["items"] == inner
    assert "$defs" not in made
