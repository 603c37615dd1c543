// Finds the few lines of a log that matter here without looking at the others one by one.
#pragma once

#include <cstddef>
#include <string_view>

namespace pgle {

// The position of the next marker at or after `from`; npos when there is none. Every message that
// log_message.h knows holds a marker, in its text or in the file name of its prefix.
size_t FindAnchor(std::string_view text, size_t from);

}  // namespace pgle
