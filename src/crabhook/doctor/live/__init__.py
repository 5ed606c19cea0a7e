"""The proof: the real agent, told by a scripted model to do what our server forbids.

Nothing of the user's is touched: the agent, the hook and the server have a
home, rules and a record of their own, in a folder that is gone afterwards.
"""
