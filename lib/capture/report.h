// What pgle-capture tells people (text) and programs (JSON, schema "pgle.capture.report/1",
// described in man/pgle-capture.1).
#pragma once

#include <string>

#include "capture/capture.h"

namespace pgle {

struct CaptureContext {
  std::string version;   // of the tool
  int exit_status = 0;   // that pgle-capture ends with
  bool verbose = false;  // every module and process
};

// Several lines, no colour. Ends with the next command to run.
std::string FormatCaptureText(const CaptureReport& report, const CaptureContext& context);

std::string FormatCaptureJson(const CaptureReport& report, const CaptureContext& context);

const char* ToString(recorder::ProcessState state);
const char* ToString(recorder::Fault fault);
const char* ToString(recorder::WindowMode mode);

}  // namespace pgle
