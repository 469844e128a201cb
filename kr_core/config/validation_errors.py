"""What pydantic finds wrong, said with file, line, key and what to do."""

from __future__ import annotations

from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

from kr_core.config.plugin_names import dotted
from kr_core.errors import ConfigError, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

    from kr_core.config.config_file import KeyPath

_EXPECTED = {
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "text",
    "tuple_type": "a list, such as [one, two]",
    "list_type": "a list, such as [one, two]",
    "dict_type": "a mapping of keys to values",
    "model_type": "a mapping of keys to values",
    "string_too_short": "text that is not empty",
    "too_short": "a list that is not empty",
}


def config_error(
    error: ValidationError,
    model: type[BaseModel],
    origin: Callable[[KeyPath], str],
    *,
    below: KeyPath = (),
    show_values: bool = True,
) -> ConfigError:
    """The first fault that a model found, as an error that a person can act on.

    Args:
        error: what pydantic raised.
        model: the model that raised it.
        origin: the file and line of a key.
        below: the key under which the model's values stand.
        show_values: False where a value may be a secret.
    """
    fault = error.errors(include_url=False)[0]
    inner: KeyPath = tuple(fault["loc"])
    key = below + inner
    where = origin(key)
    if fault["type"] in {"extra_forbidden", "invalid_key"}:
        return _unknown_key(key, inner, model, where)
    if fault["type"] == "missing":
        return ConfigError(f"`{dotted(key)}` is missing", where=where, hint="add it")
    what = (
        f"`{dotted(key)}` is {_value(fault['input'])}" if show_values else f"`{dotted(key)}` cannot be used"
    )
    return ConfigError(what, where=where, hint=f"it {_expected(fault)}")


def _unknown_key(key: KeyPath, inner: KeyPath, model: type[BaseModel], where: str) -> ConfigError:
    word = str(inner[-1])
    known = keys_at(model, inner[:-1])
    sections = [name for name in known if word in keys_at(model, (*inner[:-1], name))]
    hint = f"did you mean `{dotted((*key[:-1], sections[0], word))}`?" if sections else ""
    return ConfigError(
        f"unknown key `{dotted(key)}`", where=where, hint=hint or suggestion(word, known, "keys")
    )


def _expected(fault: ErrorDetails) -> str:
    if fault["type"] in _EXPECTED:
        return f"must be {_EXPECTED[fault['type']]}"
    message = fault["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")
    for opening in ("Input should", "Value should", "String should", "List should", "Tuple should"):
        message = message.replace(opening, "must", 1) if message.startswith(opening) else message
    return message


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        return "empty"
    if isinstance(value, (dict, list, tuple)):
        return "a mapping" if isinstance(value, dict) else "a list"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def keys_at(model: type[BaseModel], path: KeyPath) -> list[str]:
    """The keys that a model has at a path below it; none where it holds no model."""
    here: Any = model
    for part in path:
        inner = _model_in(here)
        if inner is not None:
            field = inner.model_fields.get(str(part))
            here = None if field is None else field.annotation
        else:  # a list or a mapping: any of what it holds
            here = next((held for held in _within(here) if get_args(held) or _is_model(held)), None)
    inner = _model_in(here)
    return [] if inner is None else [field.alias or name for name, field in inner.model_fields.items()]


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The model that an annotation means, alone or beside None; not one that a container holds."""
    options = (annotation, *(get_args(annotation) if _is_union(annotation) else ()))
    return next((option for option in options if _is_model(option)), None)


def _within(annotation: Any) -> list[Any]:
    """What the container of an annotation holds, innermost of its unions and remarks first."""
    if _is_union(annotation):
        return [held for option in get_args(annotation) for held in _within(option)]
    return list(get_args(annotation))


def _is_union(annotation: Any) -> bool:
    return get_origin(annotation) in {Union, UnionType, Annotated}


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)
