#include "capture/process_watch.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace pgle {
namespace {

namespace fs = std::filesystem;
using recorder::ProcessSlot;
using recorder::ProcessState;

uint64_t SizeOf(const std::string& file) {
  std::error_code error;
  const uint64_t size = fs::file_size(file, error);
  return error ? 0 : size;
}

bool IsAlive(uint32_t pid) {
  return pid != 0 && (kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM);
}

// Ended, and nobody has asked for its status yet.
bool IsZombie(uint32_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  const std::string stat((std::istreambuf_iterator<char>(file)), {});
  const size_t name = stat.rfind(") ");
  return name != stat.npos && stat.compare(name + 2, 1, "Z") == 0;
}

// The window has been open, so that there may be something to write.
bool HasOpened(const ProcessReport& process) {
  return process.state >= ProcessState::kOpen && process.state != ProcessState::kFailed;
}

bool IsOver(const ProcessReport& process) {
  return process.state == ProcessState::kClosed || process.state == ProcessState::kFailed;
}

// What has been cut, dropped or lost is said by the converter.
std::string WindowLine(const CaptureSummary& summary) {
  return fmt::format("wrote {} kernels of process {}; the command runs on", summary.kernels,
                     summary.pid);
}

}  // namespace

ProcessWatch::ProcessWatch(CapturePlan* plan, const CaptureOptions& options)
    : plan_(*plan), options_(options) {}

void ProcessWatch::ReadSlot(uint32_t index) {
  if (index >= processes_.size()) processes_.resize(index + 1);
  Watched& process = processes_[index];
  const ProcessSlot& slot = plan_.control.slot(index);
  ProcessReport& report = process.report;
  report.state = slot.state;
  report.pid = slot.pid;
  report.fault = slot.fault;
  report.code = slot.code;
  if (report.fault != recorder::Fault::kNone) {
    report.fault_text = SlotText(slot.text, sizeof slot.text);
  }
  report.cupti_version = slot.cupti_version;
  report.module_runs = slot.module_runs;
  report.nvtx_clients = slot.nvtx_clients;
  report.still_runs = slot.has_ended == 0 && IsAlive(report.pid);
  if (process.spill.empty()) {
    // A name inside the private directory, whatever the other process wrote there.
    const std::string name = fs::path(SlotText(slot.spill, sizeof slot.spill)).filename();
    if (!name.empty()) process.spill = plan_.place.private_directory + "/" + name;
  }
}

// The processes go on with their recordings: what they wrote tells the rest.
void ProcessWatch::LookAtPage() {
  if (!is_page_lost_ && plan_.control.IsThere()) return;
  if (!is_page_lost_) {
    is_page_lost_ = true;
    diagnostics_.Warn(plan_.place.control_file(), "was cut or taken away while the command ran",
                      "nothing but pgle-capture may touch it; see that the run is what it should");
    for (Watched& process : processes_) {
      process.report.module_runs = 0;  // counted from the records
      if (!process.is_queued && !process.spill.empty()) process.report.state = ProcessState::kOpen;
    }
  }
  for (Watched& process : processes_) process.report.still_runs = IsAlive(process.report.pid);
}

Diagnostics ProcessWatch::Tick() {
  Diagnostics said;
  LookAtPage();
  for (uint32_t i = 0; i < plan_.control.slots(); ++i) {
    plan_.control.AnswerModules(i);
    ReadSlot(i);
    const Watched& process = processes_[i];
    if (options_.has_window() && process.report.state == ProcessState::kClosed &&
        !process.is_queued && !process.spill.empty()) {
      Queue(i);
    }
  }
  for (SpillQueue::Done& done : queue_.Take()) {
    const size_t index = done.key;
    Keep(std::move(done));
    const ProcessReport& report = processes_[index].report;
    if (report.has_trace()) said.Note(report.summary->output, WindowLine(*report.summary));
  }
  return said;
}

bool ProcessWatch::is_recording() const {
  return std::any_of(processes_.begin(), processes_.end(), [](const Watched& process) {
    const ProcessState state = process.report.state;
    return process.report.still_runs &&
           (state == ProcessState::kArmed || state == ProcessState::kOpen ||
            state == ProcessState::kClosing);
  });
}

ConvertOptions ProcessWatch::OptionsFor(const Watched& process, bool with_output) const {
  ConvertOptions convert;
  convert.spill = process.spill;
  convert.hostname = plan_.place.TraceStem(process.report.pid);
  convert.compress = options_.compress;
  if (with_output) {
    convert.output = plan_.place.TraceFile(process.report.pid, options_.compress);
  }
  if (!plan_.hlo_folder.empty()) convert.hlo_folders.push_back(plan_.hlo_folder);
  return convert;
}

void ProcessWatch::Queue(size_t index) {
  Watched& process = processes_[index];
  process.is_queued = true;
  process.converted_bytes = SizeOf(process.spill);
  std::error_code error;
  fs::create_directories(plan_.place.run_directory, error);  // the converter says what is wrong
  queue_.Add(index, OptionsFor(process, true));
}

void ProcessWatch::Keep(SpillQueue::Done done) {
  ProcessReport& report = processes_[done.key].report;
  if (done.summary.ok()) {
    report.summary = std::move(*done.summary);
  } else {
    report.error = std::move(done.summary.error());
    if (report.error->where == processes_[done.key].spill) {
      report.error->where = fmt::format("process {}", report.pid);
    }
    return;
  }
  // The spill file goes away: the trace, which stays, is what is talked of.
  for (const Diagnostic& item : done.diagnostics.items()) {
    const std::string& where =
        item.where == processes_[done.key].spill ? report.summary->output : item.where;
    if (item.severity == Diagnostic::Severity::kWarning) {
      diagnostics_.Warn(where, item.what, item.hint);
    } else {
      diagnostics_.Note(where, item.what, item.hint);
    }
  }
}

// The counts and times of the whole process: it ran on after its window, or never had one.
void ProcessWatch::SumUp(Watched* process) {
  Diagnostics unheard;  // of a trace: said when it was written
  Result<CaptureSummary> whole = TryConvertSpill(OptionsFor(*process, false), &unheard);
  ProcessReport& report = process->report;
  if (!whole.ok()) {
    if (!report.summary && !report.error) report.error = std::move(whole.error());
    return;
  }
  if (!report.summary) {
    report.summary = std::move(*whole);
    // Without a window the pattern chooses what is reported.
    if (!options_.has_window()) {
      std::erase_if(report.summary->modules, [this](const ModuleRuns& module) {
        return !plan_.control.Matches(module.name);
      });
    }
    return;
  }
  for (ModuleRuns& module : whole->modules) {
    for (ModuleRuns& known : report.summary->modules) {
      if (known.name != module.name || known.program_id != module.program_id) continue;
      known.executions = module.executions;
      known.outside = module.outside;
      known.starts = std::move(module.starts);
    }
  }
  report.summary->has_ended = whole->has_ended;
}

// Processes beyond the last slot record nothing that is told here, but may have left a file.
void ProcessWatch::AddStrays() {
  std::error_code error;
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(plan_.place.private_directory, error)) {
    std::error_code unknown;
    if (!entry.is_regular_file(unknown)) continue;  // a pipe would keep us waiting
    if (entry.path().extension() == ".pgle") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) {
    if (std::any_of(processes_.begin(), processes_.end(),
                    [&](const Watched& process) { return process.spill == file; })) {
      continue;
    }
    const std::string name = fs::path(file).stem();
    Watched stray;
    stray.spill = file;
    std::from_chars(name.data() + std::min<size_t>(1, name.size()), name.data() + name.size(),
                    stray.report.pid);
    stray.report.state = ProcessState::kOpen;
    stray.report.still_runs = IsAlive(stray.report.pid);
    processes_.push_back(std::move(stray));
  }
}

std::vector<ProcessReport> ProcessWatch::Finish(Diagnostics* diagnostics, bool* kept) {
  LookAtPage();
  for (uint32_t i = 0; i < plan_.control.slots(); ++i) ReadSlot(i);
  AddStrays();
  for (Watched& process : processes_) {
    process.report.still_runs = process.report.still_runs && !IsZombie(process.report.pid);
  }
  for (size_t i = 0; i < processes_.size(); ++i) {
    const Watched& process = processes_[i];
    const bool is_written_to = process.report.still_runs && !IsOver(process.report);
    if (options_.has_window() && HasOpened(process.report) && !process.is_queued &&
        !process.spill.empty() && !is_written_to) {
      Queue(i);
    }
  }
  for (SpillQueue::Done& done : queue_.Finish()) Keep(std::move(done));
  *kept = false;
  std::vector<ProcessReport> reports;
  for (size_t i = 0; i < processes_.size(); ++i) {
    Watched& process = processes_[i];
    ProcessReport& report = process.report;
    const bool has_grown = SizeOf(process.spill) > process.converted_bytes;
    if (!process.spill.empty() && (!report.summary || has_grown)) SumUp(&process);
    if (i < plan_.control.slots()) {
      const ProcessSlot& slot = plan_.control.slot(i);
      const uint32_t count = std::min(slot.module_count.load(), recorder::kMaxModules);
      for (uint32_t m = 0; m < count; ++m) {
        std::string name = SlotText(slot.modules[m].text, sizeof slot.modules[m].text);
        // Threads that ran it first at the same time published it once each.
        auto& names = report.module_names;
        if (std::find(names.begin(), names.end(), name) == names.end()) {
          names.push_back(std::move(name));
        }
      }
    } else if (report.summary) {
      for (const ModuleRuns& module : report.summary->modules) {
        report.module_names.push_back(module.name);
        report.module_runs += module.executions;
      }
    }
    // Only what the window has opened for is worth another try.
    if (options_.has_window() && HasOpened(report) && !report.has_trace() &&
        !process.spill.empty() && report.module_runs > 0) {
      *kept = true;
    }
    reports.push_back(std::move(report));
  }
  diagnostics->Append(std::exchange(diagnostics_, {}));
  return reports;
}

}  // namespace pgle
