"""What each call of `Frontier` does inside its one transaction.

A `Work` (connection, moment, what is remembered of the store) goes in; rows change; records come out. Nothing here
begins or commits.
"""
