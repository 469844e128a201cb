"""`kr doctor`: whether everything that is in use works; every line that is not `ok` says what to do."""

from __future__ import annotations

import os
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from kr_core._version import __version__
from kr_core.aio import run as run_coroutine
from kr_core.calibration import MINIMUM_VERDICTS
from kr_core.cli import output
from kr_core.config import load, template_trust, trust_store
from kr_core.config.plugin_names import dotted
from kr_core.config.trust_policy import VARIABLE
from kr_core.errors import ConfigError, KRError, StorageError
from kr_core.git.ownership import require_own_state
from kr_core.project.project import LocalProject
from kr_core.protocols import External, ModelRequired, Remote, Unready, Versioned
from kr_core.registry import contract
from kr_core.research import Pipeline
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from packaging.requirements import Requirement

    from kr_core.config import Config

_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
_CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
"""The variables that the HTTP client takes certificates from."""


class Check(NamedTuple):
    """One line of `kr doctor`."""

    name: str
    state: Literal["ok", "note", "fault"]
    message: str


def run(options: argparse.Namespace) -> int:
    """Check everything, print it, and return 2 where there is a fault."""
    with redirect_stdout(sys.stderr):  # a plugin may print while it is imported
        checks = list(_checks(options))
    if options.json:
        print(output.as_json([check._asdict() for check in checks]))
    else:
        for check in checks:
            print(printable(f"{check.state:<5}  {check.name}: {check.message}"))
    return 2 if any(check.state == "fault" for check in checks) else 0


def _checks(options: argparse.Namespace) -> Iterator[Check]:
    folder = (options.folder or Path.cwd()).resolve()
    yield Check("kr", "ok", f"{__version__} on Python {sys.version.split()[0]}, {sys.prefix}")
    yield from _dependency_checks()
    try:
        config = load(folder, options.config)
    except ConfigError as error:
        yield Check("configuration", "fault", str(error))
        return
    yield from _configuration_checks(config)
    try:
        require_own_state(config)
    except StorageError as error:
        yield Check("state folder", "fault", f"{error}; till then nothing else is checked")
        return
    with Pipeline(config, project=LocalProject(config.root, folder, config.environ)) as pipeline:
        yield from _trust_checks(pipeline)
        yield from _environment_checks(pipeline)
        base = trust_store.knowledge_base(config)
        if base is not None and not trust_store.allows(
            config, base
        ):  # whatever is built is told where it lies
            return
        external: list[str] = []
        yield from _active_checks(pipeline, external)
        yield from _agent_checks(pipeline, external)
        yield from _other_plugin_checks(pipeline, verbose=options.verbose)
        yield from _store_checks(pipeline)
        yield from _lesson_checks(pipeline)
        yield from _calibration_checks(pipeline)
        yield from _network_checks(config.environ, external)


# -- the installation ------------------------------------------------------------------------------------


def _dependency_checks() -> Iterator[Check]:
    """Whether what KR's own metadata asks for is there; somebody may have installed without it, or later."""
    from importlib.metadata import PackageNotFoundError, distribution, version

    from packaging.requirements import Requirement

    try:
        required = [Requirement(text) for text in distribution("kr-core").requires or ()]
    except PackageNotFoundError:
        yield Check(
            "dependencies", "note", "KR runs without being installed; `pip install` it to have them checked"
        )
        return
    needed = [one for one in required if one.marker is None or one.marker.evaluate({"extra": ""})]
    wrong = []
    for one in needed:
        try:
            there = version(one.name)
        except PackageNotFoundError:
            there = ""
        if not there or not one.specifier.contains(there, prereleases=True):
            wrong.append(
                f'{one.name} {there or "is not installed"}; `pip install -U "{one.name}{one.specifier}"`'
            )
    for said in wrong:
        yield Check("dependencies", "fault", said)
    if not wrong:
        yield Check("dependencies", "ok", f"all {len(needed)} as KR asks for them")
    if missing := missing_extras(required, _is_installed):
        command = f'`pip install "kr-core[{",".join(missing)}]"`'
        what = ", ".join(f"{name} ({_EXTRAS[name]})" for name in missing)
        yield Check(
            "extras", "ok", f"not installed: {what}; {command} adds them, or name those that you need"
        )


_EXTRAS = {
    "web": "web pages as sources",
    "mcp": "`kr mcp`, DeepWiki and other MCP servers",
    "otel": "traces of OpenTelemetry",
    "serve": "the inbox as a page",
    "pdf": "PDF documents",
    "semantic": "search by meaning",
    "fast": "quick search of many documents",
    "postgres": "a knowledge base and a journal that machines share",
    "procrastinate": "workers on any machine that answer questions",
    "pictures": "figures in `kr retro --html`",
}
"""What KR can do with each extra."""


def missing_extras(required: Sequence[Requirement], installed: Callable[[str], bool]) -> list[str]:
    """The extras of KR that need a package that is not installed."""
    found = []
    for name in _EXTRAS:
        of_it = [
            one
            for one in required
            if one.marker is not None
            and one.marker.evaluate({"extra": name})
            and not one.marker.evaluate({"extra": ""})
        ]
        if not all(installed(one.name) for one in of_it):
            found.append(name)
    return found


def _is_installed(name: str) -> bool:
    from importlib.metadata import PackageNotFoundError, version

    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True


def _environment_checks(pipeline: Pipeline) -> Iterator[Check]:
    environments = [environment for environment in pipeline.project.environments() if not environment.own]
    for environment in environments:
        said = f"{environment.label} ({environment.prefix})"
        if environment.tracked:
            said += ": part of this repository, so its author wrote what KR tells of its packages, and answers from it are `low`"
        yield Check("environment", "note" if environment.tracked else "ok", said)
    if not environments:
        yield Check(
            "environment", "note", "none found; make a .venv, or set VIRTUAL_ENV: KR's own serves meanwhile"
        )
    for warning in [*pipeline.project.warnings, *pipeline.project.refused_links()]:
        yield Check("versions", "note", warning)


# -- the configuration -----------------------------------------------------------------------------------


def _configuration_checks(config: Config) -> Iterator[Check]:
    yield Check("configuration", "ok", str(config.file) if config.file else f"defaults, in {config.root}")
    for key in config.passed_over:
        said = f"`{dotted(key)}` has a value that KR does not know; its default holds, and other tools are free to read it"
        yield Check("configuration", "note", f"{config.origin(key)}: {said}")


def _trust_checks(pipeline: Pipeline) -> Iterator[Check]:
    config, base = pipeline.config, trust_store.knowledge_base(pipeline.config)
    of_plugins = trust_store.sensitive(config, pipeline.registry.address_policy)
    settings = [*([base] if base else []), *(one for found in of_plugins.values() for one in found)]
    allowed = [setting for setting in settings if trust_store.allows(config, setting)]
    for setting in settings:
        if setting not in allowed:
            yield Check("trust", "fault", str(trust_store.untrusted(config, setting)))
    if allowed:
        said = "run programs, send to addresses of the project's own or lead out of it"
        yield Check("trust", "ok", f"{len(allowed)} settings {said}, allowed by {_why(config)}")
    if not trust_store.is_trusted(config):
        for setting in trust_store.ignored(config, pipeline.registry.address_policy):
            said = f"{config.origin(setting.key)}: `{dotted(setting.key)}` {setting.does}"
            yield Check("trust", "note", f"{said}: passed over till you allow it with `kr trust`")
    if unused := template_trust.unused_note(config.root, config.environ):
        yield Check("templates", "note", unused)
    elif own := template_trust.replaced(config.root):
        yield Check(
            "templates",
            "ok",
            f"the project's own {', '.join(own)} replace KR's, allowed by {_why(config)}",
        )


def _why(config: Config) -> str:
    return f"{VARIABLE}=all" if config.environ.get(VARIABLE) else "`kr trust`"


def _held_back(pipeline: Pipeline) -> set[str]:
    """The plugins and instances that are not built before their settings are allowed."""
    found = trust_store.sensitive(pipeline.config, pipeline.registry.address_policy).items()
    return {
        name
        for name, settings in found
        if not all(trust_store.allows(pipeline.config, one) for one in settings)
    }


# -- plugins ---------------------------------------------------------------------------------------------


def _hook_check(pipeline: Pipeline, name: str) -> Check:
    plugin, _module = pipeline.registry.stage_plugin(name)
    kinds = pipeline.registry.kind_of(plugin.name)
    if "hook" in kinds:
        return Check(f"hook {name}", "ok", "imported")
    said = f"has no hook around a stage, so it adds nothing there: it is a plugin of another kind ({', '.join(kinds)})"
    return Check(f"hook {name}", "fault", f"{said}; take it out of `hooks`")


class _Attempt(NamedTuple):
    """What came of building a plugin or an instance."""

    check: Check
    component: Any = None
    """None where it cannot be used."""
    hint: str | None = None
    """How to switch it on, of a source that the chain passes by."""


def _active_checks(pipeline: Pipeline, external: list[str]) -> Iterator[Check]:
    """Build what is active; the names of sources that leave the machine are added to `external`."""
    said: list[str] = []
    off: dict[str, str] = {}
    held_back = _held_back(pipeline)
    there = {plugin.name for plugin in pipeline.registry.installed()}
    for noun, name, _key, by_default in pipeline.registry.named():
        if noun == "agent" or (by_default and name not in there):
            continue
        if name in held_back:
            yield Check(
                f"{noun} {name}", "fault", "not built before its settings are allowed with `kr trust`"
            )
            continue
        check, component, hint = _attempt(pipeline, noun, name, by_default=by_default)
        said.append(check.message)
        yield check
        if hint is not None:
            off[name] = hint
        if noun == "source" and isinstance(component, External) and component.external:
            external.append(name)
    if off:
        first, hint = next(iter(off.items()))
        begin = f"; begin with {first}: {hint}" if hint else ""
        yield Check("sources", "ok", f"not switched on: {', '.join(off)}{begin}")
    try:
        pipeline.check_names()
    except ConfigError as error:  # a name that is not active, under `plugins`
        if not any(str(error) in one for one in said):
            yield Check("plugins", "fault", str(error))


def _attempt(pipeline: Pipeline, noun: str, name: str, *, by_default: bool) -> _Attempt:
    label = f"{noun} {name}"
    try:
        if noun == "hook":
            return _Attempt(_hook_check(pipeline, name))
        component = pipeline.registry.build(noun, name)  # type: ignore[call-overload]  # the overloads name each noun
    except KRError as error:
        if noun == "source" and (pipeline.config.bmad or by_default):
            return _Attempt(Check(label, "note", f"{error}; it is passed by in the chain"), hint=error.hint)
        return _Attempt(Check(label, "fault", str(error)))
    if isinstance(component, Unready) and component.unready:
        hint = component.unready.rpartition("; ")[2] if noun == "source" else None
        return _Attempt(Check(label, "note", f"not asked: {component.unready}"), hint=hint)
    return _Attempt(Check(label, "ok", "built"), component)


def _agent_checks(pipeline: Pipeline, external: list[str]) -> Iterator[Check]:
    """Build what carries questions to the agents of the roster, one line for each plugin; and ask programs for their version.

    The names of those that leave the machine are added to `external`.
    """
    config = pipeline.config
    held_back = _held_back(pipeline)
    agents: dict[str, list[str]] = {}
    for profile in config.routing.agents.values():
        agents.setdefault(profile.plugin, []).append(profile.name)
    for name, of in agents.items():
        label, till_then = f"agent {name}", _till_then(config, of)
        if name in held_back:
            yield Check(label, "fault", "not built before its settings are allowed with `kr trust`")
            continue
        try:
            component = pipeline.registry.build("agent", name)
        except KRError as error:
            yield Check(label, "fault", f"{error}; {till_then}")
            continue
        if isinstance(component, Unready) and component.unready:
            yield Check(label, "note", f"{component.unready}; {till_then}")
            continue
        said = "built"
        if isinstance(component, Versioned):
            try:
                said = run_coroutine(component.version())
            except Exception as error:  # whatever a third party's raises
                yield Check(label, "note", f"{error}; {till_then}")
                continue
        without = [
            one
            for one in of
            if isinstance(component, ModelRequired)
            and component.needs_model
            and not config.routing.agents[one].model
        ]
        if without:
            hint = f"set `agents.{without[0]}.model`, or `plugins.{name}.model`"
            yield Check(label, "note", f"no model is configured for {', '.join(without)}; {hint}")
        if len(without) == len(of):
            continue
        yield Check(label, "ok", f"{said}; for {', '.join(one for one in of if one not in without)}")
        if isinstance(component, External) and component.external:
            external.append(name)


def _till_then(config: Config, agents: list[str]) -> str:
    """What is missing while the plugin of some agents does not work; the usual ones are named where someone configured them."""
    if any(name in config.settings.agents for name in agents):
        return f"till then {', '.join(agents)} cannot be asked"
    return "till then `kr ask` puts their questions to a human, and `kr research` works as it is"


_KEYS = {"source": "knowledge_research.sources", "log": "logs", "agent": "agents.<name>.plugin"}
"""Where a plugin of a kind is named, if not by the kind's own word."""


def _other_plugin_checks(pipeline: Pipeline, *, verbose: bool) -> Iterator[Check]:
    """Plugins that are installed and not active; and what asks for another KR."""
    registry = pipeline.registry
    names = {one.name for one in registry.named()} | {
        one.plugin for one in pipeline.config.routing.agents.values()
    }
    active = {pipeline.config.plugin_of(name) for name in names}
    asked = set()
    for plugin in registry.installed():
        if plugin.distribution not in asked and (wanted := contract.unmet(plugin)):
            asked.add(plugin.distribution)
            hint = f'`pip install -U "{wanted}"`, or another version of {plugin.distribution}'
            said = f"asks for {wanted}, and this is kr-core {contract.running()}; {hint}"
            yield Check(f"distribution {plugin.shipped_by}", "note", said)
    for plugin in registry.installed():
        if (
            plugin.name in active
            and plugin.distribution != "kr-core"
            and (private := contract.private_imports(plugin))
        ):
            hint = "these modules may change at any time; use names of kr_core, kr_core.plugin and kr_core.toolkit"
            yield Check(f"plugin {plugin.name}", "note", f"imports {', '.join(private)}; {hint}")
    for name in sorted({plugin.name for plugin in registry.installed()} - active):
        if not verbose:  # what no configuration names is not imported unasked
            yield Check(f"plugin {name}", "ok", "installed, not active; `kr doctor -v` looks into it")
            continue
        try:
            kinds = registry.kind_of(name)
        except KRError as error:
            yield Check(f"plugin {name}", "note", f"not active, and broken: {error}")
        else:
            keys = " or ".join(_KEYS.get(kind, kind) for kind in kinds)
            yield Check(f"plugin {name}", "ok", f"installed, not active; name it in `{keys}` to use it")


# -- stores ----------------------------------------------------------------------------------------------


def _store_checks(pipeline: Pipeline) -> Iterator[Check]:
    config = pipeline.config
    for name, folder, component, read in (
        ("knowledge base", config.knowledge_base, lambda: pipeline.store, _read_entries),
        ("journal", config.state_folder, lambda: pipeline.journal, _read_journal),
    ):
        fault = _unwritable(folder)
        try:
            if fault and not isinstance(component(), Remote):
                yield Check(name, "fault", fault)
                continue
            yield from read(pipeline)
        except KRError as error:
            yield Check(name, "fault", fault or str(error))
        except Exception as error:  # a third party's component may raise anything
            hint = "repair it, or name another plugin in the configuration"
            yield Check(name, "fault", f"{type(error).__name__}: {error}; {hint}")
    if config.settings.knowledge_research.git_commit == "auto":
        yield from _git_checks(config)
    from kr_core.git.merge_driver import describe_missing_driver

    if said := describe_missing_driver(config):
        yield Check("git", "note", said)


def _git_checks(config: Config) -> Iterator[Check]:
    """Whether and where a commit would be made; and folders that git, run by anybody, would take settings from."""
    from kr_core.git.commit import foresee
    from kr_core.git.worktree import bare_repositories, describe_bare

    commits, said = foresee(config.knowledge_base)
    yield Check("git", "ok" if commits else "note", said)
    for folder in bare_repositories(config.root, config.knowledge_base):
        if (trap := describe_bare(folder)) not in said:
            yield Check("git", "note", trap)


def _lesson_checks(pipeline: Pipeline) -> Iterator[Check]:
    """Whether the file of lessons can be read, and what in it is no lesson."""
    lessons = pipeline.lessons
    try:
        found = lessons.read()
    except KRError as error:
        yield Check("lessons", "fault", str(error))
        return
    yield Check("lessons", "ok", f"{len(found.lessons)} in {lessons.shown}")
    for note in lessons.conflicts(found):
        yield Check("lessons", "note", note)
    if found.others:
        lines = "1 line is" if found.others == 1 else f"{found.others} lines are"
        said = f"{lines} no lesson; write it as `- [date] [phase] summary. Ref: path:line`, or leave it"
        yield Check("lessons", "note", f"{lessons.shown}:{found.first_other}: from here on {said}")


def _calibration_checks(pipeline: Pipeline) -> Iterator[Check]:
    """What is known of confidences by what humans said of answers, for each agent with a verdict."""
    setting = pipeline.config.settings.calibration
    try:
        learned = pipeline.components.verdicts.read()
    except KRError as error:
        yield Check("calibration", "fault", str(error))
        return
    for subject in learned.subjects():
        found = learned.calibrator(subject)
        if found.stage == "raw":
            said = f"raw: not enough verdicts ({found.verdicts} of {MINIMUM_VERDICTS})"
        elif found.stage == "shadow":
            said = f"shadow: by {found.verdicts} verdicts, the stated confidence is not known to be improved"
        elif setting == "calibrated" and subject.quantity == "agent":
            said = f"calibrated, by {found.verdicts} verdicts"
        else:
            said = f"shadow: by {found.verdicts} verdicts, a corrected confidence predicts better"
            said += "; `calibration: calibrated` uses it" if subject.quantity == "agent" else ""
        yield Check(f"calibration {subject.agent}", "ok", printable(said))


def _read_entries(pipeline: Pipeline) -> Iterator[Check]:
    entries = pipeline.store.entries()
    yield Check(
        "knowledge base",
        "ok",
        f"{len(entries)} entries in {_place(pipeline.store, pipeline.config.knowledge_base)}",
    )
    for entry in entries:
        if pipeline.store.read(entry) is None:
            said = f"{entry.id}: its report is gone or empty; it is researched again when asked for"
            yield Check("knowledge base", "note", said)


def _read_journal(pipeline: Pipeline) -> Iterator[Check]:
    pipeline.journal.read(0, 1)
    yield Check("journal", "ok", f"in {_place(pipeline.journal, pipeline.config.state_folder)}")


def _place(component: object, folder: Path) -> str:
    """Where a store or journal keeps things."""
    return component.place if isinstance(component, Remote) else str(folder)


def _unwritable(folder: Path) -> str:
    """Why files cannot be made in a folder, which need not exist yet; empty where they can."""
    nearest = next(above for above in (folder, *folder.parents) if os.path.lexists(above))
    if not nearest.is_dir():
        return f"{nearest} is not a folder; remove it, or name another place"
    if not os.access(nearest, os.W_OK | os.X_OK):
        return f"{nearest} cannot be written; change its permissions, or name another place"
    return ""


# -- network ---------------------------------------------------------------------------------------------


def _network_checks(environ: Mapping[str, str], external: list[str]) -> Iterator[Check]:
    leaving = (
        f"{', '.join(external)}: questions leave this machine"
        if external
        else "no active source or agent leaves this machine"
    )
    proxies = [name for name in environ if name.upper() in _PROXIES and environ[name]]
    said = f"{leaving}; through {', '.join(sorted(proxies))}" if proxies and external else leaving
    yield Check("network", "ok", said)
    for name in _CERTIFICATES:
        path = environ.get(name)
        if path and not os.path.exists(path):  # noqa: PTH110  a value may be no path at all
            state: Literal["note", "fault"] = "fault" if external else "note"
            yield Check("network", state, f"{name} names {path}, which is not there; correct it, or unset it")
    socks = [name for name in proxies if environ[name].lower().startswith("socks")]
    if socks and external and not _is_there("socksio"):
        yield Check(
            "network", "fault", f'{socks[0]} names a SOCKS proxy; `pip install "httpx[socks]"`, or unset it'
        )


def _is_there(module: str) -> bool:
    from importlib.util import find_spec

    return find_spec(module) is not None
