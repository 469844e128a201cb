"""What a component lacks of a protocol, told as its author needs it."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import inspect
    from collections.abc import Callable, Iterator

__all__ = ["lacking"]


def lacking(component: Any, protocol: type) -> Iterator[str]:
    """What a component lacks of a protocol, one clause for each."""
    import inspect  # which the answer to a repeated question does without

    parts = [part for part in protocol.__mro__ if getattr(part, "_is_protocol", False)]
    for name in chain.from_iterable(part.__annotations__ for part in reversed(parts)):
        if not _has(component, name):
            yield f"it has no attribute `{name}`: set it on the class"
    for name, expected in chain.from_iterable(vars(part).items() for part in reversed(parts)):
        if name.startswith("_") or not inspect.isfunction(expected):
            continue
        method, wanted = getattr(component, name, None), inspect.signature(expected)
        if not callable(method):
            yield f"it has no method `{name}`: write `def {name}{_plain(wanted)}`"
            continue
        is_async = inspect.iscoroutinefunction(inspect.unwrap(method))
        if inspect.iscoroutinefunction(expected) and not is_async:
            yield f"`{name}` is not async: write `async def {name}{_plain(wanted)}`"
        elif is_async and not inspect.iscoroutinefunction(expected):
            yield f"`{name}` is async, but the engine does not await it: write `def {name}{_plain(wanted)}`"
        refused = _refused(method, wanted)
        if refused:
            yield f"`{name}` cannot be called as the engine does ({refused}): write `{name}{_plain(wanted)}`"


def _has(component: Any, name: str) -> bool:
    """Whether an attribute is there; one that raises is, and its fault is told when it is used."""
    try:
        return hasattr(component, name)
    except KeyboardInterrupt:
        raise
    except BaseException:
        return True


def _plain(signature: inspect.Signature) -> str:
    import inspect

    bare = [
        parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()
    ]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))


def _refused(method: Callable[..., Any], wanted: inspect.Signature) -> str:
    """Why a method does not take the arguments of a signature; empty if it does."""
    import inspect

    parameters = list(wanted.parameters.values())[1:]  # without self
    placed = [one.name for one in parameters if one.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    named = {one.name: None for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY}
    try:
        signature = inspect.signature(method)
        signature.bind(*placed, **named)
        signature.bind(*placed)  # keyword-only arguments have defaults in every protocol
    except TypeError as error:
        return str(error)
    except ValueError:  # written in C: it has no signature to look at
        return ""
    return ""
