"""The pages about the public names, one for each door, made from their docstrings."""

from __future__ import annotations

import ast
import enum
import inspect
from importlib import import_module
from typing import TYPE_CHECKING, Any, get_args

from kr_core import errors
from kr_core._door import names_of
from kr_core.hookspecs import NOUNS

from .reading import Attribute, markdown, read_class, read_constants, read_function

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["python_page", "python_pages"]

_SECTIONS = {
    "Asking": ("kr_core.research", "kr_core.lessons"),
    "Asking agents and people": ("kr_core.ask", "kr_core.routing", "kr_core.escalation"),
    "Researching in cycles": ("kr_core.expedition", "kr_core.model.expedition"),
    "Errors": ("kr_core.errors",),
    "Plugins": ("kr_core.hookspecs", "kr_core.protocols", "kr_core.entry_points"),
    "Values": ("kr_core.model",),
    "Scoring": ("kr_core.evidence", "kr_core.calibration"),
    "Files, programs and text": (
        "kr_core.files",
        "kr_core.toml_text",
        "kr_core.processes",
        "kr_core.collector",
        "kr_core.text",
        "kr_core.yaml_text",
        "kr_core.templates",
    ),
    "Names, versions and environments": ("kr_core.knowledge", "kr_core.project", "kr_core.question"),
    "Searching": ("kr_core.search",),
    "Answers from outside": ("kr_core.net",),
}
"""Where a public name stands, by the module or package that it lives in."""


def python_pages() -> dict[str, str]:
    """The name of each page and its text."""
    return {page: python_page(door) for door, (page, _) in _DOORS.items()}


def python_page(door: str) -> str:
    """A section for each subject, with all public names of a door."""
    module = import_module(door)
    sections: dict[str, list[str]] = {title: [] for title in _SECTIONS}
    for name, (home, real) in sorted(names_of(door).items()):
        if home == "kr_core" and real == "yaml_text":
            sections[_title("kr_core.yaml_text")].append(_module(name, module.yaml_text))
        elif home not in {"kr_core", "kr_core._version"}:
            again = door != "kr_core" and name in names_of("kr_core")
            entry = _again(name) if again else _entry(name, real, import_module(home))
            sections[_title(home)].append(entry)
    if door == "kr_core":
        sections["Errors"] = [markdown(inspect.getdoc(errors) or ""), *sorted(sections["Errors"])]
    made = ["\n\n".join([f"## {title}", *entries]) for title, entries in sections.items() if entries]
    return "\n\n".join([_DOORS[door][1].rstrip(), *made]) + "\n"


def _again(name: str) -> str:
    return f"### {name}\n\nThe same as [`kr_core.{name}`](python.md#{name.lower()})."


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
        text = "" if factory is None else {"dict": "{}"}.get(ast.unparse(factory), "generated")
        return text if text == "generated" else f"`{text}`" if text else ""
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


_MADE = "<!-- made by `make reference` from the docstrings of kr_core; change the text there, or in tools/reference -->"
_DOORS = {
    "kr_core": (
        "python.md",
        f"""\
# Python

{_MADE}

The public names of `kr_core`: what a program that embeds KR uses, and a source of one module. Plugins find the rest in
[`kr_core.plugin`](plugin-python.md) and [`kr_core.toolkit`](toolkit.md). Each name is imported on first use, so that
`import kr_core` costs nothing. A module below `kr_core` that is not named on these three pages may change at any time.
""",
    ),
    "kr_core.plugin": (
        "plugin-python.md",
        f"""\
# Python for plugins

{_MADE}

The public names of `kr_core.plugin`: what the author of a plugin uses. They change only with the number of the contract
([plugins](plugins.md)). Errors, questions and answers are in [`kr_core`](python.md).
""",
    ),
    "kr_core.toolkit": (
        "toolkit.md",
        f"""\
# Toolkit

{_MADE}

The public names of `kr_core.toolkit`: helpers for plugins that search, weigh evidence, or read files and projects. They may
change in minor versions of KR: a plugin that uses one says in its requirements which versions of `kr-core` it was tested with.
""",
    ),
}
"""Each door, its page, and the beginning of that page."""
