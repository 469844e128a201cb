"""What pydantic finds wrong, said with file, line, key and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from pydantic import BaseModel

from kr_core.config.naming import dotted
from kr_core.config.schema import LATER, Schema
from kr_core.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

    from kr_core.config.documents import KeyPath

_SHORT_LIST = 8
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


def suggestion(word: str, known: Iterable[str], label: str) -> str:
    """What a misspelt word may have been: the nearest known one, and all of them where they are few.

    Args:
        word: what was written.
        known: what would have been right.
        label: what stands before the list of them, such as `keys`.
    """
    from difflib import get_close_matches

    names = sorted(known)
    if not names:
        return f"{label}: none"
    near = get_close_matches(word, names, n=1, cutoff=0.5)  # `max_call` is near `max_calls_per_story`
    listed = f"{label}: {', '.join(names)}"
    if not near:
        return listed
    question = f"did you mean `{near[0]}`?"
    return f"{question} ({listed})" if len(names) <= _SHORT_LIST else question


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
        return ConfigError(f"`{dotted(key)}` is missing", where=where, todo="add it")
    what = (
        f"`{dotted(key)}` is {_value(fault['input'])}" if show_values else f"`{dotted(key)}` cannot be used"
    )
    return ConfigError(what, where=where, todo=f"it {_expected(fault)}")


def _unknown_key(key: KeyPath, inner: KeyPath, model: type[BaseModel], where: str) -> ConfigError:
    word = str(inner[-1])
    if model is Schema and len(inner) == 1 and word in LATER:
        return ConfigError(f"`{word}` is not in this version of KR yet", where=where, todo="remove it")
    return ConfigError(
        f"unknown key `{dotted(key)}`",
        where=where,
        todo=suggestion(word, keys_at(model, inner[:-1]), "keys"),
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
    here: type[BaseModel] | None = model
    for part in path:
        field = None if here is None else here.model_fields.get(str(part))
        here = None if field is None else _model_in(field.annotation)
    return [] if here is None else [field.alias or name for name, field in here.model_fields.items()]


def _model_in(annotation: Any) -> type[BaseModel] | None:
    for candidate in (annotation, *get_args(annotation)):
        if isinstance(candidate, type) and issubclass(candidate, BaseModel):
            return candidate
    return None
