"""The page about the hooks: what stands between its marks is made from the contract itself."""

from __future__ import annotations

import inspect
import re
import textwrap
from typing import Any

import kr_core
from kr_core import hookspecs
from kr_core.hookspecs import NOUNS, STAGE_HOOKS

from .reading import markdown

__all__ = ["plugins_page"]

_MADE = re.compile(r"(<!-- made:(\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def plugins_page(text: str) -> str:
    """The page with its made parts made anew.

    Raises:
        SystemExit: the page has no place for a hook.
    """
    if missing := {*NOUNS, *STAGE_HOOKS} - {found[2] for found in _MADE.finditer(text)}:
        raise SystemExit(
            f"docs/reference/plugins.md lacks <!-- made:... --> for {', '.join(sorted(missing))}"
        )
    return _MADE.sub(lambda found: f"{found[1]}{_contract(found[2])}{found[3]}", text)


def _contract(name: str) -> str:
    if name in STAGE_HOOKS:
        hook = getattr(hookspecs, name)
        head = f"def {name}{inspect.signature(hook)}: ...".replace("'", "")
        said, _, example = (inspect.getdoc(hook) or "").partition("\n    @hookimpl")
        return f"{markdown(said)}\n\n```pyi\n{head}\n```\n\n```pyi\n{_dedented(example)}\n```\n"
    if name not in NOUNS:  # a class that is named, such as `Setup`
        return f"```pyi\n{_source(getattr(kr_core.plugin, name))}\n```\n"
    hook = getattr(hookspecs, NOUNS[name])
    docstring = inspect.getdoc(hook) or ""
    said = docstring.partition("\n    @hookimpl")[0]  # the how-to has the whole of the example
    returns = hook.__annotations__["return"]
    protocol = getattr(kr_core.plugin, re.fullmatch(r"Provider\[(\w+)\]", returns)[1])  # type: ignore[index]  # it is of that form, by the rule of hooks
    head = f"def {NOUNS[name]}() -> {returns}: ..."
    return f"{markdown(said)}\n\n```pyi\n{head}\n\n\n{_source(protocol)}\n```\n"


def _dedented(example: str) -> str:
    return textwrap.dedent(f"    @hookimpl{example}").strip()


def _source(cls: Any) -> str:
    """The source of a class, after that of the protocols that it is made of."""
    bases = [base for base in cls.__bases__ if hasattr(kr_core, base.__name__)]
    return "\n\n\n".join(inspect.getsource(one).rstrip() for one in (*bases, cls))
