// What a spill file says of its process: command, executable, libcupti, XLA_FLAGS.
#pragma once

#include "capture/recorder/spill_file.h"

namespace pgle::recorder {

// Appends "key\0value\0" pairs to the chunk that was begun. Long values are cut.
void AppendProcessFacts(const char* cupti_path, SpillFile* file);

}  // namespace pgle::recorder
