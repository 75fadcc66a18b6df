"""Client drivers: abstract conversations to each route's wire form, and answers back.

Everything here but ``connection``, ``perform`` and ``client`` is sans-IO. The drivers share no
code with any server of this repository: a shared mistake would agree with itself.
"""

from halogen_conformance.drivers.chat import ChatDriver
from halogen_conformance.drivers.driver import Driver
from halogen_conformance.drivers.messages import MessagesDriver
from halogen_conformance.drivers.responses import ResponsesDriver

CHAT: Driver = ChatDriver()
MESSAGES: Driver = MessagesDriver()
RESPONSES: Driver = ResponsesDriver()

DRIVERS: dict[str, Driver] = {driver.route: driver for driver in (CHAT, MESSAGES, RESPONSES)}
"""Route name (``chat``, ``messages``, ``responses``) to its driver."""

__all__ = ["CHAT", "DRIVERS", "MESSAGES", "RESPONSES", "Driver"]
