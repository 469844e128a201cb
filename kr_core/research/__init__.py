"""The pipeline: look up, consult sources, score, render, keep, answer; each step an event in the journal."""

from kr_core.research.pipeline import Pipeline
from kr_core.research.results import Research

__all__ = ["Pipeline", "Research"]
