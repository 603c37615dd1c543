// The directories of one capture: where recorders write, and where the run goes.
#pragma once

#include <string>

#include "base/result.h"

namespace pgle {

struct Workplace {
  std::string log_directory;      // as given; absolute
  std::string run;                // its name
  std::string run_directory;      // LOGDIR/plugins/profile/<run>; made with the first trace
  std::string private_directory;  // of this launcher alone
  std::string stem;               // host or host_r<rank>: traces are <stem>_p<pid>.xplane.pb

  std::string control_file() const { return private_directory + "/control"; }
  std::string hlo_folder() const { return private_directory + "/hlo"; }
  std::string TraceStem(uint32_t pid) const { return stem + "_p" + std::to_string(pid); }
  std::string TraceFile(uint32_t pid, bool compress) const;
};

// Makes LOGDIR/.pgle-capture/<run>/<stem>_p<pid>/, and LOGDIR where it is missing. `may_rename`:
// the run's name is a time of day; where another run has it, the next free second is taken. Errors:
// not writable; the run directory holds traces of this stem; too long a path.
Result<Workplace> MakeWorkplace(const std::string& log_directory, const std::string& run,
                                const std::string& stem, int pid, bool may_rename);

// A private directory of its own under `temporary`, for a capture that writes no run.
Result<Workplace> MakeTemporaryWorkplace(const std::string& temporary, const std::string& stem);

// Removes the private directory, and the directories above it that are empty then, up to LOGDIR.
void RemovePrivateDirectory(const Workplace& workplace);

// The workplace that a private directory, or a spill file in one, belongs to.
// Errors: the path does not look like LOGDIR/.pgle-capture/<run>/<stem>_p<pid>.
Result<Workplace> WorkplaceOf(const std::string& private_directory);

}  // namespace pgle
