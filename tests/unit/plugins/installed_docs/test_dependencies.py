"""What a package hands on of its dependencies, and what they say where the package itself does not."""

import asyncio

import pytest

from kr_core.model import Outcome, ResearchQuery
from kr_plugins.sources.installed_docs import InstalledDocs
from kr_plugins.sources.installed_docs.dependencies import installed_requirements
from kr_plugins.sources.installed_docs.material import find
from kr_plugins.sources.installed_docs.metadata import read_metadata
from kr_plugins.sources.installed_docs.reading_budget import ReadingBudget

pytestmark = pytest.mark.req("A7")

TOOLBOX = {
    "toolbox/__init__.py": """\
        from crate import status as status
        from crate.lids import Lid as Lid
        from ._box import Box as Box
        """,
    "toolbox/_box.py": '''\
        from crate.boxes import Base

        class Box(Base):
            """A box."""
        ''',
    "toolbox/shelves.py": "from crate.shelves import Shelf as Shelf\nfrom crate.lids import Knob\n",
}
CRATE = {
    "crate/__init__.py": "",
    "crate/boxes.py": '''\
        from crate.roots import Root

        class Base(Root):
            """What boxes are made of."""

            def stack(self, height: int = 3):
                """Stack boxes upon each other.

                Args:
                    height: How many of them.
                """

        class Other:
            """Another one."""
        ''',
    "crate/roots.py": '''\
        class Root:
            """The root of all."""

            def paint(self):
                """Paint it in a colour."""
        ''',
    "crate/lids.py": '''\
        class Lid:
            """What closes a box."""

            def screw(self):
                """Screw it on tightly."""

        class Knob:
            """What a lid is lifted by."""

        def oil():
            """Oil the hinges of lids so that they stop squeaking."""
        ''',
    "crate/shelves.py": '''\
        class Shelf:
            """Where boxes stand."""
        ''',
    "crate/status.py": "OPEN = 1\n",
}


@pytest.fixture
def installed(install):
    """`toolbox`, which requires `crate`, and `crate` itself."""
    folder = install("toolbox", TOOLBOX)
    metadata = folder / "METADATA"
    metadata.write_text(
        metadata.read_text()
        + "Requires-Dist: crate>=1\nRequires-Dist: absent\nRequires-Dist: press; extra == 'all'\n"
    )
    install("press", {"press/__init__.py": ""})
    return install("crate", CRATE, version="3.1")


def passages(project, name="toolbox"):
    """All passages of a package by their titles."""
    found, _notes = find(name, project()).material.passages(lambda _done, _all: None, ReadingBudget())
    return {passage.title: passage for passage in found}


def ask(project, folder, question):
    """The source's answer to a question about `toolbox`."""

    class Context:
        def __init__(self):
            self.project = project()

        def emit(self, kind, data):
            """Nobody listens."""

    query = ResearchQuery(
        framework="toolbox", framework_version="1.2.0", topic="lids", tags=("t",), question=question
    )
    return asyncio.run(InstalledDocs(folder / "cache").query(query, Context()))


def test_what_is_imported_as_itself_has_the_name_of_the_package(installed, project):
    """`from crate.lids import Lid as Lid` is answered as `toolbox.Lid`, with the place and version of `crate`."""
    found = passages(project)
    assert found["toolbox.Lid.screw"].locator == "crate/lids.py:4"
    assert found["toolbox.Lid"].data["url"] == "pkg:pypi/crate@3.1"
    assert found["toolbox.Lid"].data["version"] == "3.1"
    assert "toolbox.shelves.Shelf" in found


def test_a_class_on_top_has_what_it_inherits_from_a_dependency(installed, project):
    """`toolbox.Box` inherits from a class of `crate`: its methods are found under the name that users write."""
    found = passages(project)
    assert found["toolbox.Box.stack"].locator == "crate/boxes.py:6"
    assert found["toolbox.Box.stack(height)"].data["default"] == "3"
    assert "toolbox.Box.paint" in found


def test_what_a_dependency_does_not_hand_on_is_not_its_users_own(installed, project):
    """Neighbours of what is re-exported, and imports for own use, are not taken for the package's."""
    named = [passage for title, passage in passages(project).items() if "Knob" in title or "oil" in title]
    assert named == []
    assert not any(title.startswith("crate") for title in passages(project))


def test_only_what_is_required_without_an_extra_is_a_dependency(installed, project):
    """Extras and what is not installed are left out."""
    distribution = project().distribution("toolbox")
    required = installed_requirements(distribution, read_metadata(distribution), project())
    assert [one.name for one in required] == ["crate"]


def test_another_version_of_a_dependency_makes_another_index(installed, install, project):
    """What is re-exported changes with the dependency, so its version counts."""
    before = find("toolbox", project()).material.fingerprint
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: crate\nVersion: 3.2\n")
    installed.rename(installed.with_name("crate-3.2.dist-info"))
    assert find("toolbox", project()).material.fingerprint != before


def test_a_dependency_is_asked_where_the_package_does_not_answer(installed, project, tmp_path):
    """The answer stands before the package's own and says where it is from; its coverage counts less."""
    finding = ask(project, tmp_path, "how do I oil squeaking hinges?")
    assert finding.outcome is Outcome.ok
    assert finding.passages[0].title == "crate.lids.oil"
    assert finding.passages[0].url == "pkg:pypi/crate@3.1"
    assert finding.passages[0].notes == ("from crate, which toolbox uses",)
    assert 0.5 <= finding.passages[0].coverage <= 0.7


def test_a_packages_own_best_stays_first_if_it_says_nearly_as_much(installed, project, tmp_path):
    """A dependency's passage that says a little more stands behind it."""
    finding = ask(project, tmp_path, "how do I oil hinges of lids of what closes a box?")
    assert [passage.title for passage in finding.passages][:2] == ["toolbox.Lid", "crate.lids.oil"]
    assert finding.passages[1].notes == ("from crate, which toolbox uses",)


def test_a_dependency_is_not_asked_where_the_package_answers(installed, project, tmp_path):
    """What the package says itself is enough; what matches a little in a dependency is not shown."""
    finding = ask(project, tmp_path, "how do I screw a lid on tightly?")
    assert finding.passages[0].title == "toolbox.Lid.screw"
    assert not [passage for passage in finding.passages if passage.notes]
    missed = ask(project, tmp_path, "how do I lift a lid of the moon by its horoscope?")
    assert not [passage for passage in missed.passages if passage.notes]


@pytest.mark.req("A7", "A14")
def test_an_expected_name_that_the_package_only_mentions_is_told_by_the_dependency_that_has_it(
    installed, install, ask_about
):
    """The package answers the rest itself."""
    text = TOOLBOX["toolbox/_box.py"].replace("A box.", "A box. Lifts its lid by a crate `Knob`.")
    folder = install("toolbox", TOOLBOX | {"toolbox/_box.py": text})
    with (folder / "METADATA").open("a") as metadata:
        metadata.write("Requires-Dist: crate>=1\n")
    told, _level = ask_about("toolbox", "How do I lift the lid of a Box?", "Box", "Knob")
    assert "no entry for" not in told
    assert "`crate.lids.Knob`: What a lid is lifted by." in told


@pytest.mark.req("A7", "Z8")
def test_a_dependency_is_read_only_inside_the_environment(installed, project, site, tmp_path_factory):
    """A module that is a link out of the environment is not read."""
    outside = tmp_path_factory.mktemp("elsewhere") / "outside.py"
    outside.write_text('class Lid:\n    """A secret that lies elsewhere."""\n')
    (site / "crate/lids.py").unlink()
    (site / "crate/lids.py").symlink_to(outside)
    assert not any("secret" in passage.text for passage in passages(project).values())
