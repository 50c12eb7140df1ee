"""Programs of the real lab: routers, consoles and what lets gns3-server run Debian's vpcs."""
