# nacre_library(NAME SOURCES... [LINKS libs...] [MLIR])  a static library of the project; MLIR: uses MLIR's headers, so it
#   shares the one precompiled header.
# nacre_unit_test(NAME SOURCES... LINKS libs...)          a GoogleTest program registered with ctest.
find_package(GTest REQUIRED)

file(WRITE "${CMAKE_BINARY_DIR}/pch/empty.cpp" "")
add_library(nacre_pch STATIC "${CMAKE_BINARY_DIR}/pch/empty.cpp")
target_link_libraries(nacre_pch PRIVATE nacre_mlir nacre_warnings)
target_precompile_headers(nacre_pch PRIVATE <cmake/MLIRHeaders.h>)
# The precompiled header differs in every checkout by the checkout's path. ccache is told what it is made of instead
# (CCACHE_PCH_EXTSUM in Toolchain.cmake), so that checkouts share what is built with it.
file(SHA256 "${CMAKE_SOURCE_DIR}/cmake/MLIRHeaders.h" headers)
string(TOUPPER "${CMAKE_BUILD_TYPE}" kind)
file(WRITE "${CMAKE_BINARY_DIR}/CMakeFiles/nacre_pch.dir/cmake_pch.hxx.pch.sum"
     "${headers} ${LLVM_PACKAGE_VERSION} ${CMAKE_CXX_COMPILER_VERSION} ${CMAKE_BUILD_TYPE} ${CMAKE_CXX_FLAGS_${kind}} ${NACRE_SANITIZE}")

function(nacre_library name)
  cmake_parse_arguments(ARG "MLIR" "" "SOURCES;LINKS;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE nacre_warnings)
  target_link_libraries(${name} PUBLIC ${ARG_LINKS})
  if(ARG_MLIR)
    target_link_libraries(${name} PUBLIC nacre_mlir)
    target_precompile_headers(${name} REUSE_FROM nacre_pch)
  else()
    target_link_libraries(${name} PUBLIC nacre_llvm)
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

function(nacre_unit_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE nacre_warnings ${ARG_LINKS} GTest::gtest GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
  set_property(GLOBAL APPEND PROPERTY NACRE_UNIT_TESTS ${name})
endfunction()
