"""The data of each kind of event, by what it tells of."""
