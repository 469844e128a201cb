"""An external source that keeps to the contract: one request to a search service."""

import httpx

from kr_core import Finding, Outcome, Passage, Provider, Source, hookimpl

ADDRESS = "https://search.example/search"


class Search:
    external = True
    timeout_seconds = 5.0

    async def query(self, query, context):
        try:
            answer = await context.http.get(
                ADDRESS, params={"q": query.question.encode(errors="replace")[:500]}
            )
            answer.raise_for_status()
            hits = answer.json()["hits"]
        except httpx.ConnectError as error:
            return Finding(outcome=Outcome.unavailable, reason=str(error), reached=False)
        except httpx.HTTPStatusError as error:
            limited = error.response.status_code == 429
            return Finding(outcome=Outcome.limited if limited else Outcome.unavailable, reason=str(error))
        except (httpx.HTTPError, ValueError, KeyError) as error:
            return Finding(outcome=Outcome.bad_answer, reason=f"{type(error).__name__}: {error}")
        passages = tuple(Passage(text=hit["text"], url=hit["url"], coverage=0.8) for hit in hits)
        return Finding(outcome=Outcome.ok if passages else Outcome.empty, passages=passages, url=ADDRESS)


@hookimpl
def kr_source() -> Provider[Source]:
    return Provider(lambda settings, setup: Search())
