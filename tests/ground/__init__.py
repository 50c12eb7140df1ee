"""What the tests stand on: a real gns3-server, real users, a scripted model server, a real lab.

docs/developer/testing.md shows how each part is used.
"""
