#include "samples/sample_rules.h"

#include <fmt/format.h>

#include <tuple>

namespace pgle {

bool ComesBefore(const SampleRecord& a, const SampleRecord& b) {
  return std::tie(a.module, a.name, a.op, a.process, a.device) <
         std::tie(b.module, b.name, b.op, b.process, b.device);
}

// Messages name things by number: names of a damaged file may hold anything, line ends too.
std::string HeaderFault(const SampleHeader& header) {
  for (size_t i = 0; i < header.processes.size(); ++i) {
    if (header.processes[i].id.size() != kProcessIdBytes) {
      return fmt::format("process {} has an id of {} bytes instead of {}", i,
                         header.processes[i].id.size(), kProcessIdBytes);
    }
    if (i > 0 && header.processes[i - 1].id >= header.processes[i].id) {
      return fmt::format("process {} is not sorted by id, or comes twice", i);
    }
  }
  for (size_t i = 0; i < header.modules.size(); ++i) {
    const SampleModule& module = header.modules[i];
    if (i > 0) {
      const SampleModule& previous = header.modules[i - 1];
      if (std::tie(previous.fingerprint, previous.name) >=
          std::tie(module.fingerprint, module.name)) {
        return fmt::format("module {} is not sorted by fingerprint and name, or comes twice", i);
      }
    }
    if (module.device_time < 0) return fmt::format("module {} has a negative device time", i);
    for (size_t j = 0; j < module.processes.size(); ++j) {
      if (module.processes[j] >= header.processes.size()) {
        return fmt::format("module {} names process {} of {}", i, module.processes[j],
                           header.processes.size());
      }
      if (j > 0 && module.processes[j - 1] >= module.processes[j]) {
        return fmt::format("the processes of module {} are not in order", i);
      }
    }
  }
  return "";
}

std::string RecordChecker::Fault(const SampleHeader& header, const SampleRecord& record) {
  const auto fault = [&](const std::string& what) {
    return fmt::format("record {} {}", records_ + 1, what);
  };
  if (record.module >= header.modules.size()) {
    return fault(fmt::format("names module {} of {}", record.module, header.modules.size()));
  }
  if (record.process >= header.processes.size()) {
    return fault(fmt::format("names process {} of {}", record.process, header.processes.size()));
  }
  if (record.sample_class > SampleClass::kCalled) {
    return fault(fmt::format("has class {}", static_cast<uint32_t>(record.sample_class)));
  }
  if (records_ > 0 && !ComesBefore(previous_, record)) {
    return fault("is not sorted by module, name, op, process and device, or comes twice");
  }
  for (const Picoseconds duration : record.durations) {
    if (duration < 0) return fault("has a negative duration");
  }
  previous_.module = record.module;
  previous_.name = record.name;
  previous_.op = record.op;
  previous_.process = record.process;
  previous_.device = record.device;
  ++records_;
  durations_ += record.durations.size();
  return "";
}

}  // namespace pgle
