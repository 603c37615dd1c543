#include "truth.h"

#include <unistd.h>

namespace pgle::fake {
namespace {

const char* NameOf(Given given) {
  switch (given) {
    case Given::kKernel:
      return "kernel";
    case Given::kCopy:
      return "copy";
    case Given::kSet:
      return "set";
  }
  return "";
}

std::string Quoted(const std::string& text) {
  return text.empty() ? "null" : '"' + text + '"';  // no text of this program needs an escape
}

}  // namespace

uint32_t TruthFile::NextSerial() {
  std::lock_guard lock(mutex_);
  return ++serials_;
}

uint64_t TruthFile::NextExecution(const std::string& module_text, int device) {
  std::lock_guard lock(mutex_);
  return executions_[{module_text, device}]++;
}

void TruthFile::Write(const std::string& lines) {
  std::lock_guard lock(mutex_);
  size_t written = 0;
  while (written < lines.size()) {
    const ssize_t count = write(file_, lines.data() + written, lines.size() - written);
    if (count <= 0) return;
    written += size_t(count);
  }
}

std::string TruthLine(const Launched& launched, uint32_t thread) {
  std::string line = "{\"pid\":" + std::to_string(getpid());
  line += ",\"thread\":" + std::to_string(thread);
  line += ",\"device\":" + std::to_string(launched.device);
  line += std::string(",\"kind\":\"") + NameOf(launched.given) + '"';
  line += ",\"serial\":" + std::to_string(launched.serial);
  line += std::string(",\"graph\":") + (launched.in_graph ? "true" : "false");
  line += ",\"called\":" + std::to_string(launched.called);
  line += ",\"time\":" + std::to_string(launched.time);
  line += ",\"scope\":" + std::to_string(launched.scope);
  line += ",\"stack\":" + Quoted(launched.stack);
  const bool compiles = launched.stack.find("XlaCompile") != std::string::npos;
  const bool in_module = !compiles && launched.stack.find("XlaModule:") != std::string::npos;
  line += ",\"module\":" + Quoted(in_module ? Field(launched.stack, "hlo_module") : "");
  line += ",\"op\":" + Quoted(in_module ? Field(launched.stack, "hlo_op") : "");
  line += ",\"run\":" + Quoted(launched.execution.text);
  line += ",\"execution\":" +
          (launched.execution.text.empty() ? "null" : std::to_string(launched.execution.index));
  return line + "}\n";
}

std::string Join(const std::vector<std::string>& ranges) {
  std::string joined;
  for (const std::string& range : ranges) {
    if (!joined.empty()) joined += "::";
    joined += range;
  }
  return joined;
}

std::string Field(const std::string& stack, const std::string& key) {
  size_t at = std::string::npos;
  for (const char before : {'#', ','}) {
    const size_t found = stack.rfind(before + key + '=');
    if (found != std::string::npos && (at == std::string::npos || found > at)) at = found;
  }
  if (at == std::string::npos) return "";
  at += key.size() + 2;
  return stack.substr(at, stack.find_first_of(",#", at) - at);
}

}  // namespace pgle::fake
