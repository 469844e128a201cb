"""What the events of a retrospective tell: recommendations that a person has accepted or taken back."""

from typing import TypedDict


class RecommendationAccepted(TypedDict):
    """A person has accepted a recommendation, and KR has written it into files of the project."""

    feature_id: str
    recommendation: str
    """Its id in the retrospective of the feature."""
    detector: str
    change: str
    """`lesson`, `knowledge`, `intake` or `configuration`."""
    files: list[str]
    """Relative to the project."""
    evidence: list[str]
    """The entries it rests on."""
    predicted: dict[str, float] | None
    by: str


class RecommendationReverted(TypedDict):
    """A person has taken back what an accepted recommendation had written."""

    feature_id: str
    recommendation: str
    files: list[str]
    by: str
