// What a header and a sequence of records obey; held to by the writer and by the reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "samples/sample_file.h"

namespace pgle {

inline constexpr size_t kProcessIdBytes = 32;

// What is wrong with it, for a message; empty when nothing is.
std::string HeaderFault(const SampleHeader& header);

// Checks records one after another.
class RecordChecker {
 public:
  // What is wrong with this record, or with its place in the file; empty when nothing is.
  std::string Fault(const SampleHeader& header, const SampleRecord& record);
  uint64_t records() const { return records_; }      // found right so far
  uint64_t durations() const { return durations_; }  // in them

 private:
  SampleRecord previous_;  // its key only
  uint64_t records_ = 0;
  uint64_t durations_ = 0;
};

}  // namespace pgle
