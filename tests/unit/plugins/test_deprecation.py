"""What the plugin `deprecation` notes on passages."""

import pytest

from kr_core import Passage
from kr_plugins.hooks.deprecation_note import kr_passages_found

pytestmark = pytest.mark.req("P1")


def notes(text, kind="symbol"):
    passage = Passage(text=text, url="u", kind=kind, symbol="orders.deploy")
    found = kr_passages_found([passage])
    return None if found is None else found[0].notes


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("Deploy.\n\n.. deprecated:: 2.0\n   Use `ship`.", "deprecated since 2.0"),
        ("Deploy.\n\n.. deprecated:: v2.0.\n", "deprecated since v2.0"),
        ("/**\n * Deploys.\n * @deprecated Use `ship`.\n */", "deprecated"),
        ("Deprecated since version 1.4: use `ship`.", "deprecated since 1.4"),
        ("**Deprecated.** Use `ship`.", "deprecated"),
        ("This function is deprecated; use `ship`.", "deprecated"),
        ("It has been deprecated since 3.1 and will go.", "deprecated since 3.1"),
    ],
)
def test_what_is_deprecated_says_so(text, note):
    """Each usual marker is noted, with the version where it is given."""
    assert notes(text) == (note,)


@pytest.mark.parametrize(
    "text",
    [
        "Deploy the service.",
        "Warn about names that were given before; see the list of deprecation warnings.",
        "Deploy.\n\nParameters\n----------\nfast : bool\n    .. deprecated:: 2.0",
        "Deploy.\n\nArgs:\n    fast: Deprecated since 2.0.",
        "Deploy.\n\n:param fast: deprecated",
    ],
)
def test_what_is_not_deprecated_itself_has_no_note(text):
    """A word about something else, or about one parameter, is no note on the function."""
    assert notes(text) is None


def test_a_page_is_about_many_things():
    """Of a section of prose it cannot be told what is deprecated."""
    assert notes("Deprecated since 2.0.", kind="section") is None


def test_a_note_is_made_once():
    """A passage that has its note keeps it, and others keep their order and their text."""
    first = Passage(text="Deprecated.", url="u", kind="symbol", notes=("deprecated",))
    second = Passage(text="Fine.", url="u", kind="symbol")
    third = Passage(text="Deprecated.", url="u", kind="parameter")
    found = kr_passages_found([first, second, third])
    assert found == [first, second, third.model_copy(update={"notes": ("deprecated",)})]
