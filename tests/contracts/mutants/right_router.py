"""A router that keeps to the contract: by words that stand in the question."""

from kr_core.plugin import Provider, Router, Settings, hookimpl


class WordsSettings(Settings):
    words: dict[str, str]
    """Words in a question, and who answers it."""


class Words:
    def __init__(self, words, table):
        self._words = words
        self._table = table

    def route(self, question):
        said = question.text.casefold()
        for word, target in self._words.items():
            if word in said:
                return self._table().routed(question.topic, target, f"the word {word}")
        return None


@hookimpl
def kr_router() -> Provider[Router]:
    return Provider(lambda settings, setup: Words(settings.words, setup.routing), WordsSettings)
