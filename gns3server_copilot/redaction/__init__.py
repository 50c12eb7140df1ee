"""Takes secrets out of what comes from a lab, before a language model, a stream or a file gets it.

Pure functions without I/O: `text.redact` for a text, `data.redacted` for a tool's whole answer, and
`placeholders.holds_placeholder` for what a model wants to send back.
"""
