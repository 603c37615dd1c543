// Texts for protocol buffers, whose readers refuse a whole message for one string that is no UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace pgle {

// The text, with '?' in place of each byte that belongs to no UTF-8 character (RFC 3629).
std::string ToUtf8(std::string_view text);

}  // namespace pgle
