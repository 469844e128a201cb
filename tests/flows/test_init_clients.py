"""`kr init --client`: what a client and its agent are told, and that nothing of the user's is lost by it."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.fork_server import kr_argv

from kr_core.cli import client_setup, json_edit
from kr_core.errors import ConfigError

OURS = {"command": "kr", "args": ["mcp"]}
FILES = {
    "claude-code": (".mcp.json", ".claude/skills/kr/SKILL.md"),
    "cursor": (".cursor/mcp.json", ".cursor/rules/kr.mdc"),
}
pytestmark = pytest.mark.req("I1")


@pytest.fixture
def program(tmp_path, monkeypatch):
    """A `kr` on the path."""
    made = tmp_path / "bin" / "kr"
    made.parent.mkdir()
    made.write_text("#!/bin/sh\n")
    made.chmod(0o755)
    monkeypatch.setenv("PATH", str(made.parent), prepend=os.pathsep)
    return made


@pytest.fixture
def kr(kr_here, program):
    """The commands run in this process, but those that somebody answers."""
    return kr_here


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "client"
    made.mkdir()
    return made


@pytest.fixture
def init(kr, folder):
    """`init("cursor", "--yes")`."""
    return lambda client, *options: kr("init", "--client", client, *options, cwd=folder)


def there(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("client", FILES)
def test_in_an_empty_project(init, folder, client):
    """The difference is shown, both files are written, a second time changes nothing; undoing leaves no file."""
    configuration, text = FILES[client]
    done = init(client, "--yes")
    assert (done.code, done.err) == (0, "")
    assert f"+++ b/{configuration}" in done.out
    assert f"+++ b/{text}" in done.out
    assert json.loads((folder / configuration).read_text()) == {"mcpServers": {"kr": OURS}}
    guide = (folder / text).read_text()
    assert guide.startswith("---\n")
    assert len(guide.splitlines()) < 60
    for what in ("kr research", "kr ask", "kr lessons", "low", "escalated", "knowledge-base/"):
        assert what in guide
    assert "there already" in init(client, "--yes").out
    assert there(folder) == sorted(FILES[client])
    assert init(client, "--undo", "--yes").code == 0
    assert list(folder.iterdir()) == []
    assert "nothing to undo" in init(client, "--undo", "--yes").out


def test_the_missing_extra_is_named(init, monkeypatch):
    """Where the library that `kr mcp` needs is missing, `kr init` says how to install it; where it is there, nothing."""
    assert "note:" not in init("cursor", "--yes").out
    monkeypatch.setitem(sys.modules, "mcp", None)
    done = init("claude-code", "--yes")
    assert done.code == 0
    assert 'pip install "kr-core[mcp]"' in done.out


@pytest.mark.parametrize("beside", [True, False])
def test_without_kr_on_the_path_the_entry_has_an_absolute_path(init, folder, program, monkeypatch, beside):
    """The entry names the program beside this Python, or this Python itself; undoing knows it."""
    python = program.parent.parent / "env" / "python"
    python.parent.mkdir()
    if beside:
        program.rename(python.parent / "kr")
    else:
        program.unlink()
    monkeypatch.setenv("PATH", str(program.parent))
    monkeypatch.setattr(sys, "executable", str(python))
    done = init("claude-code", "--yes")
    assert "a path of this computer" in done.out
    entry = json.loads((folder / ".mcp.json").read_text())["mcpServers"]["kr"]
    started = [str(python.parent / "kr")] if beside else [str(python), "-P", "-m", "kr_core"]
    assert [entry["command"], *entry["args"]] == [*started, "mcp"]
    assert "there already" in init("claude-code", "--yes").out
    assert init("claude-code", "--undo", "--yes").code == 0
    assert there(folder) == []


def test_the_guide_names_the_project_s_knowledge_base(init, folder):
    (folder / "kr.yaml").write_text("knowledge_research: {knowledge_base_path: docs/known}\n")
    init("cursor", "--yes")
    assert "`docs/known/`" in (folder / FILES["cursor"][1]).read_text()


def test_where_nobody_can_be_asked_nothing_is_written(init, folder):
    done = init("claude-code")
    assert done.code == 2
    assert "+++ b/.mcp.json" in done.out
    assert "--yes" in done.err
    assert there(folder) == []


@pytest.mark.parametrize(("answer", "files"), [("y", 2), ("n", 0), ("", 0)])
def test_on_a_terminal_it_asks(folder, environ, answer, files):
    main, side = pty.openpty()
    process = subprocess.Popen(
        kr_argv(environ, "init", "--client", "cursor"),
        cwd=folder, env=environ, stdin=side, stdout=subprocess.PIPE,
    )  # fmt: skip
    os.close(side)
    os.write(main, f"{answer}\n".encode())
    said = process.communicate(timeout=300)[0].decode()
    os.close(main)
    assert process.returncode == 0
    assert "Apply? [y/N]" in said
    assert len(there(folder)) == files


@pytest.mark.parametrize(
    "text",
    [
        '{\n  "mcpServers": {\n    "x": {\n      "command": "y"\n    }\n  },\n  "other": [\n    1\n  ]\n}\n',
        '{\r\n\t"mcpServers": {\r\n\t\t"x": {}\r\n\t}\r\n}',
        '{"mcpServers": {"x": {}}, "z": 1.5}',
        '\ufeff{\n    "other": "\N{SNOWMAN} // no comment"\n}\n',
        '{"a": {"mcpServers": 1}, "b": "}"}',
    ],
)
def test_the_layout_of_the_file_stays(init, folder, text):
    """Indentation, line ends and byte order mark stay; undone, the file is as it was."""
    path = folder / ".mcp.json"
    path.write_bytes(text.encode())
    path.chmod(0o640)
    assert init("claude-code", "--yes").code == 0
    after = path.read_bytes().decode()
    before = json.loads(text.removeprefix("\ufeff"))
    wanted = {**before, "mcpServers": {**before.get("mcpServers", {}), "kr": OURS}}
    assert json.loads(after.removeprefix("\ufeff")) == wanted
    assert after.startswith("\ufeff") == text.startswith("\ufeff")
    assert ("\n" in after.replace("\r\n", "")) == ("\n" in text.replace("\r\n", ""))
    assert path.stat().st_mode & 0o777 == 0o640
    assert init("claude-code", "--undo", "--yes").code == 0
    assert path.read_bytes().decode() == text


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('{\n  "a": 1,\n}\n', 3, "is not JSON"),
        ('{\n  // mine\n  "a": 1\n}\n', 2, "has comments"),
        ('{"a": 1} /* mine */', 1, "has comments"),
        ("[]", 1, "is not a JSON object"),
        ('{\n"mcpServers": []}', None, "`mcpServers` is not an object"),
        ('{\n"a": {"mcpServers": {},\n"mcpServers": {}}}', None, "has `mcpServers` twice"),
        ('{"a": 1e999}', 1, "is not JSON"),
        (b"\xff", None, "is not UTF-8"),
    ],
)
def test_what_cannot_be_merged_is_said_with_file_and_line_and_nothing_is_written(
    init, folder, text, line, said
):
    path = folder / ".mcp.json"
    raw = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(raw)
    done = init("claude-code", "--yes")
    assert done.code == 2
    assert f"{path}:{line}: " in done.err if line else f"{path}: " in done.err
    assert said in done.err
    assert path.read_bytes() == raw
    assert there(folder) == [".mcp.json"]


def test_what_the_user_has_made_of_it_is_neither_replaced_nor_removed(init, folder):
    """An entry of the same name, and a text for the agent that was changed; an unchanged older text is renewed."""
    configuration, text = FILES["claude-code"]
    mine = '{"mcpServers": {"kr": {"command": "/opt/kr", "args": ["mcp"]}}}'
    (folder / configuration).write_text(mine)
    init("claude-code", "--yes")
    guide = folder / text
    changed = guide.read_text().replace("# Ask KR", "# Ask KR first")
    guide.write_text(changed)
    for options in (("--yes",), ("--undo", "--yes")):
        done = init("claude-code", *options)
        assert done.code == 0
        assert done.out.count("it stays as it is") == 2
        assert (folder / configuration).read_text() == mine
        assert guide.read_text() == changed
    older = "older\n"
    guide.write_text(older + client_setup._SEAL.format("", client_setup._checksum(older)))
    init("claude-code", "--yes")
    assert "# Ask KR\n" in guide.read_text()


@pytest.mark.parametrize("client", FILES)
def test_only_folders_that_it_made_and_that_are_empty_go(init, folder, client):
    """A text written anew keeps in mind which folders it came with; what somebody put there stays, with its folder."""
    _, text = FILES[client]
    top = folder / text.partition("/")[0]
    init(client, "--yes")
    (folder / text).write_text((folder / text).read_text().replace("\n", "\r\n"))
    init(client, "--yes")
    (top / "mine.md").write_text("mine")
    assert init(client, "--undo", "--yes").code == 0
    assert [path.name for path in top.iterdir()] == ["mine.md"]
    (top / "mine.md").unlink()
    init(client, "--yes")
    assert init(client, "--undo", "--yes").code == 0
    assert [path.name for path in folder.iterdir()] == [top.name]


@pytest.mark.parametrize("before", ["{}", "{}\n", "{ }\n"])
@pytest.mark.parametrize("client", FILES)
def test_files_and_folders_that_may_be_the_user_s_stay(init, folder, client, before):
    """An object without members, and folders that were empty before, are there after undoing."""
    configuration, text = FILES[client]
    (folder / text).parent.mkdir(parents=True)
    (folder / configuration).write_text(before)
    assert init(client, "--yes").code == 0
    assert init(client, "--undo", "--yes").code == 0
    assert json.loads((folder / configuration).read_text()) == {}
    kept = (folder / text).parent
    assert (kept.parent if client == "claude-code" else kept).is_dir()


def test_a_link_is_followed_within_the_project_only(init, folder):
    """What lies outside is named and not touched, and what is not there is not made; within, links stay links."""
    outside = folder.parent / "outside"
    outside.mkdir()
    configuration, text = (folder / name for name in FILES["claude-code"])
    for target, said in (
        (outside / "mcp.json", "leads out of the project"),
        (folder / "gone", "is not there"),
        (configuration, ""),
    ):
        configuration.symlink_to(target)
        done = init("claude-code", "--yes")
        assert done.code == 2
        assert f"{configuration}: " in done.err
        assert said in done.err
        configuration.unlink()
    (folder / ".claude").symlink_to(outside)
    done = init("claude-code", "--yes")
    assert (done.code, str(outside) in done.err) == (2, True)
    assert (there(outside), there(folder)) == ([], [])
    (folder / ".claude").unlink()

    (folder / "kept/skills/kr").mkdir(parents=True)
    (folder / "kept/mcp.json").write_text("{}")
    (folder / ".claude").symlink_to("kept")
    configuration.symlink_to("kept/mcp.json")
    assert init("claude-code", "--yes").code == 0
    assert configuration.is_symlink()
    assert "kr" in json.loads((folder / "kept/mcp.json").read_text())["mcpServers"]
    assert init("claude-code", "--undo", "--yes").code == 0
    assert (folder / ".claude").is_symlink()
    assert (folder / ".claude").resolve() == folder / "kept"
    assert not text.exists()

    linked = folder / "guide.md"
    init("claude-code", "--yes")
    text.rename(linked)
    text.symlink_to(linked)
    done = init("claude-code", "--undo", "--yes")
    assert "is a link" in done.out
    assert text.read_text() == linked.read_text()


def test_only_a_regular_file_that_may_be_written_is_changed(init, folder):
    """A pipe is not waited for; a file without the permission is not replaced; nothing else is written either."""
    path = folder / ".mcp.json"
    os.mkfifo(path)
    assert "is not a regular file" in init("claude-code", "--yes").err
    path.unlink()
    path.write_text("{}")
    path.chmod(0o444)
    done = init("claude-code", "--yes")
    assert (done.code, path.read_text(), there(folder)) == (2, "{}", [".mcp.json"])
    assert "may not be written" in done.err


def test_what_changes_while_it_asks_is_not_overwritten(folder, environ):
    """Somebody writes the configuration while the question stands: that stays, and nothing is written."""
    path = folder / ".mcp.json"
    path.write_text("{}")
    main, side = pty.openpty()
    with subprocess.Popen(
        kr_argv(environ, "init", "--client", "claude-code"),
        cwd=folder, env=environ, stdin=side, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        os.close(side)
        said = b""
        while b"Apply?" not in said:
            said += os.read(process.stdout.fileno(), 4096)
        path.write_text('{"mine": 1}')
        os.write(main, b"y\n")
        err = process.communicate(timeout=300)[1].decode()
    os.close(main)
    assert process.returncode == 2
    assert "was changed by someone else" in err
    assert (path.read_text(), there(folder)) == ('{"mine": 1}', [".mcp.json"])


def test_what_cannot_all_be_written_is_put_back(folder, monkeypatch):
    """The second file fails: the first one is as it was, and no folder is left."""
    (folder / ".mcp.json").write_text("{}")
    wrote = client_setup.write_atomically

    def full(path, text):
        if path.name == "SKILL.md":
            path.parent.mkdir(parents=True)
            raise OSError(28, "No space left on device")
        return wrote(path, text)

    monkeypatch.setattr(client_setup, "write_atomically", full)
    changes = [
        client_setup._FileEdit(folder / ".mcp.json", "{}", '{"mcpServers": {}}'),
        client_setup._FileEdit(folder / FILES["claude-code"][1], None, "text"),
    ]
    with pytest.raises(ConfigError, match="No space left"):
        client_setup._apply_all(folder, changes)
    assert (folder / ".mcp.json").read_text() == "{}"
    assert not (folder / ".claude").exists()


def test_another_configuration_goes_into_the_entry(kr, init, folder):
    """By its path in the project, where it lies there; another one later takes its place, and undoing knows it."""
    (folder / "other.yaml").write_text("knowledge_research: {knowledge_base_path: docs/known}\n")
    path = folder / ".mcp.json"
    for file, name in (("other.yaml", "other.yaml"), (str(folder / "other.yaml"), "other.yaml")):
        assert kr("--config", file, "init", "--client", "claude-code", "--yes", cwd=folder).code == 0
        entry = {"command": "kr", "args": ["--config", name, "mcp"]}
        assert json.loads(path.read_text()) == {"mcpServers": {"kr": entry}}
    assert init("claude-code", "--yes").code == 0
    assert json.loads(path.read_text()) == {"mcpServers": {"kr": OURS}}
    kr("--config", "other.yaml", "init", "--client", "claude-code", "--yes", cwd=folder)
    assert init("claude-code", "--undo", "--yes").code == 0
    assert not path.exists()


def test_options_that_do_not_go_together(kr, folder):
    for options in (("--yes",), ("--undo",), ("--client", "cursor", "--force"), ("--client", "emacs")):
        assert kr("init", *options, cwd=folder).code == 2
    assert there(folder) == []


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(st.text(max_size=4), _JSON, min_size=1, max_size=4),
    st.sampled_from([None, 1, 4, "\t"]),
    st.booleans(),
)
def test_an_object_keeps_value_and_layout(whole, indent, crlf):
    """An object of any value is read and written again in the layout of its file."""
    text = json.dumps(whole, indent=indent, ensure_ascii=False)
    text = text.replace("\n", "\r\n") if crlf else text
    loaded = json_edit.load(text, where="x", by_hand="")
    assert loaded == whole
    assert json_edit.dump(loaded, like=text, where="x", by_hand="") == text
