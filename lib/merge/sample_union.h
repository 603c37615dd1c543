// Many sample files as one: the union of their records, in order, one record a file in memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "samples/sample_file.h"

namespace pgle {

// Where a file's processes and modules stand in the union.
struct IndexMap {
  std::vector<uint32_t> processes, modules;
};

// Processes by id; modules by fingerprint and name, their processes united and device times added.
// Order of headers is without influence, and so is uniting in steps. No process may be in two
// headers (see FindRepeatedProcess). The statistic is left as it is by default.
SampleHeader UniteHeaders(const std::vector<const SampleHeader*>& headers,
                          std::vector<IndexMap>* maps);

// How many sample files are open at a time: a reader takes about a quarter of a megabyte.
inline constexpr size_t kMaxOpenReaders = 256;

class SampleUnion {
 public:
  // Above kMaxOpenReaders files, groups of them are first merged into temporary files in
  // `spool_directory`, `jobs` at a time; the result is the same.
  // Errors: a file cannot be read, or a process comes twice; no room for temporary files.
  static Result<SampleUnion> Open(std::vector<std::string> files, int jobs,
                                  const std::string& spool_directory);
  SampleUnion(SampleUnion&&) noexcept;
  ~SampleUnion();

  const SampleHeader& header() const;
  // True with the next record; false at the end. Errors: a file is damaged or cut.
  Result<bool> Next(SampleRecord* record);

 private:
  struct State;
  explicit SampleUnion(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace pgle
