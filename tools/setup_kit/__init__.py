"""Sets up the project's virtual environment; `make` runs it. Standard library only."""
