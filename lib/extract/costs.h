// Costs of one module by name, and what became of everything that the scheduler asks for.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "extract/module_samples.h"
#include "profile/keys.h"
#include "profile/statistic.h"

namespace pgle {

// What to write for asynchronous pairs that are no collectives (fusion-start, copy-start). XLA uses
// one entry both as the cost of the start node and as the latency from start to done, so a measured
// cost counts twice; by default XLA's own estimator is left to it.
enum class AsyncFusions { kSkip, kCost, kZero };

enum class NameMode { kScheduling, kRuntime, kBoth };

struct CostOptions {
  Statistic statistic = Statistic::Median();
  AsyncFusions async_fusions = AsyncFusions::kSkip;
  NameMode names = NameMode::kScheduling;
};

// In order of name, each name once.
// `module`: after transfer times are settled.
std::vector<NamedCost> ComputeCosts(const ModuleSamples& module, const CostOptions& options);

// All durations under one name, over processes, devices and run-time ops.
std::vector<Picoseconds> DurationsOf(const NameSamples& samples);

}  // namespace pgle
