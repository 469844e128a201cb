"""What a program hands to the service, checked by the method's own annotations before anything is done with it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from kr_core.errors import ConfigError
from kr_core.model.execution_task import ExecutionTask
from kr_core.model.questions import AgentHandle, Answer, EscalationRequest, HumanResponse, Question
from kr_core.model.routing import RoutingRule

__all__ = ["check_arguments", "checked"]

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")

_KINDS: dict[str, type] = {
    "str": str, "Question": Question, "Answer": Answer, "EscalationRequest": EscalationRequest, "HumanResponse": HumanResponse,
    "AgentHandle": AgentHandle, "RoutingRule": RoutingRule, "ExecutionTask": ExecutionTask,
}  # fmt: skip
_HINTS = {
    "str": "hand over a text",
    "Question": 'hand over `Question(text="...", topic="...")`',
    "ExecutionTask": 'hand over `ExecutionTask(id="T001", title="...")`',
    "HumanResponse": 'hand over `HumanResponse(action="confirm", by="...")`',
}


def check_arguments(method: Callable[..., Any], service: object, args: Any, kwargs: Any) -> None:
    """Refuse arguments that are not what a method takes.

    Raises:
        ConfigError: one is of another kind.
        TypeError: one is missing, or unknown, as Python says it.
    """
    given = inspect.signature(method).bind(service, *args, **kwargs).arguments
    for name, annotation in method.__annotations__.items():
        if name in given:
            where = f"{method.__name__}({name})"
            for value, kind in _values(given[name], annotation, where):
                _check(value, kind, where)


def checked(
    method: Callable[Concatenate[Any, _Parameters], _Result],
) -> Callable[Concatenate[Any, _Parameters], _Result]:
    """A method that refuses arguments of another kind than its annotations say, as `check_arguments` does."""

    @wraps(method)
    def called(self: Any, /, *args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        check_arguments(method, self, args, kwargs)
        return method(self, *args, **kwargs)

    return called


def _values(value: object, annotation: str, where: str) -> Iterator[tuple[object, str]]:
    """What has to be of a kind: the value itself, or each one of a list."""
    if annotation.startswith("Sequence["):
        kind = annotation[len("Sequence[") : -1]
        if isinstance(value, str) or not isinstance(value, Sequence):
            hint = f"hand over a list, each a `{kind}`"
            raise ConfigError(f"is {value!r:.60}, not a list", where=where, hint=hint)
        yield from ((one, kind) for one in value)
    elif not (value is None and annotation.endswith(" | None")):
        yield value, annotation.removesuffix(" | None")


def _check(value: object, kind: str, where: str) -> None:
    if kind in _KINDS and not isinstance(value, _KINDS[kind]):
        hint = _HINTS.get(kind, f"hand over the `{kind}` that KR gave you, or make one")
        raise ConfigError(f"is {value!r:.60}, not a `{kind}`", where=where, hint=hint)
