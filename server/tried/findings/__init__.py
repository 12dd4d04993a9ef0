"""Findings: what the user is told about a place in a config, resting on the history alone."""

from tried.findings.find import find
from tried.findings.finding import Difference, Finding
from tried.findings.settings import FindingSettings

__all__ = ["Difference", "Finding", "FindingSettings", "find"]
