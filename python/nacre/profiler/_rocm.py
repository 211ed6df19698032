"""Names for AMD's profilers, which are not used here."""


def find_therock_rocm_libraries():
    return {}


def configure_runtime():
    return None
