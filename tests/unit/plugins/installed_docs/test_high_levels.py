"""What a `high` answer must say beside what it is about: how two things differ, and what is left out."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.req("A8")
BOX = '''\
    """Boxes."""

    def fold(box, edge=None):
        """Fold a box flat so that it can be stored{said}.

        >>> fold(box)
        """

    def wrap(box):
        """Wrap a box in paper so that it can be sent."""

    def cover(box, lid):
        """Put a lid on a box."""
    '''


@pytest.mark.parametrize(("said", "level"), [("", "medium"), ("; unlike `wrap` it empties it", "high")])
def test_a_difference_needs_a_sentence_about_both(ask_about, install, said, level):
    """Two first sentences side by side do not say how the two differ."""
    install("box", {"box/__init__.py": BOX.format(said=said)})
    assert ask_about("box", "What is the difference between `fold` and `wrap` in box?")[1] == level


@pytest.mark.parametrize(("said", "level"), [("", "medium"), (" with no lid", "high")])
def test_what_is_to_be_left_out_must_be_spoken_of(ask_about, install, said, level):
    """An answer that only tells how to do it does it with a lid."""
    install("box", {"box/__init__.py": BOX.format(said=said)})
    question = "How do I fold a box flat without a lid so that it can be stored?"
    assert ask_about("box", question, "box.fold")[1] == level
    assert ask_about("box", question.replace(" without a lid", ""), "box.fold")[1] == "high"
