"""``python -m halogen_simulator``"""

import sys

from halogen_simulator.cli import main

sys.exit(main())
