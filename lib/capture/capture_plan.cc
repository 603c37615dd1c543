#include "capture/capture_plan.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

#include "capture/preflight.h"
#include "capture/run_name.h"
#include "capture/xla_dump_flags.h"

namespace pgle {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMegabyte = uint64_t{1} << 20;
// CUPTI 13 keeps a buffer for each thread of the program, of which there may be hundreds: the least
// of the 1 to 10 MB that its manual advises.
constexpr uint64_t kLeastBuffer = kMegabyte;
constexpr uint64_t kMostBuffers = 2048;  // that a recorder can hold
constexpr uint32_t kGiveUpAfter = 200;   // executions that did not become steady

Result<Workplace> MakePlace(const CaptureOptions& options, const CaptureHost& host,
                            const Rank& rank) {
  const std::string stem = FileStem(host.name, rank);
  if (!options.has_window()) return MakeTemporaryWorkplace(host.temporary_directory, stem);
  PGLE_ASSIGN_OR_RETURN(const std::string run,
                        ChooseRunName(options.run, rank, std::time(nullptr)));
  const bool may_rename = options.run.empty() && !rank.is_one_of_several();
  return MakeWorkplace(options.log_directory, run, stem, getpid(), may_rename);
}

recorder::WindowSettings WindowFor(const CaptureOptions& options, const Rank& rank) {
  recorder::WindowSettings window = options.window;
  window.decide_by_count = rank.is_one_of_several() ? 1 : 0;
  window.give_up_after = kGiveUpAfter;
  window.memory_bytes = options.memory_mb * kMegabyte;
  window.buffer_bytes = std::max(kLeastBuffer, window.memory_bytes / kMostBuffers);
  return window;
}

// A launcher of ranks hands its environment to other hosts, where no control page is.
void CheckCommand(const std::string& command, Diagnostics* diagnostics) {
  const std::string name = fs::path(command).filename();
  for (const char* launcher : {"srun", "mpirun", "mpiexec", "prterun", "orterun"}) {
    if (name != launcher) continue;
    diagnostics->Warn(
        command, "starts ranks, and those on other hosts cannot be recorded this way",
        fmt::format("put pgle-capture behind it: {} pgle-capture -o LOGDIR -- COMMAND", name));
  }
}

Status EditEnvironment(const CaptureOptions& options, const CaptureHost& host, const Rank& rank,
                       CapturePlan* plan, Diagnostics* diagnostics) {
  Environment& environment = plan->environment;
  XlaFlagsWanted wanted;
  if (options.has_window() && options.with_hlo) wanted.hlo_folder = plan->place.hlo_folder();
  if (!options.autotune_directory.empty()) {
    std::error_code error;
    const fs::path directory = fs::absolute(options.autotune_directory).lexically_normal();
    fs::create_directories(directory, error);
    if (error) {
      return Failed(directory, "cannot be made: " + error.message(),
                    "give another directory with --pin-autotune");
    }
    wanted.autotune_file = directory / (rank.is_one_of_several()
                                            ? fmt::format("autotune_results.r{}.pbtxt", *rank.rank)
                                            : "autotune_results.pbtxt");
  }
  const XlaFlagsEdit edit =
      EditXlaFlags(environment.Get("XLA_FLAGS").value_or(""), wanted, diagnostics);
  if (edit.value) environment.Set("XLA_FLAGS", *edit.value);
  plan->hlo_folder = edit.hlo_folder;
  plan->autotune_file = edit.autotune_file;
  plan->autotune_file_before = ModificationTime(edit.autotune_file);

  environment.Set("CUDA_INJECTION64_PATH", host.recorder);
  environment.Set("NVTX_INJECTION64_PATH", host.recorder);
  environment.Set(recorder::kControlVariable, plan->place.control_file());
  if (options.disable_auto_pgle) environment.Set("JAX_ENABLE_PGLE", "false");
  return {};
}

}  // namespace

std::optional<fs::file_time_type> ModificationTime(const std::string& file) {
  std::error_code error;
  const fs::file_time_type time = fs::last_write_time(file, error);
  if (error) return std::nullopt;
  return time;
}

Result<CapturePlan> PlanCapture(const CaptureOptions& options, const CaptureHost& host,
                                const Rank& rank, Diagnostics* diagnostics) {
  PGLE_RETURN_IF_ERROR(CheckEnvironment(host.environment, options.disable_auto_pgle));
  PGLE_RETURN_IF_ERROR(CheckRecorder(host.recorder));
  CheckCommand(options.command.front(), diagnostics);
  PGLE_ASSIGN_OR_RETURN(Workplace place, MakePlace(options, host, rank));
  auto control = Control::Create(place.control_file(), place.private_directory,
                                 WindowFor(options, rank), options.module_pattern);
  if (!control.ok()) {
    RemovePrivateDirectory(place);
    return std::move(control.error());
  }
  CapturePlan plan{std::move(place), std::move(*control), host.environment, "", "", {}};
  if (Status status = EditEnvironment(options, host, rank, &plan, diagnostics); !status.ok()) {
    RemovePrivateDirectory(plan.place);
    return std::move(status.error());
  }
  return plan;
}

}  // namespace pgle
