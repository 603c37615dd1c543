// SHA-256, the identity of a trace file in sample files and of a profile in JSON reports.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace pgle {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void Update(std::string_view bytes);
  // 32 raw bytes; call once.
  std::string Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string Sha256Of(std::string_view bytes);  // 32 raw bytes
std::string ToHex(std::string_view bytes);     // two lower-case digits a byte

}  // namespace pgle
