"""Schemas of the knowledge files, one module a kind."""
