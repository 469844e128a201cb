"""What strangers write: installed from wheels, tested by itself, listed, activated, used and removed."""

from __future__ import annotations

import json
import tomllib
import zipfile

import pytest
import yaml
from strangers.building import PACKAGES, ROOT, Environment, unpacked_tests, uv

FROM_TEMPLATE = [package for package in PACKAGES if package.plugin.startswith("our_")]
OURS = {package.noun: package.plugin for package in FROM_TEMPLATE}


def configure(project, **keys):
    (project / "kr.yaml").write_text(yaml.safe_dump(keys), "utf-8")


def contents(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_sdist_builds_the_same_wheel(built, tmp_path):
    """Who builds from the archive gets what who builds from the repository gets."""
    uv("build", "--quiet", "--wheel", "--out-dir", tmp_path, ROOT)
    (direct,) = tmp_path.glob("*.whl")
    assert contents(direct) == contents(built["kr-core"].wheel)


def test_the_wheel_brings_no_name_that_others_use(built):
    """No `tests`, `plugins` or `templates` lands in anybody's site-packages."""
    tops = {name.partition("/")[0] for name in contents(built["kr-core"].wheel)}
    assert {top for top in tops if not top.endswith(".dist-info")} == {
        "kr_core",
        "kr_plugins",
        "kr_templates",
    }


def run_tests(environment, tmp_path, *arguments, cwd):
    """Run pytest in the strangers' environment; what it printed."""
    own = ("--basetemp", tmp_path / "made")  # other runs clear the common folder
    done = environment.run("pytest", "-v", "-p", "no:cacheprovider", *own, *arguments, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.req("P4")
@pytest.mark.parametrize(
    "package", [one for one in PACKAGES if one not in FROM_TEMPLATE], ids=lambda package: package.distribution
)
def test_its_own_tests_pass(package, environment, built, tmp_path):
    """Each package's tests, KR's contract among them, pass on the wheel, with warnings as errors."""
    tests = unpacked_tests(built[package.distribution].sdist, tmp_path)
    assert " PASSED " in run_tests(environment, tmp_path, cwd=tests)


@pytest.mark.req("P4")
def test_the_tests_of_each_kind_of_the_template_pass(environment, built, tmp_path):
    """The same for what the template makes, in one run: the settings of the tests are the same in all of them."""
    roots = {
        one.plugin: unpacked_tests(built[one.distribution].sdist, tmp_path / one.plugin)
        for one in FROM_TEMPLATE
    }
    files = [root / "pyproject.toml" for root in roots.values()]
    first, *others = [tomllib.loads(file.read_text("utf-8"))["tool"]["pytest"] for file in files]
    assert first["ini_options"]["filterwarnings"] == ["error"]
    assert all(one == first for one in others)
    of_first = ("-c", files[0], "--rootdir", tmp_path, "--import-mode=importlib")
    said = run_tests(
        environment, tmp_path, *of_first, *(root / "tests" for root in roots.values()), cwd=tmp_path
    )
    passed = [line.partition("/")[0] for line in said.splitlines() if " PASSED " in line]
    assert set(passed) == set(roots)


@pytest.mark.req("P2")
def test_kr_lists_each_with_its_distribution(kr):
    """`kr plugins` says who ships what, and that none is active until a configuration names it."""
    listed = {row["name"]: row for row in json.loads(kr("plugins", "--json").stdout)}
    for package in PACKAGES:
        row = listed[package.plugin]
        assert row["distribution"] == package.distribution, row
        assert row["version"], row
        assert row["state"] == "installed", row


@pytest.mark.req("P4")
@pytest.mark.parametrize(
    ("source", "question", "place"),
    [
        ("notes", "How do we deploy the order service?", "notes/services/orders.md:5"),
        ("decisions", "Why is the order queue a SQLite table?", "decisions/0007-use-sqlite.md:1"),
        (OURS["source"], "What is the lead time of an order?", "glossary.txt:1"),
    ],
)
def test_a_configuration_activates_a_source(kr, project, source, question, place):
    """Named in kr.yaml it answers, with file and line; before that it does not."""
    asked = ("research", question, "--framework", "shop", "--json")
    configure(project, knowledge_research={"sources": ["installed_docs"]})
    assert json.loads(kr(*asked).stdout)["results"]["citations"] == []
    configure(project, knowledge_research={"sources": [source]})
    result = json.loads(kr(*asked).stdout)["results"]
    assert place in {citation["locator"] for citation in result["citations"]}, result
    assert result["summary"], result
    checked = kr("doctor")
    assert checked.returncode == 0, checked.stdout


@pytest.mark.req("P3", "P4")
def test_every_part_is_replaced_at_once(kr, project):
    """With the seven packages of the template KR runs on strangers' parts alone."""
    configure(
        project,
        knowledge_research={"sources": [OURS["source"]]},
        logs=[OURS["log"]],
        **{noun: OURS[noun] for noun in ("store", "lookup", "scorer", "renderer", "journal")},
    )
    asked = ("research", "What is the lead time of an order?", "--framework", "shop", "--json")
    first, again = (json.loads(kr(*asked).stdout) for _ in range(2))
    assert (first["status"], again["status"]) == ("success", "cache-hit"), (first, again)
    assert (project / "knowledge-base" / f"{OURS['store']}.sqlite").exists()
    assert (project / ".kr" / f"{OURS['journal']}.sqlite").exists()
    kinds = [line.split("\t")[-1] for line in (project / f".kr/{OURS['log']}.tsv").read_text().splitlines()]
    assert kinds.count("run.finished") == 2
    checked = kr("doctor")
    assert checked.returncode == 0, checked.stdout


@pytest.mark.req("P4")
def test_what_a_strangers_renderer_writes_can_be_verified(kr, project):
    """`kr verify` finds claims, code and citations again in another form of report."""
    configure(project, knowledge_research={"sources": ["notes"]}, renderer=OURS["renderer"])
    assert kr("research", "How do we deploy the order service?", "--framework", "shop").returncode == 0
    checked = kr("verify", "shop-deploy-the-order-service")
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.req("P2")
def test_what_is_uninstalled_is_gone(built, shop, project, tmp_path_factory):
    """`kr plugins` no longer lists it, and a configuration that still names it is told so."""
    own = Environment(tmp_path_factory.mktemp("own"))
    own.make(built["kr-core"].wheel, built["kr-source-example"].wheel)
    configure(project, knowledge_research={"sources": ["notes"]})
    assert "kr-source-example" in own.run("kr", "plugins", cwd=project).stdout
    own.uv("uninstall", "kr-source-example")
    after = own.run("kr", "plugins", cwd=project)
    assert "kr-source-example" not in after.stdout
    told = own.run(
        "kr", "research", "How do we deploy the order service?", "--framework", "shop", cwd=project
    )
    assert told.returncode == 2
    assert "no plugin is called `notes`" in told.stderr
    assert "kr.yaml:" in told.stderr
