"""The questions of a feature asked again under another configuration, in a record of their own that is thrown away."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kr_core.ask.sync_service import KnowledgeRouterService
from kr_core.errors import ConfigError
from kr_core.model.questions import Question
from kr_core.research import Pipeline
from kr_core.retro.logged_questions import read_questions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kr_core.config import Config
    from kr_core.retro.logged_questions import AskedQuestion

__all__ = ["asked_again"]

_FIELDS = ("topic", "text", "suggested_target", "context")
_LISTS = ("also", "choices")


def asked_again(
    config: Config, feature: str, questions: Sequence[AskedQuestion], **components: Any
) -> tuple[list[AskedQuestion], list[str]]:
    """What agents answer to questions under a configuration, with notes on those that were not asked.

    Nothing is written to the project: not to its record, its inbox, its channels, its logs or its knowledge base.

    Args:
        config: the other configuration.
        feature: whose questions they are.
        questions: as the record has them.
        components: as of `Pipeline`, such as `agents`.
    """
    notes = []
    with tempfile.TemporaryDirectory(prefix="kr-") as scratch:
        settings = config.settings.model_copy(update={"escalations": (), "logs": (), "hooks": ()})
        dry = replace(config, settings=settings, temporary_state=Path(scratch, ".kr"))
        with KnowledgeRouterService(Pipeline(dry, **components)) as service:
            for one in questions:
                if one.data.get("depends_on"):
                    notes.append(f"not asked: {one.question_id} needs the answers of other questions")
                    continue
                try:
                    service.ask(_question(feature, one.question_id, one.data))
                except ConfigError as error:
                    notes.append(f"not asked: {one.question_id}: {error}")
            return read_questions(service.pipeline.journal, feature), notes


def _question(feature: str, name: str, data: Mapping[str, Any]) -> Question:
    fields = {key: data[key] for key in _FIELDS if data.get(key)}
    lists = {key: tuple(data[key]) for key in _LISTS if data.get(key)}
    return Question.model_validate({"id": name, "feature_id": feature, **fields, **lists})
