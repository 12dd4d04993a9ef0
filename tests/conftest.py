"""How the properties are tried: at random where somebody works on them, always the same where a change is to land.

Invariant: no property fails for being slow, and under CI (the environment variable) a run is the run before.
Invariant: no test reads or changes what the user who runs it has set, allowed or cached.
"""

import atexit
import os
import shutil
import tempfile

from hypothesis import HealthCheck, settings

_OWN = tempfile.mkdtemp(prefix="tried-tests-")
atexit.register(shutil.rmtree, _OWN, ignore_errors=True)
for _variable in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
    os.environ[_variable] = os.path.join(_OWN, _variable.lower())  # noqa: PTH118

SLOW_MACHINES_ARE_NO_FAILURE = [HealthCheck.too_slow]

settings.register_profile(
    "random", deadline=None, print_blob=True, derandomize=False, suppress_health_check=SLOW_MACHINES_ARE_NO_FAILURE
)
settings.register_profile("the-same", settings.get_profile("random"), derandomize=True, database=None)
settings.load_profile("the-same" if os.environ.get("CI") else "random")
