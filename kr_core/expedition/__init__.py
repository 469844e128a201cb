"""Expeditions: a question too large for one look-up, researched in cycles until nothing new comes."""
