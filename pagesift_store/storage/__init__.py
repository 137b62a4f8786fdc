"""The file behind the frontier: tables, named statements, connections, schema versions."""
