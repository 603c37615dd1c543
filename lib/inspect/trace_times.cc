#include "inspect/trace_times.h"

#include "extract/extract.h"

namespace pgle {

Result<std::vector<ModuleTimes>> ReadTraceTimes(const TraceTimesOptions& options,
                                                Diagnostics* diagnostics) {
  ExtractOptions extract;
  extract.inputs = {options.input};
  extract.run = options.run;
  extract.hlo = options.hlo;
  extract.transfer_times = false;
  extract.want_samples = true;
  extract.spool_directory = options.spool_directory;
  PGLE_ASSIGN_OR_RETURN(const Extraction extraction, Extract(extract));
  diagnostics->Append(extraction.diagnostics);
  std::vector<ModuleTimes> all;
  for (const ModuleSamples& module : extraction.samples) {
    ModuleTimes& times = all.emplace_back();
    times.module = module.name;
    times.fingerprint = module.fingerprint;
    for (const NameSamples& name : module.names) {
      times.us[name.name] += ToMicroseconds(name.busy);
    }
  }
  return all;
}

}  // namespace pgle
