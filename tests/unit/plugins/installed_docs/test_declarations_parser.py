"""What is read of a declaration file."""

import time

import pytest

from kr_plugins.sources.installed_docs.node import declarations_parser, tsdoc

pytestmark = pytest.mark.req("R5")


def only(text, name):
    return declarations_parser.read(text).declarations[name][0]


def test_a_function_has_its_signature_parameters_and_comment():
    made = only(
        """\
// a line before
/**
 * Add days to a date.
 *
 * @param date - The date to change
 * @param amount - How many days
 */
export declare function addDays<T extends Date>(
  date: T | number,
  amount?: number,
  ...rest: Array<Map<string, number>>
): T;
""",
        "addDays",
    )
    assert (made.kind, made.line, made.returns) == ("function", 8, "T")
    assert made.signature.startswith("export declare function addDays<T extends Date>(\n  date: T | number,")
    assert [(one.name, one.required, one.rest) for one in made.parameters] == [
        ("date", True, False),
        ("amount", False, False),
        ("rest", False, True),
    ]
    assert made.comment.prose == (tsdoc.CommentLine(3, "Add days to a date."),)
    assert made.comment.parameters[1] == ("amount", (tsdoc.CommentLine(6, "@param amount - How many days"),))


def test_members_of_a_class_are_read_without_what_is_private():
    made = only(
        """\
export declare abstract class Box<T extends { a: string }> extends Base<{x: 1}> implements Other {
    #secret;
    private hidden: string;
    protected half(): void;
    readonly size: number;
    get label(): string | undefined;
    set label(value: string);
    static of<T>(...things: T[]): Box<T>;
    get(name: string): T
    put: (thing: T) => void
    "quoted-name"?: { deep: { er: string } };
    [Symbol.iterator](): Iterator<T>;
    constructor(size?: number);
}
export interface After {}
""",
        "Box",
    )
    assert made.signature.endswith("implements Other")
    assert made.bases == ("Base",)
    assert [(one.name, one.kind, one.line) for one in made.members] == [
        ("size", "property", 5),
        ("label", "property", 6),
        ("of", "function", 8),
        ("get", "function", 9),
        ("put", "property", 10),
        ("quoted-name", "property", 11),
        ("constructor", "function", 13),
    ]


def test_declarations_without_semicolons_end_where_the_next_begins():
    found = declarations_parser.read(
        "export type Size =\n  | 'small'\n  | 'large'\nexport const wide: (by: number) => Size\n"
        "export interface Box { a: 1; b: 2 }\nexport function open(box: Box): void\nexport function shut(): void\n"
    )
    assert list(found.exports) == ["Size", "wide", "Box", "open", "shut"]
    assert found.declarations["Size"][0].signature == "export type Size =\n  | 'small'\n  | 'large'"
    assert (found.declarations["wide"][0].kind, found.declarations["wide"][0].returns) == ("function", "Size")


def test_imports_and_exports_in_all_their_forms():
    found = declarations_parser.read(
        """\
import fallback, { type A, b as c } from "./one";
import * as z from './two'
import legacy = require("three");
export * from "./four";
export * as five from "./five";
export { a as b, default as d, type T } from "./six";
export { stringType as string, z };
export type { Only } from "./seven";
export as namespace Zod;
export default fallback;
declare module "pack" { function inner(): void; }
declare global { interface Window {} }
"""
    )
    assert found.imports == {
        "fallback": ("./one", "default"),
        "A": ("./one", "A"),
        "c": ("./one", "b"),
        "z": ("./two", "*"),
        "legacy": ("three", "*"),
    }
    assert found.stars == ["./four"]
    assert [tuple(one) for one in found.reexports] == [
        ("./five", "*", "five"),
        ("./six", "a", "b"),
        ("./six", "default", "d"),
        ("./six", "T", "T"),
        ("./seven", "Only", "Only"),
    ]
    assert found.exports == {"string": "stringType", "z": "z"}
    assert found.renamed["string"] == (7, "stringType as string")
    assert found.assigned == "fallback"
    assert list(found.modules["pack"].exports) == ["inner"]
    assert "Window" not in found.declarations


def test_strings_and_comments_hide_what_stands_in_them():
    made = only(
        "export const odd: '{' | \"}\" | `(${string}`; // { not a bracket\n/* } */ export declare function next(a: '('): void;",
        "next",
    )
    assert [one.name for one in made.parameters] == ["a"]


def test_what_is_broken_is_passed_over():
    """What comes after a declaration that cannot be read is read."""
    found = declarations_parser.read(
        "export function (((;\nexport class {\n}}}\nexport const x: = ;\n@@@ ??? <<<\nexport interface Good { a: 1 }\n/** open"
    )
    assert "Good" in found.exports


@pytest.mark.parametrize(
    "text", ["<" * 40_000, "{" * 40_000, "(" * 20_000 + ")" * 20_000, "export type A = " + "x<" * 20_000, "namespace a {" * 2000,
             "export function f(" + "a," * 20_000 + "): void", '"' * 20_000, "/*" * 20_000, "`" * 19_999, "export {" + "a as b," * 10_000, "/**" + " " * 40_000 + "x */ declare const a: 1", "/** @param {" + "{" * 40_000 + " */ declare const a: 1"],
)  # fmt: skip
def test_hostile_text_takes_a_moment_only(text):
    began = time.process_time()
    declarations_parser.read(text)
    assert time.process_time() - began < 10


def test_comments_are_taken_apart():
    found = tsdoc.parse(
        """\
/**
 * Open the lid,
 * gently.
 *
 * @remarks
 * Not under water.
 * @param {string} [how=slow] - how to open
 * @param bare
 * @example <caption>One</caption>
 * open('x')
 * @example
 * ```ts
 * open("@param y")
 * ```
 * @deprecated use `lift`
 */""",
        10,
    )
    assert [line.text for line in found.prose] == ["Open the lid,", "gently.", "", "", "Not under water."]
    assert [line.number for line in found.prose] == [11, 12, 13, 14, 15]
    assert [name for name, _lines in found.parameters] == ["how"]
    assert [[line.text for line in one.lines] for one in found.examples] == [
        ["open('x')"],
        ["```ts", 'open("@param y")', "```"],
    ]
    assert [one.fenced for one in found.examples] == [False, True]
    assert (found.deprecated, found.hidden) == (True, False)


def test_a_comment_on_one_line_and_a_hidden_one():
    assert tsdoc.parse("/** Alias of `open` */", 3).prose == (tsdoc.CommentLine(3, "Alias of `open`"),)
    assert tsdoc.parse("/** @internal */", 1).hidden
    assert [line.text for line in tsdoc.parse("/**\n * @name x\n * @summary Short.\n */", 1).prose] == [
        "Short."
    ]


def test_a_type_of_braces_has_members_and_bases():
    """What only changes a type is looked into; the arguments of any other are none of its bases."""
    made = only(
        "export type Options<T extends object = {}> = {\n\treadonly size?: number;\n} & Omit<Base<T>, 'x' | 'y'> & Other<Inner>;\n",
        "Options",
    )
    assert (made.kind, made.signature) == ("type", "export type Options<T extends object = {}> =")
    assert [one.name for one in made.members] == ["size"]
    assert made.bases == ("Base", "Other")
    assert only("interface A extends Partial<B>, C<D> implements E {}", "A").bases == ("B", "C")
    assert only("export type Call = (options: { a: 1 }) => { b: 2 };", "Call").signature == (
        "export type Call = (options: { a: 1 }) => { b: 2 }"
    )
