"""Code of a passage, and what introduces it."""

import pytest

from kr_core.evidence.code_examples import introduction
from kr_core.model import Passage

BLOCKS = """\
To open a box:

```js
const box = require('box')
box.open()
```

Boxes are shut at night.

To throw a box away:

```js
const box = require('box')
box.remove()
```
"""


@pytest.mark.req("A4")
@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("const box = require('box')\nbox.remove()", "To throw a box away:"),
        ("const box = require('box')\nbox.open()", "To open a box:"),
        ("box.remove()", "To throw a box away:"),
        ("box.burn()", ""),
    ],
)
def test_code_is_introduced_by_the_paragraph_before_its_own_block(code, told):
    """All blocks of a README may begin with the same line."""
    assert introduction(Passage(text=BLOCKS, url="pkg:npm/box@1"), code) == told
