"""What the agents are served by: how many servers, and how each is set."""

import math
from dataclasses import dataclass

from halogen_simulator.fleet.policies import POLICIES
from halogen_simulator.fleet.routing import ROUTES
from halogen_simulator.fleet.workload import option


@dataclass(frozen=True, slots=True)
class Service:
    """Servers, all set alike. ``inf`` is allowed for the cap, the time to live and the pool."""

    servers: int = option(1, "servers that share the agents")
    routing: str = option("program", f"who serves a request: {', '.join(ROUTES)}", "NAME")
    cap: float = option(8.0, "most names live at once on a server; 0: no sessions")
    ttl: float = option(600.0, "seconds after which an unused name is released", "S")
    policy: str = option("lru", f"which name makes room: {', '.join(POLICIES)}", "NAME")
    pool: float = option(math.inf, "tokens that a server's KV memory holds")
    slots: int = option(8, "replies that a server generates at once")

    def __post_init__(self) -> None:
        for name, table in (("routing", ROUTES), ("policy", POLICIES)):
            if getattr(self, name) not in table:
                known = ", ".join(table)
                raise ValueError(f"{name} {getattr(self, name)!r} is unknown: choose from {known}")
        if self.servers < 1 or self.slots < 1:
            raise ValueError("servers and slots must be at least 1")
        if self.cap < 0 or (self.cap != math.inf and self.cap != int(self.cap)):
            raise ValueError("cap is a whole number, or inf")
        if self.ttl <= 0 or self.pool <= 0:
            raise ValueError("ttl and pool must be above 0")
