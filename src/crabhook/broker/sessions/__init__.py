"""Live sessions: what agents do, operators' notes to agents, and files that two sessions change."""
