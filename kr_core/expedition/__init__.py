"""Expeditions: a question too large for one look-up, researched in cycles until no new facts turn up."""
