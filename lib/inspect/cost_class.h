// What kind of work an entry of a profile stands for, told by its name alone: a profile says
// nothing else.
#pragma once

#include <string_view>

namespace pgle {

// A matrix multiplication, as XLA names them: gemm_fusion_dot.7, custom-call.3, cublas-gemm.1,
// triton_gemm_dot.4, dot.5.
bool IsGemmName(std::string_view instruction);

// The class of an instruction by its name, without fingerprint: "all-gather" and the other
// collectives by kind, "gemm", "copy", "command buffer", "fusion", "other". Static strings.
std::string_view CostClassOf(std::string_view instruction);

}  // namespace pgle
