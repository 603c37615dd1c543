# What the recorder declares of CUPTI and NVTX, against the headers of every release that is found:
# the CUDA Toolkit's, those of NVIDIA's wheels in build/python, and those in PGLE_CUPTI_INCLUDE_DIRS
# (entries of include folders; an entry that needs several has ":" between).
set(PGLE_CUPTI_INCLUDE_DIRS "" CACHE STRING "Further folders of CUPTI headers for the layout tests")

file(GLOB toolkits /usr/local/cuda-*/include)
file(GLOB wheels13 ${CMAKE_SOURCE_DIR}/build/python/cuda13/nvidia/cu13/include)
file(GLOB wheels12 ${CMAKE_SOURCE_DIR}/build/python/cuda12/nvidia/cuda_cupti/include)
foreach(folder ${wheels12})
  list(APPEND pairs12 "${folder}:${folder}/../../cuda_runtime/include")
endforeach()

foreach(entry ${toolkits} ${wheels13} ${pairs12} ${PGLE_CUPTI_INCLUDE_DIRS})
  string(REPLACE ":" ";" folders "${entry}")
  list(GET folders 0 folder)
  if(NOT EXISTS ${folder}/cupti_version.h)
    continue()
  endif()
  file(STRINGS ${folder}/cupti_version.h line REGEX "define CUPTI_API_VERSION")
  string(REGEX MATCH "[0-9]+" version "${line}")
  if(version IN_LIST versions)
    continue()
  endif()
  list(APPEND versions ${version})
  list(TRANSFORM folders PREPEND "-isystem;")
  add_test(
    NAME cupti_layout_${version}
    COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 -fsyntax-only -Wall -Wextra -Werror ${folders}
            -I${CMAKE_SOURCE_DIR}/lib -I${CMAKE_CURRENT_SOURCE_DIR}
            ${CMAKE_CURRENT_SOURCE_DIR}/layout_test.cc)
  add_test(
    NAME cupti_launch_ids_${version}
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/launch_ids_test.py
            ${CMAKE_SOURCE_DIR}/lib/capture/recorder/subscriber.cc ${folder}/cupti_driver_cbid.h)
endforeach()
if(NOT versions)
  message(STATUS "No CUPTI headers (PGLE_CUPTI_INCLUDE_DIRS): the layout tests are left out")
endif()

if(PGLE_NVTX_INCLUDE_DIR)
  add_test(
    NAME nvtx_layout
    COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 -fsyntax-only -Wall -Wextra -Werror
            -isystem ${PGLE_NVTX_INCLUDE_DIR} -I${CMAKE_SOURCE_DIR}/lib
            ${CMAKE_CURRENT_SOURCE_DIR}/nvtx_layout_test.cc)
endif()
