"""The configuration: where it is found, what it may hold, and file and line of each fault.

config = load(Path.cwd())
config.settings.knowledge_research.max_calls_per_story   # 3
config.origin(("store",))                                # "kr.yaml:4"
"""

from kr_core.config.environment import resolve_env
from kr_core.config.loading import Config, given, load
from kr_core.config.schema import Defaults, KnowledgeResearch, Schema

__all__ = ["Config", "Defaults", "KnowledgeResearch", "Schema", "given", "load", "resolve_env"]
