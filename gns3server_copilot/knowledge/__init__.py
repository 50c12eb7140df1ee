"""What the copilot knows, as data files: prompts now; device families, protocols and faults as they come."""
