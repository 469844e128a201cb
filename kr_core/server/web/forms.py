"""What people send by the forms of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qsl

from kr_core.model.questions import HumanResponse
from kr_core.server.web.problems import RequestRefused

if TYPE_CHECKING:
    from starlette.requests import Request

__all__ = ["FormInput", "fields_of", "response_of"]

_MAX_FIELDS = 50
_TYPE = "application/x-www-form-urlencoded"
TEXTS = {
    "correct": "text_correct",
    "add_context": "text_context",
    "chat": "text_final",
    "withdraw": "text_withdraw",
}
"""The field in which the text of an action stands."""
_VERBS = {
    "correct": "answer with this text",
    "add_context": "ask again with this known",
    "chat": "end the talk",
    "withdraw": "withdraw the question",
}


class FormInput(NamedTuple):
    """What stood in a form, to be shown again."""

    action: str = ""
    text_correct: str = ""
    text_context: str = ""
    text_final: str | None = None
    """None where nothing was written, and the agent's last words stand there."""
    text_talk: str = ""
    text_withdraw: str = ""
    by: str = ""

    @classmethod
    def of(cls, fields: dict[str, str]) -> FormInput:
        """What stands in the fields of a form."""
        known = {key: value for key, value in fields.items() if key in cls._fields}
        return cls(**known)


async def fields_of(request: Request) -> dict[str, str]:
    """The fields of a form.

    Raises:
        Refused: it is no form of the page.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().casefold()
    if kind != _TYPE:
        raise RequestRefused("refused", f"A form is sent as {_TYPE}.")
    body = await request.body()
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=_MAX_FIELDS, errors="strict")
    except ValueError as error:
        raise RequestRefused("refused", "The form cannot be read.") from error
    return {key: value.replace("\r\n", "\n") for key, value in pairs}


def response_of(written: FormInput, revision: int, by: str) -> HumanResponse:
    """What a person has decided, by the form of a case.

    Raises:
        Refused: it is not clear what they mean.
    """
    action, _, choice = written.action.partition(":")
    if action == "choose":
        content = choice
    elif action in {"confirm", *TEXTS}:
        content = "" if action == "confirm" else (getattr(written, TEXTS[action]) or "").strip()
    else:
        raise RequestRefused("refused", "Say what to do: choose one of the replies.")
    for other in ("correct", "add_context", "withdraw"):
        if other != action and getattr(written, TEXTS[other]).strip():
            raise RequestRefused(
                "refused",
                f"There is a text under “{_VERBS[other]}”, which is not the reply that is chosen. Choose that one, or empty it.",
            )
    return HumanResponse.model_validate(
        {"action": action, "content": content, "by": by, "revision": revision}
    )
