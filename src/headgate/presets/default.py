"""Our own policy.

Tokens; one result 8,000, a batch 20,000 (at most a tenth of the window, if that is known), fair
shares; file readers exempt up to 25,000; the middle searched, and what the question points at;
originals kept; errors 4,000 with the tail; old results shrink by pressure only, in epochs;
histories repaired; guards warn.
"""

from headgate.policy import Policy

DEFAULT = Policy()
