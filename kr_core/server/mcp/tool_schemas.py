"""JSON schemas as clients understand them: no references, no titles, no `null` for what may be left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import BaseModel

    from kr_core.server.mcp.tool_arguments import Arguments

__all__ = ["of_arguments", "of_result"]

Schema = dict[str, Any]


def of_arguments(model: type[Arguments]) -> Schema:
    """The schema of a tool's arguments; one that may be left out is told with its own type alone, though null is taken too."""
    schema = _plain(model.model_json_schema(), optional=True)
    schema.pop("description", None)  # the tool has its own
    return {"type": "object", "properties": {}, **schema}


def of_result(model: type[BaseModel]) -> Schema:
    """The schema of a result; descriptions, which are for those who read the code, are left out."""
    return _plain(model.model_json_schema(mode="serialization"), optional=False)


def _plain(schema: Schema, *, optional: bool) -> Schema:
    definitions = schema.pop("$defs", {})
    found = _resolved(schema, definitions, optional=optional)
    assert isinstance(found, dict), "a model's schema is an object"
    return found


def _resolved(value: Any, definitions: Mapping[str, Any], *, optional: bool) -> Any:
    if isinstance(value, list):
        return [_resolved(item, definitions, optional=optional) for item in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        target = definitions[value["$ref"].rpartition("/")[2]]
        rest = {key: item for key, item in value.items() if key != "$ref"}
        return _resolved({**target, **rest}, definitions, optional=optional)
    made: Schema = {}
    for key, item in value.items():
        if key == "properties":
            made[key] = {name: _resolved(one, definitions, optional=optional) for name, one in item.items()}
        elif key == "title" or (key == "description" and not optional):
            continue
        elif key in {"default", "enum", "const", "required"}:
            made[key] = item
        else:
            made[key] = _resolved(item, definitions, optional=optional)
    return _without_null(made) if optional else made


def _without_null(schema: Schema) -> Schema:
    """The schema of what may be null, without that; a default of null is none."""
    kinds = schema.get("anyOf")
    if not isinstance(kinds, list) or {"type": "null"} not in kinds:
        return schema
    [kind] = [one for one in kinds if one != {"type": "null"}]
    rest = {key: item for key, item in schema.items() if key not in {"anyOf", "default"}}
    return {**kind, **rest}
