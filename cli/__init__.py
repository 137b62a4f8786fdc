"""The command `pagesift-store`; installed as `pagesift_store.cli`."""

from .app import main

__all__ = ["main"]
