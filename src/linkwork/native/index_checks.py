"""Whether loops check their indices, for tests: LINKWORK_CHECKED=1 in the environment.

An index out of range then ends the process where it happens (`make checked`). Objects of checked loops have
names of their own in the store.
"""

import os

CHECKED = os.environ.get("LINKWORK_CHECKED", "") == "1"
