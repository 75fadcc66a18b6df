"""The engine on llama.cpp: one context, one unified KV cache, one decode loop."""
