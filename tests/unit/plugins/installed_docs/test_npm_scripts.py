"""An npm package without type declarations: the comments in its code are its documentation."""

from itertools import pairwise

import pytest
from unit.plugins.installed_docs.test_npm import ask, lay, passages
from unit.plugins.installed_docs.test_npm_options import summary

from kr_plugins.sources.installed_docs.node.script_comments import bare_names, documented_names

PACK = """\
var now = require('./now');

/** What is said of a wrong crate. */
var WRONG = 'Expected a crate';

/**
 * Packs the things in `items` into a crate, after `wait` milliseconds.
 *
 * @static
 * @memberOf _
 * @param {Array} items The things to pack.
 * @param {number} [wait=0] How long to wait.
 * @param {Object} [options={}] The options object.
 * @param {boolean} [options.sealed=false]
 *  Specify whether the lid is nailed on.
 * @param {number} [options.maxWeight]
 *  The most that a crate may weigh.
 * @returns {Crate} Returns the crate.
 * @example
 *
 * var crate = _.pack(['tea'], 10, { 'sealed': true });
 */
function pack(items, wait, options) {
  return items;
}

module.exports = pack;
"""

LIB = """\
/**
 * Helps with lids.
 * @private
 */
exports.hidden = function () {}

/** Not exported, so no one calls it. */
function inner(lid) {}

/**
 * Take the lid off.
 *
 * @param {String} tool
 * @public
 */
crate.open = function open(tool) {
}

/** Count the crates. */
exports.count = (ship) => 3

/** A ship. */
class Ship {
  /** Load a crate onto the ship. */
  load(crate) {
    /** Inside of a method. */
    if (crate) { return 1 }
  }

  /** Sink. */
  async _sink() {
  }
}

/** Weigh a crate. */
Ship.prototype.weigh = function (crate) {}

module.exports = { Ship, open }

/** The last comment never ends
"""


@pytest.fixture
def crate(tmp_path):
    manifest = {"name": "crate", "version": "2.0.0", "main": "pack.js"}
    readme = "# crate\n\nCrates for ships.\n"
    files = {"package.json": manifest, "README.md": readme, "pack.js": PACK, "lib/ship.js": LIB}
    lay(tmp_path / "node_modules/crate", files)
    return tmp_path


@pytest.mark.req("A7")
def test_what_comments_say_of_exported_code_is_read(crate):
    found = {one.symbol: one for one in passages(crate)[0] if one.symbol}
    assert {"pack", "crate.open", "count", "Ship", "Ship.load", "Ship.weigh"} <= set(found)
    assert not {"WRONG", "hidden", "inner", "if", "Ship._sink"} & set(found)
    assert found["pack"].locator == "crate/pack.js:23"
    assert found["pack"].data["aliases"] == ["_.pack"]
    assert found["pack"].code == ("var crate = _.pack(['tea'], 10, { 'sealed': true });",)


@pytest.mark.req("A7", "R5")
def test_every_line_of_such_a_passage_stands_in_its_file(crate):
    lines = PACK.split("\n")
    (found,) = [one for one in passages(crate)[0] if one.symbol == "pack"]
    text = found.text.split("\n")
    runs = [*found.data["lines"], [len(text), 0]]
    for (start, line), (end, _line) in pairwise(runs):
        for offset, said in enumerate(text[start:end]):
            if said.strip() and not said.startswith("```"):
                assert said.strip() in lines[line - 1 + offset]


@pytest.mark.req("A2", "A7")
def test_the_options_that_a_comment_lists_are_the_answer(crate):
    told = summary(crate, "Which options does pack of crate take?")
    assert told.startswith("The options of `pack`: `sealed`, `maxWeight`.")
    assert "Packs the things" in told


@pytest.mark.req("A7")
def test_a_package_with_declarations_is_told_by_them_alone(crate):
    lay(crate / "node_modules/@types/crate", {
        "package.json": {"name": "@types/crate", "version": "2.0.0", "types": "index.d.ts"},
        "index.d.ts": "/** Fill a crate. */\nexport function fill(): void;\n",
    })  # fmt: skip
    assert [one.symbol for one in passages(crate)[0] if one.kind == "symbol"][:1] == ["fill"]
    assert "pack" not in {one.symbol for one in passages(crate)[0]}


@pytest.mark.req("A7")
def test_code_that_changes_is_read_again(crate, tmp_path):
    cache = tmp_path / "cache"
    assert ask(crate, "What does pack do in crate?", cache=cache).passages[0].symbol == "pack"
    lay(
        crate / "node_modules/crate",
        {"pack.js": PACK.replace("pack(", "store(").replace("= pack", "= store")},
    )
    assert ask(crate, "What does store do in crate?", cache=cache).passages[0].symbol == "store"


def test_unended_comments_cost_no_more_than_their_length():
    assert list(documented_names("/**\n" * 200_000, "crate")) == []
    assert list(documented_names("/** a */\n" * 50_000, "crate")) == []


@pytest.mark.req("A7")
def test_exported_code_without_a_comment_is_found_by_its_name_and_signature(tmp_path):
    lay(tmp_path / "node_modules/crate", {
        "package.json": {"name": "crate", "version": "2.0.0", "module": "index.mjs"},
        "index.mjs": "import {Factory} from './build/lib/crate-factory.js';\nexport default Factory();\n",
        "build/lib/crate-factory.js": (
            "export class CrateInstance {\n    constructor(name) {\n    }\n    demandLid(keys, text = fallback()) {\n"
            "        if (keys) {\n        }\n        return this;\n    }\n    _hidden(a) {\n    }\n}\n"
            "class Inner {\n    touch() {\n    }\n}\nexport function helper(a) {\n}\n"
        ),
        "lib/more.js": "function seal(lid) {\n}\nfunction own() {\n}\nmodule.exports = { seal };\n",
    })  # fmt: skip
    found = {one.symbol: one for one in passages(tmp_path)[0] if one.symbol}
    assert {"CrateInstance.demandLid", "seal"} <= set(found)
    assert not {"own", "helper", "Inner.touch", "CrateInstance._hidden", "CrateInstance.if"} & set(found)
    lid = found["CrateInstance.demandLid"]
    assert lid.locator == "crate/build/lib/crate-factory.js:4"
    assert (lid.data["required"], lid.data["aliases"]) == (["keys"], ["crate.demandLid"])
    answer = ask(tmp_path, "What does crate demandLid do?")
    assert (answer.unresolved, answer.passages[0].symbol) == ((), "CrateInstance.demandLid")


@pytest.mark.req("A1", "A7")
def test_an_option_that_a_comment_lists_is_found_with_the_default_of_its_function(tmp_path):
    comment = """\
/**
 * {does} the lid.
 *
 * @param {{Object}} [options={{}}] The options object.
 * @param {{boolean}} [options.leading={value}]
 *  Specify invoking on the leading edge of the lid.
 */
exports.{name} = function (options) {{}}
"""
    code = comment.format(does="Throws", value="true", name="throttle")
    code += comment.format(does="Opens", value="false", name="debounce")
    manifest = {"name": "crate", "version": "2.0.0"}
    lay(tmp_path / "node_modules/crate", {"package.json": manifest, "index.js": code})
    told = summary(tmp_path, "What is the default of leading in crate debounce?")
    assert "The default of `debounce.leading` is `false`." in told


def test_code_that_is_nearly_a_function_costs_no_more_than_its_length():
    for text in (
        "function a(" * 100_000,
        "a." * 300_000,
        "  a(" + "(b" * 200_000,
        "class A {\n  b(c) {\n" * 30_000,
    ):
        assert len(list(bare_names(text, "crate"))) < 100
