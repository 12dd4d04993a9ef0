"""The language server: the only rooms that import pygls or lsprotocol. One file a feature; see features.py."""
