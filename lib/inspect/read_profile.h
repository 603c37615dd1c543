// A profile as any of XLA's sources hands it over.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "profile/cost_profile.h"

namespace pgle {

// Bytes of fdo_profile, which have no format of their own: XLA tries binary, then text
// (gpu_hlo_schedule.cc, ReadProfileFromSources).
// Errors: neither.
Result<CostProfile> ParseFdoProfile(std::string_view bytes, const std::string& name);

// A .pb or .pbtxt file, or the .fdo_profile of a dump; each also .zst or .gz.
// Errors: those of ReadProfile, another extension included, all as kFailed; a file without a single
// cost, since nothing can be said about it.
Result<CostProfile> ReadAnyProfile(const std::string& path, const std::string& spool_directory);

}  // namespace pgle
