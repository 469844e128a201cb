"""Templates of the project, of plugins and of KR."""

import os
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import NamedTuple

import pytest
from pydantic import BaseModel

from kr_core.errors import ConfigError
from kr_core.templates import bundled_folder, render, search_folders


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "templates"


def template(folder, text, name="note.md.j2"):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def fault(*args, **values) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        render(*args, **values)
    return caught.value


@pytest.mark.req("R12")
def test_the_projects_own_template_wins_over_the_bundled_one(tmp_path):
    folders = search_folders(tmp_path)
    assert folders == (tmp_path / "templates", bundled_folder())
    name = "prompts/repair.md.j2"
    bundled = (bundled_folder() / name).read_text()
    assert bundled
    template(tmp_path / "templates", "project", name)
    assert render(folders, name) == "project"


@pytest.mark.req("R12")
def test_what_becomes_of_a_template_while_a_program_runs_is_seen(tmp_path):
    """One that is changed, added before another, or removed holds from the next time on."""
    project, other = tmp_path / "templates", tmp_path / "other"
    folders = (project, other)

    def shown():
        return render(folders, "note.md.j2")

    file = template(other, "first") / "note.md.j2"
    os.utime(file, ns=(0, 0))  # what is written in the same tick of a clock looks unchanged
    assert shown() == "first"
    template(other, "changed")
    assert shown() == "changed"
    template(project, "the project's")
    assert shown() == "the project's"
    (project / "note.md.j2").unlink()
    assert shown() == "changed"


def test_the_bundled_templates_are_always_looked_at_last():
    assert (bundled_folder() / "reports" / "research.md.j2").is_file()
    assert fault((), "reports/research.md.j2").where.startswith(str(bundled_folder()))


@pytest.mark.req("R12")
def test_a_template_keeps_its_line_ends_and_loses_the_lines_of_its_blocks(folder):
    template(folder, "a\n  {% if yes %}\nb\n  {% endif %}\nc\n")
    assert render([folder], "note.md.j2", yes=True) == "a\nb\nc\n"


@pytest.mark.req("Z4")
def test_braces_in_a_value_are_text_and_markup_is_left_as_it_is(folder):
    template(folder, "{{ text }}")
    assert render([folder], "note.md.j2", text="{{ 7*7 }}{% raw %}<b>&") == "{{ 7*7 }}{% raw %}<b>&"


@pytest.mark.req("Z3")
@pytest.mark.parametrize(
    "text",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ text.__init__.__globals__ }}",
        "{{ '{0.__class__}'.format(text) }}",
        "{{ items.append(1) }}",
        "{{ range(10000000) | list }}",
    ],
)
def test_a_template_runs_in_a_sandbox(folder, text):
    template(folder, "ok\n" + text)
    error = fault([folder], "note.md.j2", text="x", items=[])
    assert "SecurityError" in error.what or "OverflowError" in error.what


class Parcel(BaseModel):
    """A model as a renderer may hand it over."""

    city: str
    sent: date
    notes: dict[str, str] = {}
    check: Callable[[], str] = str

    @property
    def label(self) -> str:
        """What stands on it."""
        return self.city.upper()

    def burn(self) -> str:
        """Harm."""
        return "burnt"


class Crate(NamedTuple):
    """A tuple with names and a method."""

    parcel: Parcel

    def burn(self) -> str:
        """Harm."""
        return "burnt"


def handed():
    parcel = Parcel(city="Paris", sent=date(2026, 2, 5), notes={"a": "b"})
    return {"parcel": parcel, "crate": Crate(parcel), "kind": Parcel, "path": Path("/")}


@pytest.mark.req("Z3", "Z8")
@pytest.mark.parametrize(
    "text",
    [
        "{{ parcel.parse_file('x', proto='pickle', allow_pickle=True) }}",
        "{{ parcel.model_dump_json() }}",
        "{{ parcel.burn() }}",
        "{{ parcel['burn']() }}",
        "{{ (parcel | attr('burn'))() }}",
        "{{ ([parcel] | map(attribute='burn') | first)() }}",
        "{{ '{0.burn}'.format(parcel) }}",
        "{{ parcel.model_fields_set }}",
        "{{ parcel.check() }}",
        "{% set crates = namespace(one=crate) %}{{ crates.one.burn() }}",
        "{{ kind.parse_file('x') }}",
        "{{ path.read_text() }}",
    ],
)
def test_a_template_runs_no_code_of_its_values(folder, text):
    template(folder, "ok\n" + text)
    error = fault([folder], "note.md.j2", **handed())
    assert "SecurityError" in error.what
    assert "is not for templates: they read fields and properties" in error.what
    assert error.where == f"{folder / 'note.md.j2'}:2"


@pytest.mark.req("R12")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("{{ parcel.city.title() }} {{ parcel.label }} {{ crate.parcel.city }}", "Paris PARIS Paris"),
        ("{{ parcel.sent.strftime('%d.%m.%Y') }} {{ parcel.sent.year }}", "05.02.2026 2026"),
        (
            "{% for key, value in parcel.notes.items() %}{{ loop.index }}{{ key }}{{ value }}{% endfor %}",
            "1ab",
        ),
        ("{{ [parcel] | map(attribute='city') | join }}", "Paris"),
        ("{% macro m(x) %}<{{ x }}>{% endmacro %}{{ m(parcel.city) }}", "<Paris>"),
    ],
)
def test_a_template_reads_fields_properties_and_plain_values(folder, text, shown):
    template(folder, text)
    assert render([folder], "note.md.j2", **handed()) == shown


@pytest.mark.req("Z3")
@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "a/../../secret"])
def test_a_template_outside_its_folder_is_not_found(folder, name):
    template(folder, f"{{% include '{name}' %}}")
    (folder.parent / "secret").write_text("secret")
    assert fault([folder], "note.md.j2").what == f"there is no template {name}"


@pytest.mark.req("R12")
@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("one\n\n{% if %}", 3, "not a valid template: Expected an expression, got 'end of statement block'"),
        ("one\n{{ nothing }}\n", 2, "the template failed: UndefinedError: 'nothing' is undefined"),
        ("one\n{{ 1 / 0 }}", 2, "the template failed: ZeroDivisionError: division by zero"),
    ],
)
def test_a_fault_in_a_template_is_told_with_its_file_and_line(folder, text, line, what):
    error = fault([template(folder, text)], "note.md.j2")
    assert (error.where, error.what) == (f"{folder / 'note.md.j2'}:{line}", what)
    assert error.hint == "correct the template, or remove it to use the bundled one"


@pytest.mark.req("R12")
def test_a_fault_in_an_included_template_is_told_where_it_stands(folder):
    template(folder, "a\n{{ nothing }}", "part.j2")
    template(folder, "{% include 'part.j2' %}")
    assert fault([folder], "note.md.j2").where == f"{folder / 'part.j2'}:2"


@pytest.mark.req("R12")
def test_a_template_that_is_nowhere_is_told_with_the_folders_that_were_looked_in(folder):
    error = fault([folder], "note.md.j2")
    assert error.what == "there is no template note.md.j2"
    assert str(folder) in error.hint
    assert str(bundled_folder()) in error.hint


@pytest.mark.req("R12")
def test_a_template_that_is_not_text_is_a_fault_of_the_template(folder):
    assert fault([template(folder, b"\xff")], "note.md.j2").what.startswith(
        "the template failed: UnicodeDecodeError"
    )
