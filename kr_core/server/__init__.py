"""KR served to other programs; each way in is a package of its own."""
