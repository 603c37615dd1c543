#include "samples/sample_wire.h"

#include <limits>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

namespace pgle::sample_wire {
namespace {

namespace field {
enum Header : uint32_t { kFormatVersion = 1, kStatistic = 2, kProcesses = 3, kModules = 4 };
enum Process : uint32_t { kProcessId = 1, kProcessName = 2, kDevices = 3 };
enum Module : uint32_t {
  kModuleName = 1,
  kFingerprint = 2,
  kModuleProcesses = 3,
  kDeviceTime = 4,
};
enum Record : uint32_t {
  kModule = 1,
  kName = 2,
  kOp = 3,
  kProcess = 4,
  kDevice = 5,
  kClass = 6,
  kGroupSize = 7,
  kDurations = 8,
};
enum Trailer : uint32_t { kRecordCount = 1, kDurationCount = 2, kSha256 = 3 };
}  // namespace field

// Writes what is not the default, as every protobuf encoder does.
class FieldWriter {
 public:
  explicit FieldWriter(std::string* to) : writer_(*to) { to->clear(); }
  void Number(uint32_t number, uint64_t value) {
    if (value != 0) writer_.add_uint64(number, value);
  }
  void Bytes(uint32_t number, const std::string& value) {
    if (!value.empty()) writer_.add_bytes(number, value);
  }
  // One of a repeated field, or a message: written when empty, too.
  void Element(uint32_t number, const std::string& value) { writer_.add_bytes(number, value); }
  template <typename T>
  void Packed(uint32_t number, const std::vector<T>& values) {  // nothing when empty
    if constexpr (std::is_signed_v<T>) {
      writer_.add_packed_int64(number, values.begin(), values.end());
    } else {
      writer_.add_packed_uint64(number, values.begin(), values.end());
    }
  }

 private:
  protozero::pbf_writer writer_;
};

// A field with the wire type that the format gives it; with another type it counts as unknown, as
// in protobuf.
constexpr uint32_t Varint(uint32_t number) {
  return protozero::tag_and_type(number, protozero::pbf_wire_type::varint);
}
constexpr uint32_t Bytes(uint32_t number) {
  return protozero::tag_and_type(number, protozero::pbf_wire_type::length_delimited);
}

uint32_t ToUint32(uint64_t value) {
  if (value > std::numeric_limits<uint32_t>::max()) throw protozero::varint_too_long_exception();
  return static_cast<uint32_t>(value);
}

uint32_t GetUint32(protozero::pbf_reader& fields) {
  return ToUint32(fields.get_uint64());
}

SampleProcess DecodeProcess(protozero::pbf_reader fields) {
  SampleProcess process;
  while (fields.next()) {
    switch (fields.tag_and_type()) {
      case Bytes(field::kProcessId):
        process.id = fields.get_bytes();
        break;
      case Bytes(field::kProcessName):
        process.name = fields.get_string();
        break;
      case Bytes(field::kDevices):
        process.devices.push_back(fields.get_string());
        break;
      default:
        fields.skip();
    }
  }
  return process;
}

SampleModule DecodeModule(protozero::pbf_reader fields) {
  SampleModule module;
  while (fields.next()) {
    switch (fields.tag_and_type()) {
      case Bytes(field::kModuleName):
        module.name = fields.get_string();
        break;
      case Bytes(field::kFingerprint):
        module.fingerprint = fields.get_string();
        break;
      case Bytes(field::kModuleProcesses):
        for (const uint64_t process : fields.get_packed_uint64()) {
          module.processes.push_back(ToUint32(process));
        }
        break;
      case Varint(field::kModuleProcesses):
        module.processes.push_back(GetUint32(fields));
        break;
      case Varint(field::kDeviceTime):
        module.device_time = fields.get_int64();
        break;
      default:
        fields.skip();
    }
  }
  return module;
}

// Runs `decode` over the fields of `bytes`; protozero's exceptions end here.
template <typename Decode>
std::string ForFields(std::string_view bytes, Decode decode) {
  try {
    protozero::pbf_reader fields(bytes.data(), bytes.size());
    while (fields.next()) decode(fields);
  } catch (const protozero::exception& e) {
    return e.what();
  }
  return "";
}

}  // namespace

void EncodeHeader(const SampleHeader& header, std::string* bytes) {
  FieldWriter fields(bytes);
  fields.Number(field::kFormatVersion, kVersion);
  fields.Bytes(field::kStatistic, header.statistic);
  std::string element;
  for (const SampleProcess& process : header.processes) {
    FieldWriter process_fields(&element);
    process_fields.Bytes(field::kProcessId, process.id);
    process_fields.Bytes(field::kProcessName, process.name);
    for (const auto& device : process.devices) process_fields.Element(field::kDevices, device);
    fields.Element(field::kProcesses, element);
  }
  for (const SampleModule& module : header.modules) {
    FieldWriter module_fields(&element);
    module_fields.Bytes(field::kModuleName, module.name);
    module_fields.Bytes(field::kFingerprint, module.fingerprint);
    module_fields.Packed(field::kModuleProcesses, module.processes);
    module_fields.Number(field::kDeviceTime, static_cast<uint64_t>(module.device_time));
    fields.Element(field::kModules, element);
  }
}

void EncodeRecord(const SampleRecord& record, std::string* bytes) {
  FieldWriter fields(bytes);
  fields.Number(field::kModule, record.module);
  fields.Bytes(field::kName, record.name);
  fields.Bytes(field::kOp, record.op);
  fields.Number(field::kProcess, record.process);
  fields.Number(field::kDevice, record.device);
  fields.Number(field::kClass, static_cast<uint32_t>(record.sample_class));
  fields.Number(field::kGroupSize, record.group_size);
  fields.Packed(field::kDurations, record.durations);
}

void EncodeTrailer(const Trailer& trailer, std::string* bytes) {
  FieldWriter fields(bytes);
  fields.Number(field::kRecordCount, trailer.records);
  fields.Number(field::kDurationCount, trailer.durations);
  fields.Bytes(field::kSha256, trailer.sha256);
}

std::string EncodeHead(char tag, uint64_t message_bytes) {
  std::string head(1, tag);
  protozero::add_varint_to_buffer(&head, message_bytes);
  return head;
}

std::string DecodeHeader(std::string_view bytes, uint32_t* version, SampleHeader* header) {
  *version = 0;
  *header = {};
  header->statistic.clear();
  return ForFields(bytes, [&](protozero::pbf_reader& fields) {
    const uint32_t tag = fields.tag_and_type();
    if (tag == Varint(field::kFormatVersion)) {
      *version = GetUint32(fields);
    } else if (*version != kVersion) {
      fields.skip();
    } else if (tag == Bytes(field::kStatistic)) {
      header->statistic = fields.get_string();
    } else if (tag == Bytes(field::kProcesses)) {
      header->processes.push_back(DecodeProcess(fields.get_message()));
    } else if (tag == Bytes(field::kModules)) {
      header->modules.push_back(DecodeModule(fields.get_message()));
    } else {
      fields.skip();
    }
  });
}

std::string DecodeRecord(std::string_view bytes, SampleRecord* record) {
  record->module = record->process = record->device = record->group_size = 0;
  record->sample_class = SampleClass::kCompute;
  record->name.clear();
  record->op.clear();
  record->durations.clear();
  const auto assign = [](std::string& to, protozero::data_view view) {
    to.assign(view.data(), view.size());
  };
  return ForFields(bytes, [&](protozero::pbf_reader& fields) {
    switch (fields.tag_and_type()) {
      case Varint(field::kModule):
        record->module = GetUint32(fields);
        break;
      case Bytes(field::kName):
        assign(record->name, fields.get_view());
        break;
      case Bytes(field::kOp):
        assign(record->op, fields.get_view());
        break;
      case Varint(field::kProcess):
        record->process = GetUint32(fields);
        break;
      case Varint(field::kDevice):
        record->device = GetUint32(fields);
        break;
      case Varint(field::kClass):
        record->sample_class = static_cast<SampleClass>(GetUint32(fields));
        break;
      case Varint(field::kGroupSize):
        record->group_size = GetUint32(fields);
        break;
      case Bytes(field::kDurations): {
        const auto durations = fields.get_packed_int64();
        if (record->durations.empty()) record->durations.reserve(durations.size());
        for (const Picoseconds duration : durations) record->durations.push_back(duration);
        break;
      }
      case Varint(field::kDurations):
        record->durations.push_back(fields.get_int64());
        break;
      default:
        fields.skip();
    }
  });
}

std::string DecodeTrailer(std::string_view bytes, Trailer* trailer) {
  *trailer = {};
  return ForFields(bytes, [&](protozero::pbf_reader& fields) {
    switch (fields.tag_and_type()) {
      case Varint(field::kRecordCount):
        trailer->records = fields.get_uint64();
        break;
      case Varint(field::kDurationCount):
        trailer->durations = fields.get_uint64();
        break;
      case Bytes(field::kSha256):
        trailer->sha256 = fields.get_bytes();
        break;
      default:
        fields.skip();
    }
  });
}

}  // namespace pgle::sample_wire
