// Log text for tests.
#pragma once

#include <string>
#include <vector>

namespace pgle {

// Lines as XLA prints them, in either prefix format.
class LogText {
 public:
  explicit LogText(bool tsl = false) : tsl_(tsl) {}

  LogText& Say(int thread, const std::string& message, char severity = 'I') {
    text_ += before_;
    if (tsl_) {
      text_ += std::string("2025-07-21 16:09:43.551600: ") + severity +
               " external/xla/xla/service/profile_x.cc:478] " + message + "\n";
    } else {
      text_ += severity + std::string("1130 14:21:32.181551    ") + std::to_string(thread) +
               " profile_x.cc:393] " + message + "\n";
    }
    return *this;
  }
  LogText& Start(int thread) {
    return Say(thread,
               "XLA service 0x3aef initialized for platform CUDA (this does not guarantee)");
  }
  LogText& Using(int thread, const std::string& path = "/d/p.pb") {
    return Say(thread, "Using PGLE profile from " + path);
  }
  // "Found profile", with the module's name or (before June 2025) without.
  LogText& Open(int thread, const std::string& module) {
    return Say(thread, module.empty() ? "Found profile, using profile guided latency estimator"
                                      : "Found profile for module " + module +
                                            ", using profile guided latency estimator");
  }
  LogText& Counts(int thread, int found, const std::vector<std::string>& missing) {
    Say(thread, "Found " + std::to_string(found) + " instructions from the profile.", 'W');
    Say(thread, "Missing " + std::to_string(missing.size()) + " instructions from the profile.",
        'W');
    for (const std::string& name : missing) Say(thread, "  " + name, 'W');
    return *this;
  }
  LogText& Counts(int thread, int found, int missing) {
    std::vector<std::string> names;
    for (int i = 0; i < missing; ++i) names.push_back("fusion." + std::to_string(i));
    return Counts(thread, found, names);
  }
  LogText& Scheduled(int thread) {
    return Say(thread,
               "[latency-hiding-scheduler] LatencyHidingScheduler current memory usage: 3 "
               "bytes. Current limit: 4");
  }
  LogText& Raw(const std::string& line) {
    text_ += line + "\n";
    return *this;
  }
  // What a launcher puts before the lines that follow.
  LogText& Before(const std::string& label) {
    before_ = label;
    return *this;
  }
  const std::string& str() const { return text_; }

 private:
  bool tsl_;
  std::string before_, text_;
};

// A line of absl's format in TSL's: "2026-11-30 14:21:32.181551: I external/xla/xla/x.cc:393] m".
inline std::string AsTsl(const std::string& text) {
  std::string out;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    const size_t file =
        line.size() > 30 ? line.find_first_not_of("0123456789 ", 21) : std::string::npos;
    if (line.size() > 30 && std::string("IWEF").find(line[0]) != std::string::npos &&
        line[8] == ':' && file != std::string::npos) {
      out += "2026-" + line.substr(1, 2) + "-" + line.substr(3, 2) + line.substr(5, 16) + ": " +
             line[0] + " external/xla/xla/service/" + line.substr(file) + "\n";
    } else {
      out += line + "\n";
    }
  }
  return out;
}

}  // namespace pgle
