"""gns3-server as the tools see it: its API called in process, and a project's topology read from it."""
