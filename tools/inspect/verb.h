// One verb of pgle-inspect: its options, one call into lib/inspect, printing. One file a verb.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>

#include "cli.h"

namespace pgle {

class Verb {
 public:
  virtual ~Verb() = default;
  // Adds the verb's options to its subcommand.
  virtual void AddOptions(CLI::App& app) = 0;
  // Does the work; returns the exit status.
  virtual int Run(const cli::Messages& messages) = 0;
};

std::unique_ptr<Verb> MakeLogVerb();
std::unique_ptr<Verb> MakeFlagsVerb();
std::unique_ptr<Verb> MakeCheckVerb();
std::unique_ptr<Verb> MakeCoverageVerb();
std::unique_ptr<Verb> MakeFdoVerb();
std::unique_ptr<Verb> MakeHostsVerb();
std::unique_ptr<Verb> MakeShowVerb();
std::unique_ptr<Verb> MakeDiffVerb();

}  // namespace pgle
