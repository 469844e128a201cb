"""Tantivy's index of documents from outside: what whoever searches is told of it, and what its files hold."""

from __future__ import annotations

import pytest

from kr_core.search.documents import tantivy_index as fasts
from kr_core.search.documents.tantivy_index import FastIndex


def is_asked(fast):
    """Whether words are looked for in it: else whoever has many passages is told so, and here a few are many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fasts, "_FELT", 0)
        fast.bm25('"van"', 1)
    return fast.lacks == ""


def is_current(store, folder):
    """Whether the index in a folder holds what a store holds."""
    return is_asked(FastIndex(store, folder))


def opened(folder):
    """What looks into the index in a folder: one document for each passage, and one that says what it is the index of."""
    import tantivy

    index = tantivy.Index.open(str(folder))
    index.config_reader("manual")  # else a thread looks for changes meanwhile
    index.reload()
    return index.searcher()
