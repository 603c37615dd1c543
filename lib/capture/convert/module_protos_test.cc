// The HLO that goes into a run: found by id and name, and made small.
#include "capture/convert/module_protos.h"

#include <doctest/doctest.h>

#include <set>

#include "base/test_support.h"
#include "capture/convert/trim_hlo.h"
#include "hlo/module.h"
#include "hlo/scheduler_queries.h"
#include "io/input.h"

using namespace pgle;

namespace {

const std::string kFolder = TestRun("command_buffers/hlo/profiled");
const std::string kFile =
    kFolder + "/module_2667.jit_train_step.sm_9.0a_gpu_after_optimizations.hlo.pb.zst";

}  // namespace

TEST_CASE("A trimmed module says the same to these tools, in half the bytes") {
  const Result<Input> input = Input::Open(kFile);
  REQUIRE(input.ok());
  const Result<std::string> trimmed = TrimHloProto(input->bytes(), kFile);
  REQUIRE(trimmed.ok());
  CHECK(trimmed->size() * 100 < input->bytes().size() * 52);

  const Result<HloModule> before = ParseHloProto(input->bytes(), kFile);
  const Result<HloModule> after = ParseHloProto(*trimmed, kFile);
  REQUIRE(before.ok());
  REQUIRE(after.ok());
  CHECK(before->name() == after->name());
  CHECK(before->id() == after->id());
  CHECK(before->fingerprint() == after->fingerprint());
  CHECK(before->is_scheduled() == after->is_scheduled());
  CHECK(before->device_ids() == after->device_ids());
  REQUIRE(before->instructions().size() == after->instructions().size());
  std::set<std::string_view> names;
  size_t renamed = 0;
  for (uint32_t i = 0; i < before->instructions().size(); ++i) {
    const HloInstruction &a = before->instruction(i), &b = after->instruction(i);
    CHECK(a.opcode == b.opcode);
    CHECK(a.id == b.id);
    CHECK(a.operands == b.operands);
    CHECK(a.calls == b.calls);
    CHECK(a.groups == b.groups);
    CHECK(a.group_size == b.group_size);
    CHECK(a.source_target_pairs == b.source_target_pairs);
    CHECK(before->CollectiveIn(i) == after->CollectiveIn(i));
    CHECK(names.insert(b.name).second);
    if (a.name != b.name) {
      ++renamed;
      continue;
    }
    CHECK(a.scheduling_name == b.scheduling_name);
  }
  CHECK(renamed > 1000);
  for (uint32_t index : before->computation(before->entry()).instructions) {
    CHECK(before->instruction(index).name == after->instruction(index).name);
    CHECK(before->SchedulerName(index) == after->SchedulerName(index));
  }
}

TEST_CASE("What is no module is refused") {
  CHECK_FALSE(TrimHloProto("", "a").ok());
  CHECK_FALSE(TrimHloProto("HloModule text", "a").ok());
  const Result<Input> input = Input::Open(kFile);
  REQUIRE(input.ok());
  CHECK_FALSE(TrimHloProto(input->bytes().substr(0, 100'000), "a").ok());
}

TEST_CASE("Modules are found by their id and name") {
  const TempDir dir;
  const std::vector<std::string> folders = {"/does/not/exist", dir.path, kFolder};
  dir.File("module_2667.jit_train_step.sm_9.0a_gpu_after_optimizations.hlo.pb", "damaged");
  dir.File("module_2667.jit_train_step.before_optimizations.hlo.pb", "of no interest");
  ModuleProtos protos(folders);
  Diagnostics diagnostics;
  CHECK(protos.Find({"jit_train_step", 2667}, &diagnostics).has_value());
  CHECK_FALSE(protos.Find({"jit_train_step", 2668}, &diagnostics).has_value());
  CHECK_FALSE(protos.Find({"jit_other", 2667}, &diagnostics).has_value());
}
