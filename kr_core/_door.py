"""The public doors of KR: `kr_core`, `kr_core.plugin` and `kr_core.toolkit`.

A door is a module whose public names are the imports below its `if TYPE_CHECKING:`. Type checkers read that list; so does
this module, when the first name is asked for. So each name is written once, and an import of a door imports nothing else.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from typing import Any

__all__ = ["names_of", "value_of"]


@cache
def names_of(door: str) -> dict[str, tuple[str, str]]:
    """The public names of a door: the module that each lives in, and its name there."""
    spec: Any = sys.modules[door].__spec__
    names: dict[str, tuple[str, str]] = {}
    for line in spec.loader.get_data(spec.origin).decode().splitlines():
        match line.split():
            case ["from", home, "import", real, "as", name] if line.startswith("    from kr_core"):
                names[name] = (home, real)
            case [name, "=", alias] if alias in names:  # another name than at home
                names[name] = names.pop(alias)
    return names


def value_of(door: str, name: str) -> object:
    """What a name of a door stands for; from then on the door has it.

    Raises:
        AttributeError: the door has no such name.
    """
    if name == "__all__":
        return sorted(names_of(door))
    if name not in names_of(door):
        raise AttributeError(f"module {door!r} has no attribute {name!r}")
    home, real = names_of(door)[name]
    value: object = (
        import_module(f"kr_core.{real}") if home == "kr_core" else getattr(import_module(home), real)
    )
    setattr(sys.modules[door], name, value)
    return value
