"""What the model can call: one module a tool, and the one way in which tools are executed."""
