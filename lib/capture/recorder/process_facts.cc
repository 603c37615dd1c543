#include "capture/recorder/process_facts.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace pgle::recorder {
namespace {

constexpr size_t kMaxValue = 16 << 10;

void AppendPair(const char* key, const char* value, SpillFile* file) {
  file->Append(key, strlen(key) + 1);
  file->Append(value, strnlen(value, kMaxValue));
  file->Append("", 1);
}

}  // namespace

void AppendProcessFacts(const char* cupti_path, SpillFile* file) {
  char value[kMaxValue];
  const int command = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  if (command >= 0) {
    const ssize_t size = read(command, value, sizeof(value) - 1);
    close(command);
    if (size > 0) {
      for (ssize_t i = 0; i + 1 < size; ++i) {
        if (value[i] == '\0') value[i] = ' ';
      }
      value[size] = '\0';
      AppendPair(kTextCommand, value, file);
    }
  }
  const ssize_t size = readlink("/proc/self/exe", value, sizeof(value) - 1);
  if (size > 0) {
    value[size] = '\0';
    AppendPair(kTextExecutable, value, file);
  }
  if (*cupti_path != '\0') AppendPair(kTextCupti, cupti_path, file);
  if (const char* const flags = getenv("XLA_FLAGS"); flags != nullptr) {
    AppendPair(kTextXlaFlags, flags, file);
  }
}

}  // namespace pgle::recorder
