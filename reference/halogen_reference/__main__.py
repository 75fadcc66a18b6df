"""``python -m halogen_reference``: the same as ``halogen-reference``."""

import sys

from halogen_reference.cli import main

sys.exit(main())
