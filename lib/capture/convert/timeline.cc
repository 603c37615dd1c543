#include "capture/convert/timeline.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace pgle {
namespace {

using recorder::Event;
using recorder::EventKind;

// The device's clock is fitted to the host's: a start may be told a little before its launch.
constexpr uint64_t kClockSlackNs = 1'000'000;

// Runs and launches of one thread name each other by the thread's own numbers.
struct Thread {
  std::unordered_map<uint32_t, uint32_t> runs;  // execution to index
  uint32_t last_execution = 0, last_run = kNone;

  uint32_t RunOf(uint32_t execution) {
    if (execution == 0) return kNone;
    if (execution != last_execution) {
      const auto it = runs.find(execution);
      last_execution = execution;
      last_run = it == runs.end() ? kNone : it->second;
    }
    return last_run;
  }
};

}  // namespace

Timeline ReadTimeline(const Recording& spill, const RangeMeanings& ranges) {
  Timeline timeline;
  std::vector<Thread> threads(spill.tids.size());
  size_t events = 0;
  for (const ThreadEvents& chunk : spill.events) events += chunk.events.size();
  timeline.launches.reserve(events);
  for (const ThreadEvents& chunk : spill.events) {
    Thread& thread = threads[chunk.thread];
    for (const Event& event : chunk.events) {
      switch (event.kind) {
        case EventKind::kModuleBegin: {
          ModuleRun run;
          run.string = event.range < spill.ranges.size() ? spill.ranges[event.range].string : 0;
          run.module = ranges.ModuleOfString(run.string);
          run.thread = chunk.thread;
          run.device = event.device;
          run.index = event.module.index;
          run.begin = event.module.time;
          thread.last_execution = event.module.execution;
          thread.last_run = static_cast<uint32_t>(timeline.runs.size());
          thread.runs[event.module.execution] = thread.last_run;
          timeline.runs.push_back(run);
          break;
        }
        case EventKind::kModuleEnd: {
          const uint32_t run = thread.RunOf(event.module.execution);
          if (run != kNone) timeline.runs[run].end = event.module.time;
          break;
        }
        case EventKind::kLaunch:
          timeline.launches.push_back({event.launch.time, event.launch.duration,
                                       event.launch.correlation, event.range, chunk.thread,
                                       event.launch.scope, thread.RunOf(event.launch.execution)});
          break;
        case EventKind::kNodeCreated:
          timeline.nodes.AddCreated(chunk.thread, event.graph.node,
                                    {event.range, chunk.thread, event.graph.scope});
          break;
        case EventKind::kNodeCloned:
          timeline.nodes.AddCloned(chunk.thread, event.graph.node, event.graph.original);
          break;
      }
    }
  }
  timeline.nodes.Finish();

  // Threads come in pieces; put the runs in order and keep the launches' references to them.
  std::vector<uint32_t> order(timeline.runs.size()), place(timeline.runs.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::tie(timeline.runs[a].begin, timeline.runs[a].device) <
           std::tie(timeline.runs[b].begin, timeline.runs[b].device);
  });
  std::vector<ModuleRun> sorted;
  sorted.reserve(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    sorted.push_back(timeline.runs[order[i]]);
  }
  timeline.runs = std::move(sorted);
  for (Launch& launch : timeline.launches) {
    if (launch.run != kNone) launch.run = place[launch.run];
  }
  const auto by_id = [](const Launch& a, const Launch& b) {
    return std::tie(a.correlation, a.time) < std::tie(b.correlation, b.time);
  };
  if (!std::is_sorted(timeline.launches.begin(), timeline.launches.end(), by_id)) {
    std::stable_sort(timeline.launches.begin(), timeline.launches.end(), by_id);
  }
  return timeline;
}

uint32_t Timeline::FindLaunch(uint32_t correlation, uint64_t start) const {
  const uint64_t latest = start + std::min(kClockSlackNs, UINT64_MAX - start);
  const auto behind =
      std::upper_bound(launches.begin(), launches.end(), std::pair(correlation, latest),
                       [](const std::pair<uint32_t, uint64_t>& key, const Launch& launch) {
                         return key < std::pair(launch.correlation, launch.time);
                       });
  if (behind == launches.begin() || std::prev(behind)->correlation != correlation) return kNone;
  return static_cast<uint32_t>(behind - launches.begin() - 1);
}

}  // namespace pgle
