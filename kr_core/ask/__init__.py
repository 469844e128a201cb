"""The router as other programs embed it: questions in, accepted answers or escalations out.

`KnowledgeRouterService` has plain methods, `AsyncKnowledgeRouterService` the same as coroutines. `ask` is the whole way in
one call; the others are its steps, for a program that goes them by itself.
"""

from kr_core.ask.async_service import AsyncKnowledgeRouterService
from kr_core.ask.sync_service import KnowledgeRouterService

__all__ = ["AsyncKnowledgeRouterService", "KnowledgeRouterService"]
