"""Which settings run a program or send a secret somewhere."""

import pytest

from kr_core import yaml_text
from kr_core.config.trust_policy import (
    AddressPolicy,
    leading_out,
    loading_models,
    posting,
    sending_documents,
    sensitive_in,
    taking,
    with_own_key,
)

KEY = ("plugins", "tool")


def own(*addresses):
    """The policy of a plugin with these addresses of its own."""
    return AddressPolicy(frozenset(addresses))


def said(text):
    """The keys below `plugins.tool` that need trust, with what they would do."""
    found = sensitive_in(yaml_text.load(text) or {}, KEY)
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
        (
            "allow_hosts: [a.example]\na: {env: T}",
            {"allow_hosts": "lets pages of `a.example` be read although they are private"},
        ),
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
        "url: http://localhost:8000",
        "url: http://[::1]/mcp\ntool: search\narguments: {query: '{question}', limit: 5}",
        "command:\nargv: []\nurl: ''\ntoken: {env: T}",
        "server_timeout: 5\ncommand_timeout: 2.5\nuse_proxy: true\nshell: false\ntoken: {env: T}",
        "topics: ['a: b', 'at 12:30 o clock']\ntoken: {env: T}",
    ],
)
def test_what_neither_runs_nor_sends_needs_no_trust(text):
    assert said(text) == {}


@pytest.mark.req("Z8", "Z2")
@pytest.mark.parametrize(
    "address",
    [
        "https://a.example",
        "http://10.0.0.1",
        "http://169.254.169.254/latest/meta-data",
        "http://0.0.0.0:8080",
        "http://localhost.a.example",
        "http://127.0.0.1.a.example",
        "http://localhost@a.example",
        "http://localhost:80@a.example",
        "http://localhost:80\\@a.example",
        "http://localhost?@a.example",
        "http://localhost.",
        "http://2130706433",
        "http://127.1",
        "http://0x7f.0.0.1",
        "http://0177.0.0.1",
        "http://127.0.0.256",
        "http://127.0.0.1\N{FULLWIDTH FULL STOP}a.example",
        "http://\N{FULLWIDTH DIGIT ONE}27.0.0.1",
        "http://localho\N{LATIN SMALL LETTER LONG S}t",
        "http://[::ffff:127.0.0.1]",
        "http://[::ffff:10.0.0.1]",
        "http://[::1%25eth0]",
        "http://::1:80",
        "localhost:x@a.example",
        " http://localhost",
        "http://localhost\n",
        "http://local\thost",
        "file://localhost/etc/passwd",
        "ftp://localhost",
        "a.example",
        "10.0.0.1:80",
        "//localhost",
        "HTTP://A.EXAMPLE",
        "https://own.example@a.example/v1",
        "https://own.example.a.example/v1",
        "https://own.example.",
        "https://own.example:8443/v1",
        "http://own.example/v1",
        "own.example",
    ],
)
def test_an_address_that_is_neither_of_this_machine_nor_the_services_own_needs_trust(address):
    for settings in ({"url": address}, {"base_url": address}, {"a": [{"endpoints": [address]}]}):
        (found,) = sensitive_in(settings, KEY, own("https://own.example/v1"))
        assert found.does.startswith("sends requests to ")


@pytest.mark.req("Z8")
@pytest.mark.parametrize(
    "address",
    [
        "http://localhost:11434",
        "HTTP://LocalHost/v1",
        "https://127.0.0.1:8443/a?b=@c",
        "http://127.8.9.255/",
        "http://[::1]:8000/mcp",
        "localhost:4317",
        "127.0.0.1",
        "https://own.example",
        "https://own.example/v2/",
        "HTTPS://OWN.example/v1",
    ],
)
def test_an_address_of_this_machine_or_the_services_own_needs_no_trust(address):
    settings = {"url": address, "hosts": [address], "servers": {"one": {"url": address, "port": 80}}}
    policy = own("https://own.example/v1", "http://127.0.0.1:4318")
    assert [one for one in sensitive_in(settings, KEY, policy) if "port" not in one.does] == []


@pytest.mark.req("Z8")
def test_a_secret_may_go_to_the_services_own_address_and_to_no_other_of_this_machine():
    token = {"token": {"env": "T"}}
    policy = own("https://own.example/v1")
    assert not sensitive_in({"url": "https://own.example/v1", **token}, KEY, policy)
    for address in ("http://localhost", "https://own.example.", {"env": "OWN"}):
        assert [one.key[2] for one in sensitive_in({"url": address, **token}, KEY, policy)] == ["url"]


@pytest.mark.req("Z8", "Z2")
@pytest.mark.parametrize(
    "hosts", [["127.0.0.1:80"], ["localhost"], ["own.example"], "localhost", {"a": 1}, {"env": "HOSTS"}, True]
)
def test_hosts_that_are_allowed_although_private_need_trust_whichever_they_are(hosts):
    for name in ("allow_hosts", "allowedHosts", "allow-private-hosts"):
        (found,) = sensitive_in({name: hosts}, KEY, own("https://own.example"))
        assert found.does.startswith("lets pages of")
    assert not sensitive_in({"allow_hosts": [], "allow": ["ann"]}, KEY)


@pytest.mark.req("Z8")
def test_a_path_that_leads_out_of_the_project_is_found_with_its_real_place(tmp_path):
    root = tmp_path / "project"
    (root / "inner").mkdir(parents=True)
    (root / "way").symlink_to(tmp_path / "not yet there")
    (root / "turn").symlink_to("way")
    paths = {"a": "../x", "b": str(tmp_path), "c": "way", "d": "turn/deeper", "e": "way/../inner", "f": "~/x"}
    found = {one.key[2]: one for one in leading_out(paths, KEY, root)}
    assert set(found) == set(paths)
    assert found["d"].location == str(tmp_path / "not yet there" / "deeper")
    assert found["e"].location == str(tmp_path / "inner")
    assert found["a"].does == f"leads to `{tmp_path / 'x'}`, outside of the project"
    deep = {"folders": ["inner", {"x": "../y"}, {"env": "A"}], "folder": {"env": "B"}, "token": {"env": "C"}}
    assert [one.key[2:] for one in leading_out(deep, KEY, root)] == [
        ("folders", 1, "x"),
        ("folders", 2),
        ("folder",),
    ]
    inside = {
        "folder": "inner/../notes",
        "path": str(root / "x"),
        "file": "~nobody-of-this-name/x",
        "model": "gpt-4.1",
    }
    assert not leading_out({**inside, "odd": "a\0b", "half": "\ud800", "many": ["x" * 9000]}, KEY, root)


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
    found = sending_documents(yaml_text.load(text), KEY)
    assert [".".join(map(str, setting.key[2:])) for setting in found] == expected


@pytest.mark.req("Z8")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("folder: model", {"folder": "loads a model from `model`"}),
        ("model: {path: ./x}", {"model.path": "loads a model from `./x`"}),
        ("model: small\nfolder:\nbatch: 3", {}),
    ],
)
def test_what_an_embedder_loads(text, expected):
    found = loading_models(yaml_text.load(text), KEY)
    assert {".".join(map(str, one.key[2:])): one.does for one in found} == expected


@pytest.mark.req("Z8")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("repository: attacker/loot\nlabels: [kr]", {"repository": "posts to `attacker/loot`"}),
        (
            "targets: [{repo: x}]\nchannelId: C1",
            {"targets.0.repo": "posts to `x`", "channelId": "posts to `C1`"},
        ),
        ("room: 7\nto: [ann, bob]", {"room": "posts to `7`", "to": "posts to `ann bob`"}),
        ("repository: {env: WHERE}", {"repository": "posts to `$WHERE`"}),
        ("account_key: {env: K}\nrepository:\nuser_limit: 3\nproject: false\nservice: kr", {}),
    ],
)
def test_what_an_escalation_or_a_log_posts_to(text, expected):
    found = posting(yaml_text.load(text), KEY)
    assert {".".join(map(str, one.key[2:])): one.does for one in found} == expected


@pytest.mark.req("Z8")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("max_tokens: 4096\ntoken_limit: 1.5", []),
        ("api_key: sk-of-the-project", ["api_key"]),
        ("apikey: x\nAPIKey: x\nwebhook_secret: x\npassword: 123", ["apikey", "APIKey", "webhook_secret", "password"]),
        ("headers: {Authorization: Bearer x, X-Api-Key: y}", ["headers.Authorization", "headers.X-Api-Key"]),
        ("services: [{token: !!binary c2s=}]", ["services.0.token"]),
        ("api_key: {env: K}\ntoken: ''\nkey: false\nmax_tokens_parameter: max_tokens\nmodel: gpt", []),
    ],
)  # fmt: skip
def test_a_key_of_the_files_own_is_found_and_not_shown(text, expected):
    found = with_own_key(yaml_text.load(text), KEY)
    assert [".".join(map(str, one.key[2:])) for one in found] == expected
    assert {one.does for one in found} <= {"sends questions with a key of this file's own"}


@pytest.mark.req("Z8")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("responders: [a, {env: LOOT}]", {"responders.1": "puts LOOT from the environment into `responders`"}),
        ("keys: {a: {env: A}}\ntokens: {env: B}", {"keys.a": "puts A from the environment into `keys`", "tokens": "puts B from the environment into `tokens`"}),
        ('a: {env: "A\\e[2K\\n"}', {"a": "puts A\N{REPLACEMENT CHARACTER}[2K\\n from the environment into `a`"}),
        ("token: {env: A}\napiKey: {env: A}\nwebhook-secret: {env: A}\ndeep: {password: {env: A}}\npassphrase: {env: A}", {}),
    ],
)  # fmt: skip
def test_a_variable_that_is_no_key_is_taken_only_after_trust(text, expected):
    found = taking(yaml_text.load(text), KEY)
    assert {".".join(map(str, one.key[2:])): one.does for one in found} == expected


@pytest.mark.req("Z8")
def test_an_address_of_the_services_own_with_a_query_needs_trust():
    """Somebody's key may stand in it."""
    (found,) = sensitive_in({"base_url": "https://own.example/v1?key=x"}, KEY, own("https://own.example"))
    assert found.does == "sends requests to `https://own.example/v1?key=x`"


@pytest.mark.req("Z8")
@pytest.mark.parametrize("address", ["http://localhost:80/mcp", "127.0.0.1", "http://[::1]:8000/mcp"])
def test_an_address_of_this_machine_needs_trust_where_the_settings_choose_what_is_called(address):
    """A tool there may do anything; the service's own address stays free."""
    policy = AddressPolicy(frozenset({"https://own.example/mcp"}), calls_are_chosen=True)
    for settings in ({"url": address}, {"servers": {"one": {"url": address}}}, {"hosts": [address]}):
        (found,) = sensitive_in(settings, KEY, policy)
        assert found.does.startswith("sends calls of this file's choice to ")
    assert not sensitive_in({"url": "https://own.example/mcp"}, KEY, policy)
