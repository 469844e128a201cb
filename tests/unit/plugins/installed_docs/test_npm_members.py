"""Members that a question names and an npm package does not have: KR says so, and only where it knows them all."""

import pytest
from unit.plugins.installed_docs.test_npm import ask, lay, passages

README = """\
# crate

Set `kind: "stream"` to get the crate as a stream. `crate.legacyPack()` packs as version 1 did.
"""
TYPES = """\
import { Emitter } from "emitter";
interface Base {
  /** Pack one thing. */
  pack(thing: string): void;
  set label(text: string);
}
export interface CrateStatic extends Base {
  width: number;
  /** Ship it. */
  ship(): void;
}
/** A lid of a crate. */
export declare class Lid {
  open(): void;
  private hinge(): void;
}
export interface Anything {
  [key: string]: unknown;
  /** Weigh it. */
  weigh(): number;
}
/** Emits when it is full. */
export declare class Listened extends Emitter {
  fill(): void;
}
/** Make a shelf. */
export declare function shelf(): Shelf;
export interface Shelf {
  /** Put a crate on it. */
  put(): void;
}
export declare namespace shelf {
  function hammer(): void;
}
declare const crate: CrateStatic;
export default crate;
"""


@pytest.fixture
def crate(tmp_path):
    manifest = {"name": "crate", "version": "2.0.0", "types": "index.d.ts"}
    lay(tmp_path / "node_modules/crate", {"package.json": manifest, "index.d.ts": TYPES, "README.md": README})
    return tmp_path


@pytest.mark.req("R5")
@pytest.mark.parametrize(
    "name",
    ["crate.stream", "CrateStatic.stream", "Lid.stream", "shelf.stream", "crate.frobnicate"],
)
def test_a_member_that_a_package_does_not_have_is_said_to_be_absent(crate, name):
    found = ask(crate, f"How do I use crate's {name}() to fetch a file?")
    assert [one.name for one in found.unresolved] == [name]


@pytest.mark.req("R5")
@pytest.mark.parametrize(
    "name",
    [
        "crate.pack",
        "crate.width",
        "crate.label",
        "crate.legacyPack",
        "crate.toString",
        "Lid.hinge",
        "Lid.constructor",
        "shelf.put",
        "shelf.bind",
        "shelf.hammer",
        "Anything.stream",
        "Listened.stream",
    ],
)
def test_nothing_is_said_of_a_member_that_may_be_there(crate, name):
    assert ask(crate, f"How do I use crate's {name}() to fetch a file?").unresolved == ()


@pytest.mark.req("R5")
def test_where_nothing_else_fits_the_absent_name_is_still_told(crate):
    found = ask(crate, "What does crate.frobnicate do?")
    assert [one.name for one in found.unresolved] == ["crate.frobnicate"]
    assert found.passages
    assert found.passages[0].symbol == "crate"
    assert found.passages[0].coverage == 0


@pytest.mark.req("R5")
@pytest.mark.parametrize(
    "question",
    [
        "What is the crate-maker option maxFrobs for?",
        "maxFrobs in Shelves Crate v2 - where did it go?",
        "What is the default of maxFrobs in @shelves/crate-maker?",
    ],
)
def test_a_library_whose_name_has_hyphens_or_a_scope_is_named_too(tmp_path, question):
    manifest = {"name": "@shelves/crate-maker", "version": "2.0.0", "types": "index.d.ts"}
    files = {"package.json": manifest, "index.d.ts": TYPES, "README.md": README}
    lay(tmp_path / "node_modules/@shelves/crate-maker", files)
    found = ask(tmp_path, question, "@shelves/crate-maker")
    assert [one.name for one in found.unresolved] == ["maxFrobs"]


@pytest.mark.req("A7")
def test_a_namespace_lends_what_is_declared_around_it_and_types_that_are_called_make_methods(tmp_path):
    types = """\
interface Crate<T = any> extends Crate.Query<T> {
  seal(lid: string): void;
  seal(lid: string, glue: boolean): void;
}
declare function crate(name: string): Crate<any>;
declare namespace crate {
  export { crate, crate as default, Crate };
}
declare namespace Crate {
  interface Query<T> {
    whereIn: WhereIn<T>;
    size: Size;
  }
  interface WhereIn<T> {
    (column: string, values: readonly T[]): Query<T>;
  }
  interface Size { width: number }
}
export = crate;
"""
    manifest = {"name": "crate", "version": "2.0.0", "types": "index.d.ts"}
    lay(tmp_path / "node_modules/crate", {"package.json": manifest, "index.d.ts": types})
    found = {one.symbol: one for one in passages(tmp_path)[0] if one.symbol}
    assert {"crate", "Crate", "crate.whereIn", "crate.seal"} <= set(found)
    assert found["crate.whereIn"].data["required"] == ["column", "values"]
    assert "(column: string, values: readonly T[]): Query<T>" in found["crate.whereIn"].text
    assert "seal(lid: string, glue: boolean): void" in found["crate.seal"].text
    assert not any(name.endswith(".size") for name in found)


@pytest.mark.req("A14", "A7")
def test_a_subpath_comes_before_what_lies_below_others(tmp_path):
    """Packages may list hundreds of entries; `./harbour` exports what `./harbour/crane` does."""
    deep = {f"./dock/{number}": {"types": f"./dock/{number}.d.ts"} for number in range(300)}
    exports = {".": {"types": "./index.d.ts"}, **deep, "./harbour": {"types": "./harbour/index.d.ts"}}
    files = {
        f"dock/{number}.d.ts": f"export declare function dock{number}(): void;\n" for number in range(300)
    }
    lay(tmp_path / "node_modules/crate", {
        "package.json": {"name": "crate", "version": "2.0.0", "exports": exports}, **files,
        "index.d.ts": "/** Lift it. */\nexport declare function lift(): void;\n",
        "harbour/index.d.ts": (
            "export declare class Crane {\n  /** Turns the load round, and loads it where it is not there. */\n"
            "  turnOrLoad(config: { load: string }): this;\n}\n"
        ),
    })  # fmt: skip
    answer = ask(tmp_path, "How do I load a crane in crate unless it has its load?", names=("turnOrLoad",))
    assert answer.unresolved == ()
    assert answer.passages[0].symbol == "Crane.turnOrLoad"
