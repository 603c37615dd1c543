// XLA_FLAGS as XLA parses them (XLA: parse_flags_from_env.cc). XLA is silent about what it drops.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pgle {

struct XlaFlag {
  std::string name;                  // with its dashes, as far as the first '='
  std::optional<std::string> value;  // without quotes; none: the flag stands alone
};

struct XlaFlags {
  std::vector<XlaFlag> flags;  // in order; of equal names the last is effective
  std::string file;            // the value named a file that holds the flags; else empty
  // What XLA never read: it stops at the first token that does not start with '-'.
  std::string dropped;
  std::string stopped_at;       // that token
  bool unclosed_quote = false;  // the last value runs to the end of the text

  // The effective value; null when the flag is not given. name: without dashes.
  const XlaFlag* Find(std::string_view name) const;
};

// The value of the variable itself. Does not follow a file name: see ReadXlaFlags.
XlaFlags ParseXlaFlags(std::string_view text);

// As XLA reads the variable: a value that does not start with '-' names a file.
// Errors: that file cannot be read (XLA then ends the process).
Result<XlaFlags> ReadXlaFlags(const std::string& value);

}  // namespace pgle
