#include "capture/convert/device_rows.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "capture/convert/flat_map.h"

namespace pgle {
namespace {

// A kernel that takes longer is damage, and so are more kernels at once on one stream: a device
// runs 128 (CUDA C++ Programming Guide, compute capabilities: resident grids).
constexpr uint64_t kLongestNs = 86'400'000'000'000;
constexpr size_t kMostLanes = 1024;

class Selector {
 public:
  Selector(const RangeMeanings& ranges, const Timeline& timeline, const CaptureWindow& window)
      : ranges_(ranges), timeline_(timeline), window_(window) {}

  template <typename Record>
  void Add(const Record& record, RecordKind kind) {
    if (record.start == 0 || record.end == 0 || record.end < record.start ||
        record.end - record.start > kLongestNs) {
      ++selected_.untimed;
      return;
    }
    DeviceRow row;
    row.launch = timeline_.FindLaunch(record.correlation, record.start);
    const Launch* launch = row.launch == kNone ? nullptr : &timeline_.launches[row.launch];
    if (!window_.Holds(launch, record.device, record.start)) return;
    row.start = record.start;
    row.end = record.end;
    row.record = &record;
    row.device = record.device;
    row.stream = record.stream;
    row.kind = kind;
    row.is_in_graph = record.graph_node != 0;
    if (launch == nullptr) {
      ++selected_.without_launch;
    } else {
      const RangeMeanings::Meaning& meaning = ranges_[NamerOf(row).range];
      row.op = meaning.op;
      row.module = meaning.module;
    }
    selected_.rows.push_back(row);
  }

  DeviceRows Finish() {
    auto& rows = selected_.rows;
    SortByStart();
    NumberScopes();
    NumberGroups();
    PartLanes();
    for (size_t i = rows.size(); i-- > 0;) {
      if (rows[i].group != 0) {
        selected_.groups[rows[i].group - 1].first_row = static_cast<uint32_t>(i);
      }
    }
    return std::move(selected_);
  }

 private:
  static uint64_t NodeOf(const DeviceRow& row) {
    switch (row.kind) {
      case RecordKind::kKernel:
        return row.kernel().graph_node;
      case RecordKind::kCopy:
        return row.copy().graph_node;
      case RecordKind::kSet:
        break;
    }
    return row.set().graph_node;
  }

  // What names a record that has a launch: the making of its node, or else the launch itself.
  GraphNodes::Maker NamerOf(const DeviceRow& row) {
    const Launch& launch = timeline_.launches[row.launch];
    if (row.is_in_graph) {
      uint32_t& known = node_makers_(NodeOf(row), 0);  // index plus one; 0: not asked for yet
      if (known == 0) {
        makers_.push_back(timeline_.nodes.MakerOf(NodeOf(row)));
        known = static_cast<uint32_t>(makers_.size());
      }
      if (ranges_[makers_[known - 1].range].op != kNone) return makers_[known - 1];
    }
    return {launch.range, launch.thread, launch.scope};
  }

  // Numbers the executions. Within one execution of a module all ops share a number, and an op that
  // comes again gets the number of its turn: so op and number tell executions apart, XProf sees the
  // module's execution as one, and a compressor sees the same number all over a step.
  void NumberScopes() {
    FlatMap executions, visits, turns, numbers;
    uint32_t device = 0, last = 0;
    for (DeviceRow& row : selected_.rows) {
      if (row.device != device) {
        device = row.device;
        executions = FlatMap();
        turns = FlatMap();
        numbers = FlatMap();
      }
      if (row.launch == kNone) {
        row.scope = ++last;
        continue;
      }
      uint32_t& number = ExecutionOf(row, executions, visits);
      const uint32_t run = timeline_.launches[row.launch].run;
      if (number == 0 && run == kNone) number = ++last;
      if (number == 0) {
        const uint32_t turn = turns(run, row.op)++;
        uint32_t& shared = numbers(run, turn);
        if (shared == 0) {
          shared = ++last;
          if (turn > 0) selected_.scope_parents.emplace_back(last, numbers(run, 0));
        }
        number = numbers(run, turn);
      }
      row.scope = number;
    }
  }

  // One run of one thunk: the same push on the same thread. Inside a graph: the same launch, the
  // same push that made the node, and the same visit of it, since a graph's loops come by often.
  uint32_t& ExecutionOf(const DeviceRow& row, FlatMap& executions, FlatMap& visits) {
    const GraphNodes::Maker namer = NamerOf(row);
    const uint64_t push = uint64_t{namer.thread} << 32 | namer.scope;
    if (!row.is_in_graph) return executions(push, namer.range);
    uint32_t& of_launch = pushes_(push, namer.range);  // one number for the three
    if (of_launch == 0) of_launch = static_cast<uint32_t>(pushes_.size());
    const uint64_t visit = visits(row.launch, NodeOf(row))++;
    return executions(uint64_t{1} << 63 | uint64_t{row.launch} << 31 | visit, of_launch);
  }

  void NumberGroups() {
    std::vector<uint32_t> by_run(timeline_.runs.size()), by_launch(timeline_.launches.size());
    std::vector<uint32_t> loose;
    for (const DeviceRow& row : selected_.rows) {
      if (row.launch == kNone) continue;
      const uint32_t run = timeline_.launches[row.launch].run;
      if (run != kNone) {
        by_run[run] = row.device + 1;
      } else {
        if (by_launch[row.launch] == 0) loose.push_back(row.launch);
        by_launch[row.launch] = row.device + 1;
      }
    }
    std::sort(loose.begin(), loose.end(), [&](uint32_t a, uint32_t b) {
      return std::tie(timeline_.launches[a].time, a) < std::tie(timeline_.launches[b].time, b);
    });
    for (uint32_t run = 0; run < by_run.size(); ++run) {
      if (by_run[run] == 0) continue;
      selected_.groups.push_back({run, kNone, by_run[run] - 1, 0});
      by_run[run] = static_cast<uint32_t>(selected_.groups.size());
    }
    for (uint32_t launch : loose) {
      selected_.groups.push_back({kNone, launch, by_launch[launch] - 1, 0});
      by_launch[launch] = static_cast<uint32_t>(selected_.groups.size());
    }
    for (DeviceRow& row : selected_.rows) {
      if (row.launch == kNone) continue;
      const uint32_t run = timeline_.launches[row.launch].run;
      row.group = run != kNone ? by_run[run] : by_launch[row.launch];
    }
  }

  // By device and start; rows are large, so that it is keys that are sorted.
  void SortByStart() {
    struct Key {
      uint64_t start;
      uint32_t device, index;
    };
    std::vector<Key> keys;
    keys.reserve(selected_.rows.size());
    for (const DeviceRow& row : selected_.rows) {
      keys.push_back({row.start, row.device, static_cast<uint32_t>(keys.size())});
    }
    std::sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) {
      return std::tie(a.device, a.start, a.index) < std::tie(b.device, b.start, b.index);
    });
    std::vector<DeviceRow> sorted;
    sorted.reserve(keys.size());
    for (const Key& key : keys) sorted.push_back(selected_.rows[key.index]);
    selected_.rows = std::move(sorted);
  }

  // Nodes of a graph overlap on the stream that launched it; each goes to the first lane that is
  // free. (A kernel outside of graphs overlaps the one before it only where it was allowed to start
  // early.) Then rows are put in order of device, stream and lane.
  void PartLanes() {
    struct Lane {
      uint64_t free_from = 0;
      size_t rows = 0;  // then: where the next one goes
    };
    std::map<std::pair<uint32_t, uint32_t>, std::vector<Lane>> streams;
    for (DeviceRow& row : selected_.rows) {
      std::vector<Lane>& lanes = streams[{row.device, row.stream}];
      size_t lane = 0;
      if (row.is_in_graph) {
        while (lane < lanes.size() && lanes[lane].free_from > row.start) ++lane;
      }
      lane = std::min(lane, kMostLanes - 1);
      if (lane >= lanes.size()) lanes.emplace_back();
      lanes[lane].free_from = std::max(lanes[lane].free_from, row.end);
      ++lanes[lane].rows;
      row.lane = static_cast<uint32_t>(lane);
    }
    size_t place = 0;
    for (auto& [stream, lanes] : streams) {
      for (Lane& lane : lanes) place += std::exchange(lane.rows, place);
    }
    std::vector<DeviceRow> parted(selected_.rows.size());
    for (const DeviceRow& row : selected_.rows) {
      parted[streams[{row.device, row.stream}][row.lane].rows++] = row;
    }
    selected_.rows = std::move(parted);
  }

  const RangeMeanings& ranges_;
  const Timeline& timeline_;
  const CaptureWindow& window_;
  DeviceRows selected_;
  FlatMap node_makers_, pushes_;
  std::vector<GraphNodes::Maker> makers_;
};

}  // namespace

DeviceRows SelectRows(const Recording& spill, const RangeMeanings& ranges, const Timeline& timeline,
                      const CaptureWindow& window) {
  Selector selector(ranges, timeline, window);
  for (auto chunk : spill.kernels) {
    for (const recorder::KernelRecord& record : chunk) selector.Add(record, RecordKind::kKernel);
  }
  for (auto chunk : spill.copies) {
    for (const recorder::CopyRecord& record : chunk) selector.Add(record, RecordKind::kCopy);
  }
  for (auto chunk : spill.sets) {
    for (const recorder::SetRecord& record : chunk) selector.Add(record, RecordKind::kSet);
  }
  return selector.Finish();
}

}  // namespace pgle
