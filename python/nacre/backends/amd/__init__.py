"""The compiler for AMD's GPUs and the GPU that is simulated, as packages see them. There is no driver for such a GPU itself."""
