"""DeepWiki is asked about the repository that a library is made in; its answers are hints, and its failures are told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import ValidationError
from support.projects import install, make_environment

from kr_core.plugin import Outcome, ToolResult
from kr_core.toolkit import LocalProject
from kr_plugins.sources.deepwiki import DeepWikiSettings, told
from kr_plugins.sources.repositories import repository_of

QUESTION = "How do I set a timeout for a parcel?"
ANSWER = """\
The timeout of a parcel is set by the `timeout` argument of `send` .

## Default

The default is five seconds  .

Wiki pages you might want to explore:
- [Sending a parcel with a timeout (acme/parcel)](/wiki/acme/parcel#2)

View this search on DeepWiki: https://deepwiki.com/search/how-do-i-set-a-timeout_7a1b-22
"""


@pytest.fixture
def site(tmp_path):
    return make_environment(tmp_path)


def project(folder: Path) -> LocalProject:
    return LocalProject(folder, folder, {}, own_prefix=None)


# -- repositories ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "repository"),
    [
        (["Project-URL: Source, https://github.com/acme/parcel"], "acme/parcel"),
        (["Project-URL: Repository, https://www.github.com/acme/parcel.git"], "acme/parcel"),
        (["Home-page: http://github.com/acme/parcel.js/"], "acme/parcel.js"),
        (["Project-URL: Changelog, https://github.com/acme/parcel/blob/main/CHANGES.md"], "acme/parcel"),
        (["Project-URL: Issues, https://github.com/acme/tracker/issues", "Project-URL: Source Code, https://github.com/acme/parcel#readme"], "acme/parcel"),
        (["Project-URL: Documentation, https://github.com/acme/docs", "Project-URL: Homepage, https://github.com/acme/parcel"], "acme/parcel"),
        (["Project-URL: Sponsor, https://github.com/sponsors/acme", "Project-URL: GitHub, https://github.com/acme/parcel"], "acme/parcel"),
        (["Project-URL: Funding, https://github.com/sponsors/acme"], None),
        (["Home-page: https://gitlab.com/acme/parcel"], None),
        (["Home-page: https://notgithub.com/acme/parcel"], None),
        (["Home-page: https://github.com/acme"], None),
        (["Project-URL: nonsense"], None),
        (["", "See https://github.com/acme/parcel"], None),
    ],
)  # fmt: skip
def test_the_repository_of_a_python_package_is_in_its_metadata(tmp_path, site, lines, repository):
    """The address that leads to the source counts before others; what is no repository of the library's is none."""
    metadata = install(site, "parcel", "1.4.0", {"parcel.py": ""}) / "METADATA"
    metadata.write_text(metadata.read_text() + "\n".join(lines) + "\n")
    assert repository_of("parcel", project(tmp_path)).repository == repository


def test_a_package_without_metadata_tells_nothing(tmp_path, site):
    """An uninstalled one leaves such a folder; an old one calls its metadata PKG-INFO."""
    folder = install(site, "parcel", "1.4.0", {"parcel.py": ""})
    (folder / "METADATA").unlink()
    assert repository_of("parcel", project(tmp_path)).repository is None
    (folder / "PKG-INFO").write_text("Name: parcel\nHome-page: https://github.com/acme/parcel\n")
    assert repository_of("parcel", project(tmp_path)).repository == "acme/parcel"


@pytest.mark.parametrize(
    ("said", "repository"),
    [
        ({"repository": {"type": "git", "url": "git+https://github.com/acme/parcel.git", "directory": "packages/a"}}, "acme/parcel"),
        ({"repository": "github:acme/parcel"}, "acme/parcel"),
        ({"repository": "acme/parcel"}, "acme/parcel"),
        ({"repository": "git@github.com:acme/parcel.git"}, "acme/parcel"),
        ({"repository": "ssh://git@github.com/acme/parcel"}, "acme/parcel"),
        ({"repository": "gitlab:acme/parcel", "bugs": {"url": "https://github.com/acme/parcel/issues"}}, "acme/parcel"),
        ({"homepage": "https://github.com/acme/parcel#readme"}, "acme/parcel"),
        ({"homepage": "acme/parcel"}, None),
        ({"repository": 7, "homepage": None, "bugs": []}, None),
    ],
)  # fmt: skip
def test_the_repository_of_a_node_package_is_in_its_package_json(tmp_path, said, repository):
    """In all the forms that npm allows."""
    folder = tmp_path / "node_modules/@acme/parcel"
    folder.mkdir(parents=True)
    (folder / "package.json").write_text(json.dumps({"name": "@acme/parcel", "version": "1.0.0", **said}))
    assert repository_of("@acme/parcel", project(tmp_path)).repository == repository


@pytest.mark.parametrize(
    ("framework", "repository"),
    [
        ("Python", "python/cpython"),
        ("asyncio", "python/cpython"),
        ("acme/parcel", "acme/parcel"),
        ("github.com/acme/parcel/v2", "acme/parcel"),
        ("https://github.com/acme/parcel", "acme/parcel"),
        ("parcel", None),
        ("@acme/parcel", None),
        ("../..", None),
        ("a b/c", None),
        ("", None),
    ],
)
def test_what_is_not_installed_may_be_called_by_its_repository(tmp_path, framework, repository):
    """The standard library is made in the repository of Python; of anything else nothing is guessed."""
    assert repository_of(framework, project(tmp_path)).repository == repository


def test_a_project_of_another_kind_knows_no_repository():
    """One that embeds KR may hand over its own."""

    class Own:
        root = working_folder = Path()

        def version_of(self, _framework):
            return None

    assert repository_of("parcel", Own()).repository is None


@pytest.mark.req("Z2")
@pytest.mark.parametrize(
    "url",
    [
        "mcp.deepwiki.com",
        "http://127.0.0.1:2375/containers/db/kill?signal=KILL",
        "http://127.0.0.1:2375/containers/db/kill",
        "http://127.0.0.1:2375/kill#/mcp",
        "http://127.0.0.1:2375/kill?/mcp",
        "http://127.0.0.1:2375/kill /mcp",
        "http://127.0.0.1:2375mcp",
    ],
)
def test_an_address_that_is_none_of_an_mcp_server_is_refused(url):
    """With what to write; a request to any other path may do something on this machine."""
    with pytest.raises(ValidationError, match="give the address of a server"):
        DeepWikiSettings(url=url)


@pytest.mark.parametrize("url", ["https://mcp.deepwiki.com/mcp", "http://127.0.0.1:8000/a/mcp/"])
def test_an_address_of_an_mcp_server_is_taken(url):
    assert DeepWikiSettings(url=url).url == url


def test_a_registry_has_no_query():
    with pytest.raises(ValidationError, match="give the address of a registry"):
        DeepWikiSettings(pypi_url="https://pypi.example/?a=1")


# -- answers ---------------------------------------------------------------------------------------------


@pytest.mark.req("R13", "R18")
def test_an_answer_is_a_hint_that_leads_to_the_same_on_the_web():
    """Its links are no part of it, its words stay as they came, and it is never official."""
    finding = told(ToolResult(ANSWER, {"result": ANSWER}, False), QUESTION, "acme/parcel")
    assert finding.outcome is Outcome.ok
    assert (finding.url, finding.version) == ("https://deepwiki.com/acme/parcel", None)
    first = finding.passages[0]
    assert first.text == "The timeout of a parcel is set by the `timeout` argument of `send` ."
    assert first.title == "acme/parcel"
    assert {passage.url for passage in finding.passages} == {
        "https://deepwiki.com/search/how-do-i-set-a-timeout_7a1b-22"
    }
    assert {(passage.official, passage.agreement) for passage in finding.passages} == {(False, 2)}
    assert "explore" not in " ".join(passage.text for passage in finding.passages)


def test_an_answer_without_its_link_leads_to_the_wiki():
    """Neither does a link to anywhere else count."""
    text = "The timeout of a parcel is set so.\n\nView this search on DeepWiki: https://evil.example/search/x"
    finding = told(ToolResult("", {"result": text}, False), QUESTION, "acme/parcel")
    assert [passage.url for passage in finding.passages] == ["https://deepwiki.com/acme/parcel"]


@pytest.mark.req("R9", "R20")
@pytest.mark.parametrize(
    ("text", "is_error", "outcome", "said"),
    [
        ("Repository not found. Visit https://deepwiki.com to index it.", False, Outcome.unavailable, "does not know the repository acme/parcel; https://deepwiki.com/acme/parcel"),
        ("Error: visit https://deepwiki.com/acme/parcel to index it", True, Outcome.unavailable, "does not know"),
        ("Error processing question", True, Outcome.unavailable, "Error processing question"),
        ("Rate limit exceeded, please wait", False, Outcome.limited, "Rate limit"),
        ("", False, Outcome.empty, "said nothing"),
        ("I couldn't find anything about a timeout for a parcel.", False, Outcome.empty, "couldn't find"),
        ("Swallows fly.", False, Outcome.empty, "not about the question"),
    ],
)  # fmt: skip
def test_what_is_no_answer_has_its_outcome(text, is_error, outcome, said):
    """A repository that it does not know may be known tomorrow: that is no `nothing found`."""
    finding = told(ToolResult(text, None, is_error), QUESTION, "acme/parcel")
    assert finding.outcome is outcome
    assert said in finding.reason
    assert finding.passages == ()
