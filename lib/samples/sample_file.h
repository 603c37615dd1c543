// Sample files: what was measured, before any statistic (format: proto/pgle_samples.proto and
// pgle-samples(5)). Both sides stream: a writer holds one record, a reader one record.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace pgle {

enum class SampleClass : uint32_t {
  kCompute = 0,
  kCollective = 1,
  kPointToPoint = 2,
  kNoActivity = 3,
  kAsyncPair = 4,
  kCalled = 5,
};

struct SampleProcess {
  std::string id;    // sha256 of the unpacked trace file, 32 raw bytes
  std::string name;  // "hostname/file name"
  std::vector<std::string> devices;

  friend bool operator==(const SampleProcess&, const SampleProcess&) = default;
};

struct SampleModule {
  std::string name;
  std::string fingerprint;          // empty: unknown
  std::vector<uint32_t> processes;  // indices into SampleHeader::processes, ascending
  Picoseconds device_time = 0;

  friend bool operator==(const SampleModule&, const SampleModule&) = default;
};

struct SampleHeader {
  std::string statistic = "median";
  std::vector<SampleProcess> processes;  // by id
  std::vector<SampleModule> modules;     // by fingerprint, then name

  friend bool operator==(const SampleHeader&, const SampleHeader&) = default;
};

struct SampleRecord {
  uint32_t module = 0;   // index into SampleHeader::modules
  std::string name;      // at scheduling time
  std::string op;        // at run time; empty where it is the same
  uint32_t process = 0;  // index into SampleHeader::processes
  uint32_t device = 0;   // ordinal
  SampleClass sample_class = SampleClass::kCompute;
  uint32_t group_size = 0;
  std::vector<Picoseconds> durations;  // in order of execution

  friend bool operator==(const SampleRecord&, const SampleRecord&) = default;
};

// Order of records in a file: module, name, op, process, device. No two records are equal in it.
bool ComesBefore(const SampleRecord& a, const SampleRecord& b);

class SampleWriter {
 public:
  // The header's processes and modules must be sorted as said above. `path`: "-" is stdout.
  static Result<SampleWriter> Create(const std::string& path, const SampleHeader& header);
  SampleWriter(SampleWriter&&) noexcept;
  ~SampleWriter();

  // Records must come in order. Errors: out of order (a bug of the caller), disk full.
  Status Add(const SampleRecord& record);
  // Writes the trailer and gives the file its name.
  Status Finish();

 private:
  struct State;
  explicit SampleWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

class SampleReader {
 public:
  // Errors: cannot open, not a sample file, a version from the future.
  static Result<SampleReader> Open(const std::string& path);
  SampleReader(SampleReader&&) noexcept;
  ~SampleReader();

  const SampleHeader& header() const;
  const std::string& path() const;
  // True with the next record; false at the end, when counts and checksum were right.
  // Errors: truncated, damaged, out of order, checksum differs.
  Result<bool> Next(SampleRecord* record);

 private:
  struct State;
  explicit SampleReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace pgle
