"""The page about the plugins that come with KR, made from their modules and settings."""

from __future__ import annotations

import inspect
from importlib import import_module
from importlib.metadata import distribution
from typing import Any

from kr_core.hookspecs import NOUNS, STAGE_HOOKS
from kr_core.registry import GROUP

from .keys import keys, table
from .reading import markdown

__all__ = ["included_page"]


def included_page() -> str:
    """A section for each plugin: what it is and what can be set."""
    sections = []
    for noun, hook in NOUNS.items():
        for entry in sorted(distribution("kr-core").entry_points.select(group=GROUP)):
            module = import_module(entry.value)
            if hasattr(module, hook):
                sections.append(_section(entry.name, noun, module))
    for entry in sorted(distribution("kr-core").entry_points.select(group=GROUP)):
        module = import_module(entry.value)
        if any(hasattr(module, hook) for hook in STAGE_HOOKS):
            text = markdown(inspect.getdoc(module) or "")
            adds = f"It adds to [stages](plugins.md#around-the-stages): name it under `hooks`. {text}"
            sections.append(f"## {entry.name}\n\n{adds}\n\nIt has no settings.")
    return "\n\n".join([_HEAD.rstrip(), *sections]) + "\n"


def _section(name: str, noun: str, module: Any) -> str:
    found = list(keys(getattr(module, NOUNS[noun])().settings, f"plugins.{name}."))
    told = table(found) if found else "It has no settings."
    text = markdown(inspect.getdoc(module) or "")
    article = "An" if noun[0] in "aeiou" else "A"
    return f"## {name}\n\n{article} [{noun}](plugins.md#{noun}). {text}\n\n{told}"


_HEAD = """\
# Plugins that come with KR

<!-- made by `make reference` from plugins/kr_plugins; change the text there, or in tools/reference -->

They use the same hooks as any other, and you can replace each by [one of your own](plugins.md). A plugin's settings are
in the configuration at `plugins.<name>`; an unknown one is an error with file and line.
"""
