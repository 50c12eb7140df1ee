"""What a file of each kind holds: one module for each kind, with a subclass of `base.KnowledgeFile`."""
