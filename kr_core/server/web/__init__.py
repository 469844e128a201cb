"""The inbox as a page and as a JSON API, for people and programs over HTTP."""
