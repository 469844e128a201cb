"""The server itself: each request of the protocol goes to a tool, a resource or the prompt, and each error becomes words."""

from __future__ import annotations

import asyncio
import importlib
import logging
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    GetPromptRequestParams,
    GetPromptResult,
    InputRequiredResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    Prompt,
    PromptMessage,
    ReadResourceRequestParams,
    ReadResourceResult,
    TextContent,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from kr_core._version import __version__
from kr_core.errors import ConfigError, KRError, suggestion
from kr_core.server.mcp import instructions
from kr_core.server.mcp.progress import shown_to
from kr_core.server.mcp.reply_text import in_arguments
from kr_core.server.mcp.tool_arguments import said_of
from kr_core.server.mcp.tool_specs import ARGUMENTS, tools
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from types import ModuleType

    from mcp.server.context import ServerRequestContext

    from kr_core.server.mcp.tools import ToolReply
    from kr_core.server.served_project import ServedProject

    Context = ServerRequestContext[Any, Any]

__all__ = ["server_of"]

NAME = "kr"
_DECISION_SECONDS = 86_400.0
"""So long a human may take to fill in a form; the case itself waits for ever."""
_RESOURCE_NOT_FOUND = -32002
"""Of the revisions before 2026-07-28, which have no other code for it; the newest one has retired it."""
_log = logging.getLogger(__name__)


def server_of(project: ServedProject) -> Server[None]:
    """An MCP server of a project; it may be run any number of times, and at the same time."""
    answering = _Answering(project)

    @asynccontextmanager
    async def lifespan(_server: Server[None]) -> AsyncIterator[None]:
        yield

    server = Server(
        NAME,
        version=__version__,
        title="KR",
        instructions=instructions.INSTRUCTIONS,
        lifespan=lifespan,
        get_tool_input_schema=lambda name: next(
            (tool.input_schema for tool in tools() if tool.name == name), None
        ),
        on_list_tools=answering.list_tools,
        on_call_tool=answering.call_tool,
        on_list_resources=answering.list_resources,
        on_list_resource_templates=answering.list_resource_templates,
        on_read_resource=answering.read_resource,
        on_list_prompts=answering.list_prompts,
        on_get_prompt=answering.get_prompt,
    )
    sealed = RequestStateSecurity.ephemeral(ttl=_DECISION_SECONDS)
    server.middleware.append(RequestStateBoundary(sealed, default_audience=NAME))
    return server


class _Answering:
    """Answers requests; what a tool needs is imported when one is called, so that a list of tools comes at once."""

    def __init__(self, project: ServedProject) -> None:
        self._project = project
        self._tools: ModuleType | None = None

    # -- tools ----------------------------------------------------------------------------------------------

    async def list_tools(
        self, _context: Context, _parameters: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(tools=list(tools()))

    async def call_tool(
        self, context: Context, parameters: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        takes = ARGUMENTS.get(parameters.name)
        if takes is None:
            return _failure(
                f"there is no tool `{parameters.name}`; {suggestion(parameters.name, ARGUMENTS, 'tools')}"
            )
        try:
            given = takes.model_validate(parameters.arguments or {})
        except ValidationError as error:
            return _failure(f"{said_of(error)}. Mend the arguments and call `{parameters.name}` again.")
        try:
            module = await self._imported()
            work = getattr(module.Tools(self._project), parameters.name)
            async with shown_to(context):
                came: ToolReply | InputRequiredResult = await work(given, module.Human(context, parameters))
        except KRError as error:
            return _failure(in_arguments(str(error)))
        except MCPError:
            raise
        except Exception as error:
            _log.exception("%s failed", parameters.name)
            said = f"unforeseen: {type(error).__name__}: {error}; standard error of `kr mcp` says where"
            return _failure(said)
        finally:
            self._project.used()
        if isinstance(came, InputRequiredResult):
            return came
        return CallToolResult(
            content=[TextContent(text=came.text)],
            structured_content=came.values,
            is_error=came.failed,
        )

    async def _imported(self) -> ModuleType:
        """What works; its import takes longer than the event loop may be held up."""
        if self._tools is None:
            self._tools = await asyncio.to_thread(importlib.import_module, "kr_core.server.mcp.tools")
        return self._tools

    # -- resources ------------------------------------------------------------------------------------------

    async def list_resources(
        self, _context: Context, parameters: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        from kr_core.server.mcp.resources import Resources

        cursor = None if parameters is None else parameters.cursor
        try:
            listed, after = await Resources(self._project).listed(cursor)
        except KRError as error:
            raise _refusal(error) from error
        return ListResourcesResult(resources=listed, next_cursor=after)

    async def list_resource_templates(
        self, _context: Context, _parameters: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        from kr_core.server.mcp.resources import TEMPLATES

        return ListResourceTemplatesResult(resource_templates=list(TEMPLATES))

    async def read_resource(
        self, context: Context, parameters: ReadResourceRequestParams
    ) -> ReadResourceResult:
        from kr_core.server.mcp.resources import Resources

        missing = (
            INVALID_PARAMS if context.protocol_version in MODERN_PROTOCOL_VERSIONS else _RESOURCE_NOT_FOUND
        )
        code = INTERNAL_ERROR
        try:
            await self._project.pipeline()  # a fault in the configuration is not a missing resource
            code = missing
            return ReadResourceResult(contents=[await Resources(self._project).read(str(parameters.uri))])
        except KRError as error:
            raise _refusal(error, code if isinstance(error, ConfigError) else INTERNAL_ERROR) from error

    # -- the prompt -----------------------------------------------------------------------------------------

    async def list_prompts(
        self, _context: Context, _parameters: PaginatedRequestParams | None
    ) -> ListPromptsResult:
        prompt = Prompt(
            name=instructions.PROMPT_NAME, title="When to ask KR", description=instructions.PROMPT_DESCRIPTION
        )
        return ListPromptsResult(prompts=[prompt])

    async def get_prompt(self, _context: Context, parameters: GetPromptRequestParams) -> GetPromptResult:
        if parameters.name != instructions.PROMPT_NAME:
            raise MCPError(
                INVALID_PARAMS,
                f"there is no prompt `{parameters.name}`; there is `{instructions.PROMPT_NAME}`",
            )
        message = PromptMessage(role="user", content=TextContent(text=instructions.PROMPT))
        return GetPromptResult(description=instructions.PROMPT_DESCRIPTION, messages=[message])


def _failure(said: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=printable(said))], is_error=True)


def _refusal(error: KRError, code: int = INVALID_PARAMS) -> MCPError:
    return MCPError(code, printable(str(error)))
