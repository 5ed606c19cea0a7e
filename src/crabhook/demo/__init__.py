"""The demo: a scripted agent, the true hook client, the true server and desk, in one command."""
