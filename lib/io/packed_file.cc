#include "io/packed_file.h"

#include <fmt/format.h>
#include <zstd.h>

#include <utility>
#include <vector>

namespace pgle {

struct PackedFile::Packer {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  std::vector<char> out = std::vector<char>(ZSTD_CStreamOutSize());
  ~Packer() { ZSTD_freeCCtx(context); }
};

PackedFile::PackedFile(AtomicFile file) : file_(std::move(file)) {}
PackedFile::PackedFile(PackedFile&&) noexcept = default;
PackedFile::~PackedFile() = default;

Result<PackedFile> PackedFile::Create(const std::string& path, int level) {
  PGLE_ASSIGN_OR_RETURN(AtomicFile atomic, AtomicFile::Create(path));
  PackedFile file(std::move(atomic));
  file.name_ = path;
  if (level > 0) {
    file.packer_ = std::make_unique<Packer>();
    if (file.packer_->context == nullptr) return Failed(path, "no memory for the compressor");
    ZSTD_CCtx_setParameter(file.packer_->context, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(file.packer_->context, ZSTD_c_checksumFlag, 1);
  }
  return file;
}

Status PackedFile::Pack(std::string_view bytes, bool is_last) {
  ZSTD_inBuffer in = {bytes.data(), bytes.size(), 0};
  for (;;) {
    ZSTD_outBuffer out = {packer_->out.data(), packer_->out.size(), 0};
    const size_t left =
        ZSTD_compressStream2(packer_->context, &out, &in, is_last ? ZSTD_e_end : ZSTD_e_continue);
    if (ZSTD_isError(left)) {
      return Failed(name_, fmt::format("cannot compress: {}", ZSTD_getErrorName(left)));
    }
    PGLE_RETURN_IF_ERROR(file_.Write({packer_->out.data(), out.pos}));
    size_ += out.pos;
    if (is_last ? left == 0 : in.pos == in.size) return {};
  }
}

Status PackedFile::Write(std::string_view bytes) {
  if (packer_ != nullptr) return Pack(bytes, false);
  size_ += bytes.size();
  return file_.Write(bytes);
}

Status PackedFile::Commit() {
  if (packer_ != nullptr) PGLE_RETURN_IF_ERROR(Pack({}, true));
  return file_.Commit();
}

}  // namespace pgle
