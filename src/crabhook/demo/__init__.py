"""The demo's scripted agent and operator, and the inputs recorded for it."""
