"""All tools there are. A new tool is a line here."""

from __future__ import annotations

from gns3server_copilot.schemas.modes import Mode
from gns3server_copilot.settings import Settings
from gns3server_copilot.tools.base import Tool
from gns3server_copilot.tools.create_link import GNS3LinkTool
from gns3server_copilot.tools.create_node import GNS3CreateNodeTool
from gns3server_copilot.tools.device_commands import ExecuteMultipleDeviceCommands
from gns3server_copilot.tools.device_config import ExecuteMultipleDeviceConfigCommands
from gns3server_copilot.tools.packet_analysis import PacketAnalysisTool
from gns3server_copilot.tools.packet_analysis_skills import PacketAnalysisSkillsTool
from gns3server_copilot.tools.packet_filter import GNS3PacketFilterTool
from gns3server_copilot.tools.rename_node import GNS3UpdateNodeNameTool
from gns3server_copilot.tools.start_node import GNS3StartNodeTool
from gns3server_copilot.tools.stop_node import GNS3StopNodeTool
from gns3server_copilot.tools.suspend_node import GNS3SuspendNodeTool
from gns3server_copilot.tools.templates import GNS3TemplateTool
from gns3server_copilot.tools.topology_reader import GNS3TopologyTool
from gns3server_copilot.tools.vpcs_commands import VPCSCommands

ALL_TOOLS: tuple[Tool, ...] = (
    GNS3TemplateTool(),
    GNS3CreateNodeTool(),
    GNS3LinkTool(),
    GNS3StartNodeTool(),
    GNS3UpdateNodeNameTool(),
    GNS3StopNodeTool(),
    GNS3SuspendNodeTool(),
    GNS3TopologyTool(),
    ExecuteMultipleDeviceCommands(),
    ExecuteMultipleDeviceConfigCommands(),
    VPCSCommands(),
    PacketAnalysisTool(),
    PacketAnalysisSkillsTool(),
    GNS3PacketFilterTool(),
)


def tools_for(mode: Mode, settings: Settings) -> tuple[Tool, ...]:
    """Give the tools that the model may call in `mode`."""
    return tuple(tool for tool in ALL_TOOLS if tool.offered(mode, settings))
