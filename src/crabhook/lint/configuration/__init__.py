"""A hook configuration of any of the agents, read into facts."""
