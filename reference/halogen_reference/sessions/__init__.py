"""Names for kept conversations: what they hold, how requests match them, when they go.

Nothing here knows of HTTP, of a route's JSON, or of how an engine works.
"""
