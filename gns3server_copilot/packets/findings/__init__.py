"""What is wrong, found by code: one module for each family of protocols."""
