"""Questions asked of agents: routed by rules, gated by confidence, everything on record."""
