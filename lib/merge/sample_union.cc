#include "merge/sample_union.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <queue>
#include <set>

#include "merge/checks.h"

namespace pgle {
namespace {

namespace fs = std::filesystem;

class TemporaryDirectory {
 public:
  TemporaryDirectory() = default;
  TemporaryDirectory(TemporaryDirectory&& other) noexcept { std::swap(path_, other.path_); }
  ~TemporaryDirectory() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }

  Status Make(const std::string& parent) {
    std::string path = parent + "/pgle-merge-XXXXXX";
    if (mkdtemp(path.data()) == nullptr) {
      return Failed(parent, fmt::format("cannot make a temporary directory: {}", strerror(errno)),
                    "name a writable directory in TMPDIR");
    }
    path_ = path;
    return {};
  }
  bool exists() const { return !path_.empty(); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// One of the files, with its next record under the union's indices.
struct Source {
  SampleReader reader;
  IndexMap map;
  SampleRecord record;

  Result<bool> Advance() {
    PGLE_ASSIGN_OR_RETURN(const bool any, reader.Next(&record));
    if (any) {
      record.module = map.modules[record.module];
      record.process = map.processes[record.process];
    }
    return any;
  }
};

Status CheckRepeats(const std::vector<SampleReader>& readers) {
  std::map<std::string, const std::string*> file_of;
  for (const SampleReader& reader : readers) {
    for (const SampleProcess& process : reader.header().processes) {
      const auto [it, is_new] = file_of.try_emplace(process.id, &reader.path());
      if (is_new) continue;
      return Refused(reader.path(),
                     fmt::format("holds process {}, which {} holds too", process.name, *it->second),
                     "its executions would count twice: leave one of the two out");
    }
  }
  return {};
}

}  // namespace

SampleHeader UniteHeaders(const std::vector<const SampleHeader*>& headers,
                          std::vector<IndexMap>* maps) {
  SampleHeader united;
  std::map<std::string, uint32_t> process_at;
  std::map<std::pair<std::string, std::string>, SampleModule> modules;
  for (const SampleHeader* header : headers) {
    for (const SampleProcess& process : header->processes) process_at.emplace(process.id, 0);
    for (const SampleModule& module : header->modules) {
      SampleModule& target = modules[{module.fingerprint, module.name}];
      target.name = module.name;
      target.fingerprint = module.fingerprint;
      target.device_time += module.device_time;
    }
  }
  uint32_t next = 0;
  for (auto& [id, index] : process_at) index = next++;
  united.processes.resize(process_at.size());
  std::map<std::pair<std::string, std::string>, uint32_t> module_at;
  for (const auto& [key, module] : modules) {
    module_at.emplace(key, static_cast<uint32_t>(module_at.size()));
    united.modules.push_back(module);
  }
  maps->assign(headers.size(), {});
  for (size_t i = 0; i < headers.size(); ++i) {
    IndexMap& map = (*maps)[i];
    for (const SampleProcess& process : headers[i]->processes) {
      map.processes.push_back(process_at.at(process.id));
      united.processes[map.processes.back()] = process;
    }
    for (const SampleModule& module : headers[i]->modules) {
      map.modules.push_back(module_at.at({module.fingerprint, module.name}));
      auto& processes = united.modules[map.modules.back()].processes;
      for (const uint32_t process : module.processes) processes.push_back(map.processes[process]);
    }
  }
  for (SampleModule& module : united.modules) {
    std::sort(module.processes.begin(), module.processes.end());
    module.processes.erase(std::unique(module.processes.begin(), module.processes.end()),
                           module.processes.end());
  }
  return united;
}

struct SampleUnion::State {
  TemporaryDirectory spool;
  SampleHeader header;
  std::vector<Source> sources;
  std::vector<size_t> heap;     // sources with a record, the first in order on top
  std::optional<size_t> taken;  // whose record was handed out last

  bool IsLater(size_t a, size_t b) const {
    return ComesBefore(sources[b].record, sources[a].record);
  }
  auto Later() const {
    return [this](size_t a, size_t b) { return IsLater(a, b); };
  }

  Status Pull(size_t source) {
    PGLE_ASSIGN_OR_RETURN(const bool any, sources[source].Advance());
    if (any) {
      heap.push_back(source);
      std::push_heap(heap.begin(), heap.end(), Later());
    }
    return {};
  }

  Status OpenAll(const std::vector<std::string>& files) {
    std::vector<SampleReader> readers;
    std::vector<const SampleHeader*> headers;
    readers.reserve(files.size());
    for (const std::string& file : files) {
      PGLE_ASSIGN_OR_RETURN(SampleReader reader, SampleReader::Open(file));
      readers.push_back(std::move(reader));
    }
    for (const SampleReader& reader : readers) headers.push_back(&reader.header());
    PGLE_RETURN_IF_ERROR(CheckRepeats(readers));
    std::vector<IndexMap> maps;
    header = UniteHeaders(headers, &maps);
    for (size_t i = 0; i < readers.size(); ++i) {
      sources.push_back({std::move(readers[i]), std::move(maps[i]), {}});
    }
    for (size_t i = 0; i < sources.size(); ++i) PGLE_RETURN_IF_ERROR(Pull(i));
    return {};
  }

  // Merges groups of files into one temporary file each.
  Result<std::vector<std::string>> Reduce(const std::vector<std::string>& files, int jobs,
                                          size_t round) {
    const size_t threads = std::clamp<size_t>(static_cast<size_t>(std::max(jobs, 1)), 1, 4);
    // As many groups as can be open together afterwards, where that is enough for one round.
    const size_t fan_in = std::clamp((files.size() + kMaxOpenReaders - 1) / kMaxOpenReaders,
                                     size_t{8}, kMaxOpenReaders / threads);
    const size_t groups = (files.size() + fan_in - 1) / fan_in;
    std::vector<std::string> merged(groups);
    std::vector<Status> statuses(groups);
    RunParallel(groups, static_cast<int>(threads), [&](size_t g, size_t) {
      const auto begin = files.begin() + static_cast<ptrdiff_t>(g * fan_in);
      const auto end =
          files.begin() + static_cast<ptrdiff_t>(std::min(files.size(), (g + 1) * fan_in));
      merged[g] = fmt::format("{}/{}-{}.samples", spool.path(), round, g);
      statuses[g] = WriteUnion({begin, end}, merged[g]);
      if (round == 0) return;
      std::error_code ignored;
      for (auto it = begin; it != end; ++it) fs::remove(*it, ignored);
    });
    for (Status& status : statuses) PGLE_RETURN_IF_ERROR(std::move(status));
    return merged;
  }

  static Status WriteUnion(std::vector<std::string> files, const std::string& path) {
    PGLE_ASSIGN_OR_RETURN(SampleUnion samples, SampleUnion::Open(std::move(files), 1, ""));
    PGLE_ASSIGN_OR_RETURN(SampleWriter writer, SampleWriter::Create(path, samples.header()));
    SampleRecord record;
    while (true) {
      PGLE_ASSIGN_OR_RETURN(const bool any, samples.Next(&record));
      if (!any) return writer.Finish();
      PGLE_RETURN_IF_ERROR(writer.Add(record));
    }
  }
};

SampleUnion::SampleUnion(std::unique_ptr<State> state) : state_(std::move(state)) {}
SampleUnion::SampleUnion(SampleUnion&&) noexcept = default;
SampleUnion::~SampleUnion() = default;

Result<SampleUnion> SampleUnion::Open(std::vector<std::string> files, int jobs,
                                      const std::string& spool_directory) {
  auto state = std::make_unique<State>();
  for (size_t round = 0; files.size() > kMaxOpenReaders; ++round) {
    if (!state->spool.exists()) PGLE_RETURN_IF_ERROR(state->spool.Make(spool_directory));
    PGLE_ASSIGN_OR_RETURN(files, state->Reduce(files, jobs, round));
  }
  PGLE_RETURN_IF_ERROR(state->OpenAll(files));
  return SampleUnion(std::move(state));
}

const SampleHeader& SampleUnion::header() const {
  return state_->header;
}

Result<bool> SampleUnion::Next(SampleRecord* record) {
  State& state = *state_;
  if (state.taken) {
    const size_t source = *state.taken;
    state.taken.reset();
    PGLE_RETURN_IF_ERROR(state.Pull(source));
  }
  if (state.heap.empty()) return false;
  std::pop_heap(state.heap.begin(), state.heap.end(), state.Later());
  state.taken = state.heap.back();
  state.heap.pop_back();
  std::swap(*record, state.sources[*state.taken].record);
  return true;
}

}  // namespace pgle
