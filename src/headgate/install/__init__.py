"""How Headgate is put into the configuration of agent CLIs: one file per CLI.

A change is computed from texts and shown before anything is written. Only the lines it needs are
changed: comments, order and spaces of the user's file stay.
"""
