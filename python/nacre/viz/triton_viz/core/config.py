"""Settings, and the variables that set them."""

import os


class Config:
    """Attributes that begin as the variables of the same names say."""

    _VARIABLES = {
        "verbose": ("TRITON_VIZ_VERBOSE", "0"), "num_sms": ("TRITON_VIZ_NUM_SMS", "1"), "port": ("TRITON_VIZ_PORT", ""),
        "enable_sanitizer": ("ENABLE_SANITIZER", "1"), "enable_profiler": ("ENABLE_PROFILER", "1"),
        "enable_race_detector": ("ENABLE_RACE_DETECTOR", "1"), "enable_timing": ("ENABLE_TIMING", "0"),
        "report_grid_execution_progress": ("REPORT_GRID_EXECUTION_PROGRESS", "0"),
        "sanitizer_enable_fake_tensor": ("SANITIZER_ENABLE_FAKE_TENSOR", "0"),
        "profiler_enable_load_store_skipping": ("PROFILER_ENABLE_LOAD_STORE_SKIPPING", "1"),
        "profiler_enable_block_sampling": ("PROFILER_ENABLE_BLOCK_SAMPLING", "1"),
        "profiler_disable_buffer_load_check": ("PROFILER_DISABLE_BUFFER_LOAD_CHECK", "0"),
        "symbolic_per_element_warn_threshold": ("SYMBOLIC_PER_ELEMENT_WARN_THRESHOLD", "8192"),
        "sanitizer_report_max_segments": ("SANITIZER_REPORT_MAX_SEGMENTS", "8"),
    }  # fmt: skip

    def __init__(self):
        self.reset()

    def reset(self):
        for name, (variable, default) in self._VARIABLES.items():
            text = os.environ.get(variable, default)
            numbers = name in ("num_sms", "symbolic_per_element_warn_threshold", "sanitizer_report_max_segments")
            object.__setattr__(self, name, (int(text) if text else None) if numbers or name == "port" else text == "1")

    def __setattr__(self, name, value):
        if name not in self._VARIABLES:
            raise AttributeError(f"triton_viz.config has no setting {name!r}; there are {', '.join(self._VARIABLES)}")
        object.__setattr__(self, name, value)


config = Config()
