"""The page about the public names of `kr_core`, made from their docstrings."""

from __future__ import annotations

import ast
import enum
import inspect
from importlib import import_module
from typing import TYPE_CHECKING, Any, get_args

import kr_core
from kr_core import errors
from kr_core.hookspecs import NOUNS

from .reading import Attribute, markdown, read_class, read_constants, read_function

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["python_page"]

_SECTIONS = {
    "Asking": ("kr_core.research", "kr_core.lessons"),
    "Asking agents and people": ("kr_core.ask", "kr_core.routing", "kr_core.escalation"),
    "Researching in cycles": ("kr_core.expedition", "kr_core.model.expedition"),
    "Errors": ("kr_core.errors",),
    "Plugins": ("kr_core.hookspecs", "kr_core.protocols", "kr_core.entry_points"),
    "Values": ("kr_core.model",),
    "Scoring": ("kr_core.evidence",),
    "Files, programs and text": (
        "kr_core.files",
        "kr_core.toml_text",
        "kr_core.processes",
        "kr_core.text",
        "kr_core.yaml_text",
        "kr_core.templates",
    ),
    "Names, versions and environments": ("kr_core.knowledge", "kr_core.project", "kr_core.question"),
    "Searching": ("kr_core.search",),
    "Answers from outside": ("kr_core.net",),
}
"""Where a public name stands, by the module or package that it lives in."""


def python_page() -> str:
    """A section for each subject, with all public names."""
    homes = {name: kr_core._HOME_OF[name] for name in sorted(kr_core.__all__) if name in kr_core._HOME_OF}
    sections: dict[str, list[str]] = {title: [] for title in _SECTIONS}
    for name, (home, real) in homes.items():
        sections[_title(home)].append(_entry(name, real, import_module(home)))
    sections[_title("kr_core.yaml_text")].append(_module("yaml_text", kr_core.yaml_text))
    sections["Errors"] = [markdown(inspect.getdoc(errors) or ""), *sorted(sections["Errors"])]
    made = ["\n\n".join([f"## {title}", *entries]) for title, entries in sections.items() if entries]
    return "\n\n".join([_HEAD.rstrip(), *made]) + "\n"


def _title(home: str) -> str:
    for title, places in _SECTIONS.items():
        if home.startswith(places):
            return title
    raise SystemExit(f"tools/reference/python.py: say in _SECTIONS where the names of {home} stand")


def _entry(name: str, real: str, home: ModuleType) -> str:
    value = getattr(home, real)
    if inspect.isclass(value):
        return _class(name, value)
    if inspect.isfunction(value):
        return _function(name, value)
    return _constant(name, real, value, home)


def _class(name: str, cls: type) -> str:
    found = read_class(cls)
    made = f"```pyi\n{found.made_by}\n```" if found.made_by and not issubclass(cls, Exception) else ""
    parts = [f"### {name}", made, markdown(found.text)]
    if (noun := name.lower()) in {*NOUNS, "setup"}:
        place = noun if noun in NOUNS else "settings-and-setup"
        return "\n\n".join([parts[0], parts[-1], f"See [plugins](plugins.md#{place})."])
    if issubclass(cls, enum.Enum):
        parts.append(", ".join(f"`{attribute.name}`" for attribute in found.attributes) + ".")
    elif fields := [attribute for attribute in found.attributes if attribute.annotation]:
        parts.append(_fields(fields))
    parts += [f"```pyi\n{method.signature}\n```\n\n{markdown(method.text)}" for method in found.methods]
    return "\n\n".join(part for part in parts if part)


def _fields(attributes: list[Attribute]) -> str:
    rows = [
        f"| `{one.name}` | `{_cell(one.annotation)}` | {_default(one)} | {_cell(' '.join(one.text.split()))} |"
        for one in attributes
    ]
    return "\n".join(["| field | type | default | |", "|---|---|---|---|", *rows])


def _default(field: Attribute) -> str:
    text = field.default
    if text.startswith("Field("):
        call = ast.parse(text, mode="eval").body
        assert isinstance(call, ast.Call)
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        factory = given.get("default_factory")
        text = "" if factory is None else {"dict": "{}"}.get(ast.unparse(factory), "made anew")
        return text if text == "made anew" else f"`{text}`" if text else ""
    return f"`{_cell(text)}`" if text else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _function(name: str, function: Any) -> str:
    return f"### {name}\n\n```pyi\n{read_function(function, name)}\n```\n\n{markdown(inspect.getdoc(function) or '')}"


def _constant(name: str, real: str, value: Any, home: ModuleType) -> str:
    for place in (home, *(import_module(f"{home.__name__}.{part}") for part in _parts(home))):
        known = read_constants(place).get(real)
        if known and known.text:
            shown = f"`{name} = {known.default}`" if isinstance(value, int | float | str | tuple) else ""
            return "\n\n".join(part for part in (f"### {name}", shown, markdown(known.text)) if part)
    if choices := get_args(value):
        return f"### {name}\n\nOne of {', '.join(f'`{choice}`' for choice in choices)}."
    return f"### {name}\n\n`{name} = {value!r}`" if isinstance(value, int | str) else f"### {name}"


def _parts(home: ModuleType) -> list[str]:
    """The modules of a package that passes on what lives in them."""
    path = getattr(home, "__path__", None)
    if path is None:
        return []
    from pkgutil import iter_modules

    return [module.name for module in iter_modules(path)]


def _module(name: str, module: ModuleType) -> str:
    functions: list[Any] = [
        value
        for function, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__ and not function.startswith("_")
    ]
    told = [_function(function.__name__, function).split("\n\n", 1)[1] for function in functions]
    return "\n\n".join([f"### {name}", f"A module. {markdown(inspect.getdoc(module) or '')}", *told])


_HEAD = """\
# Python

<!-- made by `make reference` from the docstrings of kr_core; change the text there, or in tools/reference -->

The public names of `kr_core`: what a program that embeds KR, and a plugin, may use. Each is imported on first use, so that
`import kr_core` costs nothing. A module below `kr_core` that is not named here may change at any time.
"""
