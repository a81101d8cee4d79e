"""MCP results as the gate sees them: admitted, still valid, with one tool to read them back."""
