"""`python -m pagesift_store.cli`."""

from .app import main

if __name__ == "__main__":
    main(prog_name="pagesift-store")
