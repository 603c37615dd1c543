// Diagnostics in the JSON reports of all tools: an array of {severity, where, what, hint}.
#pragma once

#include <nlohmann/json.hpp>

#include "base/diagnostics.h"

namespace pgle {

inline nlohmann::ordered_json DiagnosticsJson(const Diagnostics& diagnostics) {
  nlohmann::ordered_json array = nlohmann::ordered_json::array();
  for (const Diagnostic& item : diagnostics.items()) {
    array.push_back(
        {{"severity", item.severity == Diagnostic::Severity::kWarning ? "warning" : "note"},
         {"where", item.where},
         {"what", item.what},
         {"hint", item.hint}});
  }
  return array;
}

}  // namespace pgle
