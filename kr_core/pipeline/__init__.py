"""The pipeline: look up, consult sources, score, render, keep, answer; each step an event in the journal."""

from kr_core.pipeline.pipeline import Pipeline

__all__ = ["Pipeline"]
