"""Options of npm packages: their defaults and values, and the declarations that lie in other packages and files."""

import pytest
from unit.plugins.installed_docs.test_npm import ask, lay, passages, titles

from kr_core.evidence.sentences import prose, sentences
from kr_core.model import Outcome, Passage, ResearchQuery
from kr_core.research.report import draft_of, summary_text
from kr_plugins.sources.installed_docs.cited_passages import IndexAnswer
from kr_plugins.sources.installed_docs.dependency_answers import merge
from kr_plugins.sources.installed_docs.node.options import default_in

TYPES = """\
/** How a crate is packed. */
export interface PackOptions {
  /**
   * Milliseconds before packing ends.
   * @default 2500
   */
  patience?: number;
  /**
   * Who packs. Supports 'robot', 'crane', 'person'
   *
   * @defaultValue 'crane'
   */
  packer?: string;
}
interface ShipOptions {
  vessel?: string;
  /** Where to. */
  harbour?: string;
}
/** Ship a crate. */
export declare function shipCrate(name: string, options?: ShipOptions): void;
"""


def summary(folder, question, framework="crate"):
    found = ask(folder, question, framework)
    assert found.outcome is Outcome.ok
    query = ResearchQuery(
        framework=framework, framework_version="2.0.0", topic="t", tags=("t",), question=question
    )
    return summary_text(draft_of(query, [("installed_docs", found)]))


@pytest.fixture
def crate(tmp_path):
    manifest = {"name": "crate", "version": "2.0.0", "types": "index.d.ts"}
    lay(tmp_path / "node_modules/crate", {"package.json": manifest, "index.d.ts": TYPES})
    return tmp_path


@pytest.mark.req("A2")
@pytest.mark.parametrize(
    ("text", "default"),
    [
        ("@default 2500", "2500"),
        ("Defaults to 300 seconds.", "300 seconds"),
        ("Default: 16 KiB, as in Node", "16 KiB"),
        ("@defaultValue `true`", "true"),
        ("The limit. Defaults to '100kb'.", "'100kb'"),
        ("Default: `0` (no limit)", "0"),
        ("maxRedirects: 21, // default", "21"),
        ("timeout: 1000, // default is `0` (no timeout)", "0"),
        ("The size of a crate. Defaults\nto `'100kb'`.", "'100kb'"),
        ("A default that nobody tells.", None),
        ("@default " + "x" * 100, None),
    ],
)
def test_the_default_is_read_as_the_documentation_spells_it(text, default):
    """A tag, a sentence and a comment beside the value tell a default; other words do not."""
    assert default_in(text) == default


@pytest.mark.req("A2")
def test_the_default_of_an_option_is_the_first_sentence(crate):
    """A question for the default of an interface's member gets the value of its tag."""
    assert summary(crate, "What is the default patience of crate?").startswith(
        "The default of `PackOptions.patience` is `2500`."
    )


@pytest.mark.req("A2")
def test_the_values_of_an_option_are_listed(crate):
    """A question for the values of a member gets those that its comment lists."""
    assert "The options of `PackOptions.packer`: 'robot', 'crane', 'person'." in summary(
        crate, "Which values can packer take in crate?"
    )


@pytest.mark.req("A2")
def test_the_options_of_a_function_are_the_members_of_the_type_that_it_takes(crate):
    """The type need not be exported."""
    assert summary(crate, "What options does shipCrate take in crate?").startswith(
        "The options of `shipCrate`: `vessel`, `harbour`."
    )


@pytest.mark.req("A7")
def test_options_in_a_readme_go_by_the_type_that_has_them(tmp_path):
    """A long fence that lists options with comments documents the members of an interface without comments."""
    keys = [f"option{number}" for number in range(12)]
    fence = "".join(
        f"  // `{key}` is for the matter of {key}.\n  {key}: {key[6:]}0, // default\n\n" for key in keys
    )
    members = "".join(f"  {key}?: number;\n" for key in keys)
    lay(
        tmp_path / "node_modules/crate",
        {
            "package.json": {"name": "crate", "version": "2.0.0", "types": "index.d.ts"},
            "index.d.ts": f"export interface CrateConfig {{\n{members}}}\n",
            "README.md": f"# crate\n\n## Config\n\n```js\n{{\n{fence}}}\n```\n",
        },
    )
    assert "The default of `CrateConfig.option7` is `70`." in summary(tmp_path, "default option7 in crate")


@pytest.mark.req("A7")
def test_members_that_other_files_add_to_the_default_export_are_read(tmp_path):
    """What `/// <reference path>` names may add to the type of `export =`, as in the types of lodash."""
    index = '/// <reference path="./common/array.d.ts" />\nexport = _;\ndeclare const _: _.CrateStatic;\ndeclare namespace _ {\n  interface CrateStatic {}\n}\n'
    added = 'import _ = require("../index");\ndeclare module "../index" {\n  interface CrateStatic {\n    /** Takes what comes twice out. */\n    uniq(list: any[]): any[];\n  }\n}\n'
    lay(tmp_path / "node_modules/crate", {"package.json": {"name": "crate", "version": "2.0.0"}})
    manifest = {"name": "@types/crate", "version": "2.0.1", "types": "index.d.ts"}
    lay(
        tmp_path / "node_modules/@types/crate",
        {"package.json": manifest, "index.d.ts": index, "common/array.d.ts": added},
    )
    found = {passage.symbol: passage for passage in passages(tmp_path)[0]}
    assert found["crate.uniq"].data["aliases"] == ["_.uniq"]
    assert found["crate.uniq"].locator == "@types/crate/common/array.d.ts:5"


@pytest.mark.req("A6", "A7")
def test_types_of_the_major_version_before_are_read_under_their_own_number(tmp_path):
    """Types often come late; those of a later version are left out."""
    types = {"index.d.ts": "/** Lift it. */\nexport declare function lift(): void;\n"}
    lay(tmp_path / "node_modules/crate", {"package.json": {"name": "crate", "version": "3.0.0"}})
    manifest = {"name": "@types/crate", "version": "2.4.0", "types": "index.d.ts"}
    lay(tmp_path / "node_modules/@types/crate", {"package.json": manifest, **types})
    lift = next(one for one in passages(tmp_path)[0] if one.symbol == "lift")
    assert lift.data["version"] == "2.4.0"
    answer = ask(tmp_path, "What does lift of crate do?")
    assert answer.version == "3.0.0"
    assert (
        "@types/crate 2.4.0 declares another major version than crate 3.0.0, which is installed"
        in answer.notes
    )


@pytest.mark.req("A7")
def test_types_serve_where_only_a_side_entry_is_declared(tmp_path):
    """A package that declares `./browser` alone is still declared by `@types`."""
    manifest = {
        "name": "crate", "version": "2.0.0",
        "exports": {".": "./index.mjs", "./browser": {"types": "./browser.d.ts"}},
    }  # fmt: skip
    lay(
        tmp_path / "node_modules/crate",
        {"package.json": manifest, "browser.d.ts": "export declare const b: 1;\n"},
    )
    lay(
        tmp_path / "node_modules/@types/crate",
        {
            "package.json": {"name": "@types/crate", "version": "2.0.0", "types": "index.d.ts"},
            "index.d.ts": "/** Lift it. */\nexport declare function lift(): void;\n",
        },
    )
    assert "lift" in titles(tmp_path)


@pytest.mark.req("A7")
def test_members_of_a_type_of_another_package_of_types_are_inherited(tmp_path):
    """`interface Response extends core.Response` has its members, and `res.pack` is what users write."""
    lay(tmp_path / "node_modules/crate", {"package.json": {"name": "crate", "version": "2.0.0"}})
    lay(
        tmp_path / "node_modules/@types/crate",
        {
            "package.json": {"name": "@types/crate", "version": "2.0.0", "types": "index.d.ts"},
            "index.d.ts": 'import * as core from "crate-core";\nexport interface Response extends core.Response {}\n',
        },
    )
    lay(
        tmp_path / "node_modules/@types/crate-core",
        {
            "package.json": {"name": "@types/crate-core", "version": "2.0.0", "types": "index.d.ts"},
            "index.d.ts": "export interface Response {\n  /** Pack the answer. */\n  pack(it: string): void;\n  use: PackHandler<this>;\n}\n",
        },
    )
    found = {passage.symbol: passage for passage in passages(tmp_path)[0]}
    assert "res.pack" in found["Response.pack"].data["aliases"]
    assert "Response.use" in found


@pytest.mark.req("A1")
def test_a_method_that_an_instance_does_not_have_is_told(crate):
    """That the documentation says the word is not enough for `app.ship`."""
    found = ask(crate, "What does app.milliseconds do in crate?")
    assert [one.name for one in found.unresolved] == ["app.milliseconds"]


@pytest.mark.req("A1")
def test_what_a_module_exports_is_a_member_of_its_default_object(tmp_path):
    """`crate.isFull` after `import crate from "crate"`, where only a function of that name is declared."""
    lay(
        tmp_path / "node_modules/crate",
        {
            "package.json": {"name": "crate", "version": "2.0.0", "types": "index.d.ts"},
            "index.d.ts": "/** Whether a crate is full. */\nexport declare function isFull(): boolean;\n",
        },
    )
    first = ask(tmp_path, "What does crate.isFull do?").passages[0]
    assert (first.symbol, first.pinned) == ("isFull", True)


@pytest.mark.req("A7")
def test_what_a_symbol_is_based_on_is_asked_too(tmp_path):
    """`express.static` says that it is based on `serve-static`, whose README has the options."""
    lay(
        tmp_path / "node_modules/crate",
        {
            "package.json": {
                "name": "crate", "version": "2.0.0", "types": "index.d.ts", "dependencies": {"pack-core": "1"},
            },
            "index.d.ts": "/** Packs. It is based on pack-core. */\nexport declare function packAll(): void;\n",
        },
    )  # fmt: skip
    lay(
        tmp_path / "node_modules/pack-core",
        {
            "package.json": {"name": "pack-core", "version": "1.0.0"},
            "README.md": "# pack-core\n\n## Options\n\n### maxWeight\n\nThe weight of a crate, defaults to 40.\n",
        },
    )
    found = ask(tmp_path, "What is the default maxWeight of crate packAll?")
    assert [one.symbol or one.url for one in found.passages[:2]] == ["packAll", "pkg:npm/pack-core@1.0.0"]
    assert found.unresolved == ()


SHARED = """\
# pack-core

### packCore.json([options])

Packs papers, as json says.

#### Options

##### limit

Controls the maximum size of the papers. Defaults
to `'100kb'`.

##### seal

Whether a seal is put on.

### packCore.raw([options])

Packs as it comes.

#### Options

##### limit

Controls the maximum size of the heap. Defaults
to `'200kb'`.
"""


@pytest.mark.req("A7", "A14")
def test_an_option_below_the_heading_of_a_dependency_is_that_of_the_function_above(tmp_path):
    """Two functions have a `limit`; the answer has the one that the question means."""
    lay(tmp_path / "node_modules/crate", {
        "package.json": {"name": "crate", "version": "2.0.0", "types": "index.d.ts", "dependencies": {"pack-core": "1"}},
        "index.d.ts": "/** Packs papers. It is based on pack-core. */\nexport declare function json(): void;\n",
    })  # fmt: skip
    lay(tmp_path / "node_modules/pack-core", {
        "package.json": {"name": "pack-core", "version": "1.0.0"}, "README.md": SHARED,
    })  # fmt: skip
    answer = ask(
        tmp_path,
        "How large may papers be with crate.json and how do I raise it?",
        names=("crate.json", "limit"),
    )
    told = next(one for one in answer.passages if one.symbol == "packCore.json.limit")
    assert (told.default, told.locator, answer.unresolved) == ("'100kb'", "pack-core/README.md:9", ())
    assert not {"packCore.json.Options", "packCore.json.seal"} & {one.symbol for one in answer.passages}


@pytest.mark.req("A7", "A14")
def test_a_dependency_that_is_called_like_an_expected_name_comes_first():
    """The README of `hoist` tells what `Hoist` of the library does."""

    def answered(name, text, coverage):
        one = Passage(
            text=text, url=f"pkg:npm/{name}@1.0", locator=f"{name}/README.md:1", title=name, coverage=coverage
        )
        return IndexAnswer((one,), (), ())

    others = [
        answered("alpha", "How errors of handlers are caught, the next one too.", 1.0),
        answered("hoist", "If a handler throws errors, `next` is called with them.", 0.5),
    ]
    own = IndexAnswer((), (), ())
    merged = merge(own, others, "crate", ("Hoist", "next"))
    assert [one.title for one in merged.passages] == ["hoist", "alpha"]
    assert [one.title for one in merge(own, others, "crate").passages] == ["alpha"]


MEMBERS = """\
export interface CrateOptions {
  /**
   * As a list, the straps option specifies which straps hold the crate.
   *
   * If an object is supplied, three options can be specified:
   *
   *      names (String[]): Required. A list of straps
   *      colour (String): Optional. A value to paint the straps with. Default: 'red'
   *      tight (Boolean): Optional. Instead of laying the straps, pull them
   *        as tight as they can be. Default: false
   */
  straps?: string[] | object;
}
"""


@pytest.mark.req("A2", "A3")
def test_members_that_a_comment_lists_without_marks_are_sentences_of_their_own(tmp_path):
    manifest = {"name": "crate", "version": "2.0.0", "types": "index.d.ts"}
    lay(tmp_path / "node_modules/crate", {"package.json": manifest, "index.d.ts": MEMBERS})
    told = sentences(prose(ask(tmp_path, "What does straps of crate do?").passages[0].text))
    assert "colour (String): Optional. A value to paint the straps with. Default: 'red'" in told
    assert (
        "tight (Boolean): Optional. Instead of laying the straps, pull them as tight as they can be. Default: false"
        in told
    )
    assert not any(one.startswith("A list of straps") for one in told)


LISTED = """\
# Class: Crate

## Parameter: `CrateOptions`

What a crate is made with.

* **lidTimeout** `number | null` (optional) - Default: `300e3` - How long the crate waits for its lid,
  in milliseconds. Set to 0 to disable the limit.
* **labelTimeout** `number` (optional) - Default: `5e3` - How long it waits for a label.
* **straps** `StrapOptions` (optional) - What holds it together.
  * **maxStraps** `number` (optional) - Default: `12` - The number of straps. Set to 0 to disable the limit.
* **colour**: `string` - Default: `'red'`. How it is painted.

## Shelves

- `Shelf` and `Rack` hold crates.
- A lid closes it.
"""


@pytest.mark.req("A2")
def test_each_option_of_a_list_is_a_passage_with_its_default(tmp_path):
    types = """\
export declare class Crate { constructor(options?: Crate.Options); }
export declare namespace Crate {
  export interface Options {
    lidTimeout?: number | null;
    labelTimeout?: number;
    straps?: object;
    colour?: string;
  }
}
"""
    manifest = {"name": "crate", "version": "2.0.0", "types": "index.d.ts"}
    files = {"package.json": manifest, "index.d.ts": types, "docs/api/Crate.md": LISTED}
    lay(tmp_path / "node_modules/crate", files)
    found = {
        one.data.get("option") or one.symbol: one
        for one in passages(tmp_path)[0]
        if "Crate.md" in one.locator
    }
    lid = found["Crate.Options.lidTimeout"]
    assert (lid.locator, lid.data["default"]) == ("crate/docs/api/Crate.md:7", "300e3")
    assert lid.text.endswith("Set to 0 to disable the limit.")
    assert found["maxStraps"].text.strip().startswith("* **maxStraps**")
    assert "maxStraps" not in found["Crate.Options.straps"].text
    assert "Shelf" not in found
    told = summary(tmp_path, "crate: set a timeout for waiting for the lid")
    assert "`300e3`" in told
    assert "How long the crate waits for its lid" in told


@pytest.mark.req("A2")
def test_a_list_of_few_options_stays_in_its_section(tmp_path):
    text = (
        "# crate\n\n## Options\n\nThere are two.\n\n- `lid`: closes the crate.\n- `label`: names the crate.\n"
    )
    lay(
        tmp_path / "node_modules/crate",
        {"package.json": {"name": "crate", "version": "2.0.0"}, "README.md": text},
    )
    assert [title for title in titles(tmp_path) if "lid" in title] == []


HEADED = """\
# Server

## Factory

The factory takes an options object.

### `lidLimit`
<a id="factory-lid-limit"></a>

+ Default: `1048576` (1MiB)

Defines the maximum weight, in grams, that the lid is allowed to carry.

### `onFall` (Function)

+ Default: `'error'`

Defines what happens when it falls.

### `labels`

Which labels are printed.

### `paint` (String):

How it is painted, with a brush or a roller.
"""


@pytest.mark.req("A2")
def test_a_section_below_the_name_of_an_option_goes_by_the_type_that_has_it(tmp_path):
    types = """\
declare namespace crate {
  export type CrateOptions<T = 1> = { lidLimit?: number, onFall?: () => void, labels?: string[], paint?: string }
}
declare function crate(options?: crate.CrateOptions): void;
export = crate;
"""
    manifest = {"name": "crate", "version": "2.0.0", "types": "index.d.ts"}
    files = {"package.json": manifest, "index.d.ts": types, "docs/Server.md": HEADED}
    lay(tmp_path / "node_modules/crate", files)
    lid = next(one for one in passages(tmp_path)[0] if one.symbol == "crate.CrateOptions.lidLimit")
    assert (lid.data["default"], lid.locator) == ("1048576", "crate/docs/Server.md:7")
    told = summary(tmp_path, "crate: how do I set the maximum weight of the lid?")
    assert told.startswith("`crate.CrateOptions.lidLimit` (default `1048576`): ")
    assert "Defines the maximum weight, in grams, that the lid is allowed to carry." in told
    told = summary(tmp_path, "What is the default of lidLimit in crate?")
    assert told.startswith("The default of `crate.CrateOptions.lidLimit` is `1048576`.")


@pytest.mark.req("A2")
def test_an_option_of_a_nested_type_shows_below_which_option_it_goes(tmp_path):
    types = """\
export interface CommonShelf {
  /** Configure the rules of who may open it. */
  rules?: string[];
}
interface ShelfOptions extends CommonShelf {
  /** Where it hangs. */
  wall?: string;
}
interface PartConfig {
  /** The shelf. */
  shelf?: ShelfOptions;
}
export interface CrateConfig extends PartConfig {
  /** Its size. */
  size?: number;
}
export interface Loose {
  /** Configure whether it is loose. */
  loosely?: boolean;
}
/** Describe a crate. */
export declare function defineCrate(config: CrateConfig): void;
"""
    manifest = {"name": "crate", "version": "2.0.0", "types": "index.d.ts"}
    lay(tmp_path / "node_modules/crate", {"package.json": manifest, "index.d.ts": types})
    found = {one.symbol: one for one in passages(tmp_path)[0]}
    assert "CommonShelf.rules" in found["CrateConfig.shelf.rules"].data["aliases"]
    assert {"CrateConfig.size", "Loose.loosely"} <= set(found)
    told = summary(tmp_path, "How do I configure the rules of the crate's shelf?")
    assert told.startswith("`CrateConfig.shelf.rules`: Configure the rules of who may open it.")


@pytest.mark.req("A2")
def test_the_type_of_an_option_is_explained(tmp_path):
    types = """\
export interface WaitOptions {
  /** Name of the strategy. */
  kind: 'fixed' | 'growing';
  /** Delay in milliseconds. */
  delay?: number;
}
export type Tone = 'loud' | 'low';
export interface Wide<T = 'low'> extends Other<T> {}
export interface GrownOptions extends WaitOptions {
  /** How tall it is. */
  height?: number;
}
export interface DeepOptions {
  floor: string;
  lid: {
    floor: number;
  };
}
export interface CrateOptions {
  /** How deep a crate may get. */
  deep?: DeepOptions;
  /** How tall a crate has become. */
  grown?: GrownOptions;
  /** How wide a crate may get. */
  width?: Wide;
  /** How long a crate waits before it is packed again. */
  wait?: number | WaitOptions;
  /** How a crate sounds when it is shut. */
  sound?: Tone;
}
"""
    manifest = {"name": "crate", "version": "2.0.0", "types": "index.d.ts"}
    lay(tmp_path / "node_modules/crate", {"package.json": manifest, "index.d.ts": types})
    told = summary(tmp_path, "How do I set how long a crate waits before it is packed again?")
    assert told.startswith("`CrateOptions.wait`: How long a crate waits before it is packed again.")
    assert "The type `WaitOptions` has `kind: 'fixed' | 'growing'` and `delay?: number`." in told
    told = summary(tmp_path, "How do I set how a crate sounds when shut?")
    assert "The type `Tone` is `'loud' | 'low'`." in told
    told = summary(tmp_path, "How do I set how tall a crate has become?")
    assert told.startswith("`CrateOptions.grown`")
    assert "The type" not in told
    told = summary(tmp_path, "How do I set how wide a crate may get?")
    assert told.startswith("`CrateOptions.width`")
    assert "The type" not in told
    told = summary(tmp_path, "How do I set how deep a crate may get?")
    assert told.startswith("`CrateOptions.deep`")
    assert "floor: number" not in told


@pytest.mark.req("A2")
def test_the_values_of_an_option_without_documentation_come_from_its_type(tmp_path):
    types = """\
import { MODES } from './constants';
export type ModeMap = typeof MODES;
export type Mode = keyof ModeMap;
export type Tone = 'loud' | 'low';
export type UseCrateProps = Partial<{
  mode: Mode;
  tone: Tone;
  size: number;
}>;
/** Make and use a crate. */
export declare function useCrate(props?: UseCrateProps): void;
"""
    constants = """\
export declare const MODES: {
    readonly onShut: "onShut";
    readonly onOpen: "onOpen";
    readonly all: "all";
};
"""
    manifest = {"name": "crate", "version": "2.0.0", "types": "index.d.ts"}
    files = {"package.json": manifest, "index.d.ts": types, "constants.d.ts": constants}
    lay(tmp_path / "node_modules/crate", files)
    found = [one.symbol for one in passages(tmp_path)[0]]
    assert "UseCrateProps.mode" in found
    assert "UseCrateProps.size" not in found
    told = summary(tmp_path, "crate useCrate mode option values and default")
    assert "`UseCrateProps.mode`" in told
    assert "The type `Mode` is `keyof ModeMap`: `onShut`, `onOpen`, `all`." in told
    told = summary(tmp_path, "What values can the tone option of useCrate in crate take?")
    assert "`'loud' | 'low'`" in told or "'loud' | 'low'" in told


@pytest.mark.req("A3", "R5")
def test_of_a_package_without_types_nothing_is_said_to_be_nowhere(tmp_path):
    """Its code, which is not read, may have what its texts do not say."""
    manifest = {"name": "crate", "version": "2.0.0"}
    readme = "# crate\n\nCrates for ships.\n\n## Lids\n\nA lid is put on a crate.\n"
    lay(tmp_path / "node_modules/crate", {"package.json": manifest, "README.md": readme})
    _found, (note,) = passages(tmp_path)
    assert (
        note
        == "crate: it has no type declarations, so only its texts and the comments in its code were read; `@types/crate` may have them"
    )
    assert ask(tmp_path, "What does the maxwobble of a lid do in crate?").missing == ()


@pytest.mark.req("A1", "A2")
def test_an_option_of_one_type_is_not_that_of_another_and_what_takes_it_is_named(tmp_path):
    """The same words document an option of several types, each of which another function takes."""
    options = "".join(
        f"export interface {name}Options {{\n  /** Thickness, integer 1-100. */\n  thickness?: number;\n}}\n"
        for name in ("Chest", "Barrel", "Basket")
    )
    types = options + "".join(
        f"/** Make a {name.lower()}. */\nexport function {name.lower()}(options?: {name}Options): void;\n"
        for name in ("Chest", "Barrel", "Basket")
    )
    types = f"/** What a barrel has. */\nexport function usual(): BarrelOptions;\n{types}"
    manifest = {"name": "crate", "version": "2.0.0", "types": "index.d.ts"}
    lay(tmp_path / "node_modules/crate", {"package.json": manifest, "index.d.ts": types})
    told = summary(tmp_path, "crate: how do I set the thickness of a barrel?")
    assert "`BarrelOptions.thickness`: Thickness, integer 1-100." in told
    assert "`barrel(options)` takes `BarrelOptions`." in told
    assert "ChestOptions" not in told.partition("`BarrelOptions.thickness`")[0]


@pytest.mark.req("A7")
def test_entries_of_a_changelog_come_behind_what_holds_now(tmp_path):
    changes = "# Changes\n\n## 2.0.0\n\n- A barrel of green tea is nailed shut with `nail`.\n"
    readme = "# crate\n\nCrates for ships.\n\n## Barrels\n\nA barrel of water is shut by hand.\n"
    files = {
        "package.json": {"name": "crate", "version": "2.0.0"},
        "README.md": readme,
        "CHANGELOG.md": changes,
    }
    lay(tmp_path / "node_modules/crate", files)
    found = ask(tmp_path, "How do I nail a barrel of green tea shut with crate?").passages
    assert [one.locator.partition(":")[0] for one in found[:2]] == ["crate/README.md", "crate/CHANGELOG.md"]


@pytest.mark.req("A3")
def test_the_default_of_what_an_object_may_have_is_not_that_of_the_option():
    text = "Hides values.\n\nIf an object is given:\n\n     paths (String[]): Required.\n     censor (String): Optional. Default: '[Redacted]'"
    assert default_in(text) is None
    assert default_in("Hides values. Default: 'none'") == "'none'"
