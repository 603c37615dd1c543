// Follows the messages of one log: which compile each of them is about. XLA compiles in many
// threads at once, so what is open is kept by process and thread.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "inspect/log_line.h"
#include "inspect/log_message.h"
#include "inspect/log_report.h"
#include "inspect/module_name.h"

namespace pgle {

class LogState {
 public:
  LogState(std::string file, const ModuleFilter& is_users, LogReport* report)
      : file_(std::move(file)), is_users_(is_users), report_(report) {}

  void Add(const LogLine& line, const LogMessage& message);
  // The end of the log: closes what is open.
  void Finish();

 private:
  // What a thread is compiling.
  struct Thread {
    std::string module;  // of the open compile, or of the fingerprint line before it
    std::string fingerprint;
    LogCompile compile;
    std::optional<uint64_t> pending_found;  // its Missing line comes next
    uint64_t names_left = 0;                // of the missing list
    bool has_module = false;                // a fingerprint line or "Found profile" named one
    bool interrupted = false;               // no thread ids: another compile's lines came since
    bool checker_spoke = false;
  };
  struct Stream {
    size_t process = 0;  // in report_->processes
    std::unordered_map<int64_t, Thread> threads;
  };

  Stream& StreamOf(const LogLine& line);
  LogProcess& ProcessOf(const Stream& stream) { return report_->processes[stream.process]; }
  size_t NewProcess(const std::string& label, int attempt);
  void Restart(Stream& stream);
  void Open(Stream& stream, Thread& thread, const LogMessage& message, int64_t id);
  void Close(Stream& stream, Thread& thread);
  void CloseAll(Stream& stream);
  void AddCounts(Stream& stream, Thread& thread, const LogMessage& message);
  void AddFault(LogProcess& process, Thread& thread, const LogMessage& message);
  void AddEvent(Stream& stream, const LogMessage& message);
  void Commit(LogProcess& process, const std::string& name, const std::string& fingerprint,
              LogCompile compile);
  void SpreadUnlabelled();
  LogModule* ModuleOf(LogProcess& process, const std::string& name);

  std::string file_;
  const ModuleFilter& is_users_;
  LogReport* report_;
  std::unordered_map<std::string, Stream> streams_;
  std::string last_before_;  // the text before the prefix that led to last_stream_
  Stream* last_stream_ = nullptr;
  std::unordered_map<std::string, size_t> module_index_;  // "process/module"
};

}  // namespace pgle
