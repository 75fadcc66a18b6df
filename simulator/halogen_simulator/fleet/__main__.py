"""``python -m halogen_simulator.fleet``"""

import sys

from halogen_simulator.fleet.command import main

sys.exit(main())
