"""From a working folder to a checked configuration."""

from pathlib import Path

import pytest

from kr_core.config import load
from kr_core.config.schema import Schema
from kr_core.errors import ConfigError


def project(folder, text, name="kr.yaml"):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def fault(folder, *args) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        load(folder, *args)
    return caught.value


@pytest.mark.req("P3")
def test_without_a_file_the_defaults_hold_in_the_working_folder(tmp_path):
    config = load(tmp_path, environ={})
    assert config.root == tmp_path
    assert config.file is None
    assert config.knowledge_base == tmp_path / "knowledge-base"
    assert config.state_folder == tmp_path / ".kr"
    assert config.origin(("store",)) == "default configuration"


@pytest.mark.req("P3")
@pytest.mark.parametrize(
    "text", ["", "# nothing\n", "---\n", "{}", "knowledge_research:\n# sources: []\n", "\ufeff"]
)
def test_an_empty_file_has_all_defaults(tmp_path, text):
    config = load(project(tmp_path, text))
    assert config.file == tmp_path / "kr.yaml"
    assert config.settings.store == "files"


@pytest.mark.req("P3")
def test_values_are_read_and_their_lines_known(tmp_path):
    text = "store: other\nknowledge_research:\n  sources:\n    - web\n    - docs\nplugins:\n  web: {a: 1}\n"
    config = load(project(tmp_path, text))
    assert config.settings.knowledge_research.sources == ("web", "docs")
    assert config.origin(("store",)) == "kr.yaml:1"
    assert config.origin(("knowledge_research", "sources", 1)) == "kr.yaml:5"
    assert config.origin(("knowledge_research", "max_entries")) == "kr.yaml:2"
    assert config.origin(("plugins", "web", "a")) == "kr.yaml:7"
    assert config.origin(("journal",)) == "kr.yaml"


@pytest.mark.req("P3")
def test_places_are_told_relative_to_the_working_folder(tmp_path):
    deep = tmp_path / "src"
    deep.mkdir()
    project(tmp_path, "store: x")
    assert load(deep).origin(("store",)) == "../kr.yaml:1"


@pytest.mark.req("P3")
def test_a_table_in_pyproject_is_read_with_its_lines(tmp_path):
    text = (
        '[project]\nname = "x"\n[tool.kr]\nstore = "other"\nlogs = [\n  "a",\n  "b",\n]\n'
        '[tool.kr.knowledge_research]\nmax_entries = 7\ngit_commit = "off"\n\n'
        '[tool.kr.plugins."my.web"]\nrelease = 2.10\n[tool.ruff]\nstore = 1\n'
    )
    config = load(project(tmp_path, text, "pyproject.toml"))
    assert config.settings.logs == ("a", "b")
    assert config.settings.knowledge_research.max_entries == 7
    assert config.plugin_settings("my.web") == {"release": "2.10"}
    assert config.origin(("store",)) == "pyproject.toml:4"
    assert config.origin(("logs", 1)) == "pyproject.toml:5"
    assert config.origin(("knowledge_research", "max_entries")) == "pyproject.toml:10"
    assert config.origin(("plugins", "my.web", "release")) == "pyproject.toml:14"


@pytest.mark.req("P3")
def test_dotted_and_inline_toml_keys_have_lines_too(tmp_path):
    text = '[tool]\nkr.store = "other"\nkr.defaults = {parallel = 0}\n'
    project(tmp_path, text, "pyproject.toml")
    assert fault(tmp_path).where == "pyproject.toml:3"


@pytest.mark.req("P3")
@pytest.mark.parametrize(
    ("text", "where", "what", "hint"),
    [
        ("stor: x", "kr.yaml:1", "unknown key `stor`", "did you mean `store`?"),
        (
            "sources: [installed_docs]",
            "kr.yaml:1",
            "unknown key `sources`",
            "did you mean `knowledge_research.sources`?",
        ),
        (
            "knowledge_research:\n  max_call: 3",
            "kr.yaml:2",
            "unknown key `knowledge_research.max_call`",
            "did you mean `max_calls_per_story`?",
        ),
        (
            "defaults: {paralel: 1}",
            "kr.yaml:1",
            "unknown key `defaults.paralel`",
            "did you mean `parallel`? (keys: agent_timeout_action, agent_timeout_seconds, max_concurrent, parallel)",
        ),
        (
            "defaults:\n  parallel: two",
            "kr.yaml:2",
            "`defaults.parallel` is 'two'",
            "it must be a whole number",
        ),
        (
            "knowledge_research: {sufficient_at: 150}",
            "kr.yaml:1",
            "`knowledge_research.sufficient_at` is 150",
            "it must be less than or equal to 100",
        ),
        (
            "defaults: {agent_timeout_action: stop}",
            "kr.yaml:1",
            "`defaults.agent_timeout_action` is 'stop'",
            "it must be 'mark_needs_intervention', 'retry_once' or 'skip'",
        ),
        (
            "knowledge_research: {sources: web}",
            "kr.yaml:1",
            "`knowledge_research.sources` is 'web'",
            "it must be a list, such as [one, two]",
        ),
        (
            "knowledge_research:\n  cache_match_tiers:\n  - full\n  - topics",
            "kr.yaml:4",
            "`knowledge_research.cache_match_tiers[1]` is 'topics'",
            "it must be 'full', 'topic' or 'tags'",
        ),
        ("logs: [a, a]", "kr.yaml:1", "`logs` is a list", "it names 'a' twice"),
        ("plugins:\n  web: 3", "kr.yaml:2", "`plugins.web` is 3", "it must be a mapping of keys to values"),
        ("plugins:\n  w:\n    use: []", "kr.yaml:3", "`plugins.w.use` is a list", "it must be text"),
        (
            "store: x\n\nstore: y",
            "kr.yaml:3",
            "`store` stands twice, in line 1 and in line 3",
            "keep one of them",
        ),
        (
            "plugins:\n  a: {b: 1,\n   b: 2}",
            "kr.yaml:3",
            "`plugins.a.b` stands twice, in line 2 and in line 3",
            "keep one of them",
        ),
        ("- a", "kr.yaml:1", "the top level is not a mapping", "write `key: value` lines"),
        ("text", "kr.yaml:1", "the top level is not a mapping", "write `key: value` lines"),
        (
            "logs: [a",
            "kr.yaml:2",
            "not valid YAML: did not find expected ',' or ']'",
            "correct the YAML there",
        ),
        ("defaults:\n\tparallel: 1", "kr.yaml:2", None, "indent with spaces, not tabs"),
        ("store: !!python/name:os.system x", "kr.yaml:1", None, "correct the YAML there"),
        ("store: a\nlogs: [\0]", "kr.yaml:2", "contains a control character", "remove it"),
        (b"store: a\nlogs: [\xe9]", "kr.yaml:2", "not UTF-8", "save the file in UTF-8"),
        ("store: a\n---\nstore: b", "kr.yaml:2", None, "correct the YAML there"),
        ("a: &a [*a]", "kr.yaml", "its aliases (`*name`) grow without end", "write the values out"),
        ("a: 1\nb: " + "[" * 100_000 + "]" * 100_000, "kr.yaml:2", "nested too deeply", None),
        ("- " * 100_000 + "a", "kr.yaml:1", "nested too deeply", None),
        ("store: !!int abc", "kr.yaml", None, "write the value as plain text"),
        ("store: true", "kr.yaml:1", "`store` is true", "it must be text"),
        ("logs: [a, ]\nplugins: {? : {}}", None, None, None),
        ("logs:\n-", "kr.yaml:2", "`logs[0]` is empty", "it must be text"),
        (f"defaults: {{parallel: {'x' * 99}}}", "kr.yaml:1", f"`defaults.parallel` is '{'x' * 56}...", None),
    ],
)
def test_a_fault_is_told_with_file_and_line_what_is_wrong_and_what_is_right(
    tmp_path, text, where, what, hint
):
    error = fault(project(tmp_path, text))
    assert error.exit_code == 2
    for told, expected in ((error.where, where), (error.what, what), (error.hint, hint)):
        assert expected is None or told == expected


@pytest.mark.req("P3", "Z3")
def test_aliases_of_aliases_cannot_fill_the_memory(tmp_path):
    lines = ["a: &a [x]"] + [
        f"{name}: &{name} [{', '.join([f'*{above}'] * 9)}]"
        for above, name in zip("abcdefgh", "bcdefghi", strict=True)
    ]
    assert "grow without end" in fault(project(tmp_path, "\n".join(lines))).what


@pytest.mark.req("P3")
def test_a_file_of_very_many_values_is_not_blamed_for_aliases(tmp_path):
    """It has none."""
    error = fault(project(tmp_path, "a: [" + "x, " * 50_000 + "]"))
    assert (error.what, error.hint) == ("has more than 50,000 values", "make it shorter")


@pytest.mark.req("P3")
def test_merge_keys_are_no_duplicates(tmp_path):
    text = "plugins:\n  a: &a {x: 1, y: 2}\n  b: {<<: *a, y: 3}\n"
    assert load(project(tmp_path, text)).plugin_settings("b") == {"x": 1, "y": 3}


@pytest.mark.req("P3")
def test_a_folder_a_missing_file_and_a_closed_one_are_told_apart(tmp_path):
    (tmp_path / "kr.yaml").mkdir()
    assert fault(tmp_path).what == "this is a folder"
    missing = fault(tmp_path, Path("other.yaml"))
    assert (missing.where, missing.what) == ("other.yaml", "there is no such file")
    assert fault(tmp_path / "nowhere").what == "there is no such folder"
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    assert fault(tmp_path, Path("loop.yaml")).what.startswith("cannot be read")


@pytest.mark.req("P3")
def test_a_named_toml_file_needs_our_table(tmp_path):
    project(tmp_path, "[tool.other]\n", "some.toml")
    assert fault(tmp_path, Path("some.toml")).what == "it has no table [tool.kr]"
    project(tmp_path, "[tool]\nkr = 3\n", "some.toml")
    assert fault(tmp_path, Path("some.toml")).where == "some.toml:2"
    project(tmp_path, "[tool.kr]\nstore =\n", "some.toml")
    assert fault(tmp_path, Path("some.toml")).where == "some.toml:2"
    project(tmp_path, f"[tool.kr]\nstore = {'[' * 9999}\n", "some.toml")
    assert fault(tmp_path, Path("some.toml")).what == "nested too deeply"


# -- BMAD ------------------------------------------------------------------------------------------------

BMAD = """\
user_name: Ada
output_folder: "{project-root}/out"
role_mapping:
  knowledge_researcher_persona: "bmad:bmm:agents:architect"
  qa_persona: x
defaults:
  parallel: 2
  review_rounds: 3
  agent_timeout_seconds: {knowledge_research: 300, dev: 900}
knowledge_research:
  knowledge_base_path: "{project-root}/kb"
  sources: [context7, deepwiki]
  unheard_of: 1
status_file_search_paths: ["{project-root}/sprint-status.yaml"]
routing: {a: b}
"""


@pytest.mark.req("P7")
def test_a_bmad_configuration_is_read_as_it_stands_and_its_other_keys_are_left_alone(tmp_path):
    config = load(project(tmp_path, BMAD, "_bmad/bso/config.yaml"))
    assert config.root == tmp_path
    assert config.knowledge_base == tmp_path / "kb"
    assert config.settings.defaults.parallel == 2
    assert config.settings.defaults.agent_timeout_seconds.knowledge_research == 300
    assert config.settings.role_mapping.knowledge_researcher_persona == "bmad:bmm:agents:architect"
    assert config.settings.status_file_search_paths == (f"{tmp_path}/sprint-status.yaml",)


@pytest.mark.req("P7", "K10", "K5")
@pytest.mark.parametrize(
    "text", ["", "a: 1", "knowledge_research:", "knowledge_research: {git_commit: }", BMAD]
)
def test_under_bmad_changes_are_committed_and_age_alone_makes_nothing_stale(tmp_path, text):
    research = load(project(tmp_path, text, "_bmad/bso/config.yaml")).settings.knowledge_research
    assert (research.git_commit, research.max_age_days) == ("auto", None)


@pytest.mark.req("P7")
def test_what_a_bmad_configuration_says_wins_and_a_wrong_value_is_still_an_error(tmp_path):
    text = "knowledge_research: {git_commit: off, max_age_days: 5}"
    research = load(project(tmp_path, text, "_bmad/bso/config.yaml")).settings.knowledge_research
    assert (research.git_commit, research.max_age_days) == ("off", 5)
    project(tmp_path, "a: 1\nknowledge_research: 3", "_bmad/bso/config.yaml")
    assert fault(tmp_path).where == "_bmad/bso/config.yaml:2"


@pytest.mark.req("P7")
@pytest.mark.parametrize(
    ("text", "passed_over"),
    [
        ("defaults: {parallel: auto, agent_timeout_action: page_me}", ["parallel", "agent_timeout_action"]),
        ("defaults: {agent_timeout_seconds: 900}", ["agent_timeout_seconds"]),
        ("defaults: {agent_timeout_seconds: {knowledge_research: 10m, dev: [1]}}", ["agent_timeout_seconds.knowledge_research"]),
        ("defaults: [a, b]", []),
    ],
)  # fmt: skip
def test_values_of_bmads_other_tools_are_passed_over(tmp_path, text, passed_over):
    """Others read these keys too: what they put there is no fault of the user's, and KR keeps its default."""
    odd = "status_file_search_paths: {a: [1, {b: 2026-01-01}]}\nrole_mapping: 7\nlogs: {level: debug}\n"
    config = load(
        project(
            tmp_path,
            f"{odd}{text}\nknowledge_research: {{max_calls_per_story: 5}}\n",
            "_bmad/bso/config.yaml",
        )
    )
    expected = [("defaults", *key.split(".")) for key in passed_over] or [("defaults",)]
    assert sorted(config.passed_over) == sorted(
        [("status_file_search_paths",), ("role_mapping",), ("logs",), *expected]
    )
    assert config.settings.defaults == Schema().defaults
    assert config.settings.logs == Schema().logs
    assert config.settings.knowledge_research.max_calls_per_story == 5


@pytest.mark.req("P7")
def test_without_a_bmad_configuration_nothing_is_committed_and_age_counts(tmp_path):
    (tmp_path / "_bmad").mkdir()
    research = load(tmp_path).settings.knowledge_research
    assert (research.git_commit, research.max_age_days) == ("off", 180)


# -- folders and plugins ---------------------------------------------------------------------------------


@pytest.mark.req("K1", "Z1")
def test_the_knowledge_base_leaves_the_project_only_where_the_user_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", "/home/ada")
    root = tmp_path / "p"

    def base(path):
        folder = project(root, f"knowledge_research: {{knowledge_base_path: '{path}'}}")
        return load(folder, environ={"KR_TRUST": "all"}).knowledge_base

    assert base("docs/kb/") == root / "docs" / "kb"
    assert base("{project-root}/kb") == root / "kb"
    assert base("../shared") == tmp_path / "shared"
    assert base("/srv/kb") == Path("/srv/kb")
    assert base("~/kb") == Path("/home/ada/kb")


@pytest.mark.req("P3")
def test_an_instance_has_its_own_settings_and_names_its_plugin(tmp_path):
    text = "plugins:\n  wiki: {use: mcp, folder: '{project-root}/w', deep: {list: [1]}}\n  web:\n"
    config = load(project(tmp_path, text))
    assert config.plugin_of("wiki") == "mcp"
    assert config.plugin_of("web") == "web"
    assert config.plugin_of("unheard") == "unheard"
    assert config.plugin_settings("wiki") == {"folder": f"{tmp_path}/w", "deep": {"list": [1]}}
    assert config.plugin_settings("web") == config.plugin_settings("unheard") == {}


@pytest.mark.req("P5")
def test_a_plugin_cannot_change_the_configuration_through_its_settings(tmp_path):
    config = load(project(tmp_path, "plugins: {web: {list: [1]}}"))
    config.plugin_settings("web")["list"].append(2)
    assert config.plugin_settings("web") == {"list": [1]}


@pytest.mark.req("P3")
def test_two_configurations_live_side_by_side(tmp_path):
    one = load(project(tmp_path / "one", "store: a"), environ={"X": "1"})
    two = load(project(tmp_path / "two", "store: b"), environ={"X": "2"})
    assert (one.settings.store, one.environ["X"]) == ("a", "1")
    assert (two.settings.store, two.environ["X"]) == ("b", "2")
