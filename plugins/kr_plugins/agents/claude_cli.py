"""Answers of Claude through its command line, `claude -p`, with the user's login or key.

For a question it sees only the prompt: it runs in an empty temporary folder, without tools, hooks, plugins, MCP servers, memories
or settings of the user or a project. For a task it has tools, and works in the worktree of the task. It reads the prompt from
standard input; there is no shell.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, PositiveFloat

import kr_core
from kr_core import RequestError
from kr_core.plugin import Outcome, Provider, Reply, Settings, TaskProgram
from kr_plugins.agents import claude_task
from kr_plugins.agents.http_api import key_of, number
from kr_plugins.agents.subprocess_agent import run_program

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kr_core.plugin import Job, Setup
    from kr_plugins.agents.subprocess_agent import ProgramResult

__all__ = ["ClaudeCLI", "ClaudeCLISettings", "kr_agent"]

_KEY = "ANTHROPIC_API_KEY"
_SECRETS = (_KEY, "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")
_INSTALL = (
    "`npm install -g @anthropic-ai/claude-code`, then log in with `claude`; or set `plugins.{name}.command`"
)
_UPDATE = "install a newer one with `npm install -g @anthropic-ai/claude-code`"
_LOG_IN = "log in with `claude`, or set `plugins.{name}.api_key`"
_ALONE = (
    "--tools", "", "--strict-mcp-config", "--disable-slash-commands", "--no-session-persistence",
    "--permission-mode", "dontAsk", "--permission-prompts", "none", "--max-turns", "4",
)  # fmt: skip
"""It can do nothing but answer. The form of its reply is a tool to it: some turns are needed."""
_UNSET = ("--safe-mode", "--setting-sources", "")
"""Without the user's and the project's settings, hooks and memories; its login is read."""
_BARE = ("--bare",)
"""The same and less, but it reads no login."""
_QUIET = {
    "CLAUDE_CODE_MAX_RETRIES": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
}
_ITS_OWN = ("CLAUDECODE", "CLAUDE_")
"""Names of variables that begin so tell it of a session that it may be started from; it is none of that."""
_LOGIN = ("CLAUDE_CODE_OAUTH_", "CLAUDE_CODE_USE_", "CLAUDE_CODE_SKIP_", "CLAUDE_CONFIG_DIR")
"""But these say who pays, and by which service."""
_OUTCOMES = {401: Outcome.blocked, 402: Outcome.limited, 403: Outcome.blocked, 404: Outcome.unavailable, 408: Outcome.timeout,
             429: Outcome.limited}  # fmt: skip
_ENDINGS = {
    "budget_exhausted": (Outcome.limited, "it reached `max_cost_usd`"),
    "max_turns": (Outcome.bad_answer, "it came to no answer in its turns"),
    "structured_output_retry_exhausted": (Outcome.bad_answer, "it did not keep to the reply's form"),
    "prompt_too_long": (Outcome.bad_answer, "the prompt is longer than the model's window"),
}
_VERSION_SECONDS = 10.0


class ClaudeCLISettings(Settings):
    """Settings of the agent, `plugins.claude_cli` in `kr.yaml`."""

    command: Annotated[tuple[str, ...], Field(min_length=1)] = ("claude",)
    """The program and its arguments; KR appends its own."""
    api_key: str | None = None
    """The API key, as `{env: ANTHROPIC_API_KEY}`, in place of the login; KR also uses the variable ANTHROPIC_API_KEY
    itself.
    """
    model: str | None = None
    """The model of agents without one of their own: a name, or `opus`, `sonnet`, `haiku`. Not set: the program's own
    choice.
    """
    max_cost_usd: PositiveFloat = 0.5
    """The cost limit of one reply, by list price; a reply can exceed it by the cost of one call."""
    max_task_cost_usd: PositiveFloat = 5.0
    """The cost limit of one task of `kr dispatch`, by list price."""


class ClaudeCLI:
    """The agent.

    Args:
        settings: which program, and what it may cost.
        name: the plugin's name in the configuration.
    """

    def __init__(self, settings: ClaudeCLISettings, name: str) -> None:
        self._settings = settings
        self._name = name
        self.external = True  # the model is a service, wherever the program is
        self._key = key_of(settings.api_key)
        program = settings.command[0]
        there = shutil.which(program) is not None
        self.unready = "" if there else f"the program `{program}` is not installed; {self._todo(_INSTALL)}"

    async def version(self) -> str:
        """The version that the program reports.

        Raises:
            RequestError: the program cannot be started, or does not report a version.
        """
        with tempfile.TemporaryDirectory(prefix="kr-agent-", ignore_cleanup_errors=True) as folder:
            try:
                async with asyncio.timeout(_VERSION_SECONDS):
                    ended = await run_program(
                        (*self._settings.command, "--version"),
                        "",
                        folder=Path(folder),
                        environ=self._environ(folder),
                    )
            except TimeoutError:
                raise RequestError(Outcome.timeout, "`--version` does not answer") from None
        said = ended.out.decode("utf-8", "replace").strip()
        if ended.code or not said:
            raise self._fault(Outcome.unavailable, f"`--version` failed: {ended.message}")
        return said.splitlines()[0]

    async def run(self, job: Job) -> Reply:
        """Run the program once."""
        if self.unready:
            raise RequestError(Outcome.unavailable, self.unready)
        with tempfile.TemporaryDirectory(prefix="kr-agent-", ignore_cleanup_errors=True) as made:
            folder, system = Path(made, "empty"), Path(made, "system.txt")
            folder.mkdir()
            await asyncio.to_thread(system.write_text, job.system, "utf-8")
            environ = self._environ(str(folder))
            argv = (*self._settings.command, *self._arguments(job, system, bare=bool(environ.get(_KEY))))
            ended = await run_program(argv, job.prompt, folder=folder, environ=environ)
        return self._reply(ended, job)

    def task_program(self, order: Mapping[str, Any], name: str, model: str | None) -> TaskProgram:
        """The program with tools, in the current folder; a reviewer's only read.

        Its login is a file in the home folder, which is hidden: that file stays readable.
        """
        environ = {
            **claude_task.environment(os.environ),
            **_QUIET,
            **({_KEY: self._key} if self._key else {}),
        }
        known = claude_task.arguments(order, model or self._settings.model, self._settings.max_task_cost_usd)
        argv = (*self._settings.command, *known)
        folder = Path(environ.get("CLAUDE_CONFIG_DIR") or Path(environ.get("HOME", "/"), ".claude"))
        readable = () if environ.get(_KEY) else (folder / ".credentials.json",)
        return TaskProgram(argv, claude_task.prompt(order), {**environ, "KR_AGENT": name}, readable)

    def _arguments(self, job: Job, system: Path, *, bare: bool) -> Iterator[str]:
        yield from ("-p", "--output-format", "json", "--json-schema", json.dumps(dict(job.schema)))
        yield from (
            *_ALONE,
            *(_BARE if bare else _UNSET),
            "--max-budget-usd",
            str(self._settings.max_cost_usd),
        )
        model = job.model or self._settings.model
        if model:
            yield f"--model={model}"  # as one word, so that no name is an option
        yield from ("--system-prompt-file", str(system))  # knowledge is longer than an argument may be

    def _environ(self, folder: str) -> dict[str, str]:
        """Its environment: the user's, without what tells of this project or of a session that KR runs in."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if name not in {"PWD", "OLDPWD"} and (not name.startswith(_ITS_OWN) or name.startswith(_LOGIN))
        }
        return {**kept, **_QUIET, **({_KEY: self._key} if self._key else {}), "PWD": folder}

    # -- what it says --------------------------------------------------------------------------------------

    def _reply(self, ended: ProgramResult, job: Job) -> Reply:
        """Its reply, if return code, error mark and structured output agree that there is one."""
        if not ended.out.strip():  # also with return code 0: it was interrupted
            how = f"by signal {-ended.code}" if ended.code < 0 else f"with exit code {ended.code}"
            said = f": {ended.message}" if ended.message else ""
            hint = _UPDATE if "unknown option" in ended.message else ""
            raise self._fault(Outcome.unavailable, f"it ended {how} and wrote nothing{said}", hint)
        told = _last_object(ended.out)
        if told is None or told.get("type") != "result":
            raise self._fault(Outcome.bad_answer, "its output is not a JSON result")
        if ended.code or told.get("is_error") is not False:
            raise self._failure(told, ended)
        data, text = told.get("structured_output"), told.get("result")
        text = text if isinstance(text, str) else ""
        notes: tuple[str, ...] = ()
        if not isinstance(data, dict):
            if not text.strip():
                raise self._fault(Outcome.bad_answer, "it wrote no answer")
            data, notes = None, ("claude did not use the reply's form; its text was read",)
        return Reply(
            text=text,
            data=data,
            model=_model_of(told) or job.model or self._settings.model or "",
            input_tokens=_read(told.get("usage")),
            output_tokens=number(told, "usage", "output_tokens"),
            cost_usd=_cost_of(told),
            notes=notes,
            finish_reason=str(told.get("stop_reason") or ""),
        )

    def _failure(self, told: Mapping[str, Any], ended: ProgramResult) -> RequestError:
        """What its error is, as version 2.1.330 was seen to tell it; `subtype` says `success` of most of them."""
        said = _said(told) or ended.message or f"exit code {ended.code}"
        if told.get("stop_reason") == "refusal":
            return self._fault(Outcome.blocked, f"the model refused: {said}")
        known = _ENDINGS.get(str(told.get("terminal_reason")))
        if known is not None:
            return self._fault(known[0], f"{known[1]}: {said}")
        status = told.get("api_error_status")
        if isinstance(status, int):
            low = status == 400 and "credit balance" in said.lower()
            other = Outcome.bad_answer if 400 <= status < 500 else Outcome.unavailable
            hint = _LOG_IN if status == 401 else ""
            return self._fault(Outcome.limited if low else _OUTCOMES.get(status, other), said, hint)
        if "not logged in" in said.lower() or "/login" in said:
            return self._fault(Outcome.unavailable, "it is not logged in", _LOG_IN)
        if "output token maximum" in said:
            return self._fault(Outcome.bad_answer, f"the reply was cut off: {said}")
        return self._fault(Outcome.unavailable, said)

    def _fault(self, outcome: Outcome, what: str, hint: str = "") -> RequestError:
        secrets = {self._key, *(os.environ.get(name, "").strip() for name in _SECRETS)} - {""}
        for secret in secrets:
            what = what.replace(secret, "***")
        return RequestError(outcome, what[:500], where=self._settings.command[0], hint=self._todo(hint))

    def _todo(self, text: str) -> str:
        return text.replace("{name}", self._name)


def _last_object(out: bytes) -> dict[str, Any] | None:
    """The object in the last line that is one; None where there is none."""
    for line in reversed(out.strip().splitlines()):
        try:
            told = json.loads(line, object_pairs_hook=_single)
        except (ValueError, RecursionError):
            continue
        if isinstance(told, dict):
            return told
    return None


def _single(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose names differ; of two values under one name none counts."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a name stands twice in one object")
    return dict(pairs)


def _said(told: Mapping[str, Any]) -> str:
    errors = told.get("errors")
    texts = [told.get("result"), *(errors if isinstance(errors, list) else [])]
    return " ".join(" ".join(text.split()) for text in texts if isinstance(text, str))[:300]


def _read(usage: Any) -> int | None:
    """The tokens that the model read, also those that the service had in its cache."""
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    counts = [number(usage, name) for name in names]
    return None if counts[0] is None else sum(count or 0 for count in counts)


def _model_of(told: Mapping[str, Any]) -> str:
    """The model that wrote most: small ones do small things beside it."""
    used = told.get("modelUsage")
    if not isinstance(used, dict) or not used:
        return ""
    return str(max(used, key=lambda model: number(used[model], "outputTokens") or 0))


def _cost_of(told: Mapping[str, Any]) -> float | None:
    cost = told.get("total_cost_usd")
    if isinstance(cost, bool) or not isinstance(cost, int | float):
        return None
    return float(cost) or None  # 0 where the price is not known


@kr_core.hookimpl
def kr_agent() -> Provider[kr_core.plugin.Agent]:
    """Claude by its command line."""

    def build(settings: ClaudeCLISettings, setup: Setup) -> ClaudeCLI:
        return ClaudeCLI(settings, setup.name)

    return Provider(build, ClaudeCLISettings)
