"""The keys of a configuration."""

import subprocess
import sys

import pytest
from pydantic import ValidationError

from kr_core.config.schema import KnowledgeResearch, Schema


def research(**values):
    return KnowledgeResearch.model_validate(values)


@pytest.mark.req("P7")
def test_every_key_of_the_seeds_has_its_default():
    settings = Schema()
    assert settings.knowledge_research.model_dump() == {
        "enabled": True,
        "knowledge_base_path": "knowledge-base",
        "sources": None,
        "fallback_if_mcp_unavailable": "web_search",
        "max_calls_per_story": 3,
        "timeout_seconds": None,
        "cache_ttl_days": 30,
        "archive_after_days": 60,
        "max_age_days": 180,
        "max_tokens": 1500,
        "max_entries": 200,
        "cache_fuzzy_match": True,
        "cache_match_tiers": ("full", "topic", "tags"),
        "version_match": "auto",
        "sufficient_at": 0,
        "escalate_below": None,
        "lessons_injection_budget": 10,
        "git_commit": "off",
        "agent": None,
    }
    assert settings.defaults.model_dump() == {
        "parallel": 1,
        "agent_timeout_seconds": {"knowledge_research": 600},
        "agent_timeout_action": "mark_needs_intervention",
        "max_concurrent": 32,
    }
    assert settings.role_mapping.knowledge_researcher_persona is None
    assert settings.status_file_search_paths == ()


@pytest.mark.req("P3")
def test_one_plugin_of_each_kind_is_named_by_default():
    settings = Schema()
    named = (
        settings.store,
        settings.journal,
        settings.lookup,
        settings.scorer,
        settings.renderer,
        settings.logs,
    )
    assert named == ("files", "sqlite", "match", "evidence", "markdown", ("jsonl",))


@pytest.mark.req("P7")
def test_roles_and_timeouts_of_other_agents_are_accepted():
    settings = Schema.model_validate(
        {
            "role_mapping": {"story_author_persona": "bmad:x", "knowledge_researcher_persona": "bmad:y"},
            "defaults": {"agent_timeout_seconds": {"dev_execution": 1800}},
            "status_file_search_paths": ["a/sprint-status.yaml"],
        }
    )
    assert settings.role_mapping.knowledge_researcher_persona == "bmad:y"
    assert settings.defaults.agent_timeout_seconds.knowledge_research == 600
    assert settings.status_file_search_paths == ("a/sprint-status.yaml",)


@pytest.mark.req("P7")
@pytest.mark.parametrize("word", ["off", "Off", "no", "false", False])
def test_off_means_off_as_a_switch_and_as_a_choice(word):
    assert research(enabled=word).enabled is False
    assert research(git_commit=word if word != "false" else False).git_commit == "off"


@pytest.mark.req("P7")
@pytest.mark.parametrize("word", ["on", "yes", True])
def test_on_means_on_as_a_switch_and_as_a_choice(word):
    assert research(enabled=word).enabled is True
    assert research(git_commit=word).git_commit == "auto"


@pytest.mark.req("P7")
@pytest.mark.parametrize("nothing", [None, "off", "none", "no", False])
def test_a_limit_that_may_be_absent_is_switched_off_in_any_wording(nothing):
    assert research(max_age_days=nothing).max_age_days is None
    assert research(fallback_if_mcp_unavailable=nothing).fallback_if_mcp_unavailable is None


@pytest.mark.req("P7")
def test_a_key_with_nothing_after_it_has_its_default():
    settings = Schema.model_validate(
        {
            "knowledge_research": {"max_entries": None},
            "defaults": None,
            "plugins": {"web": None},
            "logs": None,
        }
    )
    assert settings.knowledge_research.max_entries == 200
    assert settings.defaults.parallel == 1
    assert settings.logs == ("jsonl",)
    assert settings.plugins["web"].use is None


@pytest.mark.req("P7")
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("max_calls_per_story", 0),
        ("max_entries", -1),
        ("max_entries", True),
        ("max_entries", 2.5),
        ("cache_ttl_days", 10**9),
        ("timeout_seconds", 0),
        ("timeout_seconds", 601),
        ("sufficient_at", 101),
        ("sufficient_at", -1),
        ("escalate_below", 101),
        ("version_match", "minor"),
        ("git_commit", "sometimes"),
        ("enabled", "maybe"),
        ("sources", "context7"),
        ("sources", ["a", "a"]),
        ("sources", [""]),
        ("cache_match_tiers", []),
        ("cache_match_tiers", ["fuzzy"]),
        ("knowledge_base_path", " "),
        ("knowledge_base_path", "a\0b"),
    ],
)
def test_a_value_without_sense_is_refused(key, value):
    with pytest.raises(ValidationError):
        research(**{key: value})


@pytest.mark.req("P3", "R5")
def test_sources_keep_their_order_and_an_empty_list_asks_nobody():
    assert research(sources=["web", "context7"]).sources == ("web", "context7")
    assert research(sources=[]).sources == ()


@pytest.mark.req("P5")
def test_settings_cannot_be_changed_after_loading():
    with pytest.raises(ValidationError):
        Schema().store = "other"


@pytest.mark.req("P2")
@pytest.mark.parametrize("module", ["kr_core.config", "kr_core.registry", "kr_core.templates"])
def test_importing_configuration_registry_and_templates_leaves_the_heavy_modules_alone(module):
    heavy = "{'asyncio', 'httpx', 'jinja2', 'rich', 'tomllib', 'difflib'}"
    code = f"import sys, {module}; print(*sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
