// The messages of XLA and JAX about profiles, by text alone: line numbers and file names vary.
// Every wording from May 2023 (the first PGLE on GPU) to August 2026. Source: XLA
// gpu_hlo_schedule.cc (ReadProfileFromSources, GetLatencyEstimator), earlier gpu_compiler.cc;
// profile_guided_latency_estimator.cc (CheckAccuracy); JAX profiler.py and compiler.py.
#pragma once

#include <cstdint>
#include <string_view>

#include "inspect/log_line.h"

namespace pgle {

enum class LogMessageKind {
  kOther,
  kUsingPath,  // text: the path
  kUsingFdoBinary,
  kUsingFdoText,
  kUsingFdo,        // 2023, format not said
  kFoundProfile,    // module; empty before June 2025
  kFoundCount,      // number: look-ups that found a cost
  kMissingCount,    // number: instructions without one
  kMissingName,     // text
  kFileMissing,     // text: the path
  kFileUnreadable,  // text: the path; detail: the parser's message
  kFdoUnreadable,
  kFingerprint,   // module, text: the fingerprint
  kFallback,      // text: the estimator for instructions without a cost
  kSchedulerRan,  // the latency hiding scheduler had something to schedule
  kCostHit,
  kCostMiss,       // VLOG of single look-ups
  kNotApplicable,  // 2023: the profile is dropped
  kMayNotApply,    // 2023-2024: costs are missing, the profile is used all the same
  kDiscarded,      // number: missing instructions; the accuracy checker failed the compile
  kProcessStart,   // XLA's service for a GPU platform starts
  kCuptiError,     // text: the error's name
  kEmptyTrace,     // JAX: the profiling run saw nothing
  kCacheMiss,      // JAX: module; expected a PGLE-optimized entry, loads the plain one
  kCacheLoaded,    // JAX: module; PGLE-optimized entry loaded
  kCacheWrite,     // JAX: module; compiled although a hit was expected
  kCacheHit,       // JAX: module; loaded from the persistent cache
  kUnknownFlag,    // text: what XLA_FLAGS held; the process ends
};

struct LogMessage {
  LogMessageKind kind = LogMessageKind::kOther;
  std::string_view module, text, detail;
  uint64_t number = 0;
};

// XLA's messages count only behind one of the two prefixes; JAX's come without.
LogMessage ReadLogMessage(const LogLine& line);

}  // namespace pgle
