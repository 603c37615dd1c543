#include <fmt/format.h>
#include <zstd.h>

#include <optional>
#include <utility>

#include "base/sha256.h"
#include "io/output.h"
#include "samples/sample_file.h"
#include "samples/sample_rules.h"
#include "samples/sample_wire.h"

namespace pgle {
namespace {

constexpr int kLevel = 3;
// Matches are short and near (neighbouring names, durations), and thousands of decoders, each with
// a window and a block, live side by side in pgle-merge.
constexpr int kWindowLog = 15;

}  // namespace

struct SampleWriter::State {
  State(std::string name, AtomicFile output) : name(std::move(name)), file(std::move(output)) {
    ZSTD_CCtx* context = compressor.get();
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, kLevel);
    ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, kWindowLog);
    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 0);  // the trailer has a better one
  }

  Error Bug(std::string what) const {
    return Failed(name, "cannot write samples: " + std::move(what),
                  "this is a bug in pgle tools: please report it");
  }

  Status Compress(std::string_view bytes, ZSTD_EndDirective directive) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    while (true) {
      ZSTD_outBuffer out{packed.data(), packed.size(), 0};
      const size_t left = ZSTD_compressStream2(compressor.get(), &out, &in, directive);
      if (ZSTD_isError(left)) {
        return Failed(name, fmt::format("cannot compress: {}", ZSTD_getErrorName(left)),
                      "free some memory and run again");
      }
      if (out.pos > 0) PGLE_RETURN_IF_ERROR(file.Write({packed.data(), out.pos}));
      if (directive == ZSTD_e_end ? left == 0 : in.pos == in.size) return {};
    }
  }

  // Writes `message` as a field of the file.
  Status WriteMessage(char tag) {
    if (message.size() > sample_wire::kMaxMessageBytes) {
      return Failed(name,
                    fmt::format("{} bytes in one record, of {} at most", message.size(),
                                sample_wire::kMaxMessageBytes),
                    "capture fewer steps");
    }
    const std::string head = sample_wire::EncodeHead(tag, message.size());
    hash.Update(head);
    hash.Update(message);
    PGLE_RETURN_IF_ERROR(Compress(head, ZSTD_e_continue));
    return Compress(message, ZSTD_e_continue);
  }

  Status Add(const SampleRecord& record) {
    if (const std::string fault = checker.Fault(header, record); !fault.empty()) return Bug(fault);
    sample_wire::EncodeRecord(record, &message);
    return WriteMessage(sample_wire::kRecordTag);
  }

  Status Finish() {
    sample_wire::EncodeTrailer({checker.records(), checker.durations(), hash.Finish()}, &message);
    const std::string head = sample_wire::EncodeHead(sample_wire::kTrailerTag, message.size());
    PGLE_RETURN_IF_ERROR(Compress(head, ZSTD_e_continue));
    PGLE_RETURN_IF_ERROR(Compress(message, ZSTD_e_continue));
    PGLE_RETURN_IF_ERROR(Compress({}, ZSTD_e_end));
    return file.Commit();
  }

  // After a failure, and after the end, nothing is written: a file with a gap must get no trailer.
  template <typename Step>
  Status Guard(Step step) {
    if (closed.has_value()) return *closed;
    Status status = step();
    if (!status.ok()) closed = status.error();
    return status;
  }

  std::string name;
  AtomicFile file;
  SampleHeader header;
  RecordChecker checker;
  Sha256 hash;
  std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> compressor{ZSTD_createCCtx(), ZSTD_freeCCtx};
  std::string packed = std::string(ZSTD_CStreamOutSize(), '\0');
  std::string message;
  std::optional<Error> closed;
};

SampleWriter::SampleWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
SampleWriter::SampleWriter(SampleWriter&&) noexcept = default;
SampleWriter::~SampleWriter() = default;

Result<SampleWriter> SampleWriter::Create(const std::string& path, const SampleHeader& header) {
  PGLE_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  auto state = std::make_unique<State>(path == "-" ? "(stdout)" : path, std::move(file));
  if (const std::string fault = HeaderFault(header); !fault.empty()) return state->Bug(fault);
  state->header = header;
  sample_wire::EncodeHeader(header, &state->message);
  PGLE_RETURN_IF_ERROR(state->WriteMessage(sample_wire::kHeaderTag));
  return SampleWriter(std::move(state));
}

Status SampleWriter::Add(const SampleRecord& record) {
  return state_->Guard([&] { return state_->Add(record); });
}

Status SampleWriter::Finish() {
  const Status status = state_->Guard([&] { return state_->Finish(); });
  if (status.ok()) state_->closed = state_->Bug("the file is finished already");
  return status;
}

}  // namespace pgle
