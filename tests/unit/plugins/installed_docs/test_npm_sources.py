"""JSDoc that a declaration file lost: it is read from the source that the package ships."""

import json

import pytest
from unit.plugins.installed_docs.test_npm import ask, lay, passages

from kr_core.evidence.citations import folded

SOURCE = """\
import { Crate } from './crate';

/* eslint-disable */
export function packAll<T>(
  things: T[]
): Crate<T>;
/** @deprecated Use the other form. */
export function packAll<T>(things: T[], quiet: undefined): Crate<T>;
/* eslint-enable */

/**
 * Packs all things at once and closes the lid afterwards.
 *
 * @param things What is packed.
 */
export function packAll<T>(things: T[], quiet?: boolean): Crate<T> {
  /** Not documentation. */
  function helper() { return things.length < 3; }
  return close(things, helper());
}

/** Packs things one by one, and keeps the lid open. */
export const packEach = <T>(things: T[]): Crate<T> => {
  return open(things);
};
"""
TYPES = """\
import { Crate } from './crate';
export declare function packAll<T>(things: T[]): Crate<T>;
/** @deprecated Use the other form. */
export declare function packAll<T>(things: T[], quiet: undefined): Crate<T>;
export declare const packEach: <T>(things: T[]) => Crate<T>;
/** Weighs it, as declared. */
export declare function weigh(): number;
export declare function helper(): number;
//# sourceMappingURL=index.d.ts.map
"""
MANIFEST = {"name": "crate", "version": "2.0.0", "types": "dist/types/index.d.ts"}


def told(folder):
    return {one.symbol: one for one in passages(folder)[0] if one.symbol}


@pytest.mark.req("R5", "R18")
def test_the_comment_of_an_implementation_is_read_from_the_source_that_the_map_names(tmp_path):
    source_map = {"version": 3, "sources": ["../../src/index.ts"], "mappings": ""}
    files = {
        "package.json": MANIFEST, "dist/types/index.d.ts": TYPES, "src/index.ts": SOURCE,
        "dist/types/index.d.ts.map": json.dumps(source_map),
    }  # fmt: skip
    lay(tmp_path / "node_modules/crate", files)
    found = told(tmp_path)
    packed = found["packAll"]
    assert packed.lead == "Packs all things at once and closes the lid afterwards."
    assert packed.locator == "crate/src/index.ts:4"
    assert packed.data["signature"] == "export function packAll<T>(\n  things: T[]\n): Crate<T>"
    assert "deprecated" not in packed.data
    assert found["packEach"].lead == "Packs things one by one, and keeps the lid open."
    assert found["weigh"].locator == "crate/dist/types/index.d.ts:7"
    assert found["helper"].locator == "crate/dist/types/index.d.ts:8"
    for passage in ask(tmp_path, "How do I pack all things at once with packAll?").passages:
        for line in passage.text.split("\n"):
            if line.strip() and not line.startswith("```"):
                path, _colon, number = passage.locate(line).rpartition(":")
                file = (tmp_path / "node_modules" / path).read_text().split("\n")
                assert folded(line) in folded(" ".join(file[int(number) - 1 : int(number) + 3]))


@pytest.mark.req("R5")
def test_the_comment_of_the_javascript_beside_a_declaration_is_read(tmp_path):
    script = "/**\n * Packs all things, heavy ones first.\n */\nexport function packAll(things) {\n  return 1;\n}\n"
    files = {"package.json": MANIFEST, "dist/types/index.d.ts": TYPES, "dist/types/index.js": script}
    lay(tmp_path / "node_modules/crate", files)
    packed = told(tmp_path)["packAll"]
    assert packed.lead == "Packs all things, heavy ones first."
    assert packed.locator == "crate/dist/types/index.js:4"
    assert packed.data["signature"] == "export function packAll(things)"


@pytest.mark.req("R5")
@pytest.mark.parametrize(
    "source_map",
    ["{", "[]", "{}", '{"sources": "x"}', '{"sources": [3]}', '{"sources": ["../../../other/index.ts"]}',
     '{"sources": ["../../gone.ts"]}', '{"sources": ["\\u0000.ts"]}', '{"sources": ["/etc/hostname"]}',
     '{"sources": ["../../package.json"]}', "[" * 50_000],
)  # fmt: skip
def test_a_map_that_leads_nowhere_is_passed_over(tmp_path, source_map):
    files = {
        "package.json": MANIFEST,
        "dist/types/index.d.ts": TYPES,
        "dist/types/index.d.ts.map": source_map,
    }
    lay(tmp_path / "node_modules/crate", files)
    lay(tmp_path / "node_modules/other", {"index.ts": SOURCE})
    assert told(tmp_path)["packAll"].locator == "crate/dist/types/index.d.ts:2"
