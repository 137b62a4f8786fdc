"""Alembic revisions of the store's schema; installed as `pagesift_store.migrations`."""
