// `nacre simulate`: a PTX kernel on arrays described on the command line.
#pragma once

#include <string>
#include <vector>

namespace nacre {

// The arguments after "simulate". Writes to standard output and standard error; returns the exit status: 0 for a clean
// run, 1 for findings or an error, 2 for wrong use.
int simulateCommand(const std::vector<std::string> &arguments);

} // namespace nacre
