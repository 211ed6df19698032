"""The name under which some packages look for a CPU driver."""
