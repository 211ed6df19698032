"""What looks at a traced kernel."""


class Client:
    NAME = ""
    kinds = ()  # of the sanitizers


class Tracer(Client):
    NAME = "tracer"

    def __init__(self, callpath=True, grid_idx=None):
        self.callpath = callpath
        self.grid_idx = grid_idx


class Sanitizer(Client):
    NAME = "sanitizer"
    kinds = ("asan",)

    def __init__(self, abort_on_error=True):
        self.abort_on_error = abort_on_error


class Profiler(Client):
    NAME = "profiler"

    def __init__(self, callpath=True, disable_for_loop_unroll_check=False, disable_load_mask_percentage_check=False, k=None):
        self.callpath = callpath
        self.disable_for_loop_unroll_check = disable_for_loop_unroll_check
        self.disable_load_mask_percentage_check = disable_load_mask_percentage_check
        self.k = k


class RaceDetector(Client):
    NAME = "race_detector"
    kinds = ("tsan",)

    def __init__(self, abort_on_error=False):
        self.abort_on_error = abort_on_error


BY_NAME = {kind.NAME: kind for kind in (Tracer, Sanitizer, Profiler, RaceDetector)}


def client_of(given):
    """A client of a name or an object."""
    if isinstance(given, Client):
        return given
    if given not in BY_NAME:
        raise ValueError(f"triton_viz has no client {given!r}; there are {', '.join(BY_NAME)}")
    return BY_NAME[given]()
