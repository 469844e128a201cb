"""Lock files and lists of dependencies: which versions a project has chosen, and which it asks for."""

from kr_core.project.lockfiles.formats import CATALOGUE, FORMATS, Format, candidates, read
from kr_core.project.lockfiles.pins import Ecosystem, LockFile, Pin, UnreadableError

__all__ = [
    "CATALOGUE",
    "FORMATS",
    "Ecosystem",
    "Format",
    "LockFile",
    "Pin",
    "UnreadableError",
    "candidates",
    "read",
]
