"""What the copilot knows, as data files: `kinds` names their kinds, `loader` reads them, `base` keeps them."""
