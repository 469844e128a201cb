"""Templates: the project's own, then a plugin's, then the bundled ones; run in Jinja's sandbox.

A template is text that a project may bring along, so it runs sandboxed. Values are data: whatever braces stand in
them, they are never read as a template.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kr_core.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jinja2.sandbox import SandboxedEnvironment

__all__ = ["bundled_folder", "render", "search_folders"]


def bundled_folder() -> Path:
    """The folder of the templates that come with KR."""
    spec = find_spec("kr_templates")
    assert spec is not None, "kr_templates is part of the distribution"
    return Path(next(iter(spec.submodule_search_locations or ())))


def search_folders(project_root: Path, plugin_folders: Iterable[Path] = ()) -> tuple[Path, ...]:
    """Where a project's templates are looked for, in order: its `templates/`, the plugins', the bundled ones."""
    return (project_root / "templates", *plugin_folders, bundled_folder())


def render(folders: Iterable[Path], name: str, **values: Any) -> str:
    """Render the first template of this name.

    Args:
        folders: where to look, in order; the bundled templates are always looked at last.
        name: the template's path below a folder, such as `reports/research.md.j2`.
        values: what the template may use; a name it does not have is an error, not empty text.

    Raises:
        ConfigError: no folder has the template, or it is wrong; with its file and line.
    """
    from jinja2 import TemplateNotFound, TemplateSyntaxError

    searched = tuple(dict.fromkeys((*folders, bundled_folder())))
    try:
        return _environment(searched).get_template(name).render(values)
    except TemplateNotFound as error:
        places = ", ".join(map(str, searched))
        raise ConfigError(
            f"there is no template {error.name}", where=name, todo=f"looked in {places}"
        ) from None
    except TemplateSyntaxError as error:
        where = f"{error.filename or error.name or name}:{error.lineno}"
        raise ConfigError(f"not a valid template: {error.message}", where=where, todo=_REMEDY) from None
    except Exception as error:  # a template can make any value raise
        where = _line_of(error, searched) or name
        what = f"the template failed: {type(error).__name__}: {error}"
        raise ConfigError(what, where=where, todo=_REMEDY) from error


_REMEDY = "correct the template, or remove it to use the bundled one"


def _environment(folders: tuple[Path, ...]) -> SandboxedEnvironment:
    # made anew for each report (4 ms): a kept one would not see a template that a user adds later
    from jinja2 import FileSystemLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    return ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(folders),
        autoescape=False,  # Markdown, not HTML; what is shown in a browser is cleaned there
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


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
