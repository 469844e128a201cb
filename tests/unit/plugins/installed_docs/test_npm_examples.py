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
const packer = require('.')({\\n  mask: ['label', 'owner.name']
})

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
