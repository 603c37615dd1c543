#include "inspect/module_name.h"

namespace pgle {

bool IsFrameworkModule(std::string_view module) {
  return module.starts_with("jit_") || module.starts_with("pjit_") || module.starts_with("pmap_");
}

std::string ModuleStem(std::string_view module) {
  while (true) {
    size_t end = module.size();
    while (end > 0 && module[end - 1] >= '0' && module[end - 1] <= '9') --end;
    if (end < module.size() && end > 1 && (module[end - 1] == '.' || module[end - 1] == '_')) {
      module = module.substr(0, end - 1);
    } else if (module.ends_with(".clone") || module.ends_with(".remat")) {
      module = module.substr(0, module.size() - 6);
    } else {
      return std::string(module);
    }
  }
}

}  // namespace pgle
