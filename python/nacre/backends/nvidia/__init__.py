"""NVIDIA GPUs as a target: `compiler` as packages see it, `driver` for what is known of the devices."""
