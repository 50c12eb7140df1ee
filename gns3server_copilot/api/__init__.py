"""The HTTP routes: requests in, answers out. What they do is in `agent` and `llm`."""
