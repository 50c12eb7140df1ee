"""An `editable_wheel` command whose wheel carries gns3server_copilot.pth (named in setup.cfg; used at build time only).

setuptools leaves data files out of editable wheels, so `pip install -e .` would install a copilot that never loads.
"""

from __future__ import annotations

import base64
import hashlib
import zipfile
from pathlib import Path

from setuptools.command.editable_wheel import editable_wheel

START_UP_FILE = Path(__file__).with_name("gns3server_copilot.pth")


class EditableWheel(editable_wheel):
    """setuptools' own command, followed by the addition of the start-up file to each wheel that it made."""

    def run(self) -> None:
        super().run()
        for wheel in Path(self.dist_dir).glob("*.whl"):
            add_to_wheel(wheel, START_UP_FILE)


def add_to_wheel(wheel: Path, file: Path) -> None:
    """Put `file` at the wheel's root and into its RECORD, by which pip removes it again."""
    with zipfile.ZipFile(wheel) as archive:
        members = [(info, archive.read(info)) for info in archive.infolist()]
    content = file.read_bytes()
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(file.name, content)
        for info, data in members:
            if info.filename.endswith(".dist-info/RECORD"):
                data += f"{file.name},sha256={digest},{len(content)}\n".encode()
            archive.writestr(info, data)
