"""The pipeline: look up, consult sources, score, render, keep, answer; each step an event in the journal."""

from kr_core.research.pipeline import Pipeline
from kr_core.research.results import CompletedResearch

__all__ = ["CompletedResearch", "Pipeline"]
