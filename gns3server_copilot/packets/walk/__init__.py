"""Which protocols a frame holds, and where each begins: cheap parsing of headers, one small function a protocol."""
