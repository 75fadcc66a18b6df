"""``make demo``: the sessions example, played with real requests against a real server."""
