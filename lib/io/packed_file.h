// An output that appears whole or not at all, packed with zstd where wished.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "io/output.h"

namespace pgle {

class PackedFile {
 public:
  // `level`: of zstd; 0 writes the bytes as they are.
  // Errors: as AtomicFile's.
  static Result<PackedFile> Create(const std::string& path, int level);
  PackedFile(PackedFile&&) noexcept;
  ~PackedFile();

  Status Write(std::string_view bytes);
  Status Commit();
  // Bytes in the file, once it is committed.
  uint64_t size() const { return size_; }

 private:
  struct Packer;
  explicit PackedFile(AtomicFile file);
  Status Pack(std::string_view bytes, bool is_last);

  AtomicFile file_;
  std::string name_;
  std::unique_ptr<Packer> packer_;
  uint64_t size_ = 0;
};

}  // namespace pgle
