// What pgle-extract tells people (text) and programs (JSON, schema "pgle.extract.report/1",
// described in man/pgle-extract.1).
#pragma once

#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "extract/extract.h"

namespace pgle {

struct ReportContext {
  std::string version;                    // of the tool
  std::string statistic;                  // name
  std::string output;                     // the profile's path; empty when none was written
  std::string output_sha256;              // hex
  std::vector<std::string> also_written;  // sample file, per-module files
  bool strict = false;                    // coverage counts what is left to XLA as missing
  bool verbose = false;                   // every missing name instead of the first few
};

// Several lines, no colour. Ends with the next command to run.
std::string FormatReportText(const Extraction& extraction, const ReportContext& context);

std::string FormatReportJson(const Extraction& extraction, const ReportContext& context);

// What deserves a warning after all else: time hidden in command buffers or without an op,
// collectives without participants, names that cannot be looked up.
Diagnostics ReportWarnings(const Extraction& extraction);

const char* ToString(CostSource source);

}  // namespace pgle
