// Rematerialized clones, which XLA treats apart when it reads a profile.
#pragma once

#include <string_view>

namespace pgle {

// The suffix of a rematerialized clone, ".remat" or ".remat<digits>" at the end of a name, which
// XLA strips from the names of a profile (gpu_hlo_schedule.cc, FilterWithFingerprint). Empty when
// there is none.
std::string_view RematSuffix(std::string_view name);

}  // namespace pgle
