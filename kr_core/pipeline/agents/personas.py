"""Who an agent is: its persona, from the project's own files or a template."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.templating import render

if TYPE_CHECKING:
    from pathlib import Path

    from kr_core.model.routing import AgentProfile

__all__ = ["persona"]

_ROLES = ("architect", "product", "qa", "developer", "devops", "reviewer")


def persona(folders: tuple[Path, ...], profile: AgentProfile, root: Path) -> tuple[str, list[str]]:
    """An agent's persona, and a note where the configured one cannot be read."""
    notes: list[str] = []
    if profile.persona is not None:
        try:
            return (root / profile.persona).read_text("utf-8-sig").strip(), notes
        except (OSError, ValueError) as error:
            notes.append(f"persona_load_failed: using lean persona ({profile.name}: {error})")
    name = profile.role if profile.role in _ROLES else "default"
    return render(folders, f"personas/{name}.md.j2", agent=profile).strip(), notes
