"""What the comments in a package's scripts say beyond its declarations: descriptions, and the defaults of options."""

from itertools import pairwise

import pytest
from unit.plugins.installed_docs.test_npm import ask, lay, passages
from unit.plugins.installed_docs.test_npm_options import summary

STACK = """\
var now = require('./now');

/**
 * Stacks `crates` after `wait` milliseconds, as the harbour does.
 *
 * @static
 * @memberOf _
 * @param {Array} crates The crates to stack.
 * @param {number} [wait=250] The number of milliseconds to delay.
 * @param {Object} [options={}] The options object.
 * @param {boolean} [options.upright=false]
 *  Specify stacking the crates upright.
 * @param {number} [options.maxWeight=104857600] The maximum allowed
 *     weight
 */
function stack(crates, wait, options) {
  return crates;
}

module.exports = stack;
"""
SHIP = """\
const base = require('./base');

/**
 * Class representing a cargo ship.
 */
class CargoShip extends Base {
  /**
   * Create a `CargoShip` instance.
   *
   * @param {Object} options Configuration options
   * @param {Number} [options.maxDepth=512] The maximum depth of the ship
   * @param {Function} [options.Crate=Crate] The class of its crates
   * @param {Function} [callback] A listener for the launch
   */
  constructor(options, callback) {
    super();
  }

  /**
   * Haul the anchor in, slowly.
   *
   * @param {Number} [code] Why
   */
  haul(code) {
  }
}

module.exports = CargoShip;
"""
TYPES = """\
export = Crate;
declare const Crate: Crate.CrateStatic;
declare namespace Crate {
  interface StackOptions {
    upright?: boolean;
    maxWeight?: number;
  }
  interface ShipOptions {
    maxDepth?: number;
  }
  interface CrateStatic {
    /**
     * Stacks crates, as declared.
     *
     * @param crates The crates to stack.
     * @param options.upright Specify stacking upright.
     */
    stack(crates: any[], wait?: number, options?: StackOptions): void;
    /** Sinks it. */
    sink(depth: number): void;
  }
  class CargoShip {
    constructor(options?: ShipOptions, callback?: () => void);
    haul(code?: number): void;
  }
}
"""


@pytest.fixture
def crate(tmp_path):
    lay(tmp_path / "node_modules/@types/crate", {
        "package.json": {"name": "@types/crate", "version": "2.0.1", "types": "index.d.ts"},
        "index.d.ts": TYPES,
    })  # fmt: skip
    return lay(tmp_path, {
        "package.json": {"dependencies": {"crate": "2.0.0"}},
        "node_modules/crate/package.json": {"name": "crate", "version": "2.0.0", "main": "index.js"},
        "node_modules/crate/index.js": "module.exports = {};\nmodule.exports.CargoShip = require('./lib/ship');\n",
        "node_modules/crate/stack.js": STACK,
        "node_modules/crate/lib/ship.js": SHIP,
        "node_modules/crate/lib/sink.js": (
            "/**\n * Counts what is in the sink.\n *\n * @param {Array} [plates=3] The plates.\n */\n"
            "exports.sink = function (plates) {}\n"
        ),
    })  # fmt: skip


@pytest.mark.req("A2", "A7")
def test_the_default_that_only_a_script_tells_is_that_of_the_declared_function(crate):
    told = summary(crate, "What is the default of upright in crate stack?")
    assert "The default of `Crate.stack.upright` is `false`." in told
    assert "`250`" in summary(crate, "What is the default wait of crate stack?")
    assert "`104857600`" in summary(crate, "What is the default of maxWeight in crate stack?")


@pytest.mark.req("A2", "A7")
def test_an_option_of_a_constructor_has_the_default_that_its_script_tells(crate):
    answer = ask(crate, "What is the default of maxDepth of a crate CargoShip?")
    assert answer.unresolved == ()
    assert answer.passages[0].locator == "crate/lib/ship.js:11"
    assert "`512`" in summary(crate, "What is the default of maxDepth of a crate CargoShip?")


@pytest.mark.req("A7")
def test_the_declarations_describe_a_function_and_a_script_only_what_they_do_not(crate):
    found = {one.symbol: one for one in reversed(passages(crate)[0]) if one.symbol}
    assert found["Crate.stack"].lead == "Stacks crates, as declared."
    assert found["Crate.CargoShip.haul"].lead == "Haul the anchor in, slowly."
    assert found["Crate.CargoShip.haul"].locator == "crate/lib/ship.js:24"
    assert found["Crate.CargoShip"].lead == ""  # `Class representing a cargo ship.` says nothing of it
    assert "Crate.CargoShip.Crate" not in found
    assert [one.locator for one in passages(crate)[0] if one.symbol == "Crate.stack.upright"] == [
        "crate/stack.js:11"
    ]


@pytest.mark.req("A7")
def test_a_function_that_takes_something_else_is_another_one(crate):
    assert "Crate.sink.plates" not in {one.symbol for one in passages(crate)[0]}


@pytest.mark.req("A7")
def test_nothing_is_joined_from_what_is_minified_or_bundled(crate):
    folder = crate / "node_modules/crate"
    minified = STACK.replace("return crates;", f"return [{'0,' * 20_000}];")
    for code in (minified, STACK + "// more\n" * 60_000):
        lay(folder, {"stack.js": code})
        assert [one.locator for one in passages(crate)[0] if one.symbol == "Crate.stack.upright"] == [
            "@types/crate/index.d.ts:16"
        ]


@pytest.mark.req("A7")
def test_a_name_that_several_scripts_document_is_that_of_the_file_called_so(crate):
    lay(crate / "node_modules/crate", {"again.js": STACK.replace("upright=false", "upright=true")})
    assert "is `false`" in summary(crate, "What is the default of upright in crate stack?")


@pytest.mark.req("A7")
def test_a_script_that_changes_in_a_member_of_the_project_is_read_again(crate, tmp_path):
    question, cache = "What is the default of upright in crate stack?", tmp_path / "cache"
    assert ask(crate, question, cache=cache).passages[0].locator == "crate/stack.js:11"
    lay(crate / "node_modules/crate", {"stack.js": "\n" + STACK})
    assert ask(crate, question, cache=cache).passages[0].locator == "crate/stack.js:12"


@pytest.mark.req("A7", "R5")
def test_every_line_of_a_joined_passage_stands_in_its_file(crate):
    for one in passages(crate)[0]:
        path = one.locator.rpartition(":")[0]
        lines = (crate / "node_modules" / path).read_text().split("\n")
        text = one.text.split("\n")
        for (start, line), (end, _line) in pairwise([*one.data["lines"], [len(text), 0]]):
            for offset, said in enumerate(text[start:end]):
                if said.strip() and not said.startswith("```"):
                    assert said.strip() in lines[line - 1 + offset]
