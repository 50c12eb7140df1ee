"""Who asks, and about which project: what the API has checked and the layers below may rely on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class User:
    """A GNS3 user whose token was valid when the request came in. `user_id` is UUID text with dashes."""

    user_id: str
    username: str
    is_superadmin: bool


@dataclass(frozen=True)
class ProjectRef:
    """An opened GNS3 project. `path` is its folder on the controller's disk."""

    project_id: str
    name: str
    path: str
