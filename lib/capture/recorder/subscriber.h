// The callbacks that CUPTI calls in the program's threads: launches inside the window, and the
// making of graph nodes from the start.
#pragma once

#include <cstdint>

#include "capture/recorder/cupti.h"

namespace pgle::recorder {

struct Recorder;

// Subscribes and turns the callbacks on graph nodes on. The first call that fails is named.
cupti::Result Subscribe(Recorder* recorder, const char** call);

// Callbacks of the driver functions that give a device work.
cupti::Result EnableLaunches(Recorder* recorder, bool enable);
cupti::Result EnableProfilerApi(Recorder* recorder);

}  // namespace pgle::recorder
