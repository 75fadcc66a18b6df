"""The engine on llama.cpp: one context, one unified KV cache, one decode loop."""

import os

from halogen_reference.engine.llama import waiting

# Before anything here loads llama.cpp.
waiting.choose(os.environ)
