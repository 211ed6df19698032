# So that lit can be given a folder or file of compiler/ directly.
import os

lit_config.load_config(config, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests", "lit.cfg.py"))
