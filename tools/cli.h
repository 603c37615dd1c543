// What all pgle tools share at the command line: options every tool has, how messages look, exit
// statuses.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "base/diagnostics.h"
#include "base/exit_code.h"
#include "base/result.h"

namespace pgle::cli {

struct CommonOptions {
  bool quiet = false;
  bool verbose = false;
  std::string color = "auto";  // auto, always, never
};

// Calls a tool's `run`; what a third party throws ends in one line of error and status 1.
int Guard(const char* tool, int (*run)(int, char**), int argc, char** argv);

// Adds -q, -v, --color, --help and --version.
void AddCommonOptions(CLI::App& app, CommonOptions* options);

// Parses argv. Empty: go on; else the exit status to leave with (0 for --help and --version).
std::optional<int> Parse(CLI::App& app, int argc, char** argv);

// Prints messages to standard error as "TOOL: error: WHERE: WHAT", hints as "TOOL: note: HINT".
class Messages {
 public:
  Messages(std::string tool, const CommonOptions& options);

  // Prints the error and returns the exit status that it means.
  int Fail(const Error& error) const;
  // Warnings always; notes unless quiet.
  void Print(const Diagnostics& diagnostics) const;
  // Report lines, unless quiet.
  void Report(const std::string& text) const;
  const CommonOptions& options() const { return options_; }

 private:
  void Line(const char* kind, const char* color, const std::string& where, const std::string& what,
            const std::string& hint) const;

  std::string tool_;
  CommonOptions options_;
  bool color_ = false;
};

// A command's answer, whole, on standard output. Errors: it is closed or full.
Status PrintAnswer(const std::string& text);

// "-" as output goes to standard output, which must not be a terminal when it is binary.
Status CheckBinaryOutput(const std::string& path);

// "95%", "95" or "0.95" as a share of 1; `option` is for the message. `limit`: the largest
// percentage.
Result<double> ParseShare(const std::string& option, const std::string& text, double limit = 100);

// TMPDIR, or /tmp.
std::string SpoolDirectory();

// A line on standard error that is rewritten while work goes on for more than a second, where a
// terminal watches. Gone when the object is.
class Progress {
 public:
  Progress(const CommonOptions& options, std::string text);
  ~Progress();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pgle::cli
