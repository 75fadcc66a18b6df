"""The conformance tests. One file a group of requirements; each test reads like a story."""
