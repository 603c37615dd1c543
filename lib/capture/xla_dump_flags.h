// XLA_FLAGS of the command: the user's, and what makes XLA leave its HLO and its autotuner's
// choices behind.
#pragma once

#include <optional>
#include <string>

#include "base/diagnostics.h"

namespace pgle {

struct XlaFlagsWanted {
  std::string hlo_folder;     // where HLO is to go unless the user dumps already; empty: nowhere
  std::string autotune_file;  // where the autotuner's choices are to go; empty: nowhere
};

struct XlaFlagsEdit {
  std::optional<std::string> value;  // the new XLA_FLAGS; none: leave it as it is
  std::string hlo_folder;            // where XLA's dump will lie; empty: there will be none
  std::string autotune_file;         // as above; the user's own where he names one
};

// `current`: the value of XLA_FLAGS. Of equal flags XLA takes the last one, so ours go behind the
// user's, and only those that he does not give himself. Where XLA would not read that far (a token
// that starts without '-', a quote that is not closed) they go in front, and that is warned of. A
// file of flags is replaced by its content, since the variable holds either a file or flags.
XlaFlagsEdit EditXlaFlags(const std::string& current, const XlaFlagsWanted& wanted,
                          Diagnostics* diagnostics);

// --name="value", with quotes where XLA needs them.
std::string FormatXlaFlag(const std::string& name, const std::string& value);

}  // namespace pgle
