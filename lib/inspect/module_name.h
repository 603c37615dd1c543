// Which modules of a log are the user's, and how the others are counted.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace pgle {

// True for a module that the user asks about: by default those that JAX names (jit_, pjit_, pmap_).
using ModuleFilter = std::function<bool(std::string_view module)>;

bool IsFrameworkModule(std::string_view module);

// The name without the numbers and copies behind it: the autotuner compiles hundreds of modules
// like gemm_fusion_dot.12 and gemm_fusion_dot_129.
std::string ModuleStem(std::string_view module);

}  // namespace pgle
