# Third-party libraries, one alias each, so that the rest of the tree names them alike whether they
# are linked shared (the default) or statically (PGLE_STATIC).
if(PGLE_STATIC)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
  set(Protobuf_USE_STATIC_LIBS ON)
  set(OPENSSL_USE_STATIC_LIBS ON)
  add_link_options(-static-libstdc++ -static-libgcc)
endif()

find_package(Threads REQUIRED)
find_package(Protobuf REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(fmt REQUIRED)
find_package(ZLIB REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_path(PROTOZERO_INCLUDE_DIR protozero/pbf_reader.hpp REQUIRED)
find_path(ZSTD_INCLUDE_DIR zstd.h REQUIRED)
find_library(ZSTD_LIBRARY zstd REQUIRED)
find_path(RE2_INCLUDE_DIR re2/re2.h REQUIRED)
find_library(RE2_LIBRARY re2 REQUIRED)
if(PGLE_TESTS)
  find_path(DOCTEST_INCLUDE_DIR doctest/doctest.h PATH_SUFFIXES . REQUIRED)
endif()

add_library(pgle_protobuf INTERFACE)
add_library(pgle::protobuf ALIAS pgle_protobuf)
target_link_libraries(pgle_protobuf INTERFACE protobuf::libprotobuf Threads::Threads)

add_library(pgle_protozero INTERFACE)
add_library(pgle::protozero ALIAS pgle_protozero)
target_include_directories(pgle_protozero SYSTEM INTERFACE ${PROTOZERO_INCLUDE_DIR})
target_compile_options(
  pgle_protozero INTERFACE "SHELL:-include ${CMAKE_SOURCE_DIR}/lib/base/protozero_checks.h")

add_library(pgle_zstd INTERFACE)
add_library(pgle::zstd ALIAS pgle_zstd)
target_include_directories(pgle_zstd SYSTEM INTERFACE ${ZSTD_INCLUDE_DIR})
target_link_libraries(pgle_zstd INTERFACE ${ZSTD_LIBRARY})

add_library(pgle_re2 INTERFACE)
add_library(pgle::re2 ALIAS pgle_re2)
target_include_directories(pgle_re2 SYSTEM INTERFACE ${RE2_INCLUDE_DIR})
target_link_libraries(pgle_re2 INTERFACE ${RE2_LIBRARY} Threads::Threads)

# fmt and CLI11 as headers: no shared object to load at start, nothing to version.
add_library(pgle_fmt INTERFACE)
add_library(pgle::fmt ALIAS pgle_fmt)
target_link_libraries(pgle_fmt INTERFACE $<IF:$<BOOL:${PGLE_STATIC}>,fmt::fmt-header-only,fmt::fmt>)
