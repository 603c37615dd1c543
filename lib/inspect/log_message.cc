#include "inspect/log_message.h"

#include <charconv>
#include <optional>

namespace pgle {
namespace {

using Kind = LogMessageKind;

bool Consume(std::string_view* text, std::string_view prefix) {
  if (!text->starts_with(prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// "N SUFFIX", nothing before or behind.
std::optional<uint64_t> NumberBefore(std::string_view text, std::string_view suffix) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || Trimmed({end, text.data() + text.size()}) != suffix) {
    return std::nullopt;
  }
  return number;
}

LogMessage ReadUsing(std::string_view text) {
  Consume(&text, "for module ");  // July 2023 to January 2025
  if (!Consume(&text, "from ")) return {};
  text = Trimmed(text);
  if (text == "fdo_profile (binary)") return {Kind::kUsingFdoBinary};
  if (text == "fdo_profile (text)") return {Kind::kUsingFdoText};
  if (text == "fdo_profile") return {Kind::kUsingFdo};
  return {Kind::kUsingPath, "", text};
}

LogMessage ReadFound(std::string_view text) {
  // "Found profile for module NAME, using profile guided latency estimator" since June 2025;
  // ", using PGLE" and " using fingerprint" in May 2023.
  if (!Consume(&text, "profile")) {
    if (const auto n = NumberBefore(text, " instructions from the profile.")) {
      return {Kind::kFoundCount, "", "", "", *n};
    }
    if (const auto n = NumberBefore(text, " missing instructions. Discarding the profile.")) {
      return {Kind::kDiscarded, "", "", "", *n};
    }
    return {};
  }
  std::string_view module;
  if (Consume(&text, " for module")) {
    if (text.starts_with(" using fingerprint")) return {Kind::kFoundProfile};
    if (Consume(&text, " ")) {
      const size_t comma = text.find(", using ");
      if (comma == text.npos) return {};
      module = text.substr(0, comma);
      text.remove_prefix(comma);
    }
  }
  if (text.starts_with(", using profile guided latency estimator") ||
      text.starts_with(", using PGLE")) {
    return {Kind::kFoundProfile, module};
  }
  return {};
}

// "PGLE proto from text file 'PATH'. Error message: MESSAGE"
LogMessage ReadParseFailure(std::string_view text) {
  const size_t open = text.find('\'');
  const size_t close = text.find("'. Error message:", open + 1);
  if (open == text.npos || close == text.npos) return {Kind::kFileUnreadable};
  LogMessage message{Kind::kFileUnreadable, "", text.substr(open + 1, close - open - 1)};
  message.detail = text.substr(close + 17);
  while (message.detail.starts_with(' ')) message.detail.remove_prefix(1);
  return message;
}

LogMessage ReadUnable(std::string_view text) {
  if (text.starts_with("to parse fdo_profile") || text.starts_with("to prase FDO profile") ||
      text.starts_with("to parse FDO profile")) {
    return {Kind::kFdoUnreadable};
  }
  if (!Consume(&text, "to read PGLE ")) return {};
  // December 2023 to January 2025: "text proto from PATH: MESSAGE"; May 2023: "profile: MESSAGE"
  LogMessage message{Kind::kFileUnreadable};
  if (!Consume(&text, "text proto from ") && !Consume(&text, "binary proto from ")) {
    message.detail = text;
    return message;
  }
  const size_t colon = text.find(": ");
  message.text = text.substr(0, colon);
  if (colon != text.npos) message.detail = text.substr(colon + 2);
  return message;
}

// "jit_f(12) = 0123..."
LogMessage ReadFingerprint(std::string_view text) {
  const size_t equals = text.rfind(" = ");
  const size_t open = text.substr(0, equals).rfind('(');
  if (equals == text.npos || open == text.npos) return {};
  return {Kind::kFingerprint, text.substr(0, open), Trimmed(text.substr(equals + 3))};
}

LogMessage ReadPgle(std::string_view text) {
  if (Consume(&text, "profile file does not exist: "))
    return {Kind::kFileMissing, "", Trimmed(text)};
  if (Consume(&text, "fallback: using ")) return {Kind::kFallback, "", Trimmed(text)};
  if (text.starts_with("found cost for: ")) return {Kind::kCostHit};
  if (text.starts_with("found latency ")) return {Kind::kCostHit};
  if (text.starts_with("missed cost for: ")) return {Kind::kCostMiss};
  if (text.starts_with("profile may not applicable to the module")) return {Kind::kMayNotApply};
  return {};
}

LogMessage ReadXla(std::string_view text) {
  switch (text.empty() ? '\0' : text.front()) {
    case ' ':
      if (text.size() > 2 && text[1] == ' ' && text[2] != ' ') {
        text = Trimmed(text.substr(2));
        if (text.find(' ') == text.npos) return {Kind::kMissingName, "", text};
      }
      break;
    case 'F':
      if (Consume(&text, "Found ")) return ReadFound(text);
      if (Consume(&text, "Fingerprint before LHS for module ")) return ReadFingerprint(text);
      break;
    case 'M':
      if (Consume(&text, "Missing ")) {
        if (const auto n = NumberBefore(text, " instructions from the profile.")) {
          return {Kind::kMissingCount, "", "", "", *n};
        }
      }
      break;
    case 'P':
      if (Consume(&text, "PGLE ")) return ReadPgle(text);
      break;
    case 'T':
      if (Consume(&text, "Tried but failed to parse ")) return ReadParseFailure(text);
      break;
    case 'U':
      if (Consume(&text, "Using PGLE profile ")) return ReadUsing(text);
      if (Consume(&text, "Unable ")) return ReadUnable(text);
      break;
    case 'X':
      if (text.starts_with("XLA service 0x") && text.find(" for platform Host") == text.npos &&
          text.find(" for platform ") != text.npos) {
        return {Kind::kProcessStart};
      }
      break;
    case '!':
      if (text.starts_with("!!! PGLE profile likely not applicable")) return {Kind::kNotApplicable};
      break;
    default:
      break;
  }
  return {};
}

// The module named behind `marker`: bare, quoted, or with "-HASH" (a cache key).
std::string_view ModuleBehind(std::string_view text, std::string_view marker) {
  const size_t at = text.find(marker);
  if (at == text.npos) return {};
  text.remove_prefix(at + marker.size());
  if (text.starts_with('\'') || text.starts_with('"')) text.remove_prefix(1);
  return text.substr(0, text.find_first_of(" '\","));
}

std::string_view WithoutCacheHash(std::string_view key) {
  const size_t dash = key.rfind('-');
  return dash == key.npos ? key : key.substr(0, dash);
}

// Messages that stand anywhere in a line: JAX's warnings, exceptions, CUPTI's error names.
LogMessage ReadAnywhere(std::string_view text) {
  if (const size_t at = text.find("CUPTI_ERROR_"); at != text.npos) {
    // JAX's hint to look for that name is no such error.
    if (text.find("PGLE collected an empty trace") != text.npos) return {Kind::kEmptyTrace};
    const std::string_view name = text.substr(at);
    const size_t end = name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    return {Kind::kCuptiError, "", name.substr(0, end)};
  }
  if (text.find("LatencyHidingScheduler current memory usage: ") != text.npos) {
    return {Kind::kSchedulerRan};
  }
  if (const size_t at = text.find("PGLE"); at != text.npos) {
    if (text.find("PGLE collected an empty trace") != text.npos) return {Kind::kEmptyTrace};
    if (text.find("PERSISTENT CACHE MISS for PGLE-optimized ") != text.npos) {
      return {Kind::kCacheMiss, ModuleBehind(text, "PGLE-optimized ")};
    }
    if (text.find("PERSISTENT CACHE WRITE with key ") != text.npos) {
      return {Kind::kCacheWrite, WithoutCacheHash(ModuleBehind(text, "WRITE with key "))};
    }
    if (text.find(" loaded from compilation cache") != text.npos) {
      return {Kind::kCacheLoaded, ModuleBehind(text, "PGLE-optimized ")};
    }
  }
  if (text.find("compilation cache hit for ") != text.npos) {
    return {Kind::kCacheHit, ModuleBehind(text, "cache hit for ")};
  }
  if (const size_t at = text.find(" missing instructions. Discarding the profile.");
      at != text.npos) {
    const size_t found = text.rfind("Found ", at);
    if (found != text.npos) {
      if (const auto n = NumberBefore(text.substr(found + 6, at - found - 6), "")) {
        return {Kind::kDiscarded, "", "", "", *n};
      }
    }
  }
  if (const size_t at = text.find(" in XLA_FLAGS: ");
      at != text.npos && text.find("Unknown flag") < at) {
    return {Kind::kUnknownFlag, "", Trimmed(text.substr(at + 15))};
  }
  return {};
}

}  // namespace

LogMessage ReadLogMessage(const LogLine& line) {
  if (line.severity != 0) {
    const LogMessage message = ReadXla(line.message);
    if (message.kind != Kind::kOther) return message;
    if (line.message.starts_with("PGLE ")) return {};  // VLOG, thousands of lines
  }
  const LogMessage message = ReadAnywhere(line.message);
  if (message.kind == Kind::kSchedulerRan && line.severity == 0) return {};
  // Python prints the source of a warning below it: no module there.
  if (message.module.find('{') != message.module.npos) return {};
  return message;
}

}  // namespace pgle
