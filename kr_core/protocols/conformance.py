"""What a component lacks of a protocol, or has under a misspelt name, told as its author needs it."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import inspect
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["lacking", "misspelt"]

_NEAR = 0.85
"""How near a name must be to that of an ability, 0-1: `recieve` is 0.86 near `receive`, and `revision` 0.8 near `version`."""


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


def misspelt(component: Any, abilities: Iterable[type]) -> Iterator[str]:
    """Names that are nearly those of an optional ability, one clause for each: KR would never use them, and say nothing."""
    own = dict(chain.from_iterable(vars(kind).items() for kind in type(component).__mro__))
    own |= getattr(component, "__dict__", {})
    for ability in abilities:
        methods = [name for name, value in vars(ability).items() if callable(value) and name[0] != "_"]
        for name in (*ability.__annotations__, *methods):
            near = (
                one
                for one, value in own.items()
                if callable(value) is (name in methods) and _is_near(one, name)
            )
            if name not in own and (found := next(near, None)) is not None:
                yield f"KR does not know `{found}`: rename it to `{name}` ({ability.__name__}), or begin it with `_`"


def _is_near(word: str, name: str) -> bool:
    """Whether a word is most likely a name misspelt, and not another word such as `receiver`."""
    if word.startswith("_") or len(set(word.lower()) ^ set(name)) > 2 or abs(len(word) - len(name)) > 2:
        return False
    if "_" not in name and (word.startswith(name) or name.startswith(word)):
        return False
    from difflib import get_close_matches

    swapped = sorted(word) == sorted(name)  # which weighs much in a short name
    return swapped or bool(get_close_matches(word.lower(), [name], cutoff=_NEAR))


def _has(component: Any, name: str) -> bool:
    """Whether an attribute is there; one that raises is, and its fault shows when it is used."""
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
