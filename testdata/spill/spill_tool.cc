// Makes recordings without a GPU, and converts recordings:
//
//   spill_tool trace TRACE.xplane.pb OUT [COPIES]    as its program would have been recorded
//   spill_tool graphs TRACE.xplane.pb OUT [COPIES]   the same, all of a step in one graph
//   spill_tool hlo MODULE.hlo.pb OUT                 every op of the schedule in one graph
//   spill_tool convert SPILL OUT.xplane.pb [HLO-FOLDER]
//   spill_tool compress SPILL OUT.xplane.pb.zst [HLO-FOLDER]
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "capture/convert/convert.h"
#include "io/output.h"
#include "spill_sources.h"

namespace {

int Fail(const pgle::Error& error) {
  fprintf(stderr, "spill_tool: error: %s: %s\n", error.where.c_str(), error.what.c_str());
  return 1;
}

int Convert(char** argv, int argc, bool compress) {
  pgle::ConvertOptions options;
  options.spill = argv[2];
  options.output = argv[3];
  options.compress = compress;
  const std::string file = std::filesystem::path(options.output).filename();
  options.hostname = file.substr(0, file.find(".xplane.pb"));
  if (argc > 4) options.hlo_folders.push_back(argv[4]);
  pgle::Diagnostics diagnostics;
  const auto summary = pgle::ConvertSpill(options, &diagnostics);
  for (const pgle::Diagnostic& item : diagnostics.items()) {
    fprintf(stderr, "spill_tool: %s: %s\n", item.where.c_str(), item.what.c_str());
  }
  if (!summary.ok()) return Fail(summary.error());
  printf("records %llu attributed %llu bytes %llu\n",
         static_cast<unsigned long long>(summary->kernels + summary->copies + summary->sets),
         static_cast<unsigned long long>(summary->attributed),
         static_cast<unsigned long long>(summary->output_bytes));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4 || argc > 5) {
    fprintf(stderr, "usage: spill_tool trace|graphs|hlo|convert|compress IN OUT [MORE]\n");
    return 2;
  }
  const std::string verb = argv[1];
  if (verb == "convert" || verb == "compress") return Convert(argv, argc, verb == "compress");
  const uint64_t copies = argc > 4 ? strtoull(argv[4], nullptr, 10) : 1;
  const std::string spill = verb == "hlo" ? pgle::SpillFromHlo(argv[2])
                                          : pgle::SpillFromTrace(argv[2], verb == "graphs", copies);
  if (spill.empty()) {
    fprintf(stderr, "spill_tool: error: %s: cannot be read\n", argv[2]);
    return 1;
  }
  const pgle::Status written = pgle::WriteFileAtomically(argv[3], spill);
  return written.ok() ? 0 : Fail(written.error());
}
