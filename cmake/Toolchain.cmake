# Compiler choices shared by every target: lld, ccache where present, warnings as errors in our own code.
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND};-E;env;CCACHE_SLOPPINESS=pch_defines,time_macros;${CCACHE}")
endif()

add_library(nacre_warnings INTERFACE)
target_compile_options(nacre_warnings INTERFACE -Wall -Wextra -Werror -Wno-unused-parameter -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
endif()
add_compile_options(-ffunction-sections -fdata-sections)
add_link_options(-fuse-ld=lld)
