"""Conversions that other programs may use too: tools' answers to tool response v1.0, and texts to data.

`message_converters` is not imported here: it needs langchain-core, and this package is imported at server start.
"""

from gns3server_copilot.utils.older_shapes import normalize_tool_response
from gns3server_copilot.utils.parse_tool_content import parse_tool_content

__all__ = ["normalize_tool_response", "parse_tool_content"]
