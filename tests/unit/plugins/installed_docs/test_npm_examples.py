"""Which part of an example in an npm package's text is shown."""

import pytest
from unit.plugins.installed_docs.test_npm import lay
from unit.plugins.installed_docs.test_npm_options import summary

README = """\
# crate

Crates for things.

## Masking

To mask things, supply their names with the `mask` option:

```js
const packer = require('.')({
  mask: ['label', 'owner.name']
})
```

```js
packer.pack({
  label: 'will be masked',
  owner: {
    name: 'will be masked too'
  },
  stuff: {
    thing: 'will be masked',
    other: 'will be logged'
  }
})
```
"""


@pytest.mark.req("R5")
def test_words_in_the_strings_of_an_example_count_less_than_its_keys(tmp_path):
    manifest = {"name": "crate", "version": "2.0.0"}
    lay(tmp_path / "node_modules/crate", {"package.json": manifest, "README.md": README})
    told = summary(tmp_path, "crate mask passwords from logs")
    assert "mask: ['label', 'owner.name']" in told
    assert "will be masked" not in told


BOXES = """\
# crate

Crates for things.

## Usage

Make one with `crate.packer`:

```js
const crate = require('crate');

const packer = crate.packer({
  // the first for tea
  boxes: [
    new crate.boxes.Chest({ name: 'tea' }),

    new crate.boxes.Chest({ name: 'salt' }),
  ],
});

//
// What is wet goes into a barrel
//
if (wet) {
  packer.add(new crate.boxes.Barrel({

    lid: true,
  }));
}
```

Bays hold up to ten of these.

> [!NOTE]
> A ship leaves on Monday.

Name | Meaning
--- | ---
`chest` | A box with a lid
"""


@pytest.mark.req("A3", "R5")
def test_a_section_is_shown_with_what_introduces_its_code_and_the_code_in_whole_statements(tmp_path):
    manifest = {"name": "crate", "version": "2.0.0"}
    lay(tmp_path / "node_modules/crate", {"package.json": manifest, "README.md": BOXES})
    told = summary(tmp_path, "crate: put salt into a chest and what is wet into a barrel")
    block = BOXES.partition("```js\n")[2].partition("```")[0].strip()
    assert f"Usage: Make one with `crate.packer`: [1]\n\n```js\n{block}\n```\n[2]" in told
    alone = summary(tmp_path, "crate: a barrel with a lid for wet things")
    assert "packer.add(new crate.boxes.Barrel({\n\n    lid: true,\n  }));\n}" in alone


@pytest.mark.req("A3")
def test_notes_read_without_the_marks_of_a_quotation_and_tables_as_rows(tmp_path):
    manifest = {"name": "crate", "version": "2.0.0"}
    lay(tmp_path / "node_modules/crate", {"package.json": manifest, "README.md": BOXES})
    told = summary(tmp_path, "crate: on which day leaves a ship?")
    assert "A ship leaves on Monday." in told
    assert "> " not in told
    assert "--- |" not in told
