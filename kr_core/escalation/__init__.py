"""Questions that wait for a human: cases kept in the journal, how they are shown, and what replies mean."""
