// HLO modules from an XLA dump (--xla_dump_to): a folder of module_NNNN.<name>.<point>.<format>
// files, or one file.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "hlo/module.h"

namespace pgle {

class DumpFolder {
 public:
  // `path`: a folder or a file; .hlo.pb and .txt, each also .gz and .zst. Of a folder, the modules
  // as they ran: *after_optimizations. Of one module in several formats the proto is taken.
  // Errors: does not exist, holds no optimized module.
  static Result<DumpFolder> Open(const std::string& path, const std::string& spool_directory);

  // The module of that name, by preference the one with that id (ids count per process, so a dump
  // of another process may differ); null when there is none or the choice is not clear.
  // Errors: the file is damaged.
  Result<std::shared_ptr<const HloModule>> Find(const std::string& name, int64_t program_id);

  // Every module, in order of id and name. Errors: a file is damaged.
  Result<std::vector<std::shared_ptr<const HloModule>>> All();

  // The files behind All(), in the same order.
  std::vector<std::string> files() const;

  const std::string& path() const { return path_; }

 private:
  struct Entry {
    std::string file;
    std::string name;
    int64_t id = -1;                          // of the file's name; -1 when it has none
    std::shared_ptr<const HloModule> module;  // once read
  };
  Result<std::shared_ptr<const HloModule>> Load(Entry& entry);

  std::string path_, spool_directory_;
  std::vector<Entry> entries_;
};

}  // namespace pgle
