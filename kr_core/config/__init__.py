"""The configuration: where it is found, what it may hold, and file and line of each fault.

config = load(Path.cwd())
config.settings.knowledge_research.max_calls_per_story   # 3
config.origin(("store",))                                # "kr.yaml:4"

Each name is imported on first use: what only reads a file or looks for a name does without the schema's pydantic.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kr_core.config.environment import resolve_env
    from kr_core.config.loader import Config, given, load
    from kr_core.config.schema import Defaults, KnowledgeResearch, Schema

__all__ = ["Config", "Defaults", "KnowledgeResearch", "Schema", "given", "load", "resolve_env"]

_HOME = {"Config": "loader", "given": "loader", "load": "loader", "resolve_env": "environment"}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOME.get(name, 'schema')}"), name)
