// Included ahead of every use of protozero (PgleDependencies.cmake). Its readers assert that a
// field has the type they read, which a foreign file breaks easily: here that is an exception like
// those for cut data, in every build.
#pragma once

#include <protozero/exception.hpp>

namespace pgle {

struct UnexpectedFieldType : protozero::exception {
  const char* what() const noexcept override { return "a field has another type than expected"; }
};

}  // namespace pgle

#define protozero_assert(condition) \
  ((condition) ? static_cast<void>(0) : throw ::pgle::UnexpectedFieldType())
