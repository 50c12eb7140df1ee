"""What may be typed on a device: pure functions, no I/O, one verdict for each line, asked before anything is sent."""

from gns3server_copilot.consoles.guard.family import FamilyGuard
from gns3server_copilot.consoles.guard.judge import judge_config, judge_read, judge_vpcs
from gns3server_copilot.consoles.guard.verdict import Verdict

__all__ = ["FamilyGuard", "Verdict", "judge_config", "judge_read", "judge_vpcs"]
