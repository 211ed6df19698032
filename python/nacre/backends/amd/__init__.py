"""AMD's GPUs, as packages ask for them before they know which they have: there is no target for them in this version."""
