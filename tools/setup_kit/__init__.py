"""Sets up the project's virtual environment; `make` runs it. Standard library only."""

# The rest cannot even be read by a Python this old, and there are systems whose `python3` it is:
# so this file is written as they read it.
import sys

if sys.version_info < (3, 7):  # noqa: UP036
    line = (
        "Python 3.11 or newer is needed, this is {}.{} ({}). Choose another: make PYTHON=python3.11"
    )
    found = sys.version_info[0], sys.version_info[1], sys.executable
    sys.exit("The set-up cannot start:\n  " + line.format(*found))
