// Streaming decompression from one file descriptor to another.
#pragma once

#include <string>

#include "base/result.h"

namespace pgle {

enum class Compression { kNone, kZstd, kGzip };

// Told by the first bytes; `size` may be small.
Compression DetectCompression(const char* data, size_t size);

// Reads `in` to its end and writes what it holds to `out`, unpacked. `head` holds bytes that were
// already read from `in`. `name` is for messages.
// Errors: damaged or truncated stream, read or write failure.
Status UnpackTo(int in, const std::string& head, int out, const std::string& name);

}  // namespace pgle
