// Spill files, converted one after the other on a thread of their own, while the command runs on.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "capture/convert/convert.h"

namespace pgle {

class SpillQueue {
 public:
  struct Done {
    size_t key = 0;
    Result<CaptureSummary> summary;
    Diagnostics diagnostics;
  };

  SpillQueue() = default;
  SpillQueue(const SpillQueue&) = delete;
  SpillQueue& operator=(const SpillQueue&) = delete;
  ~SpillQueue();  // waits for the conversion that runs, and forgets the others

  void Add(size_t key, ConvertOptions options);
  std::vector<Done> Take();    // what has been done since the last call
  std::vector<Done> Finish();  // waits until all is done

 private:
  struct Job {
    size_t key;
    ConvertOptions options;
  };
  void Work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> waiting_;
  std::vector<Done> done_;
  bool is_busy_ = false, is_over_ = false;
  std::thread thread_;  // started by the first job
};

// ConvertSpill, with what a third party throws as an error.
Result<CaptureSummary> TryConvertSpill(const ConvertOptions& options, Diagnostics* diagnostics);

}  // namespace pgle
