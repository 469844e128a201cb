"""Errors that the code of an npm package raises: found when a question quotes one."""

import time

import pytest
from unit.plugins.installed_docs.test_npm import ask, lay
from unit.plugins.installed_docs.test_npm_options import summary

from kr_core.question.dependency_search import choose_framework
from kr_core.toolkit import LocalProject
from kr_plugins.sources.installed_docs.node.package import read_package
from kr_plugins.sources.installed_docs.node.script_messages import messages_like

CODE = """\
'use strict'
// A crate that is not shut sinks: that's why
function send (crate, name) {
  if (!crate.shut) {
    throw new CrateError('the lid is off')
  }
  const other = 'x'
  if (crate.heavy) {
    return done(new Error('Crate ' + name + ' weighs more than ' + limit(crate) + ' tons. ' +
      'Did you pack lead?'))
  }
}

class SunkError extends CrateError {
  constructor (name) {
    super('Cannot raise `' + name + '` from the sea floor.')
  }
}

const codes = {
  CRATE_TOO_WET: createError(
    'CRATE_TOO_WET',
    `The crate is too wet for ${ship}`,
    413
  )
}
"""
README = """\
# crate

Crates for ships.

## Errors

Crates raise errors.

### CrateError

- 'the lid is off': shut the crate with `crate.shut()` first

Code | How to solve
--- | ---
CRATE_TOO_WET | For a crate that is too wet: `dry: true`
"""


@pytest.fixture
def crate(tmp_path):
    manifest = {"name": "crate", "version": "2.0.0", "main": "lib/send.js"}
    files = {"package.json": manifest, "README.md": README, "lib/send.js": CODE}
    lay(tmp_path / "node_modules/crate", files)
    return tmp_path


def told_of(crate, quote):
    package = read_package("crate", crate / "node_modules/crate")
    return [
        (one.data["error"], one.data["where"], one.lead, one.locator, one.data["raised"])
        for one in messages_like(package, [quote], lambda: None)
    ]


@pytest.mark.req("A1", "A13")
def test_a_message_is_found_with_its_class_its_function_and_the_statement_around_it(crate):
    ((error, where, text, locator, code),) = told_of(crate, "the lid is off")
    assert (error, where, text, locator) == ("CrateError", "send", "the lid is off", "crate/lib/send.js:5")
    assert code == "if (!crate.shut) {\n  throw new CrateError('the lid is off')\n}"


@pytest.mark.req("A13")
def test_strings_that_are_added_are_one_message_with_holes(crate):
    ((error, where, text, locator, code),) = told_of(
        crate, "Crate tea weighs more than 30 tons. Did you pack lead?"
    )
    assert (error, where) == ("Error", "send")
    assert text == "Crate ... weighs more than ... tons. Did you pack lead?"
    assert locator == "crate/lib/send.js:9"
    assert code.startswith("if (crate.heavy) {\n  return done(new Error(")
    ((error, _where, text, _locator, _code),) = told_of(crate, "Cannot raise `Tea` from the sea floor.")
    assert (error, text) == ("SunkError", "Cannot raise `...` from the sea floor.")
    ((error, _where, text, _locator, code),) = told_of(crate, "The crate is too wet for Anna")
    assert (error, text) == ("", "The crate is too wet for ...")
    assert code.startswith("CRATE_TOO_WET: createError(")


@pytest.mark.req("A13")
def test_words_in_a_comment_are_no_message(crate):
    assert told_of(crate, "A crate that is not shut sinks") == []
    assert told_of(crate, "a 1 2") == []


@pytest.mark.req("A13")
def test_comments_with_the_words_of_a_message_do_not_hide_it(crate):
    script = "// the lid is wet\n" * 30 + "function shut () {\n  throw new LidError('the lid is wet')\n}\n"
    lay(crate / "node_modules/crate", {"lib/shut.js": script})
    ((error, where, *_rest),) = told_of(crate, "the lid is wet")
    assert (error, where) == ("LidError", "shut")


@pytest.mark.req("A13")
@pytest.mark.parametrize("quote", ["'", '"', "`"])
def test_quotes_that_nothing_closes_are_read_once(crate, quote):
    """Each escaped one looks like the beginning of a string."""
    line = f"the lid is off\\{quote}" + f"\\{quote}" * 30 + "\n"
    lay(crate / "node_modules/crate", {"lib/long.js": line * (200_000 // len(line))})
    began = time.process_time()
    assert len(told_of(crate, "the lid is off")) == 1
    assert time.process_time() - began < 2  # it takes some tenths


@pytest.mark.req("A2", "A13")
def test_a_pasted_message_comes_first_and_what_tells_of_it_next(crate):
    first, second = ask(crate, "CrateError: the lid is off").passages[:2]
    assert (first.what, first.title) == ("message", "CrateError in crate/lib/send.js: send")
    assert "crate.shut()" in second.text
    told = summary(crate, "Error: The crate is too wet for Anna")
    assert "```js\nCRATE_TOO_WET: createError(" in told
    assert "For a crate that is too wet: `dry: true`" in told


@pytest.mark.req("A12", "A13")
def test_the_dependency_whose_code_or_readme_has_a_message_is_the_one_that_is_meant(crate):
    lay(crate, {"package.json": {"name": "port", "dependencies": {"crate": "2", "ship": "1"}}})
    ship = {
        "package.json": {"name": "ship", "version": "1.0.0"},
        "README.md": "# ship\n\nA lid for a ship, error free.\n",
    }
    lay(crate / "node_modules/ship", ship)
    project = LocalProject(crate, crate, {}, own_prefix=None)
    for question in ("CrateError: the lid is off", "CRATE_TOO_WET: The crate is too wet for Anna"):
        assert choose_framework(question, project).framework == "crate"
    assert choose_framework("ShipError: error free", project).framework == "ship"
    setting = "How do I read DATABASE_URL: A lid for everything"
    assert choose_framework(setting, project).framework != "ship"  # any text may stand behind a name
