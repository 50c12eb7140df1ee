"""The fields of each protocol: one module for each family, loaded when one of its protocols is asked about."""
