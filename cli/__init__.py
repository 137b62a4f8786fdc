"""The command `pagesift-store`; installed as `pagesift_store.cli`."""
