#include "inspect/log_report.h"

namespace pgle {

std::string SourceText(const LogCompile& compile) {
  switch (compile.source) {
    case ProfileSource::kPath:
      return compile.path;
    case ProfileSource::kFdo:
      return "fdo_profile";
    case ProfileSource::kFdoBinary:
      return "fdo_profile (binary)";
    case ProfileSource::kFdoText:
      return "fdo_profile (text)";
    case ProfileSource::kNone:
      break;
  }
  return "";
}

}  // namespace pgle
