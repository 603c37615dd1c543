#include "inspect/log_state.h"

#include <algorithm>

namespace pgle {
namespace {

using Kind = LogMessageKind;

// "DIR/<fingerprint>.pbtxt" or ".pb", as XLA asks a directory: the fingerprint.
std::string FingerprintOfPath(std::string_view path) {
  const size_t slash = path.rfind('/');
  std::string_view name = path.substr(slash + 1);
  for (const std::string_view extension : {".pbtxt", ".pb"}) {
    if (!name.ends_with(extension)) continue;
    name.remove_suffix(extension.size());
    break;
  }
  if (name.size() != 32 || slash == path.npos ||
      name.find_first_not_of("0123456789abcdef") != name.npos) {
    return "";
  }
  return std::string(name);
}

double Share(uint64_t found, uint64_t missing) {
  return found + missing == 0 ? 0
                              : static_cast<double>(found) / static_cast<double>(found + missing);
}

bool Alike(const LogCompile& a, const LogCompile& b) {
  return a.found == b.found && a.missing == b.missing && a.source == b.source && a.path == b.path &&
         a.failure == b.failure && a.profile_found == b.profile_found &&
         a.missing_names == b.missing_names && a.mixed == b.mixed && a.best_found == b.best_found &&
         a.best_missing == b.best_missing && a.scheduled == b.scheduled &&
         a.checker_spoke_on_thread == b.checker_spoke_on_thread &&
         a.verbose_hits == b.verbose_hits && a.verbose_misses == b.verbose_misses &&
         a.not_applicable == b.not_applicable && a.may_not_apply == b.may_not_apply &&
         a.discarded == b.discarded && a.lines_lost == b.lines_lost && a.fallback == b.fallback;
}

constexpr int kMaxAttempts = 1'000;

bool Opened(const LogCompile& compile) {
  return compile.profile_found || compile.found;
}

}  // namespace

bool LogProcess::silent() const {
  return modules.empty() && small_modules.empty() && missing_files.empty() &&
         missing_fingerprints.empty() && unreadable_files.empty() && unreadable_fdo == 0 &&
         cupti_errors.empty() && empty_traces == 0 && discarded == 0 && unknown_flags.empty();
}

const LogModule* LogProcess::Find(const std::string& module) const {
  for (const LogModule& candidate : modules) {
    if (candidate.name == module) return &candidate;
  }
  return nullptr;
}

size_t LogState::NewProcess(const std::string& label, int attempt) {
  LogProcess process;
  process.file = file_;
  process.label = label;
  process.attempt = attempt;
  report_->processes.push_back(std::move(process));
  return report_->processes.size() - 1;
}

LogState::Stream& LogState::StreamOf(const LogLine& line) {
  // A line without prefix (Python's warnings) has no label that could be told from its text.
  const std::string_view before = line.severity == 0 ? std::string_view() : line.before;
  if (last_stream_ != nullptr && before == last_before_) return *last_stream_;
  std::string label = before.empty() ? "" : ProcessLabel(before);
  if (line.severity == 0) {
    for (const auto& [known, stream] : streams_) {
      if (!known.empty() && line.message.starts_with(known)) label = known;
    }
  }
  const auto [found, is_new] = streams_.try_emplace(label);
  if (is_new) found->second.process = NewProcess(label, 1);
  if (line.severity != 0) {
    last_before_ = before;
    last_stream_ = &found->second;
  }
  return found->second;
}

LogModule* LogState::ModuleOf(LogProcess& process, const std::string& name) {
  const std::string key = std::to_string(&process - report_->processes.data()) + "/" + name;
  const auto known = module_index_.find(key);
  if (known != module_index_.end()) return &process.modules[known->second];
  if (process.modules.size() >= LogProcess::kMaxModules) return nullptr;
  module_index_.emplace(key, process.modules.size());
  process.modules.emplace_back().name = name;
  return &process.modules.back();
}

void LogState::Commit(LogProcess& process, const std::string& name, const std::string& fingerprint,
                      LogCompile compile) {
  LogModule* module = name.empty() || is_users_(name) ? ModuleOf(process, name) : nullptr;
  if (module == nullptr) {
    std::string stem = ModuleStem(name);
    if (process.small_modules.size() >= LogProcess::kMaxStems &&
        process.small_modules.count(stem) == 0) {
      stem = "(other names)";
    }
    LogStem& count = process.small_modules[stem];
    ++count.compiles;
    count.found += compile.found.value_or(0);
    count.missing += compile.missing.value_or(0);
    return;
  }
  if (!fingerprint.empty()) module->fingerprints.insert(fingerprint);
  std::sort(compile.missing_names.begin(), compile.missing_names.end());
  for (LogCompile& earlier : module->compiles) {
    if (Alike(earlier, compile)) {
      ++earlier.times;
      return;
    }
  }
  if (module->compiles.size() < LogModule::kMaxCompiles) {
    module->compiles.push_back(std::move(compile));
    return;
  }
  // The compiles with most look-ups are those that matter.
  ++module->compiles_left_out;
  const auto fewest = std::min_element(
      module->compiles.begin(), module->compiles.end(),
      [](const LogCompile& a, const LogCompile& b) { return a.lookups() < b.lookups(); });
  if (fewest->lookups() < compile.lookups()) *fewest = std::move(compile);
}

void LogState::Close(Stream& stream, Thread& thread) {
  LogProcess& process = ProcessOf(stream);
  LogCompile& compile = thread.compile;
  // A module that was named by its fingerprint alone counts once something shows what became of it.
  const bool tells =
      Opened(compile) || (thread.has_module && (compile.scheduled || !compile.failure.empty()));
  if (tells) {
    compile.checker_spoke_on_thread = thread.checker_spoke;
    if (compile.found) thread.checker_spoke = process.checker_spoke = true;
    if (thread.interrupted && !compile.found) compile.scheduled = false;
    Commit(process, thread.module, thread.fingerprint, std::move(compile));
  }
  const bool checker_spoke = thread.checker_spoke;
  thread = {};
  thread.checker_spoke = checker_spoke;
}

void LogState::CloseAll(Stream& stream) {
  for (auto& [id, thread] : stream.threads) Close(stream, thread);
}

void LogState::Restart(Stream& stream) {
  CloseAll(stream);
  stream.threads.clear();
  LogProcess& process = ProcessOf(stream);
  if (process.attempt >= kMaxAttempts) return;  // they count as one mixed log from here on
  const bool did_nothing = process.silent() && process.scheduler_runs == 0;
  if (did_nothing) {
    ++process.attempt;
    process.starts = 0;
    process.started.clear();
    return;
  }
  const std::string label = process.label;
  const int attempt = process.attempt + 1;
  stream.process = NewProcess(label, attempt);
}

void LogState::Open(Stream& stream, Thread& thread, const LogMessage& message, int64_t id) {
  const bool same = Opened(thread.compile) && !thread.compile.found && !thread.compile.scheduled &&
                    thread.module == message.module && !thread.module.empty() &&
                    id != LogLine::kNoThread;
  if (same) return;  // XLA asks for the estimator twice in some versions
  const bool follows_fingerprint = thread.has_module && !Opened(thread.compile) &&
                                   (message.module.empty() || thread.module == message.module);
  if (!follows_fingerprint && Opened(thread.compile)) {
    LogCompile next;  // the source lines of the next compile may have come before this one closes
    next.source = thread.compile.source;
    next.path = thread.compile.path;
    Close(stream, thread);
    thread.compile = std::move(next);
  }
  if (!follows_fingerprint) {
    thread.module = message.module;
    thread.fingerprint.clear();
  }
  thread.has_module = true;
  thread.interrupted = false;
  thread.compile.profile_found = true;
  thread.compile.failure.clear();  // DIR/<fingerprint>.pbtxt was missing, the .pb was read
  thread.compile.thread = id;
}

void LogState::AddCounts(Stream& stream, Thread& thread, const LogMessage& message) {
  LogProcess& process = ProcessOf(stream);
  if (message.kind == Kind::kFoundCount) {
    if (thread.compile.found && thread.module.empty()) {
      // The counts of another compile, whose "Found profile" names no module or is hidden.
      LogCompile next;
      next.source = thread.compile.source;
      next.path = thread.compile.path;
      Close(stream, thread);
      thread.compile = std::move(next);
    }
    thread.checker_spoke = process.checker_spoke = true;
    thread.pending_found = message.number;
    LogCompile& compile = thread.compile;
    if (compile.found) {  // the counts of a second compile without its "Found profile"
      compile.mixed = true;
    } else {
      compile.found = message.number;
    }
    return;
  }
  if (!thread.pending_found) {
    thread.compile.lines_lost = true;
    return;
  }
  const uint64_t found = *thread.pending_found, missing = message.number;
  thread.pending_found.reset();
  thread.names_left = missing;
  LogCompile& compile = thread.compile;
  if (!compile.mixed) {
    compile.missing = missing;
    return;
  }
  const bool complete = compile.found && compile.missing;
  const double share = Share(found, missing);
  if (!compile.best_found) {
    compile.best_found = complete ? *compile.found : found;
    compile.best_missing = complete ? *compile.missing : missing;
  }
  if (share > Share(*compile.best_found, *compile.best_missing)) {
    compile.best_found = found;
    compile.best_missing = missing;
  }
  if (!complete || share < Share(*compile.found, *compile.missing)) {
    compile.found = found;
    compile.missing = missing;
  }
  compile.missing_names.clear();
}

void LogState::AddFault(LogProcess& process, Thread& thread, const LogMessage& message) {
  const std::string path(message.text);
  if (message.kind == Kind::kFileMissing) {
    const std::string fingerprint = FingerprintOfPath(path);
    thread.compile.failure = "PGLE profile file does not exist: " + path;
    if (fingerprint.empty()) {
      ++process.missing_files[path];
    } else if (path.ends_with(".pb")) {
      // Of a directory: the .pbtxt is asked for first, the .pb decides.
      ++process.missing_files[path.substr(0, path.rfind('/') + 1)];
      if (process.missing_fingerprints.size() < LogProcess::kMaxFingerprints) {
        process.missing_fingerprints.insert(fingerprint);
      }
    }
  } else if (message.kind == Kind::kFileUnreadable) {
    process.unreadable_files.emplace(path, message.detail);
    thread.compile.failure = "cannot parse " + path;
  } else {
    ++process.unreadable_fdo;
    thread.compile.failure = "cannot parse fdo_profile";
  }
}

void LogState::AddEvent(Stream& stream, const LogMessage& message) {
  LogProcess& process = ProcessOf(stream);
  switch (message.kind) {
    case Kind::kCuptiError:
      ++process.cupti_errors[std::string(message.text)];
      return;
    case Kind::kEmptyTrace:
      ++process.empty_traces;
      return;
    case Kind::kUnknownFlag:
      process.unknown_flags = message.text;
      return;
    case Kind::kDiscarded: {
      ++process.discarded;
      CloseAll(stream);
      bool matched = false;
      for (LogModule& module : process.modules) {
        for (LogCompile& compile : module.compiles) {
          if (compile.missing == message.number) matched = compile.discarded = true;
        }
      }
      if (matched) return;
      for (LogModule& module : process.modules) {
        for (LogCompile& compile : module.compiles) compile.discarded = true;
      }
      return;
    }
    default:
      break;
  }
  if (message.module.empty() || !is_users_(message.module)) return;
  LogModule* module = ModuleOf(process, std::string(message.module));
  if (module == nullptr) return;
  module->pgle_cache_hit |= message.kind == Kind::kCacheLoaded;
  module->plain_cache_hit |= message.kind == Kind::kCacheHit;
  module->pgle_cache_miss |= message.kind == Kind::kCacheMiss;
  module->pgle_cache_write |= message.kind == Kind::kCacheWrite;
}

void LogState::Add(const LogLine& line, const LogMessage& message) {
  Stream& stream = StreamOf(line);
  if (message.kind == Kind::kProcessStart) {
    LogProcess& process = ProcessOf(stream);
    if (line.thread != LogLine::kNoThread && process.started.count(line.thread) != 0) {
      Restart(stream);
    }
    ProcessOf(stream).started.insert(line.thread);
    ++ProcessOf(stream).starts;
  }
  LogProcess& process = ProcessOf(stream);
  ++process.lines;
  process.shows_info |= line.severity == 'I';
  Thread& thread = stream.threads[line.severity == 0 ? LogLine::kNoThread : line.thread];
  const bool has_thread = line.thread != LogLine::kNoThread;
  LogCompile& compile = thread.compile;

  switch (message.kind) {
    case Kind::kOther:
    case Kind::kProcessStart:
      return;
    case Kind::kUsingPath:
    case Kind::kUsingFdo:
    case Kind::kUsingFdoBinary:
    case Kind::kUsingFdoText:
      // With thread ids this is the next compile; without, perhaps another thread's.
      if (has_thread && Opened(compile)) Close(stream, thread);
      thread.interrupted |= Opened(compile) && !compile.scheduled;
      compile.source = message.kind == Kind::kUsingPath        ? ProfileSource::kPath
                       : message.kind == Kind::kUsingFdoBinary ? ProfileSource::kFdoBinary
                       : message.kind == Kind::kUsingFdoText   ? ProfileSource::kFdoText
                                                               : ProfileSource::kFdo;
      compile.path = message.text;
      return;
    case Kind::kFingerprint:
      if (!has_thread) {
        thread.interrupted |= Opened(compile) && !compile.scheduled;
        return;
      }
      Close(stream, thread);
      thread.module = message.module;
      thread.fingerprint = message.text;
      thread.has_module = true;
      compile.thread = line.thread;
      return;
    case Kind::kFoundProfile:
      return Open(stream, thread, message, line.thread);
    case Kind::kFoundCount:
    case Kind::kMissingCount:
      return AddCounts(stream, thread, message);
    case Kind::kMissingName:
      if (thread.names_left == 0) {
        compile.lines_lost = true;
        return;
      }
      --thread.names_left;
      if (compile.missing_names.size() < LogCompile::kMaxNames && !compile.mixed) {
        compile.missing_names.emplace_back(message.text);
      }
      return;
    case Kind::kFileMissing:
    case Kind::kFileUnreadable:
    case Kind::kFdoUnreadable:
      if (has_thread && Opened(compile)) Close(stream, thread);
      return AddFault(process, thread, message);
    case Kind::kFallback:
      compile.fallback = message.text;
      return;
    case Kind::kSchedulerRan:
      ++process.scheduler_runs;
      compile.scheduled = thread.has_module || compile.found.has_value();
      if (has_thread && thread.has_module && !Opened(compile)) Close(stream, thread);
      return;
    case Kind::kCostHit:
      ++compile.verbose_hits;
      return;
    case Kind::kCostMiss:
      ++compile.verbose_misses;
      return;
    case Kind::kNotApplicable:
      compile.not_applicable = true;
      return;
    case Kind::kMayNotApply:
      compile.may_not_apply = true;
      return;
    default:
      return AddEvent(stream, message);
  }
}

// Warnings and exceptions come without the label of their process: they count for all of the file.
void LogState::SpreadUnlabelled() {
  const auto unlabelled = streams_.find("");
  if (unlabelled == streams_.end() || streams_.size() == 1) return;
  const size_t index = unlabelled->second.process;
  const LogProcess& from = report_->processes[index];
  if (from.starts > 0 || from.shows_info || !from.small_modules.empty()) return;
  for (const LogModule& module : from.modules) {
    if (!module.compiles.empty()) return;
  }
  for (size_t i = 0; i < report_->processes.size(); ++i) {
    LogProcess& to = report_->processes[i];
    if (i == index || to.file != file_) continue;
    for (const auto& [name, count] : from.cupti_errors) to.cupti_errors[name] += count;
    to.empty_traces += from.empty_traces;
    to.discarded += from.discarded;
    if (to.unknown_flags.empty()) to.unknown_flags = from.unknown_flags;
    for (const LogModule& module : from.modules) {
      LogModule* known = ModuleOf(to, module.name);
      if (known == nullptr) continue;
      known->pgle_cache_hit |= module.pgle_cache_hit;
      known->plain_cache_hit |= module.plain_cache_hit;
      known->pgle_cache_miss |= module.pgle_cache_miss;
      known->pgle_cache_write |= module.pgle_cache_write;
    }
    if (from.discarded > 0) {
      for (LogModule& module : to.modules) {
        for (LogCompile& compile : module.compiles) compile.discarded = true;
      }
    }
  }
  report_->processes.erase(report_->processes.begin() + static_cast<ptrdiff_t>(index));
}

void LogState::Finish() {
  for (auto& [label, stream] : streams_) CloseAll(stream);
  SpreadUnlabelled();
}

}  // namespace pgle
