"""The agent: the graph, the turns that run it, and one service for each open project."""
