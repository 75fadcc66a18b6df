"""What every answer under load is held to: pure functions of what was sent and what came back."""
