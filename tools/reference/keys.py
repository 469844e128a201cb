"""The keys of a settings model as a table."""

from __future__ import annotations

import datetime as dt
import types
import typing
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, get_args, get_origin

from annotated_types import Ge, Le
from pydantic import BaseModel

from kr_core.model.time_limits import duration_text

from .reading import read_class

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Key", "keys", "table"]


class Key(NamedTuple):
    """A key, each part as it is printed."""

    name: str
    default: str
    allowed: str
    meaning: str


def keys(model: type[BaseModel], above: str = "") -> Iterator[Key]:
    """The keys of a model and of the sections below it, in order.

    Raises:
        SystemExit: a key has no text below it.
    """
    texts = {attribute.name: attribute.text for attribute in read_class(model).attributes}
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from keys(inner, f"{above}{name}.")
            continue
        held, each = _held(inner)
        if held is not None:
            yield from keys(held, f"{above}{name}{each}.")
            continue
        meaning = texts.get(name) or field.description
        if not meaning:
            raise SystemExit(f"{model.__module__}.{model.__name__}.{name}: write below it what it means")
        default = "required" if field.is_required() else _value(field.get_default(call_default_factory=True))
        yield Key(
            above + (field.alias or name),
            default,
            _allowed(inner, *field.metadata),
            " ".join(meaning.split()),
        )


def _held(annotation: Any) -> tuple[type[BaseModel] | None, str]:
    """The model that a mapping or list holds, and how one of them is written: `<name>` or `[]`."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin in {typing.Union, types.UnionType}:
        return next((found for found in map(_held, parts) if found[0] is not None), (None, ""))
    if origin not in {dict, tuple} or not parts:
        return None, ""
    held = parts[1] if origin is dict else parts[0]
    if not (isinstance(held, type) and issubclass(held, BaseModel)):
        return None, ""
    return held, ".<name>" if origin is dict else "[]"


def table(found: Iterable[Key]) -> str:
    """Keys as a table of Markdown."""
    rows = [f"| `{key.name}` | {key.default} | {key.allowed} | {key.meaning} |" for key in found]
    return "\n".join(["| key | default | may be | meaning |", "|---|---|---|---|", *rows])


def _value(value: Any) -> str:
    if value is None:
        return "not set"
    if isinstance(value, tuple) and not value:
        return "`[]`"
    if isinstance(value, tuple):
        return f"`[{', '.join(value)}]`"
    if isinstance(value, dt.timedelta):
        return f"`{duration_text(value)}`"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _allowed(annotation: Any, *metadata: Any) -> str:
    """What a key may hold, in words."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _allowed(parts[0], *parts[1:], *metadata)
    if annotation in {int, float}:
        bounds = list(_bounds(metadata))
        low = next((bound.ge for bound in bounds if isinstance(bound, Ge)), None)
        high = next((bound.le for bound in bounds if isinstance(bound, Le)), None)
        return ("whole number" if annotation is int else "number") + _range(low, high)
    if origin is Literal:
        return " or ".join(f"`{part}`" for part in parts)
    if origin in {typing.Union, types.UnionType}:
        return " or ".join(dict.fromkeys(_allowed(part) for part in parts))
    if origin is tuple:
        inside = _allowed(parts[0])
        return f"list of {inside if inside.startswith('`') else 'texts'}"
    if origin is dict:
        return "mapping"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "mapping"
    words = {bool: "`true` or `false`", str: "text", type(None): "not set", dt.timedelta: "duration"}
    return words[annotation]


def _bounds(metadata: tuple[Any, ...]) -> Iterator[Any]:
    for item in metadata:
        yield item
        yield from getattr(item, "metadata", ())


def _range(low: Any, high: Any) -> str:
    if low is None:
        return ""
    return f" from {low}" if high is None else f", {low} to {high}"
