"""The PC with the command line of VPCS."""
