"""A folder with its settings and its pool: all that is known of it, and the only place that changes it."""

from tried.workspace.workspace import POOL_MARKERS, Workspace, failure_of, workspace_folder

__all__ = ["POOL_MARKERS", "Workspace", "failure_of", "workspace_folder"]
