"""The MCP proxy: between any MCP client and any MCP server, each message as it came but results.

The two ends speak to each other, in whatever version of the protocol they agree on. The proxy adds
one tool, lets results in through the gate, and answers what nobody else will.
"""
