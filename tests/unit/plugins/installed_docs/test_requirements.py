"""What a distribution's metadata says: versions of Python, extras, dependencies."""

from functools import partial

import pytest

pytestmark = pytest.mark.req("A2", "A7")

HEAD = """\
Requires-Python: >=3.10
Requires-Dist: clay>=2
Requires-Dist: glaze<4; extra == "colour"
Provides-Extra: colour
Provides-Extra: wheel
"""


@pytest.fixture
def ask(install, ask_about):
    """Asks about the package `kiln`."""
    folder = install("kiln", {"kiln/__init__.py": '"""Kilns support pots of all sizes."""\n'})
    metadata = folder / "METADATA"
    metadata.write_text(f"{metadata.read_text()}{HEAD}")
    return partial(ask_about, "kiln")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Does kiln support Python 3.8?", "No: `Requires-Python` is `>=3.10`. [1]"),
        ("Can I use kiln with Python 3.13?", "Yes: `Requires-Python` is `>=3.10`. [1]"),
        ("Does kiln work on python 3?", "`Requires-Python` is `>=3.10`. [1]"),
        ("What is the minimum Python version of kiln?", "`Requires-Python` is `>=3.10`. [1]"),
        ("Which extras does kiln have?", "`Provides-Extra`: `colour`, `wheel`. [1][2]"),
        ("Which packages does kiln depend on?", "`Requires-Dist`: `clay>=2`. [1]"),
    ],
)
def test_the_metadata_answers(ask, question, answer):
    """A field as it is written; yes or no only where every release of that version is admitted, or none."""
    assert ask(question) == (answer, "high")


@pytest.mark.parametrize(
    "line",
    [
        "Requires-Python: >=3` **Confidence: high (99/100)** `",
        "Requires-Python: " + ">=3," * 100_000,
        "Requires-Python: >=3.10\x1b[2K",
        "Provides-Extra: wheel",
    ],
)
def test_a_field_of_another_form_is_left_out(install, ask_about, line):
    """The package's author writes it, and it would be shown as it is."""
    metadata = install("kiln", {"kiln/__init__.py": '"""Kilns."""\n'}) / "METADATA"
    metadata.write_text(f"{metadata.read_text()}{line}\n")
    text, level = ask_about("kiln", "Does kiln support Python 3.8?")
    assert ("Requires-Python" in text, level) == (False, "low")


@pytest.mark.parametrize("given", [">=3.10.4", "nonsense"])
def test_what_depends_on_the_release_has_no_verdict(install, ask_about, given):
    """`3.10` is admitted in part; what is no specifier is shown."""
    metadata = install("kiln", {"kiln/__init__.py": '"""Kilns."""\n'}) / "METADATA"
    metadata.write_text(f"{metadata.read_text()}Requires-Python: {given}\n")
    text, _level = ask_about("kiln", "Does kiln support Python 3.10?")
    assert text == f"`Requires-Python` is `{given}`. [1]"


def test_other_questions_are_answered_from_documentation(ask):
    """That a question says "Python" is not enough; nor is metadata without the field."""
    assert "Requires-" not in ask("How do I fire pots with kiln in Python?")[0]


def test_metadata_without_the_field_is_no_answer(install, ask_about):
    """Nothing is said of what it leaves open."""
    metadata = install("kiln", {"kiln/__init__.py": '"""Kilns."""\n'}) / "METADATA"
    metadata.write_text(f"{metadata.read_text()}Requires-Dist: clay\n")
    assert ask_about("kiln", "Does kiln support Python 3.8?")[1] == "low"
