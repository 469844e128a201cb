"""Values that a configuration takes from the environment."""

import pytest

from kr_core.config import load, resolve_env
from kr_core.errors import ConfigError


@pytest.fixture
def config(tmp_path):
    text = "plugins:\n  github:\n    token: {env: TOKEN}\n    hosts:\n    - {env: HOST}\n    deep: {env: A, b: c}\n"
    (tmp_path / "kr.yaml").write_text(text)
    return load(tmp_path)


def resolved(config, environ):
    settings = config.plugin_settings("github")
    return resolve_env(settings, environ, config.origin, below=("plugins", "github"))


@pytest.mark.req("P3")
def test_a_value_is_taken_from_the_environment_wherever_it_stands(config):
    settings = resolved(config, {"TOKEN": "secret", "HOST": "example.org"})
    assert settings == {"token": "secret", "hosts": ["example.org"], "deep": {"env": "A", "b": "c"}}


@pytest.mark.req("P3")
def test_a_configuration_is_loaded_without_looking_at_the_environment(config):
    assert config.plugin_settings("github")["token"] == {"env": "TOKEN"}


@pytest.mark.req("P3")
@pytest.mark.parametrize(
    ("environ", "state"), [({"TOKEN": "x"}, "not set"), ({"TOKEN": "x", "HOST": ""}, "empty")]
)
def test_a_missing_variable_is_named_with_the_key_that_needs_it(config, environ, state):
    with pytest.raises(ConfigError) as caught:
        resolved(config, environ)
    assert (
        caught.value.what
        == f"`plugins.github.hosts[0]` needs the environment variable HOST, which is {state}"
    )
    assert caught.value.where == "kr.yaml:5"
    assert caught.value.hint == "set HOST, or remove the key"


@pytest.mark.req("G5")
def test_neither_the_environment_nor_the_settings_of_plugins_are_printed_with_a_configuration(tmp_path):
    (tmp_path / "kr.yaml").write_text("plugins: {github: {token: hunter2}}")
    printed = repr(load(tmp_path, environ={"TOKEN": "secret"}))
    assert "secret" not in printed
    assert "hunter2" not in printed
