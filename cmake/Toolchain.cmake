# Compiler choices shared by every target: lld, ccache where present, warnings as errors in our own code.
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND};-E;env;CCACHE_SLOPPINESS=pch_defines,time_macros;CCACHE_PCH_EXTSUM=1;CCACHE_BASEDIR=${CMAKE_SOURCE_DIR};${CCACHE}")
endif()
# CMake also includes the header whose precompiled form it names, by a path that ccache cannot make relative: checkouts
# would share nothing. The precompiled form is enough.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -Xclang -include-pch -Xclang <PCH_FILE>)
endif()

add_library(nacre_warnings INTERFACE)
target_compile_options(nacre_warnings INTERFACE -Wall -Wextra -Werror -Wno-unused-parameter -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
endif()
add_compile_options(-ffunction-sections -fdata-sections)
add_link_options(-fuse-ld=lld)

# Our own code under clang's sanitizers, LLVM's archives as they are. Coverage is counted too, so that the fuzzers
# (tests/fuzzers) share the build.
set(NACRE_SANITIZE "" CACHE STRING "sanitizers to build with: address,undefined")
if(NACRE_SANITIZE)
  add_compile_options(-fsanitize=${NACRE_SANITIZE},fuzzer-no-link -fno-sanitize=vptr,function -fno-sanitize-recover=all -fno-omit-frame-pointer)
  # The extension is loaded into a Python that has the sanitizer's library preloaded: all programs use that one.
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libclang_rt.asan-x86_64.so
                  OUTPUT_VARIABLE sanitizer_library OUTPUT_STRIP_TRAILING_WHITESPACE)
  cmake_path(GET sanitizer_library PARENT_PATH sanitizer_folder)
  add_link_options(-fsanitize=${NACRE_SANITIZE} -shared-libsan "-Wl,-rpath,${sanitizer_folder}")
endif()
