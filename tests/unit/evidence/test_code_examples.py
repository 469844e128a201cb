"""Code of a passage, and what introduces it."""

import pytest

from kr_core.evidence.asked_words import AskedWords
from kr_core.evidence.code_examples import introduction, shortest_example
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


def documented(symbol, code=""):
    text = f"```ts\n{code}\n```" if code else ""
    return Passage(
        text=text,
        url="pkg:npm/box@1",
        kind="symbol",
        what="function",
        symbol=symbol,
        code=(code,) if code else (),
    )


LOCAL = "const lock = box.make()\nlock(42)"
REAL = "box.lock('./lid', async () => {\n  return { ...(await box.openLid('./lid')), top: box.make() }\n})"
LONG = "box.lock('./lid', { keep: true, exports: 'real' })\n// and more, which makes it longer\nbox.seal()\nbox.seal()"


@pytest.mark.req("A4")
@pytest.mark.parametrize(
    ("own", "expected", "shown"),
    [
        ("", (), REAL),  # in the other one `lock` is a variable
        ("", ("box.lock", "openLid"), REAL),
        ("box.lock('./lid')", (), "box.lock('./lid')"),
    ],
)
def test_the_example_of_a_symbol_comes_before_that_of_another(own, expected, shown):
    """Of those of others the one with another name that the asker expects; a variable of the name shows nothing."""
    question = "How do I lock a box but keep some real exports?"
    lock = documented("box.lock", own)
    others = [documented("Made.value", LOCAL), documented("box.openLid", REAL)]
    others += [documented("box.seal", LONG)] if expected or own else []
    found = shortest_example(lock, [lock, *others], AskedWords(question, [lock, *others], expected))
    assert found[1] == shown
