// Exit statuses shared by the tools.
#pragma once

#include "base/result.h"

namespace pgle {

enum class ExitCode : int {
  kOk = 0,
  kFailed = 1,   // I/O, corrupt input, nothing to write
  kUsage = 2,    // wrong call
  kRefused = 3,  // the tool worked and the answer is no
};

inline ExitCode ExitCodeFor(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUsage:
      return ExitCode::kUsage;
    case ErrorCode::kRefused:
      return ExitCode::kRefused;
    case ErrorCode::kFailed:
      break;
  }
  return ExitCode::kFailed;
}

}  // namespace pgle
