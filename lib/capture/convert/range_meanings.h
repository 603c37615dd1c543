// What the stacks of NVTX ranges say: the module that runs, and the HLO op.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/convert/spill_reader.h"

namespace pgle {

inline constexpr uint32_t kNone = UINT32_MAX;

struct CapturedModule {
  std::string name;  // hlo_module
  int64_t program_id = 0;
};

struct CapturedOp {
  uint32_t module = 0;
  std::string name;       // hlo_op
  std::string op_name;    // "name" of the annotation: where the program made the op
  int64_t unique_id = 0;  // unique_hlo_op_id; 0 when XLA gave none
};

class RangeMeanings {
 public:
  struct Meaning {
    uint32_t module = kNone;  // the innermost XlaModule of the stack
    uint32_t op = kNone;      // the innermost range with an hlo_op, if a module is known
  };

  explicit RangeMeanings(const Recording& spill);

  // Of a stack of ranges. Nothing under XLA's own compilation has a module or an op: that is
  // autotuning. A stack without XlaModule (work that a thunk does on another thread) takes the
  // module whose stacks hold the same text, if only one does.
  const Meaning& operator[](uint32_t range) const {
    return range < meanings_.size() ? meanings_[range] : meanings_[0];
  }
  const std::vector<CapturedModule>& modules() const { return modules_; }
  const std::vector<CapturedOp>& ops() const { return ops_; }
  // The module that a text of an XlaModule range names; kNone when it is none.
  uint32_t ModuleOfString(uint32_t string) const;

 private:
  struct Text {
    bool is_module = false, is_compile = false, is_op = false;
    uint32_t module = kNone;
  };
  void ReadText(uint32_t string, std::string_view text);
  uint32_t OpFor(uint32_t module, std::string_view text);

  std::vector<Text> texts_;  // by string id
  std::vector<Meaning> meanings_;
  std::vector<CapturedModule> modules_;
  std::vector<CapturedOp> ops_;
  std::map<std::pair<std::string, int64_t>, uint32_t> module_ids_;
  std::map<std::pair<uint32_t, std::string>, uint32_t> op_ids_;
};

}  // namespace pgle
