"""``make bench``: the fan-out from a kept conversation, measured against the figures to reach."""
