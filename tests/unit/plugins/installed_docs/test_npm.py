"""Answers about npm packages: which package is meant, what is read of it, and where its passages stand."""

import asyncio
import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from support.source_context import SourceContext

from kr_core.evidence.citations import folded
from kr_core.model import Outcome, ResearchQuery
from kr_core.project.project import LocalProject
from kr_plugins.sources.installed_docs import InstalledDocs
from kr_plugins.sources.installed_docs.node.node_material import NodeMaterial
from kr_plugins.sources.installed_docs.node.package import read_package
from kr_plugins.sources.installed_docs.reading_budget import Cancelled, ReadingBudget

README = """\
# crate

Crates for things.

## Usage

Call `.pack()` with things to put them into the crate.

```js
const crate = new Crate();

crate.pack(["ball", "bat"]);
```

## Packing quietly

Set `silent: true` and the crate is packed without a sound.
"""
TYPES = """\
import { Options } from "./options.js";
export * from "./options.js";
/**
 * Pack things into a crate.
 *
 * @param things - what is packed, heavy things first
 * @example
 * pack(["ball"], { silent: true })
 */
export declare function pack(things: string[], options?: Options): Promise<number>;
declare const ship: (where: string) => void;
export { ship as send };
"""
OPTIONS = """\
/** How a crate is packed. */
export interface Options {
  /** Whether it is done without a sound. */
  silent?: boolean;
  width?: number;
}
"""
CRATE = {
    "package.json": {
        "name": "crate",
        "version": "2.1.0",
        "description": "Crates for things of all kinds",
        "types": "lib/index.d.ts",
        "engines": {"node": ">=18"},
    },
    "README.md": README,
    "lib/index.d.ts": TYPES,
    "lib/options.d.ts": OPTIONS,
}


def lay(folder, files):
    """Write files; a mapping becomes JSON as npm lays it out."""
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(content, indent=2) if isinstance(content, dict) else content
        target.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def project(folder, root=None):
    return LocalProject(root or folder, folder, {}, own_prefix=None)


def ask(folder, question, framework="crate", cache=None, names=()):
    query = ResearchQuery(
        framework=framework,
        framework_version="latest",
        topic="t",
        tags=("t",),
        question=question,
        names=names,
    )
    source = InstalledDocs(cache or folder / "cache")
    return asyncio.run(source.query(query, SourceContext(project(folder))))


def passages(folder, name="crate"):
    package = read_package(name, folder / "node_modules" / name)
    found, notes = NodeMaterial(package).passages(lambda _done, _total: None, ReadingBudget())
    return found, notes


def titles(folder, name="crate"):
    return [passage.title for passage in passages(folder, name)[0]]


@pytest.fixture
def crate(tmp_path):
    lay(tmp_path / "node_modules/crate", CRATE)
    return tmp_path


@pytest.mark.req("R5", "R18")
def test_it_answers_from_the_declarations_with_file_and_line(crate):
    found = ask(crate, "How do I pack things into a crate?")
    first = found.passages[0]
    assert found.outcome is Outcome.ok
    assert (found.version, found.version_from, found.url) == ("2.1.0", "node_modules", "pkg:npm/crate@2.1.0")
    assert (first.symbol, first.locator, first.official) == ("pack", "crate/lib/index.d.ts:10", True)
    assert first.signature == (
        "export declare function pack(things: string[], options?: Options): Promise<number>"
    )
    assert (first.required, first.parameters) == (("things",), (("things", None), ("options", None)))
    assert first.code == ('pack(["ball"], { silent: true })',)
    assert first.returns == "Promise<number>"


@pytest.mark.req("R18")
def test_every_line_of_a_passage_stands_in_its_file(crate):
    found = ask(crate, "How is a crate packed without a sound, silent, things, width, version, node?")
    assert len(found.passages) > 3
    for passage in found.passages:
        for line in passage.text.split("\n"):
            if not line.strip() or line.startswith("```"):
                continue
            path, _colon, number = passage.locate(line).rpartition(":")
            file = (crate / "node_modules" / path).read_text().split("\n")
            assert folded(line) in folded(" ".join(file[int(number) - 1 : int(number) + 4]))


@pytest.mark.req("R5")
def test_sections_keep_their_code_whole_and_members_are_named(crate):
    found, notes = passages(crate)
    by_title = {passage.title: passage for passage in found}
    assert notes == []
    assert by_title["README § crate § Usage"].code == (
        'const crate = new Crate();\n\ncrate.pack(["ball", "bat"]);',
    )
    assert by_title["Options.silent"].lead == "Whether it is done without a sound."
    assert "width?: number" in by_title["Options"].text
    assert "ship as send" in by_title["send"].text
    assert by_title["package.json § engines"].lead == '"node": ">=18"'
    assert by_title["crate"].lead == "Crates for things of all kinds"


@pytest.mark.req("R5")
def test_it_knows_packages_from_the_nearest_node_modules_up(tmp_path):
    """The nearest folder wins; a name with a scope is one; what is not there is not known."""
    lay(tmp_path / "node_modules/crate", CRATE)
    lay(tmp_path / "app/node_modules/crate", {**CRATE, "package.json": {"name": "crate", "version": "3.0.0"}})
    lay(tmp_path / "node_modules/@big/box", {"package.json": {"name": "@big/box", "version": "1.0.0"}})
    (tmp_path / "app/src").mkdir()
    here = project(tmp_path / "app/src", tmp_path)
    assert here.module("crate").version == "3.0.0"
    source = InstalledDocs(tmp_path / "cache")
    query = ResearchQuery(
        framework="@big/box", framework_version="1", topic="t", tags=("t",), question="box?"
    )
    assert source.knows(query, here)
    assert not source.knows(query.model_copy(update={"framework": "@big/none"}), here)
    assert not source.knows(query.model_copy(update={"framework": "../../etc"}), here)
    assert read_package("@big/box", tmp_path / "node_modules/@big/box").url == "pkg:npm/%40big/box@1.0.0"


@pytest.mark.req("K9")
def test_a_name_that_python_has_too_means_what_the_project_asks_for(tmp_path):
    """Side by side Python's is meant, unless only `package.json` asks for the package."""
    site = tmp_path / ".venv/lib/python3.12/site-packages"
    lay(
        tmp_path / ".venv",
        {
            "pyvenv.cfg": "home = /nowhere\nversion_info = 3.12.4\n",
            "lib/python3.12/site-packages/crate.py": '"""Python crates, quite another thing altogether."""\n',
            "lib/python3.12/site-packages/crate-9.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: crate\nVersion: 9.0\n",
        },
    )
    assert site.is_dir()
    lay(tmp_path / "node_modules/crate", CRATE)
    assert ask(tmp_path, "crates?").url == "pkg:pypi/crate@9.0"
    lay(tmp_path, {"package.json": {"dependencies": {"crate": "^2.0.0"}}})
    assert ask(tmp_path, "crates?").url == "pkg:npm/crate@2.1.0"
    lay(tmp_path, {"pyproject.toml": '[project]\nname = "x"\ndependencies = ["crate"]\n'})
    assert ask(tmp_path, "crates?").url == "pkg:pypi/crate@9.0"


@pytest.mark.req("R5")
def test_links_of_pnpm_and_what_a_package_exports_of_another(tmp_path):
    """The link is followed; a dependency lies beside where it leads to, and is cited by its own address."""
    store = tmp_path / "node_modules/.pnpm"
    lay(store / "crate@2.1.0/node_modules/crate", {**CRATE, "lib/index.d.ts": 'export * from "core";\n'})
    lay(
        store / "core@7.0.0/node_modules/core",
        {
            "package.json": {"name": "core", "version": "7.0.0", "exports": {".": {"types": "./i.d.mts"}}},
            "i.d.mts": "/** Stack the crates. */\nexport declare function stack(high: number): void;\n",
        },
    )
    (store / "crate@2.1.0/node_modules/core").symlink_to(store / "core@7.0.0/node_modules/core")
    (tmp_path / "node_modules/crate").symlink_to(store / "crate@2.1.0/node_modules/crate")
    found = ask(tmp_path, "How do I stack crates?")
    first = found.passages[0]
    assert (first.symbol, first.locator) == ("stack", "core/i.d.mts:2")
    assert (first.url, first.version, found.version) == ("pkg:npm/core@7.0.0", "2.1.0", "2.1.0")


@pytest.mark.req("R5")
def test_declarations_of_another_package_serve_where_there_are_none(tmp_path):
    lay(tmp_path / "node_modules/crate", {"package.json": {"name": "crate", "version": "2.0.0"}})
    lay(
        tmp_path / "node_modules/@types/crate",
        {
            "package.json": {"name": "@types/crate", "version": "2.0.3", "types": "index.d.ts"},
            "index.d.ts": "declare function e(): e.Crate;\ndeclare namespace e {\n  /** Lift it. */\n  function lift(): void;\n  interface Crate {}\n}\nexport = e;\n",
        },
    )
    found, _notes = passages(tmp_path)
    lift = next(passage for passage in found if passage.title == "crate.lift")
    assert (lift.locator, lift.data["url"]) == ("@types/crate/index.d.ts:4", "pkg:npm/%40types/crate@2.0.3")


@pytest.mark.req("R13")
def test_declarations_for_another_major_version_are_left_out(tmp_path):
    lay(
        tmp_path / "node_modules/crate",
        {"package.json": {"name": "crate", "version": "2.0.0"}, "README.md": README},
    )
    types = {
        "package.json": {"name": "@types/crate", "version": "3.0.0"},
        "index.d.ts": "export declare function lift(): void;\n",
    }
    lay(tmp_path / "node_modules/@types/crate", types)
    found, notes = passages(tmp_path)
    assert notes == ["@types/crate 3.0.0 left out: crate 2.0.0 is installed"]
    assert "lift" not in {passage.title for passage in found}


@pytest.mark.req("R5")
def test_a_module_that_adds_to_itself_or_to_another_is_still_read_whole(tmp_path):
    lay(
        tmp_path / "node_modules/crate",
        {
            "package.json": {"name": "crate", "version": "1.0.0", "types": "i.d.ts"},
            "i.d.ts": "export * from 'core';\nexport declare function lift(): void;\n"
            "declare module 'crate' { interface More {} }\ndeclare module 'core' { interface More {} }\n",
        },
    )
    lay(
        tmp_path / "node_modules/core",
        {
            "package.json": {"name": "core", "version": "1.0.0", "types": "i.d.ts"},
            "i.d.ts": "export declare function stack(): void;\n",
        },
    )
    assert {"lift", "stack"} <= set(titles(tmp_path))


@pytest.mark.req("R5", "R18")
def test_files_that_a_declaration_file_refers_to_declare_the_same_module(tmp_path):
    """mongoose tells `declare module 'mongoose'` in many files; what other modules they add to is theirs."""
    lay(
        tmp_path / "node_modules/crate",
        {
            "package.json": {"name": "crate", "version": "1.0.0", "types": "i.d.ts"},
            "i.d.ts": '/// <reference path="./lid.d.ts" />\n/// <reference path="../../../outside.d.ts" />\n'
            "declare module 'crate' { export function lift(): void; }\n",
            "lid.d.ts": "declare module 'crate' { export interface LidOptions {\n/** Whether it is closed. */\nclosed?: boolean; } }\n"
            "declare module 'other' { export function alien(): void; }\n",
        },
    )
    (tmp_path / "outside.d.ts").write_text("declare module 'crate' { export function stolen(): void; }")
    found = titles(tmp_path)
    assert {"lift", "LidOptions.closed"} <= set(found)
    assert not any("alien" in title or "stolen" in title for title in found)


@pytest.mark.parametrize(
    "manifest", [b"{", b"[]", b'{"name": "crate"}', b"\xff\xfe", b'{"version": 3}', b"[" * 100_000]
)
@pytest.mark.req("R9")
def test_a_broken_manifest_is_no_package(tmp_path, manifest):
    lay(tmp_path / "node_modules/crate", {**CRATE, "package.json": manifest})
    found = ask(tmp_path, "How do I pack?")
    assert (found.outcome, found.reason) == (Outcome.unavailable, "crate is not installed here")


@pytest.mark.parametrize("name", ["README.md", "readme.md", "Readme.markdown", "README", "ReadMe.MD"])
@pytest.mark.req("R5")
def test_readmes_of_any_spelling_with_bom_and_crlf(tmp_path, name):
    text = b"\xef\xbb\xbf" + README.replace("\n", "\r\n").encode()
    lay(tmp_path / "node_modules/crate", {"package.json": CRATE["package.json"], name: text})
    found, _notes = passages(tmp_path)
    usage = next(passage for passage in found if passage.title == "README § crate § Usage")
    assert usage.locator == f"crate/{name}:7"
    assert "\r" not in usage.text


@pytest.mark.req("R9")
def test_odd_packages_are_read_as_far_as_they_go(tmp_path):
    """No README, a type file that is not there, one that leads out, bytes that are no text, links in circles."""
    folder = lay(
        tmp_path / "node_modules/crate",
        {
            "package.json": {
                "name": "crate",
                "version": "1.0.0",
                "exports": {".": {"types": "./a.d.ts"}, "./out": "../../out.d.ts", "./gone": "./gone.js"},
            },
            "a.d.ts": b'export * from "./a";\nexport * from "./b";\nexport * from "../../../out";\nexport declare function kept(): void; // \xff\n',
            "b.d.ts": 'export * from "./a.js";\nexport declare function round(): void;\n',
            "docs/guide.md": "# Guide\n\nHow crates are stacked on each other.\n",
        },
    )
    lay(tmp_path, {"out.d.ts": "export declare function outside(): void;\n"})
    (folder / "docs/again").symlink_to(folder)
    (folder / "docs/self").symlink_to(folder / "docs/self")
    found = titles(tmp_path)
    assert {"kept", "round", "guide § Guide"} <= set(found)
    assert "outside" not in found


@pytest.mark.req("R9")
def test_a_file_that_is_too_large_is_noted(tmp_path):
    large = b"/** Lift. */\nexport declare function lift(): void;\n" + b" " * 3_000_001
    lay(tmp_path / "node_modules/crate", {**CRATE, "lib/index.d.ts": large})
    found, notes = passages(tmp_path)
    assert notes == ["crate/index.d.ts: too large, left out"]
    assert [passage.title for passage in found if passage.kind == "page"]


@pytest.mark.req("R5")
def test_a_list_of_options_is_one_passage_for_each(tmp_path):
    options = "\n\n".join(
        f"  // `option{n}` sets the number of the thing\n  // and of its lid.\n  option{n}: {n}, // default"
        for n in range(14)
    )
    text = f"# crate\n\n## Configuration\n\n```js\n{{\n{options}\n}}\n```\n"
    lay(tmp_path / "node_modules/crate", {"package.json": CRATE["package.json"], "README.md": text})
    found, _notes = passages(tmp_path)
    third = next(passage for passage in found if passage.title.endswith("§ option3"))
    assert third.lead == "`option3` sets the number of the thing and of its lid."
    assert third.code == ("option3: 3, // default",)
    line = int(third.locator.rpartition(":")[2])
    assert "`option3`" in text.split("\n")[line - 1]


@pytest.mark.req("K11", "R5")
def test_the_index_is_kept_for_each_version_and_made_anew_for_an_edited_member(tmp_path):
    """A package is indexed once in each project, and a workspace's member whenever its files change."""
    one, other, cache = tmp_path / "one", tmp_path / "other", tmp_path / "cache"
    for folder in (one, other):
        lay(folder / "node_modules/crate", CRATE)
        ask(folder, "How do I pack?", cache=cache)
    assert len(list((cache / "installed").iterdir())) == 2
    member = lay(one / "packages/crate", {**CRATE, "README.md": README + "\nSingle lid.\n"})
    shutil.rmtree(one / "node_modules/crate")
    (one / "node_modules/crate").symlink_to(member)
    ask(one, "How do I pack?", cache=cache)
    os.utime(member / "README.md", (1, 1))
    ask(one, "How do I pack?", cache=cache)
    assert len(list((cache / "installed").iterdir())) == 4


@pytest.mark.req("R8")
def test_a_call_that_is_given_up_stops_reading(crate):
    package = read_package("crate", crate / "node_modules/crate")
    with pytest.raises(Cancelled):
        NodeMaterial(package).passages(lambda _done, _total: None, ReadingBudget(lambda: True))


@pytest.fixture(scope="session")
def real(tmp_path_factory):
    """Real packages, as npm installs them."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    folder = Path(tmp_path_factory.mktemp("npm"))
    (folder / "package.json").write_text("{}")
    done = subprocess.run(
        ["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "zod@3.22.4", "lru-cache@10.2.0"],
        cwd=folder, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    if done.returncode:
        pytest.skip(f"npm cannot install: {done.stderr.strip()[:200]}")
    return folder


@pytest.mark.req("R5", "R13")
def test_real_packages_are_answered_about(real):
    """The section of zod's README, and the option of lru-cache's declarations, with the versions that npm installed."""
    safe = ask(real, "How do I parse an object safely in zod?", "zod")
    assert (safe.passages[0].title, safe.version) == ("README § Schema methods § .safeParse", "3.22.4")
    assert any("safeParse(" in code for code in safe.passages[0].code)
    dispose = ask(real, "Which function is called before an item is removed, dispose?", "lru-cache")
    assert any("dispose" in (passage.symbol or passage.title) for passage in dispose.passages[:3])
    assert {passage.url for passage in dispose.passages} == {"pkg:npm/lru-cache@10.2.0"}


@pytest.mark.req("R18")
def test_lines_of_real_passages_are_where_they_say(real):
    for name in ("zod", "lru-cache"):
        found, notes = passages(real, name)
        assert notes == []
        assert len(found) > 100
        for passage in found:
            file, _colon, first = passage.locator.rpartition(":")
            lines = (real / "node_modules" / file).read_text().split("\n")
            text = passage.text.split("\n")
            assert folded(text[0]) in folded(" ".join(lines[int(first) - 1 : int(first) + 1])) or text[
                0
            ].startswith("```")
            for start, line in passage.data["lines"]:
                if text[start] and not text[start].startswith("```"):
                    assert folded(text[start]) in folded(" ".join(lines[line - 1 : line + 1]))


@pytest.mark.req("R5")
def test_members_of_types_that_nothing_exports_are_those_of_the_type_that_has_them(tmp_path):
    """And methods of what the package exports by default are called by its name."""
    lay(
        tmp_path / "node_modules/crate",
        {
            "package.json": {"name": "crate", "version": "1.0.0", "types": "i.d.ts"},
            "i.d.ts": "import { Hidden } from './h.js';\nexport type Options = Omit<Hidden, 'x'> & { own: 1 };\n"
            "interface Instance {\n  /** Fill it up. */\n  fill(): void;\n}\ndeclare const box: Instance;\nexport default box;\n",
            "h.d.ts": "export interface Hidden extends Deeper {\n  /** How wide it is. */\n  width?: number;\n}\n"
            "interface Deeper {\n  /** How deep it is. */\n  depth?: number;\n}\n",
        },
    )
    found = {passage.title: passage for passage in passages(tmp_path)[0]}
    assert {"Options", "Options.width", "Options.depth", "box.fill"} <= set(found)
    assert found["Options.width"].locator == "crate/h.d.ts:3"
    assert "own: 1" in found["Options"].text


@pytest.mark.req("K9")
def test_a_name_that_was_normalised_finds_its_package(tmp_path):
    """What is inferred from a question has hyphens for dots and underscores."""
    for name in ("socket.io", "lodash.debounce", "@a/b_c", "plain-one"):
        lay(tmp_path / "node_modules" / name, {"package.json": {"name": name, "version": "4.0.0"}})
    here = project(tmp_path)
    found = [
        here.module(name) for name in ("socket-io", "lodash-debounce", "@a/b-c", "plain-one", "socket-jo")
    ]
    assert [one.name if one else None for one in found] == [
        "socket.io",
        "lodash.debounce",
        "@a/b_c",
        "plain-one",
        None,
    ]
    assert here.version_of("socket-io") == ("4.0.0", "node_modules")


@pytest.mark.parametrize(
    "text", ["# " + " " * 900_000 + "x", "[" * 900_000, "```js\n" + "// a\n" * 150_000, "<" * 900_000]
)
@pytest.mark.req("R9")
def test_hostile_texts_take_a_moment_only(tmp_path, text):
    lay(tmp_path / "node_modules/crate", {"package.json": CRATE["package.json"], "README.md": text})
    began = time.process_time()
    passages(tmp_path)
    assert time.process_time() - began < 10


DEPRECATED_TYPES = """\
/** Lift things up. */
export declare function lift(what: string): void;
/**
 * Raise things.
 * @deprecated since 2.0, use {@link lift} instead.
 */
export declare function raise(what: string): void;
/** @deprecated Use `lift("all").now()` instead. */
export declare function raiseAll(): void;
/** @deprecated Internal, use with care (not deprecated) */
export declare function inner(): void;
export declare class Crane {
  /** Turn it.
   * @deprecated Pass a number instead of a text.
   */
  turn(by: string): void;
  /** Turn it by degrees. */
  turn(by: number): void;
  /** @deprecated Use `.turn()` instead. */
  spin(by: number): void;
}
"""


@pytest.mark.req("A5")
def test_what_a_declaration_marks_as_deprecated_names_its_replacement(tmp_path):
    """The text of `@deprecated` is part of the passage; one overload does not deprecate the others."""
    folder = tmp_path / "node_modules/crane"
    folder.mkdir(parents=True)
    (folder / "package.json").write_text('{"name": "crane", "version": "2.0.0", "types": "index.d.ts"}')
    (folder / "index.d.ts").write_text(DEPRECATED_TYPES)
    material = NodeMaterial(read_package("crane", folder))
    passages, _notes = material.passages(lambda _done, _all: None, ReadingBudget())
    told = {one.symbol: one.data for one in passages if one.data.get("deprecated")}
    assert {name: (data["deprecated"], data.get("replacement")) for name, data in told.items()} == {
        "raise": ("since 2.0, use {@link lift} instead.", "lift"),
        "raiseAll": ('Use `lift("all").now()` instead.', None),
        "Crane.spin": ("Use `.turn()` instead.", "Crane.turn"),
    }
    assert all(one.data["deprecated"] in folded(one.text) for one in passages if one.symbol in told)
    priors = {one.symbol: one.prior for one in passages}
    assert priors["raise"] < priors["lift"]


@pytest.mark.req("A7")
def test_an_undocumented_export_leads_to_the_section_that_shows_it(tmp_path):
    """The section whose heading is its name, else the first that calls it, goes by its name too; documented ones need none."""
    folder = tmp_path / "node_modules/crane"
    folder.mkdir(parents=True)
    (folder / "package.json").write_text('{"name": "crane", "version": "2.0.0", "types": "index.d.ts"}')
    (folder / "index.d.ts").write_text(
        "export declare function lift(what: string): void;\nexport declare function lower(what: string): void;\n"
        "/** Turn it by some degrees. */\nexport declare function turn(by: number): void;\nexport declare function nap(): void;\n"
    )
    (folder / "README.md").write_text(
        "# crane\n\n## Start\n\nHow to begin with a crane.\n\n```js\nlift('it'); turn(3); lower('it');\n```\n\n"
        "## lift(what)\n\nLifts a thing up to the ship, slowly.\n"
    )
    material = NodeMaterial(read_package("crane", folder))
    passages, _notes = material.passages(lambda _done, _all: None, ReadingBudget())
    assert {one.title: one.data["also"] for one in passages if one.data.get("also")} == {
        "README § crane § Start": ["lower"],
        "README § crane § lift(what)": ["lift"],
    }
