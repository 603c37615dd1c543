// An extraction's samples as a sample file for pgle-merge.
#pragma once

#include <string>

#include "base/result.h"
#include "extract/extract.h"

namespace pgle {

// Needs an extraction made with ExtractOptions::want_samples. `statistic` is the one that profiles
// made of the samples use unless told otherwise.
Status WriteSamples(const std::string& path, const Extraction& extraction,
                    const std::string& statistic);

}  // namespace pgle
