// Reads logs of any size in one pass.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "inspect/log_report.h"
#include "inspect/module_name.h"

namespace pgle {

// paths: files (also .gz and .zst), "-" for standard input. is_users: modules to report one by one;
// the others are counted by stem. Memory does not grow with the size of a log.
// Errors: cannot read, not text.
Result<LogReport> ScanLogs(const std::vector<std::string>& paths, const ModuleFilter& is_users,
                           const std::string& spool_directory);

// One log that is in memory already; appends to the report.
Status ScanLogText(std::string_view text, const std::string& name, const ModuleFilter& is_users,
                   LogReport* report);

}  // namespace pgle
