"""Request and response models, and the names that they share with the rest of the package."""
