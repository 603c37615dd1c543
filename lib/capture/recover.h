// What a capture left behind whose launcher was killed, or could not write.
#pragma once

#include <string>

#include "capture/capture.h"

namespace pgle {

struct RecoverOptions {
  std::string path;           // a private directory, or a spill file
  std::string log_directory;  // empty: the one that the path lies in
  std::string run;            // likewise
  bool compress = false;
};

// Converts every spill file there. A private directory is removed once all of it is converted.
// The report has no command; its failures are those of the files.
// Errors: nothing to convert, the launcher still runs, the place is not clear.
Result<CaptureReport> Recover(const RecoverOptions& options, const std::string& host);

}  // namespace pgle
