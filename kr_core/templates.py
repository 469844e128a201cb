"""Templates: the project's own, then the bundled ones; run in Jinja's sandbox.

A template is text that a project may bring along, so it is used once the user trusts it (`config.template_trust`), and runs
sandboxed: it reads values, and runs no code of theirs but the methods of plain ones. Values are data: with braces in them, too, they are never read as a template.
"""

from __future__ import annotations

from dataclasses import is_dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from enum import Enum
from functools import cache, cached_property, lru_cache, partial
from importlib.util import find_spec
from inspect import getattr_static
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from kr_core.errors import ConfigError
from kr_core.files import lies_within, read_text
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from jinja2 import Undefined

    from kr_core.template_sandbox import LimitedSandbox

    _Path = Path
else:
    _Path = type(Path())

__all__ = [
    "LONGEST",
    "GuardedFolder",
    "bundled_folder",
    "bundled_names",
    "is_accepted",
    "render",
    "search_folders",
]

LONGEST = 100_000
"""Bytes of a template; the longest bundled one has a twentieth of it."""


class GuardedFolder(_Path):
    """A folder of templates in which a file counts only with a text that the user has agreed to."""

    accepts: Callable[[str, str], bool] | None = None
    """Whether the file of a name may be used with this text; None where all may. Equal ones accept the same."""


def is_accepted(folder: Path, name: str, text: str) -> bool:
    """Whether a file of a folder of templates may be used with this text."""
    accepts = folder.accepts if isinstance(folder, GuardedFolder) else None
    return accepts is None or accepts(name, text)


@cache
def bundled_folder() -> Path:
    """The folder of the templates that come with KR."""
    spec = find_spec("kr_templates")
    assert spec is not None, "kr_templates is part of the distribution"
    return Path(next(iter(spec.submodule_search_locations or ())))


@cache
def bundled_names() -> tuple[str, ...]:
    """The names of the bundled templates that a project may replace, each as a path below its folder."""
    folder = bundled_folder()
    files = (path for kind in _REPLACEABLE for path in (folder / kind).iterdir() if path.suffix == ".j2")
    return tuple(sorted(path.relative_to(folder).as_posix() for path in files))


_REPLACEABLE = ("clients", "escalations", "personas", "prompts", "reports")


def search_folders(project_root: Path) -> tuple[Path, ...]:
    """Where a project's templates are looked for, in order: its `templates/`, the bundled ones.

    Args:
        project_root: the project's folder.

    Raises:
        ConfigError: its `templates/` is a link that leads out of the project.
    """
    own = project_root / "templates"
    if not lies_within(own, project_root):
        hint = "put the folder itself there instead of a link"
        raise ConfigError("leads out of the project", where=str(own), hint=hint)
    return own, bundled_folder()


def render(folders: Iterable[Path], name: str, **values: Any) -> str:
    """Render the first template with a name.

    Args:
        folders: where to look, in order; the bundled templates always come last.
        name: the template's path below a folder, such as `reports/research.md.j2`.
        values: what the template may use; an unknown name is an error, not empty text. A template can read fields and
            properties of a model, a dataclass or a named tuple, but call no methods. It can call methods of plain
            values (text, numbers, dates, lists, mappings) that change nothing, and functions that you pass.

    Raises:
        ConfigError: no folder has the template; it is wrong, too large, or not a regular file in its folder; or it
            takes more steps, text or time than any template needs. With its file and line.
    """
    from jinja2 import TemplateNotFound, TemplateSyntaxError

    from kr_core.template_limits import RenderBudget, TemplateLimitError, spending

    searched = tuple(dict.fromkeys((*folders, bundled_folder())))
    try:
        with spending(RenderBudget()):
            guards = tuple(
                folder.accepts if isinstance(folder, GuardedFolder) else None for folder in searched
            )
            return printable(_environment(searched, guards).get_template(name).render(values))
    except ConfigError:
        raise
    except TemplateNotFound as error:
        places = ", ".join(map(str, searched))
        raise ConfigError(
            f"there is no template {error.name}", where=name, hint=f"looked in {places}"
        ) from None
    except TemplateSyntaxError as error:
        where = f"{error.filename or error.name or name}:{error.lineno}"
        raise ConfigError(f"not a valid template: {error.message}", where=where, hint=_REMEDY) from None
    except (TemplateLimitError, RecursionError) as error:
        said = str(error) if isinstance(error, TemplateLimitError) else _ENDLESS
        where = _line_of(error, searched) or _file_of(name, searched)
        raise ConfigError(f"the template does too much: {said}", where=where, hint=_REMEDY) from None
    except Exception as error:  # a template can make any value raise
        where = _line_of(error, searched) or _file_of(name, searched)
        what = f"the template failed: {type(error).__name__}: {error}"
        raise ConfigError(what, where=where, hint=_REMEDY) from error


_REMEDY = "correct the template, or remove it to use the bundled one"
_PUT_FILE = "put a text file itself there, or remove it to use the bundled one"
_ENDLESS = "it calls, includes or extends itself without end, or nests too deep"


_PLAIN = (
    *(str, bytes, int, float, complex, type(None)),
    *(date, time, timedelta, tzinfo),
    *(list, tuple, dict, set, frozenset, range, MappingProxyType),
)
"""Values whose own methods neither read nor write anything outside."""


@lru_cache(maxsize=32)
def _environment(
    folders: tuple[Path, ...], _guards: tuple[Callable[[str, str], bool] | None, ...]
) -> LimitedSandbox:
    """The environment of some folders; those of one place that accept different texts are different ones."""
    from jinja2 import FunctionLoader, StrictUndefined

    return _sandbox()(
        loader=FunctionLoader(partial(_source, folders)),
        autoescape=False,  # Markdown, not HTML; what is shown in a browser is cleaned there
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _source(folders: Sequence[Path], name: str) -> tuple[str, str, Callable[[], bool]] | None:
    """A template's text and file, and whether that is still so: a user may change, add or remove files meanwhile.

    Jinja's own loader reads files of any size, and follows links out of a folder.
    """
    from jinja2.loaders import split_template_path

    from kr_core.template_limits import budget

    before: list[Path] = []
    refused: Path | None = None
    parts = split_template_path(name)
    for folder in folders:
        path = Path(folder, *parts)
        text = _text(path, folder)
        if text is not None and not is_accepted(folder, "/".join(parts), text):
            refused = refused or path
        elif text is not None:
            budget().take(len(text))
            return text, str(path), _unchanged(path, before)
        before.append(path)
    if refused is not None:
        hint = "read it, then allow it with `kr trust`"
        raise ConfigError("this template is not trusted", where=str(refused), hint=hint)
    return None


def _text(path: Path, folder: Path) -> str | None:
    """The text of a template; None where there is none.

    Those that come with KR are read wherever they lie: some installers link to files elsewhere.
    """
    within = None if folder == bundled_folder() else folder
    try:
        return read_text(path, limit=LONGEST, within=within)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError as error:
        what = f"is not read as a template: {error.strerror or error}"
        raise ConfigError(what, where=str(path), hint=_PUT_FILE) from error
    except ValueError as error:
        what = f"the template failed: {type(error).__name__}: {error}"
        raise ConfigError(what, where=str(path), hint=_REMEDY) from error


def _unchanged(path: Path, before: Sequence[Path]) -> Callable[[], bool]:
    """Whether a template is still the one that was read, and none has come into a place before it."""
    read = _time_of(path)
    return lambda: _time_of(path) == read and not any(file.is_file() for file in before)


def _time_of(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None


@cache
def _sandbox() -> type[LimitedSandbox]:
    """Jinja's sandbox, which by itself lets a template call any method that a value has."""
    from jinja2.exceptions import SecurityError

    from kr_core.template_sandbox import LimitedSandbox

    class Sandbox(LimitedSandbox):
        def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
            return super().is_safe_attribute(obj, attr, value) and _is_readable(obj, attr, value)

        def unsafe_undefined(self, obj: Any, attribute: str) -> Undefined:
            kind = (obj if isinstance(obj, type) else type(obj)).__name__
            said = (
                f"`{attribute}` of {kind} is not for templates: they read fields and properties, "
                "and call methods of plain values only"
            )
            return self.undefined(said, name=attribute, obj=obj, exc=SecurityError)

    return Sandbox


def _is_readable(value: Any, name: str, found: Any) -> bool:
    """Whether a template may use what it found under a name of a value."""
    kind = type(value)
    if kind.__module__.partition(".")[0] == "jinja2":  # `loop`, macros, namespaces
        return True
    owner = next((known for known in kind.__mro__ if name in vars(known)), None)
    if isinstance(value, _PLAIN) and owner in _base_types():
        return True
    return not callable(found) and (_is_field(kind, name) or _is_property(kind, owner, name))


@cache
def _base_types() -> frozenset[type]:
    """The plain types and what they inherit from."""
    return frozenset(base for kind in (*_PLAIN, bool, datetime) for base in kind.__mro__)


def _is_field(kind: type, name: str) -> bool:
    if issubclass(kind, BaseModel):
        return name in kind.model_fields
    if issubclass(kind, Enum):
        return name in {"name", "value"}
    return name in (kind.__dataclass_fields__ if is_dataclass(kind) else getattr(kind, "_fields", ()))


def _is_property(kind: type, owner: type | None, name: str) -> bool:
    """Whether a model or dataclass of somebody's own has this property; those of pydantic speak of the class."""
    if owner is None or not (issubclass(kind, BaseModel | tuple) or is_dataclass(kind)):
        return False
    described = getattr_static(owner, name)
    return (
        isinstance(described, property | cached_property) and owner.__module__.partition(".")[0] != "pydantic"
    )


def _file_of(name: str, folders: tuple[Path, ...]) -> str:
    """The file of a template, by its name where there is none."""
    return next((str(path) for folder in folders if (path := folder / name).is_file()), name)


def _line_of(error: BaseException, folders: tuple[Path, ...]) -> str | None:
    """The innermost template file and line of a traceback; Jinja names templates in it as if they were modules."""
    place = None
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if any(Path(file).is_relative_to(folder) for folder in folders):
            place = f"{file}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place
