# pgle_library(NAME SOURCES ... [LINK ...] [PRIVATE_LINK ...] [TEST_LINK ...] [TESTS ...])
# One library a folder: target pgle_NAME, headers included as "NAME/file.h". The folder's *_test.cc
# become one doctest program, registered with ctest as NAME_test.
function(pgle_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK;PRIVATE_LINK;TEST_LINK;TESTS" ${ARGN})
  add_library(pgle_${name} STATIC ${arg_SOURCES})
  target_include_directories(pgle_${name} PUBLIC ${CMAKE_SOURCE_DIR}/lib)
  target_link_libraries(pgle_${name} PUBLIC ${arg_LINK} PRIVATE ${arg_PRIVATE_LINK})
  if(PGLE_TESTS AND arg_TESTS)
    add_executable(${name}_test ${arg_TESTS} ${CMAKE_SOURCE_DIR}/lib/base/test_main.cc)
    target_include_directories(${name}_test SYSTEM PRIVATE ${DOCTEST_INCLUDE_DIR})
    target_link_libraries(
      ${name}_test PRIVATE pgle_${name} ${arg_PRIVATE_LINK} ${arg_TEST_LINK})
    target_compile_definitions(
      ${name}_test PRIVATE PGLE_TESTDATA="${CMAKE_SOURCE_DIR}/testdata")
    add_test(NAME ${name}_test COMMAND ${name}_test)
  endif()
endfunction()
