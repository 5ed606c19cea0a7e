"""The proxy between an editor and an agent that speak ACP, JSON-RPC 2.0 in lines.

`lines` cuts what comes into lines, `conversation` knows what they mean, `asking` asks the desk, and
`proxy` is the process. Every line passes as it came, but those that the desk answers first.
"""
