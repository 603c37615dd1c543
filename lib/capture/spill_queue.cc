#include "capture/spill_queue.h"

#include <exception>
#include <utility>

namespace pgle {

SpillQueue::~SpillQueue() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void SpillQueue::Add(size_t key, ConvertOptions options) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back({key, std::move(options)});
  if (!thread_.joinable()) thread_ = std::thread([this] { Work(); });
  changed_.notify_all();
}

std::vector<SpillQueue::Done> SpillQueue::Take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(done_, {});
}

std::vector<SpillQueue::Done> SpillQueue::Finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return waiting_.empty() && !is_busy_; });
  return std::exchange(done_, {});
}

void SpillQueue::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return is_over_ || !waiting_.empty(); });
    if (is_over_) return;
    const Job job = std::move(waiting_.front());
    waiting_.pop_front();
    is_busy_ = true;
    lock.unlock();
    Diagnostics diagnostics;
    Result<CaptureSummary> summary = TryConvertSpill(job.options, &diagnostics);
    lock.lock();
    is_busy_ = false;
    done_.push_back({job.key, std::move(summary), std::move(diagnostics)});
    changed_.notify_all();
  }
}

Result<CaptureSummary> TryConvertSpill(const ConvertOptions& options, Diagnostics* diagnostics) {
  try {
    return ConvertSpill(options, diagnostics);
  } catch (const std::exception& error) {
    return Failed(options.spill, error.what());
  }
}

}  // namespace pgle
