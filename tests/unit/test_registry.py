"""From a name in the configuration to a component."""

import sys
import textwrap
from datetime import date

import pytest

from kr_core.config import load
from kr_core.entry_points import InstalledPlugin
from kr_core.errors import ConfigError, PluginError
from kr_core.hookspecs import NOUNS, Setup
from kr_core.registry import Registry

GOOD = """
    from kr_core.hookspecs import Provider, Settings, hookimpl

    class Notes:
        def __init__(self, settings, setup):
            self.settings, self.setup = settings, setup

    class Deep(Settings):
        depth: int = 1

    class NotesSettings(Settings):
        folder: str = "notes"
        limit: int = 3
        token: str = ""
        deep: Deep = Deep()

    @hookimpl
    def kr_source():
        return Provider(Notes, NotesSettings)
"""


class Workshop:
    """Real distributions with real plugin modules, made in a folder."""

    def __init__(self, folder):
        self.folder = folder
        self.plugins = []
        self.modules = []

    def ship(self, distribution, plugins, *, metadata="", version="1.2"):
        """A distribution whose entry points are `plugins`, name to source code (or module name)."""
        info = self.folder / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        for name, source in plugins.items():
            module = source
            if "\n" in source:
                module = f"{distribution.replace('-', '_')}_{name}"
                (self.folder / f"{module}.py").write_text(textwrap.dedent(source))
                self.modules.append(module)
            self.plugins.append(InstalledPlugin(name, module, distribution, version, str(info)))
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n{metadata}"
        )

    def registry(self, text="", environ=None):
        root = self.folder / "project"
        root.mkdir(exist_ok=True)
        (root / "kr.yaml").write_text(textwrap.dedent(text))
        config = load(root, environ=environ or {})

        def setup_for(name):
            folders = (config.knowledge_base, config.state_folder, root / "cache", ())
            return Setup(name, None, *folders, lambda: date(2026, 1, 2))

        return Registry(config, setup_for, plugins=self.plugins)

    def imported(self):
        return [module for module in self.modules if module in sys.modules]


@pytest.fixture
def workshop(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    workshop = Workshop(tmp_path)
    yield workshop
    for module in workshop.modules:
        sys.modules.pop(module, None)


def fault(kind, call, *args):
    with pytest.raises(kind) as caught:
        call(*args)
    return caught.value


# -- finding and building --------------------------------------------------------------------------------


@pytest.mark.req("R10")
def test_a_source_says_that_it_stands_for_an_mcp_server(workshop):
    """The plugin declares it, under each configured name; one that is not loaded, or cannot be, declares nothing."""
    declared = GOOD.replace("NotesSettings)\n", "NotesSettings, mcp_server=True)\n")
    assert declared != GOOD
    workshop.ship("kr-notes", {"notes": GOOD, "desk": declared, "broken": "\nimport no_such_module\n"})
    registry = workshop.registry("plugins: {mine: {use: desk}}")
    names = ("notes", "desk", "mine", "broken", "missing")
    assert not any(registry.stands_for_mcp_server(name) for name in names)
    for name in ("notes", "desk"):
        registry.kind_of(name)
    assert [name for name in names if registry.stands_for_mcp_server(name)] == ["desk", "mine"]


@pytest.mark.req("P2")
def test_plugins_are_listed_with_their_distributions_and_none_is_imported(workshop):
    workshop.ship("kr-notes", {"notes": GOOD, "broken": "\nimport no_such_module\n"})
    workshop.ship("kr-wiki", {"another": GOOD}, version="2.0")
    listed = [tuple(plugin)[:4] for plugin in workshop.registry().installed()]
    assert listed == [
        ("another", "kr_wiki_another", "kr-wiki", "2.0"),
        ("broken", "kr_notes_broken", "kr-notes", "1.2"),
        ("notes", "kr_notes_notes", "kr-notes", "1.2"),
    ]
    assert workshop.imported() == []


@pytest.mark.req("P1", "P2")
def test_the_first_party_plugins_are_found_through_their_entry_points(tmp_path):
    registry = Registry(load(tmp_path), lambda name: None)
    shipped = {info.name for info in registry.installed() if info.distribution == "kr-core"}
    assert {"files", "sqlite", "jsonl", "installed_docs", "evidence", "markdown"} <= shipped


@pytest.mark.req("P2", "P3")
def test_only_the_plugin_that_is_named_is_imported_and_it_gets_its_settings_and_setup(workshop):
    workshop.ship("kr-notes", {"notes": GOOD, "other": GOOD})
    registry = workshop.registry("plugins: {notes: {folder: x, token: {env: TOKEN}}}", {"TOKEN": "secret"})
    notes = registry.build("source", "notes")
    assert (notes.settings.folder, notes.settings.limit, notes.settings.token) == ("x", 3, "secret")
    assert notes.setup.name == "notes"
    assert workshop.imported() == ["kr_notes_notes"]


@pytest.mark.req("P5")
def test_a_component_is_built_once_for_a_registry_and_never_shared_by_two(workshop):
    workshop.ship("kr-notes", {"notes": GOOD})
    one, two = workshop.registry(), workshop.registry()
    assert one.build("source", "notes") is one.build("source", "notes")
    assert one.build("source", "notes") is not two.build("source", "notes")


@pytest.mark.req("P3")
def test_an_instance_is_a_second_component_of_the_same_plugin_with_settings_of_its_own(workshop):
    workshop.ship("kr-notes", {"notes": GOOD})
    registry = workshop.registry("plugins: {wiki: {use: notes, folder: w}}")
    wiki, notes = registry.build("source", "wiki"), registry.build("source", "notes")
    assert (wiki.settings.folder, wiki.setup.name) == ("w", "wiki")
    assert (notes.settings.folder, notes.setup.name) == ("notes", "notes")


@pytest.mark.req("P2")
def test_one_module_may_have_two_names(workshop):
    workshop.ship("kr-notes", {"notes": GOOD})
    workshop.ship("kr-alias", {"alias": "kr_notes_notes"})
    registry = workshop.registry()
    assert registry.build("source", "notes").setup.name == "notes"
    assert registry.build("source", "alias").setup.name == "alias"


@pytest.mark.req("P1")
def test_the_hook_of_another_plugin_of_the_same_kind_is_never_called(workshop):
    angry = GOOD.replace(
        "return Provider(Notes", "raise RuntimeError('called')\n        return Provider(Notes"
    )
    workshop.ship("kr-notes", {"angry": angry, "notes": GOOD})
    registry = workshop.registry()
    fault(PluginError, registry.build, "source", "angry")
    assert registry.build("source", "notes").setup.name == "notes"


@pytest.mark.req("P2")
def test_what_a_plugin_is_can_be_asked_of_that_plugin_alone(workshop):
    both = GOOD + "\n    @hookimpl\n    def kr_log():\n        return Provider(Notes)\n"
    workshop.ship("kr-notes", {"notes": both, "other": GOOD})
    assert workshop.registry().kind_of("notes") == ("source", "log")
    assert workshop.imported() == ["kr_notes_notes"]


@pytest.mark.req("P1", "P2")
@pytest.mark.parametrize(
    ("line", "right"),
    [
        ("unredy = 'it needs a key'", "`unready` (Unready)"),
        ("from_expedition = True", "`from_expeditions` (Derived)"),
        ("def knosw(self, query, project): return True", "`knows` (Selective)"),
    ],
)
def test_a_misspelt_optional_ability_is_named_when_the_plugin_is_loaded(workshop, line, right):
    """KR would never use it; the error says which name is wrong, and how to write it."""
    wrong = GOOD.replace("def __init__", f"{line}\n\n        def __init__", 1)
    workshop.ship("kr-notes", {"notes": wrong})
    error = fault(PluginError, workshop.registry().build, "source", "notes")
    name = line.removeprefix("def ").partition("(")[0].partition(" ")[0]
    assert str(error).startswith(f"plugin `notes` (kr-notes 1.2): KR does not know `{name}`")
    assert error.hint == f"rename it to {right}, or begin it with `_`"


@pytest.mark.req("P2")
def test_other_names_than_optional_abilities_are_the_plugins_own(workshop):
    """Words that look alike, attributes where a method is meant, and names with a leading underscore."""
    lines = ("ready = True", "rates = ()", "known = {}", "knosw = 1", "_unredy = 'x'", "derived = True")
    own = "\n\n".join(f"        {line}" for line in lines).lstrip()
    workshop.ship("kr-notes", {"notes": GOOD.replace("def __init__", f"{own}\n\n        def __init__", 1)})
    assert workshop.registry().build("source", "notes").rates == ()


# -- wrong configuration: exit 2 -------------------------------------------------------------------------


@pytest.mark.req("P2", "P3")
@pytest.mark.parametrize(
    ("text", "noun", "name", "where"),
    [
        ("store: a\nlogs: [a, nots]", "log", "nots", "kr.yaml:2"),
        ("knowledge_research:\n  sources:\n  - notes\n  - nots", "source", "nots", "kr.yaml:4"),
        ("knowledge_research:\n  fallback_if_mcp_unavailable: nots", "source", "nots", "kr.yaml:2"),
        ("\n\nstore: nots", "store", "nots", "kr.yaml:3"),
        ("plugins:\n  wiki:\n    use: nots", "source", "wiki", "kr.yaml:3"),
    ],
)
def test_an_unknown_name_is_told_where_it_stands_with_the_nearest_installed_one(
    workshop, text, noun, name, where
):
    workshop.ship("kr-notes", {"notes": GOOD, "zzz": GOOD})
    error = fault(ConfigError, workshop.registry(text).build, noun, name)
    assert error.what == "no plugin is called `nots`"
    assert error.where == where
    kind = "" if text.startswith("plugins") else f" {noun}s"
    near = (
        "did you mean `notes`? (installed{}: notes, zzz)" if kind in {"", " sources"} else "installed{}: none"
    )
    assert error.hint == near.format(kind)
    assert workshop.imported() == []


@pytest.mark.req("P2", "P3")
@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("{}", "kr.yaml"),
        (
            "store: notes\nlookup: notes\njournal: notes\nscorer: notes\nrenderer: notes\nlogs: [notes, x]\nrouters: []\nescalations: []",
            "kr.yaml:6",
        ),
        (
            "{store: notes, lookup: notes, journal: notes, scorer: notes, renderer: notes, logs: [], routers: [], escalations: []}\n",
            None,
        ),
        (
            "{store: notes, lookup: notes, journal: notes, scorer: notes, renderer: notes, logs: [], routers: [], escalations: [], knowledge_research: {sources: [\n\nx]}}",
            "kr.yaml:3",
        ),
        (
            "{store: notes, lookup: notes, journal: notes, scorer: notes, renderer: notes, logs: [], routers: [], escalations: [],\nplugins: {nots: {}}}",
            "kr.yaml:2",
        ),
    ],
)
def test_all_names_can_be_checked_without_importing_any(workshop, text, where):
    workshop.ship("kr-notes", {"notes": GOOD})
    registry = workshop.registry(text)
    if where is None:
        registry.check_names()
    else:
        assert fault(ConfigError, registry.check_names).where == where
    assert workshop.imported() == []


@pytest.mark.req("P2")
def test_a_name_that_is_far_from_all_suggests_none(workshop):
    """A plugin of the right kind whose name has little in common is listed, not suggested."""
    workshop.ship("kr-notes", {"memory": GOOD})
    registry = workshop.registry("knowledge_research: {sources: [minilm]}")
    assert fault(ConfigError, registry.build, "source", "minilm").hint == "installed sources: memory"
    assert workshop.imported() == []


@pytest.mark.req("P3")
def test_without_any_plugin_that_is_said(workshop):
    assert fault(ConfigError, workshop.registry().build, "store", "files").hint == "installed stores: none"


@pytest.mark.req("P1")
def test_a_plugin_of_another_kind_is_told_what_it_is(workshop):
    workshop.ship("kr-notes", {"notes": GOOD})
    error = fault(ConfigError, workshop.registry("store: notes").build, "store", "notes")
    assert str(error) == "kr.yaml:1: `notes` is a source, not a store; name a store"
    error = fault(ConfigError, workshop.registry("store: notes").build, "agent", "notes")
    assert str(error).endswith("`notes` is a source, not an agent; name an agent")


@pytest.mark.req("P2")
def test_one_name_from_two_distributions_is_refused_with_both_named(workshop):
    workshop.ship("kr-notes", {"notes": GOOD})
    workshop.ship("kr-other", {"notes": GOOD, "fine": GOOD}, version="3.0")
    registry = workshop.registry("logs: [notes]")
    error = fault(PluginError, registry.build, "log", "notes")
    assert (error.where, error.what) == (
        "plugin `notes`",
        "two plugins have this name: from kr-notes 1.2 and kr-other 3.0",
    )
    assert error.hint == "uninstall one: `pip uninstall kr-other`"
    assert registry.build("source", "fine").setup.name == "fine"


@pytest.mark.req("P2")
def test_a_distribution_that_is_listed_twice_is_no_clash(workshop):
    workshop.ship("kr-notes", {"notes": GOOD})
    workshop.plugins *= 2
    assert len(workshop.registry().installed()) == 1


@pytest.mark.req("P3")
@pytest.mark.parametrize(
    ("settings", "where", "what", "hint"),
    [
        (
            "limits: 3",
            "kr.yaml:3",
            "unknown key `plugins.notes.limits`",
            "did you mean `limit`? (keys: deep, folder, limit, token)",
        ),
        ("limit: many", "kr.yaml:3", "`plugins.notes.limit` cannot be used", "it must be a whole number"),
        (
            "deep: {dept: 2}",
            "kr.yaml:3",
            "unknown key `plugins.notes.deep.dept`",
            "did you mean `depth`? (keys: depth)",
        ),
        (
            "token: {env: NOPE}",
            "kr.yaml:3",
            "`plugins.notes.token` needs the environment variable NOPE, which is not set",
            "set NOPE, or remove the key",
        ),
    ],
)
def test_a_plugins_settings_are_checked_by_its_own_model_with_file_and_line(
    workshop, settings, where, what, hint
):
    workshop.ship("kr-notes", {"notes": GOOD})
    registry = workshop.registry(f"plugins:\n  notes:\n    {settings}\n")
    error = fault(ConfigError, registry.build, "source", "notes")
    assert (error.where, error.what, error.hint) == (where, what, hint)


@pytest.mark.req("P3")
def test_a_setting_that_a_plugin_needs_is_asked_for(workshop):
    workshop.ship("kr-notes", {"notes": GOOD.replace('folder: str = "notes"', "folder: str")})
    error = fault(ConfigError, workshop.registry("store: x").build, "source", "notes")
    assert str(error) == "kr.yaml: `plugins.notes.folder` is missing; add it"


@pytest.mark.req("G5")
def test_a_wrong_setting_is_never_printed_since_it_may_be_a_secret(workshop):
    workshop.ship("kr-notes", {"notes": GOOD})
    registry = workshop.registry(
        "plugins: {notes: {limit: {env: TOKEN}}}", {"TOKEN": "hunter2", "KR_TRUST": "all"}
    )
    error = fault(ConfigError, registry.build, "source", "notes")
    assert "hunter2" not in str(error)
    assert error.__suppress_context__


@pytest.mark.req("P3")
def test_a_plugin_may_find_its_configuration_wrong_itself(workshop):
    own = GOOD.replace("return Provider(Notes", "return Provider(refuse") + (
        "\n    def refuse(settings, setup):\n        from kr_core.errors import ConfigError\n"
        "        raise ConfigError('no such folder', where='notes')\n"
    )
    workshop.ship("kr-notes", {"notes": own})
    assert (
        str(fault(ConfigError, workshop.registry().build, "source", "notes"))
        == "notes: plugin `notes`: no such folder"
    )


# -- broken plugins: exit 3 ------------------------------------------------------------------------------


@pytest.mark.req("P2")
@pytest.mark.parametrize(
    ("metadata", "command"),
    [
        (
            "Provides-Extra: all\nProvides-Extra: web\nRequires-Dist: no.such-module>=2; extra == 'web'\n",
            'pip install "kr-notes[web]"',
        ),
        ("Requires-Dist: pluggy\nRequires-Dist: No_Such_Module>=2\n", "pip install No_Such_Module"),
        ("Requires-Dist: ???\n", "pip install no_such_module"),
        ("", "pip install no_such_module"),
    ],
)
@pytest.mark.parametrize("lazily", [False, True])
def test_a_missing_module_is_named_with_the_command_that_installs_it(workshop, metadata, command, lazily):
    late = GOOD.replace("self.settings,", "import no_such_module.part; self.settings,", 1)
    source = late if lazily else "\nimport no_such_module.part\n"
    workshop.ship("kr-notes", {"notes": source}, metadata=metadata)
    error = fault(PluginError, workshop.registry().build, "source", "notes")
    assert error.exit_code == 3
    assert error.where == "plugin `notes` (kr-notes 1.2)"
    assert error.what in {
        f"it needs the module `{name}`, which is not installed"
        for name in ("no_such_module", "no_such_module.part")
    }
    assert error.hint == f"`{command}`"


@pytest.mark.req("P2")
def test_an_entry_point_whose_own_module_is_not_there_asks_for_a_fresh_install(workshop):
    workshop.ship("kr-notes", {"notes": "kr_gone.plugin"})
    error = fault(PluginError, workshop.registry().build, "source", "notes")
    assert error.what == "its module `kr_gone` is not there"
    assert error.hint == "reinstall it: `pip install --force-reinstall kr-notes`"


HOOK = "\nfrom kr_core.hookspecs import Provider, Settings, hookimpl\n"


@pytest.mark.req("P2")
@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("\nraise ValueError('bad')\n", "failed to import: ValueError: bad"),
        ("\nimport sys; sys.exit(1)\n", "failed to import: SystemExit: 1"),
        (
            "\nimport pytest; pytest.skip('not here', allow_module_level=True)\n",
            "failed to import: Skipped: not here",
        ),
        ("\nraise GeneratorExit\n", "failed to import: GeneratorExit"),
        (
            "\nraise ModuleNotFoundError('by hand')\n",
            "failed to import: ModuleNotFoundError: by hand (kr_notes_bad.py:2)",
        ),
        (
            "\nfrom os import nothing_like_it\n",
            "failed to import: ImportError: cannot import name 'nothing_like_it'",
        ),
        ("\ndef (\n", "failed to import: SyntaxError"),
        ("\nx = 1\n", "it has no hook"),
        (
            HOOK + "@hookimpl\ndef kr_source(config): ...\n",
            "failed to register: TypeError: kr_source(config)",
        ),
        (
            HOOK + "@hookimpl\nasync def kr_source(): ...\n",
            "failed to register: TypeError: kr_source is async",
        ),
        (HOOK + "@hookimpl\ndef kr_sorce(): ...\n", "there is no hook called kr_sorce"),
        (HOOK + "def kr_source(): ...\n", "failed to register: TypeError: kr_source is not marked"),
        (HOOK + "def kr_sources(): ...\n", "failed to register: TypeError: kr_sources is not marked"),
        (
            HOOK + "@hookimpl\ndef kr_source(): raise KeyError('k')\n",
            "failed to say what it provides: KeyError: 'k'",
        ),
        (
            HOOK + "@hookimpl\ndef kr_source(): return None\n",
            "failed to say what it provides: TypeError: kr_source",
        ),
        (
            HOOK + "@hookimpl\ndef kr_source(): return print, Settings\n",
            "failed to say what it provides: TypeError",
        ),
        (
            HOOK + "@hookimpl\ndef kr_source(): return Provider(print, dict)\n",
            "failed to say what it provides",
        ),
        (
            HOOK + "@hookimpl\ndef kr_source(): return Provider(print)\n",
            "failed to build: TypeError: its `build`",
        ),
        (HOOK + "@hookimpl\ndef kr_source(): return Provider(lambda s: s)\n", "failed to build: TypeError"),
        (
            HOOK + "from kr_core.errors import StorageError\ndef build(settings, setup):\n"
            "    raise StorageError('is full', where='disk', hint='make room')\n"
            "@hookimpl\ndef kr_source(): return Provider(build)\n",
            "failed to build: disk: is full",
        ),
    ],
)
def test_a_broken_plugin_is_named_with_what_it_was_doing_and_the_next_one_is_not_blamed(
    workshop, source, what
):
    workshop.ship("kr-notes", {"bad": source, "notes": GOOD})
    registry = workshop.registry()
    error = fault(PluginError, registry.build, "source", "bad")
    assert error.where == "plugin `bad` (kr-notes 1.2)"
    assert error.what.startswith(what)
    assert registry.build("source", "notes").setup.name == "notes"


@pytest.mark.req("P1", "P2")
@pytest.mark.parametrize(
    ("source", "what", "hint"),
    [
        (
            "\nKR_CONTRACT = 4\n",
            "it is written for contract 4, this KR offers 2 to 3",
            "`pip install -U kr-core`",
        ),
        (
            "\nKR_CONTRACT: int = 4\nimport kr_core\nkr_core.Provider(1, 2, 3, 4)\n",
            "it is written for contract 4, this KR offers 2 to 3",
            "`pip install -U kr-core`",
        ),
        (
            "\nKR_CONTRACT = 1\n",
            "it is written for contract 1, this KR offers 2 to 3",
            "`pip install -U kr-notes`",
        ),
        ("\nKR_CONTRACT = '2'\n", "its KR_CONTRACT is '2'", "a whole number"),
        (
            "\nfrom kr_core import  Entry, RequestError\n",
            "failed to import: ImportError: cannot import name 'Entry' from 'kr_core'",
            "it is written for contract 1: write `from kr_core.plugin import Entry`",
        ),
        (
            "\nfrom kr_core import  lock\n",
            "failed to import: ImportError: cannot import name 'lock' from 'kr_core'",
            "write `from kr_core.toolkit import lock`",
        ),
        (
            "\nfrom kr_core.pipeline.research import Inquiry\n",
            "failed to import: ModuleNotFoundError",
            "`kr_core.pipeline` is not public; use names of kr_core, kr_core.plugin and kr_core.toolkit",
        ),
        (
            "\nKR_CONTRACT = 2\nimport kr_core.not_there\n",
            "failed to import: ModuleNotFoundError",
            "`kr_core.not_there` is not public",
        ),
    ],
)
def test_a_plugin_for_another_contract_is_told_what_to_upgrade(workshop, monkeypatch, source, what, hint):
    monkeypatch.setattr("kr_core.registry.contract.CONTRACT_VERSION", 3)
    monkeypatch.setattr("kr_core.registry.contract.OLDEST_CONTRACT", 2)
    workshop.ship("kr-notes", {"notes": source, "fits": GOOD + "\n    KR_CONTRACT = 2\n"})
    registry = workshop.registry()
    error = fault(PluginError, registry.build, "source", "notes")
    assert error.what.startswith(what)
    assert hint in error.hint
    assert registry.build("source", "fits").setup.name == "fits"


@pytest.mark.req("P2")
def test_a_plugin_that_asks_for_another_kr_core_is_told_which(workshop):
    metadata = (
        "Requires-Dist: ???\nRequires-Dist: kr_core>=99; extra == 'x'\nRequires-Dist: KR.core>=98,<99\n"
    )
    workshop.ship("kr-notes", {"notes": "\nfrom kr_core import NotYet\n"}, metadata=metadata)
    error = fault(PluginError, workshop.registry().build, "source", "notes")
    assert (
        error.what
        == "failed to import: ImportError: cannot import name 'NotYet' from 'kr_core' (kr_notes_notes.py:2)"
    )
    assert error.hint.endswith('`pip install -U "kr-core<99,>=98"`')


@pytest.mark.req("P1")
def test_a_misspelt_hook_is_told_the_nearest_one(workshop):
    workshop.ship("kr-notes", {"bad": HOOK + "@hookimpl\ndef kr_sorce(): ...\n"})
    assert fault(PluginError, workshop.registry().kind_of, "bad").hint.startswith("did you mean `kr_source`?")


@pytest.mark.req("P2")
def test_a_broken_instance_is_named_by_its_own_name_too(workshop):
    workshop.ship("kr-notes", {"notes": GOOD.replace("self.settings,", "1 / 0; self.settings,", 1)})
    error = fault(PluginError, workshop.registry("plugins: {wiki: {use: notes}}").build, "source", "wiki")
    assert error.where == "plugin `notes` as `wiki` (kr-notes 1.2)"


@pytest.mark.req("P2")
def test_a_failure_is_not_remembered_so_that_a_repaired_plugin_can_be_built(workshop):
    workshop.ship("kr-notes", {"notes": GOOD})
    registry = workshop.registry("plugins: {notes: {token: {env: TOKEN}}}", environ := {"OTHER": ""})
    fault(ConfigError, registry.build, "source", "notes")
    environ["TOKEN"] = "now"
    assert registry.build("source", "notes").settings.token == "now"


@pytest.mark.req("P1")
def test_every_kind_of_plugin_has_a_hook_that_the_registry_knows(workshop):
    every = HOOK + "".join(
        f"@hookimpl\ndef {hook}(): return Provider(lambda s, t: t)\n" for hook in NOUNS.values()
    )
    workshop.ship("kr-every", {"every": every})
    registry = workshop.registry()
    assert registry.kind_of("every") == tuple(NOUNS)
    assert all(registry.build(noun, "every").name == "every" for noun in NOUNS)


# -- hooks around stages -----------------------------------------------------------------------------------

WATCH = """
    from kr_core.plugin import hookimpl

    @hookimpl
    def kr_report_ready(report):
        return None
"""


@pytest.mark.req("P1", "Z8")
def test_a_hook_that_is_named_as_a_component_is_called_a_hook(workshop):
    """A plugin that adds to a stage cannot be the scorer, and the message says what it is."""
    workshop.ship("kr-watch", {"watch": WATCH})
    error = fault(ConfigError, workshop.registry("scorer: watch").build, "scorer", "watch")
    assert str(error) == "kr.yaml:1: `watch` is a hook, not a scorer; name a scorer"


@pytest.mark.req("P1", "Z8")
def test_settings_of_a_hook_are_refused_with_their_line(workshop):
    """A hook has no settings: a key below its name is as wrong as any unknown key."""
    workshop.ship("kr-watch", {"watch": WATCH})
    registry = workshop.registry("hooks: [watch]\nplugins:\n  watch:\n    loud: true\n")
    error = fault(ConfigError, registry.stage_plugin, "watch")
    assert str(error).startswith("kr.yaml:4: unknown key `plugins.watch.loud`; ")
    assert "has no settings" in str(error)


@pytest.mark.req("P1", "Z8")
def test_a_hook_that_is_a_source_too_keeps_its_settings(workshop):
    """Settings belong to the component that the same module provides."""
    workshop.ship("kr-both", {"both": textwrap.dedent(GOOD) + textwrap.dedent(WATCH)})
    registry = workshop.registry("hooks: [both]\nplugins:\n  both: {folder: other}\n")
    assert registry.stage_plugin("both")[0].name == "both"


@pytest.mark.req("P1", "Z8")
def test_an_argument_that_no_hook_gets_is_named_beside_those_it_may_take(workshop):
    """A hook with a wrong argument is refused in KR's words, with the arguments that KR passes."""
    workshop.ship("kr-watch", {"watch": WATCH.replace("(report)", "(rapport)")})
    said = str(fault(PluginError, workshop.registry("hooks: [watch]").stage_plugin, "watch"))
    assert "kr_report_ready takes `rapport`, which KR does not pass; its arguments are report" in said
    assert "hookspec" not in said


@pytest.mark.req("P1")
def test_an_import_of_kr_plugins_is_private(workshop):
    """What KR's own plugins are made of may change at any time; they themselves may import it."""
    from kr_core.registry.contract import private_imports

    source = "\nfrom kr_plugins.sources import local_docs\nimport kr_plugins\n"
    workshop.ship("kr-near", {"near": source})
    assert private_imports(workshop.plugins[0]) == [
        "kr_plugins.sources (kr_near_near.py:2)",
        "kr_plugins (kr_near_near.py:3)",
    ]
    own = InstalledPlugin("mcp", "kr_plugins.sources.mcp", "kr-core", "1")
    assert private_imports(own) == []
