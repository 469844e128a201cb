"""What lies under the name of a package of npm may be another one, by an alias."""

from __future__ import annotations

import pytest
from unit.plugins.installed_docs.test_npm import lay, passages

TYPES = "/** Lift it. */\nexport declare function lift(): void;\n"
ALIAS = "npm:other-types@2.0.3"


def types(name: str = "other-types") -> dict[str, object]:
    return {"package.json": {"name": name, "version": "2.0.3", "types": "i.d.ts"}, "i.d.ts": TYPES}


@pytest.mark.req("R5", "Z8")
@pytest.mark.parametrize(("name", "folder"), [("crate", "@types/crate"), ("@big/box", "@types/big__box")])
def test_an_alias_of_a_dependency_is_not_read_as_the_types_of_a_package(tmp_path, name, folder):
    """npm lays `"@types/crate": "npm:other-types@2"` of any dependency where the types of `crate` would lie."""
    modules = tmp_path / "node_modules"
    lay(tmp_path, {"package.json": {"dependencies": {name: "2"}}})
    lay(modules / name, {"package.json": {"name": name, "version": "2.0.0"}})
    lay(
        modules / "evil",
        {"package.json": {"name": "evil", "version": "1.0.0", "dependencies": {folder: ALIAS}}},
    )
    lay(modules / folder, types())
    found, notes = passages(tmp_path, name)
    assert "lift" not in {passage.title for passage in found}
    assert f"{folder} left out: it is other-types 2.0.3" in notes
    lay(modules / folder, types(folder))
    found, notes = passages(tmp_path, name)
    assert "lift" in {passage.title for passage in found}
    assert notes == []


@pytest.mark.req("R5")
@pytest.mark.parametrize("asking", ["the project", "the package", "the package, in pnpm's store"])
def test_an_alias_that_the_project_or_the_package_itself_asks_for_is_read(tmp_path, asking):
    crate, wanted = {"name": "crate", "version": "2.0.0"}, {"@types/crate": ALIAS}
    modules = tmp_path / "node_modules"
    if asking == "the project":
        lay(tmp_path, {"package.json": {"devDependencies": wanted}})
    else:
        crate |= {"dependencies": wanted}
    if "pnpm" in asking:
        modules = modules / ".pnpm/crate@2.0.0/node_modules"
        modules.mkdir(parents=True)
        (tmp_path / "node_modules/crate").symlink_to(modules / "crate")
    lay(modules / "crate", {"package.json": crate})
    lay(modules / "@types/crate", types())
    lift = next(passage for passage in passages(tmp_path)[0] if passage.title == "lift")
    assert lift.data["url"] == "pkg:npm/other-types@2.0.3"


@pytest.mark.req("R5", "Z8")
@pytest.mark.parametrize("declared", [True, False])
def test_what_a_package_exports_of_an_alias_is_read_where_it_asks_for_it(tmp_path, declared):
    """Of a name that it does not ask for, an alias of anybody may be found."""
    crate = {"name": "crate", "version": "2.0.0", "types": "i.d.ts"}
    crate |= {"dependencies": {"core": "npm:other-types@2"}} if declared else {}
    lay(tmp_path / "node_modules/crate", {"package.json": crate, "i.d.ts": 'export * from "core";\n'})
    lay(tmp_path / "node_modules/core", types())
    found, notes = passages(tmp_path)
    assert ("lift" in {passage.title for passage in found}) == declared
    assert notes == ([] if declared else ["core left out: it is other-types 2.0.3"])


@pytest.mark.req("R5")
def test_an_alias_has_the_types_of_the_name_that_the_project_imports(tmp_path):
    """`"crate": "npm:crate-es@4"`: TypeScript reads `@types/crate` for it."""
    lay(tmp_path, {"package.json": {"dependencies": {"crate": "npm:crate-es@2"}}})
    lay(tmp_path / "node_modules/crate", {"package.json": {"name": "crate-es", "version": "2.0.0"}})
    lay(tmp_path / "node_modules/@types/crate", types("@types/crate"))
    found, notes = passages(tmp_path)
    assert "lift" in {passage.title for passage in found}
    assert notes == []
