"""Which settings run a program or send a secret somewhere."""

import pytest

from kr_core import yamltext
from kr_core.config.sensitive import sending_documents, sensitive_in

KEY = ("plugins", "tool")


def said(text):
    """The keys below `plugins.tool` that need trust, with what they would do."""
    found = sensitive_in(yamltext.load(text) or {}, KEY)
    return {".".join(map(str, setting.key[2:])): setting.does for setting in found}


@pytest.mark.req("Z8")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("command: npx server", {"command": "runs `npx server`"}),
        ("argv: [npx, -y, 'a b']", {"argv": "runs `npx -y 'a b'`"}),
        ("servers: {one: {command: x}}", {"servers.one.command": "runs `x`"}),
        ("servers: [{a: 1}, {argv: [x]}]", {"servers.1.argv": "runs `x`"}),
        ("command: {env: EDITOR}", {"command": "runs `$EDITOR`"}),
        ("command: {linux: x, mac: [y]}", {"command": "runs `linux: x, mac: y`"}),
        ("command: !!binary Y2F0", {"command": "runs `cat`"}),
        ("steps: !!set {}\ncommands: !!set {a}", {"commands": "runs `a`"}),
        ("preCommand: x", {"preCommand": "runs `x`"}),
        ("post-command: x", {"post-command": "runs `x`"}),
        ("args: [--yolo]", {"args": "runs `--yolo`"}),
        ("arguments: [--yolo]", {"arguments": "runs `--yolo`"}),
        ("arguments: {a: {command: x}}", {"arguments.a.command": "runs `x`"}),
        ("entrypoint: x\nld_preload: y.so", {"entrypoint": "runs `x`", "ld_preload": "runs `y.so`"}),
        ("env: {PATH: .}", {"env": "sets `PATH: .` in the environment of a program"}),
        ("env: PATH", {"env": "sets `PATH` in the environment of a program"}),
        ("a: &a {command: x}\nb: *a", {"a.command": "runs `x`", "b.command": "runs `x`"}),
        ("a: &a {command: x}\nb: {<<: *a, c: 1}", {"a.command": "runs `x`", "b.command": "runs `x`"}),
    ],
)
def test_a_program_needs_trust_however_deep_and_however_it_is_written(text, expected):
    assert said(text) == expected


@pytest.mark.req("Z8")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("url: https://a.example\ntoken: {env: T}", {"url": "sends T to `https://a.example`"}),
        ("base_url: a.example\napi_key: {env: T}", {"base_url": "sends T to `a.example`"}),
        ("baseUrl: a.example\napi_key: {env: T}", {"baseUrl": "sends T to `a.example`"}),
        ("host: a.example\na: {env: T}\nb: [{env: U}]", {"host": "sends T and U to `a.example`"}),
        ("host: 2130706433\na: {env: T}", {"host": "sends T to `2130706433`"}),
        ("allow_hosts: [a.example]\na: {env: T}", {"allow_hosts": "sends T to `a.example`"}),
        ("proxy: a.example\na: {env: T}", {"proxy": "sends T to `a.example`"}),
        ("webhook: {env: HOOK}", {"webhook": "sends HOOK to `$HOOK`"}),
        ("url: {env: SERVICE}\ntoken: {env: T}", {"url": "sends SERVICE and T to `$SERVICE`"}),
        (
            "repository: 'https://a.example/x'\na: {env: T}",
            {"repository": "sends T to `https://a.example/x`"},
        ),
        ("repository: '//a.example'\na: {env: T}", {"repository": "sends T to `//a.example`"}),
        ("repository: 'git@a.example:x'\na: {env: T}", {"repository": "sends T to `git@a.example:x`"}),
        ("model: '10.0.0.1:80'\na: {env: T}", {"model": "sends T to `10.0.0.1:80`"}),
        ("model: 'a.example:8080/v1'\na: {env: T}", {"model": "sends T to `a.example:8080/v1`"}),
        ("model: !!binary aHR0cHM6Ly9h\na: {env: T}", {"model": "sends T to `https://a`"}),
        ("ways: {'https://a.example': 1}\na: {env: T}", {"ways.https://a.example": "sends T to `1`"}),
        ("api_base: x\na: {env: T}", {"api_base": "sends T to `x`"}),
        ("tenant: evil/#\na: {env: T}", {"tenant": "sends T to `evil/#`"}),
        ("model: evil.example/x\na: {env: T}", {"model": "sends T to `evil.example/x`"}),
        ("headers: {x: {env: T}}\nlist: [{deep: {url: u}}]", {"list.0.deep.url": "sends T to `u`"}),
    ],
)
def test_an_address_needs_trust_where_the_entry_takes_something_from_the_environment(text, expected):
    assert said(text) == expected


@pytest.mark.req("Z8")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "folder: notes\nlimit: 3",
        "token: {env: T}\nrepository: owner/name\nmodel: gpt-4.1",
        "webhook_secret: {env: T}",
        "url: https://a.example",
        "url: https://a.example\ntool: search\narguments: {query: '{question}', limit: 5}",
        "command:\nargv: []\nurl: ''\ntoken: {env: T}",
        "server_timeout: 5\ncommand_timeout: 2.5\nuse_proxy: true\nshell: false\ntoken: {env: T}",
        "topics: ['a: b', 'at 12:30 o clock']\ntoken: {env: T}",
    ],
)
def test_what_neither_runs_nor_sends_needs_no_trust(text):
    assert said(text) == {}


@pytest.mark.req("Z8", "G5")
def test_what_is_shown_is_whole_and_cannot_steer_the_terminal():
    found = said('command: "\\e[2Kharmless\\u202e\\n" \nargv: ["' + "x" * 5000 + '"]')
    assert found["command"] == "runs `\N{REPLACEMENT CHARACTER}[2Kharmless\N{REPLACEMENT CHARACTER}\\n`"
    assert found["argv"] == f"runs `{'x' * 5000}`"


@pytest.mark.req("Z8", "R19")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("base_url: http://a.example/v1\napi_key: {env: K}", ["base_url"]),
        ("base_url: {env: WHERE}", ["base_url"]),
        ("host: 127.0.0.1", ["host"]),
        ("api_key: sk-of-the-project", ["api_key"]),
        ("options: {token: x}", ["options.token"]),
        ("api_key: {env: OPENAI_API_KEY}", ["api_key"]),
        ("api_key: ''\nfolder: models/minilm\nmodel: small", []),
    ],
)
def test_by_which_settings_an_embedder_sends_documents(text, expected):
    """By an address, whatever stands beside it; by a key alone, as that of a service whose address the plugin knows."""
    found = sending_documents(yamltext.load(text), KEY)
    assert [".".join(map(str, setting.key[2:])) for setting in found] == expected
