# find_package(nacre) gives the target nacre::nacre.
include("${CMAKE_CURRENT_LIST_DIR}/nacre-targets.cmake")
