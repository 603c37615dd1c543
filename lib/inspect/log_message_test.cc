#include "inspect/log_message.h"

#include <doctest/doctest.h>

#include <string>

#include "inspect/log_anchors.h"

namespace pgle {
namespace {

using Kind = LogMessageKind;

struct Wording {
  const char* text;
  Kind kind;
  const char* module = "";
  const char* value = "";
  uint64_t number = 0;
};

// XLA's, with their years.
constexpr Wording kXla[] = {
    {"Using PGLE profile from /d/p.pb", Kind::kUsingPath, "", "/d/p.pb"},     // 2023-
    {"Using PGLE profile from fdo_profile (binary)", Kind::kUsingFdoBinary},  // 2025-
    {"Using PGLE profile from fdo_profile (text)", Kind::kUsingFdoText},      // 2025-
    {"Using PGLE profile for module from fdo_profile (binary)",
     Kind::kUsingFdoBinary},  // 2023-2025
    {"Using PGLE profile for module from fdo_profile (text)", Kind::kUsingFdoText},
    {"Using PGLE profile for module from fdo_profile", Kind::kUsingFdo},
    {"Found profile for module jit_f, using profile guided latency estimator", Kind::kFoundProfile,
     "jit_f"},                                                                       // 2025-
    {"Found profile, using profile guided latency estimator", Kind::kFoundProfile},  // 2023-2025
    {"Found profile, using profile guided latency estimator. Profile:", Kind::kFoundProfile},
    {"Found profile for module, using PGLE", Kind::kFoundProfile},                 // 2023-05
    {"Found profile for module using fingerprint", Kind::kFoundProfile},           // 2023-05
    {"Found 126 instructions from the profile.", Kind::kFoundCount, "", "", 126},  // 2024-
    {"Missing 15 instructions from the profile.", Kind::kMissingCount, "", "", 15},
    {"  all-gather-start.1", Kind::kMissingName, "", "all-gather-start.1"},
    {"PGLE profile file does not exist: /d/p.pb", Kind::kFileMissing, "", "/d/p.pb"},  // 2025-
    {"Tried but failed to parse PGLE proto from text file '/d/p.pbtxt'. Error message: bad",
     Kind::kFileUnreadable, "", "/d/p.pbtxt"},  // 2025-
    {"Unable to read PGLE binary proto from /d/p.pb: bad", Kind::kFileUnreadable, "", "/d/p.pb"},
    {"Unable to read PGLE profile: bad", Kind::kFileUnreadable},  // 2023-05
    {"Unable to parse fdo_profile: not a valid text or binary ProfiledInstructionsProto",
     Kind::kFdoUnreadable},
    {"Unable to prase FDO profile: not a valid text or binary ProfiledInstructionsProto",
     Kind::kFdoUnreadable},  // 2023, sic
    {"Fingerprint before LHS for module jit_f(12) = 00ff", Kind::kFingerprint, "jit_f", "00ff"},
    {"PGLE fallback: using SolLatencyEstimator", Kind::kFallback, "", "SolLatencyEstimator"},
    {"PGLE found cost for: fusion.1", Kind::kCostHit},
    {"PGLE missed cost for: fusion.1", Kind::kCostMiss},
    {"!!! PGLE profile likely not applicable to the module", Kind::kNotApplicable},  // 2023
    {"PGLE profile may not applicable to the module, but will still be used : x",
     Kind::kMayNotApply},  // 2023-2024
    {"XLA service 0x3aef2490 initialized for platform CUDA (this does not guarantee ...)",
     Kind::kProcessStart},
    {"[latency-hiding-scheduler] LatencyHidingScheduler current memory usage: 33 bytes.",
     Kind::kSchedulerRan},
    {"cuptiSubscribe: error 39: CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED", Kind::kCuptiError,
     "", "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"},
    {"Unknown flag in XLA_FLAGS: --xla_nosuch=1", Kind::kUnknownFlag, "", "--xla_nosuch=1"},
};

constexpr Wording kJax[] = {
    {"/x/profiler.py:1: RuntimeWarning: PGLE collected an empty trace, may be due to contention "
     "with "
     "another tool that subscribes to CUPTI, such as Nsight Systems - check for "
     "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED from XLA.",
     Kind::kEmptyTrace},
    {"/x/compiler.py:2: UserWarning: PERSISTENT CACHE MISS for PGLE-optimized jit_g despite "
     "non-PGLE "
     "hit; it may not have been executed enough times when the cache was populated",
     Kind::kCacheMiss, "jit_g"},
    {"PERSISTENT CACHE WRITE with key jit_h-0a1b, this is unexpected because "
     "JAX_COMPILATION_CACHE_EXPECT_PGLE is set.",
     Kind::kCacheWrite, "jit_h"},
    {"INFO:jax._src.compiler:PGLE-optimized jit_f loaded from compilation cache",
     Kind::kCacheLoaded, "jit_f"},
    {"Persistent compilation cache hit for 'jit_f' with key 'jit_f-12'", Kind::kCacheHit, "jit_f"},
    {"jax.errors.JaxRuntimeError: INVALID_ARGUMENT: Found 15 missing instructions. Discarding the "
     "profile.",
     Kind::kDiscarded, "", "", 15},
};

void Check(const LogMessage& message, const Wording& wording) {
  CAPTURE(wording.text);
  CHECK(message.kind == wording.kind);
  CHECK(message.module == wording.module);
  CHECK(message.text == wording.value);
  CHECK(message.number == wording.number);
}

std::string PrefixOf(const Wording& wording, bool tsl) {
  const std::string file = wording.kind == Kind::kMissingName || wording.kind == Kind::kCostHit
                               ? "profile_guided_latency_estimator.cc:197] "
                               : "gpu_hlo_schedule.cc:393] ";
  return (tsl ? "2024-07-21 16:09:43.551600: I external/xla/xla/service/"
              : "I1130 14:21:32.181551    2280 ") +
         file;
}

}  // namespace

TEST_CASE("every wording, in both prefix formats") {
  for (const bool tsl : {false, true}) {
    for (const Wording& wording : kXla) {
      const std::string line = PrefixOf(wording, tsl) + wording.text;
      Check(ReadLogMessage(ParseLogLine(line)), wording);
    }
  }
  for (const Wording& wording : kJax) Check(ReadLogMessage(ParseLogLine(wording.text)), wording);
}

TEST_CASE("XLA's messages count only behind its prefix, and whole") {
  const std::string prefix = "I1130 14:21:32.181551    2280 x.cc:1] ";
  for (const std::string& text :
       {std::string("Found 126 instructions from the profile."),
        std::string("+ grep 'Found profile'"),
        std::string("[x] LatencyHidingScheduler current memory usage: 3"),
        prefix + "Found 126 instructions from the profile. Or not", prefix + "Found x instructions",
        prefix + "echo Found 126 instructions from the profile.",
        prefix + "Found profile for module",
        prefix + "XLA service 0x1 initialized for platform Host (...)",
        std::string(
            "  warnings.warn(f\"PERSISTENT CACHE MISS for PGLE-optimized {module_name} \"")}) {
    CAPTURE(text);
    CHECK(ReadLogMessage(ParseLogLine(text)).kind == Kind::kOther);
  }
}

TEST_CASE("the search finds every message wherever it stands") {
  for (size_t padding = 0; padding < 140; ++padding) {
    for (const Wording& wording : kXla) {
      const std::string line = PrefixOf(wording, false) + wording.text;
      const std::string text = std::string(padding, 'o') + "\n" + line;
      const size_t anchor = FindAnchor(text, 0);
      CAPTURE(wording.text);
      REQUIRE(anchor != std::string::npos);
      CHECK(anchor > padding);
    }
    for (const Wording& wording : kJax) {
      CHECK(FindAnchor(std::string(padding, ' ') + wording.text, 0) != std::string::npos);
    }
  }
  CHECK(FindAnchor("of the profil PGL LHS CUPTI XLA service", 0) == std::string::npos);
  CHECK(FindAnchor("", 0) == std::string::npos);
  CHECK(FindAnchor("PGLE PGLE", 1) == 5);
}

}  // namespace pgle
