#include "capture/recorder/cupti.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace pgle::recorder::cupti {
namespace {

template <typename Function>
bool Take(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

bool TakeAll(void* library, Api* api) {
  Take(library, "cuptiActivitySetAttribute", &api->set_attribute);
  return Take(library, "cuptiGetVersion", &api->get_version) &&
         Take(library, "cuptiSubscribe", &api->subscribe) &&
         Take(library, "cuptiEnableCallback", &api->enable_callback) &&
         Take(library, "cuptiActivityRegisterCallbacks", &api->register_callbacks) &&
         Take(library, "cuptiActivityEnable", &api->enable) &&
         Take(library, "cuptiActivityDisable", &api->disable) &&
         Take(library, "cuptiActivityFlushAll", &api->flush_all) &&
         Take(library, "cuptiActivityGetNextRecord", &api->next_record) &&
         Take(library, "cuptiActivityGetNumDroppedRecords", &api->dropped_records) &&
         Take(library, "cuptiGetResultString", &api->result_string) &&
         Take(library, "cuptiGetGraphNodeId", &api->graph_node_id);
}

// The CUDA major versions to try, in order. A CUPTI of 12 works under a driver of 13, not the other
// way round.
struct Majors {
  int at[2];
  int count;
};

Majors MajorsFor(uint32_t driver_version) {
  if (driver_version != 0 && driver_version < 13000) return {{12, 0}, 1};
  return {{13, 12}, 2};
}

void* OpenByName(Majors majors, int flags) {
  char name[64];
  for (int i = 0; i < majors.count; ++i) {
    snprintf(name, sizeof(name), "libcupti.so.%d", majors.at[i]);
    if (void* library = dlopen(name, flags); library != nullptr) return library;
  }
  return nullptr;
}

// Roots of site-packages of which the process has loaded libraries. Nothing is opened while the
// list of libraries is walked: the linker's locks are held then.
struct Roots {
  char at[4][512];
  int count;
};

int CollectRoot(dl_phdr_info* info, size_t, void* data) {
  auto* const roots = static_cast<Roots*>(data);
  const char* const path = info->dlpi_name;
  static constexpr const char* kFolders[] = {"/nvidia/", "/jax_plugins/", "/jaxlib/"};
  for (const char* const folder : kFolders) {
    const char* const end = path == nullptr ? nullptr : strstr(path, folder);
    if (end == nullptr) continue;
    const auto size = static_cast<size_t>(end - path);
    if (size >= sizeof(roots->at[0])) continue;
    for (int i = 0; i < roots->count; ++i) {
      if (strlen(roots->at[i]) == size && memcmp(roots->at[i], path, size) == 0) return 0;
    }
    memcpy(roots->at[roots->count], path, size);
    roots->at[roots->count][size] = '\0';
    return ++roots->count == 4 ? 1 : 0;
  }
  return 0;
}

// The wheels' layout: nvidia/cu13/lib and, for CUDA 12, nvidia/cuda_cupti/lib.
void* OpenBeside(Majors majors) {
  static Roots roots;
  dl_iterate_phdr(CollectRoot, &roots);
  char path[640];
  for (int i = 0; i < majors.count; ++i) {
    const char* const place = majors.at[i] == 13 ? "cu13" : "cuda_cupti";
    for (int root = 0; root < roots.count; ++root) {
      snprintf(path, sizeof(path), "%s/nvidia/%s/lib/libcupti.so.%d", roots.at[root], place,
               majors.at[i]);
      if (void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL); library != nullptr) return library;
    }
  }
  return nullptr;
}

void* OpenToolkits(Majors majors) {
  static constexpr const char* kFolders[] = {"/usr/local/cuda/lib64",
                                             "/usr/local/cuda/extras/CUPTI/lib64"};
  char path[256];
  for (int i = 0; i < majors.count; ++i) {
    for (const char* const folder : kFolders) {
      snprintf(path, sizeof(path), "%s/libcupti.so.%d", folder, majors.at[i]);
      if (void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL); library != nullptr) return library;
    }
  }
  return nullptr;
}

void* Open(uint32_t driver_version, char* text, size_t text_size) {
  const char* const chosen = getenv("PGLE_CUPTI_PATH");
  if (chosen != nullptr && *chosen != '\0') {
    void* const library = dlopen(chosen, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) snprintf(text, text_size, "PGLE_CUPTI_PATH: %s", dlerror());
    return library;
  }
  const Majors majors = MajorsFor(driver_version);
  if (void* library = OpenByName(majors, RTLD_NOLOAD | RTLD_LAZY); library != nullptr) {
    return library;
  }
  if (void* library = OpenBeside(majors); library != nullptr) return library;
  if (void* library = OpenByName(majors, RTLD_NOW | RTLD_LOCAL); library != nullptr) return library;
  if (void* library = OpenToolkits(majors); library != nullptr) return library;
  snprintf(text, text_size,
           "no libcupti.so.%d in the process, beside its CUDA libraries, in the library path or in "
           "/usr/local/cuda",
           majors.at[0]);
  return nullptr;
}

}  // namespace

Fault Load(Api* api, uint32_t driver_version, char* text, size_t text_size, int* code) {
  void* const library = Open(driver_version, text, text_size);
  if (library == nullptr) return Fault::kNoCupti;
  if (!TakeAll(library, api)) {
    snprintf(text, text_size, "functions are missing");
    return Fault::kUnknownCupti;
  }
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(api->get_version), &info) != 0 && info.dli_fname != nullptr) {
    snprintf(api->path, sizeof(api->path), "%s", info.dli_fname);
  }
  api->get_version(&api->version);
  *code = static_cast<int>(api->version);
  // Another major version may have moved what stands in the records.
  if (api->version < kVersion12_0 || api->version >= kVersion14_0) {
    snprintf(text, text_size, "%.200s", api->path);
    return Fault::kUnknownCupti;
  }
  return Fault::kNone;
}

const char* NameOf(const Api& api, Result result) {
  const char* name = nullptr;
  if (api.result_string == nullptr || api.result_string(result, &name) != kSuccess ||
      name == nullptr) {
    return "unknown error";
  }
  return name;
}

}  // namespace pgle::recorder::cupti
