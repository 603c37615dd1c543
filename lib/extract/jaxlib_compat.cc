#include "extract/jaxlib_compat.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "hlo/module.h"
#include "io/input.h"
#include "trace/device_plane.h"
#include "trace/xspace.h"

namespace pgle {
namespace {

struct Sum {
  double total_us = 0;
  uint64_t count = 0;
};

struct Span {
  Picoseconds begin, end;
};

// One span: a scope of one op, or, without scope ids, one start.
struct SpanKey {
  bool has_scope;
  int64_t value;
  bool operator==(const SpanKey&) const = default;
};
struct SpanKeyHash {
  size_t operator()(const SpanKey& key) const {
    return std::hash<int64_t>()(key.value) * 2 + (key.has_scope ? 1 : 0);
  }
};

// The spans of one name in one file, in order of appearance.
struct Spans {
  std::vector<Span> spans;
  std::unordered_map<SpanKey, size_t, SpanKeyHash> index;

  void Add(SpanKey key, Picoseconds begin, Picoseconds end) {
    const auto [it, added] = index.try_emplace(key, spans.size());
    if (added) {
      spans.push_back({begin, end});
      return;
    }
    Span& span = spans[it->second];
    span.begin = std::min(span.begin, begin);
    span.end = std::max(span.end, end);
  }
};

// Events that jaxlib takes for the host's, whatever plane they are in.
bool IsInternalEvent(std::string_view name) {
  static constexpr std::array<std::string_view, 4> kNames = {
      "MemoryAllocation", "MemoryDeallocation", "PrefetchProduce", "PrefetchConsume"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

class JaxlibExtraction {
 public:
  JaxlibExtraction(JaxlibRules rules, std::string spool_directory)
      : rules_(rules), spool_directory_(std::move(spool_directory)) {}

  Status AddFile(const std::string& file) {
    PGLE_ASSIGN_OR_RETURN(const Input input, Input::Open(file, spool_directory_));
    PGLE_ASSIGN_OR_RETURN(const XSpaceIndex index, IndexXSpace(input));
    PGLE_RETURN_IF_ERROR(ReadFingerprints(input, index));
    std::map<std::string, Spans> spans;
    for (size_t i : DevicePlanes(index)) {
      PGLE_ASSIGN_OR_RETURN(DevicePlane plane, DevicePlane::Open(input, index.planes[i]));
      PGLE_RETURN_IF_ERROR(AddPlane(plane, &spans));
    }
    for (const auto& [name, of_name] : spans) {
      Sum& sum = sums_[name];
      for (const Span& span : of_name.spans) sum.total_us += ToMicroseconds(span.end - span.begin);
      sum.count += of_name.spans.size();
    }
    return {};
  }

  CostProfile Finish() const {
    CostProfile profile;
    for (const auto& [name, sum] : sums_) {
      profile.costs.push_back({name, sum.total_us / static_cast<double>(sum.count)});
    }
    return profile;
  }

 private:
  Status ReadFingerprints(const Input& input, const XSpaceIndex& index) {
    PGLE_ASSIGN_OR_RETURN(const std::vector<TraceModule> modules, ModulesInTrace(input, index));
    for (const TraceModule& candidate : modules) {
      const Result<HloModule> module = ParseHloProto(candidate.hlo_proto, file_label(input));
      if (!module.ok() || module->root_fingerprint().empty()) continue;  // jaxlib goes on, too
      fingerprints_[{module->name(), module->id()}] = module->root_fingerprint();
    }
    return {};
  }

  static std::string file_label(const Input& input) { return input.name(); }

  std::string NameOf(const TraceOp& op) const {
    const auto it = fingerprints_.find({op.module, op.has_program_id ? op.program_id : 0});
    return it == fingerprints_.end() ? op.name : it->second + "::" + op.name;
  }

  Status AddPlane(DevicePlane& plane, std::map<std::string, Spans>* spans) {
    std::vector<Sum*> sum_of_op;
    std::vector<Spans*> spans_of_op;
    for (const DeviceLine& line : plane.lines()) {
      if (line.name == "Async XLA Ops") continue;
      EventReader reader(plane, line);
      DeviceEvent event;
      while (reader.Next(&event)) {
        if (event.op == kNoOp || IsInternalEvent(plane.EventName(event.metadata_id))) continue;
        if (rules_ == JaxlibRules::kEvents) {
          while (sum_of_op.size() <= event.op) {
            sum_of_op.push_back(&sums_[NameOf(plane.ops()[sum_of_op.size()])]);
          }
          Sum& sum = *sum_of_op[event.op];
          // Two divisions, as there: picoseconds to nanoseconds to microseconds.
          sum.total_us += static_cast<double>(event.duration) / 1000.0 / 1e3;
          ++sum.count;
        } else {
          while (spans_of_op.size() <= event.op) {
            spans_of_op.push_back(&(*spans)[NameOf(plane.ops()[spans_of_op.size()])]);
          }
          spans_of_op[event.op]->Add({event.has_scope, event.has_scope ? event.scope : event.start},
                                     event.start, event.start + event.duration);
        }
      }
      PGLE_RETURN_IF_ERROR(reader.status());
    }
    return {};
  }

  const JaxlibRules rules_;
  const std::string spool_directory_;
  std::map<ProgramKey, std::string> fingerprints_;
  std::map<std::string, Sum> sums_;
};

}  // namespace

Result<CostProfile> ExtractAsJaxlib(const std::vector<std::string>& files, JaxlibRules rules,
                                    const std::string& spool_directory) {
  JaxlibExtraction extraction(rules, spool_directory);
  for (const std::string& file : files) PGLE_RETURN_IF_ERROR(extraction.AddFile(file));
  return extraction.Finish();
}

}  // namespace pgle
