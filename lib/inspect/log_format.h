// What `pgle-inspect log` prints.
#pragma once

#include <string>

#include "inspect/log_report.h"

namespace pgle {

// verbose: every missing name and every stem.
std::string FormatLogText(const LogReport& report, bool verbose);
std::string FormatLogJson(const LogReport& report);

}  // namespace pgle
