"""Documents of any kind, indexed once and searched: `kr docs`, and the source `local_docs`."""
