"""The sessions protocol without a model: simulated engine, faults, agent harness traffic."""
