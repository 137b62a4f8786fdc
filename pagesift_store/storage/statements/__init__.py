"""Statements, named for what they do: built here, run by the transactions, explained by the tests."""
