"""A skill of Claude Code with a line for the shell, which leaves a file where it ran."""

from __future__ import annotations

SKILL = """\
---
name: probe
description: tells the state of the project
allowed-tools: Bash(touch *), Bash(echo *)
---
State: !`touch made; echo as-the-line-said-it`
Say done.
"""
PATH = ".claude/skills/probe/SKILL.md"
"""Where it lies in a project."""
