"""How sure is sure: probabilities fitted on what turned out right, and the measures of how well they hold."""
