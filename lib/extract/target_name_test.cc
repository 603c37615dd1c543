#include "extract/target_name.h"

#include <doctest/doctest.h>

namespace pgle {
namespace {

constexpr const char* kModule = R"(HloModule jit_step, is_scheduled=true

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

wrapped_reduce {
  p0 = f32[8]{0} parameter(0)
  ROOT all-reduce.7 = f32[8]{0} all-reduce(p0), replica_groups={{0,1}}, to_apply=sum
}

fused_copy {
  p1 = f32[8]{0} parameter(0)
  ROOT copy.9 = f32[8]{0} copy(p1)
}

wrapped_fusion {
  p2 = f32[8]{0} parameter(0)
  ROOT loop_fusion.3 = f32[8]{0} fusion(p2), kind=kLoop, calls=fused_copy
}

fused_reduce {
  p3 = f32[8]{0} parameter(0)
  ROOT all-reduce.8 = f32[8]{0} all-reduce(p3), replica_groups={{0,1}}, to_apply=sum
}

ENTRY main {
  x = f32[8]{0} parameter(0)
  start = ((f32[8]{0}), f32[8]{0}) async-start(x), calls=wrapped_reduce, metadata={scheduling_name="all-reduce-start.1"}
  fusion-start = ((f32[8]{0}), f32[8]{0}) async-start(x), calls=wrapped_fusion, metadata={scheduling_name="fusion-start.4"}
  done = f32[8]{0} async-done(start), metadata={scheduling_name="all-reduce-done.1"}
  all-gather.2.1 = f32[16]{0} all-gather(x), replica_groups={{0,1}}, dimensions={0}, metadata={scheduling_name="all-gather-start.2"}
  permute = f32[8]{0} collective-permute(x), source_target_pairs={{0,1}}, metadata={scheduling_name="permute-start"}
  reduce_fusion = f32[8]{0} fusion(x), kind=kCustom, calls=fused_reduce, metadata={scheduling_name="all-reduce.0-fusion"}
  old = (f32[8]{0}, f32[16]{0}) all-gather-start(x), replica_groups={{0,1}}, dimensions={0}, metadata={scheduling_name="old"}
  old_done = f32[16]{0} all-gather-done(old), metadata={scheduling_name="old_done"}
  multiply.5 = f32[8]{0} multiply(x, x), metadata={scheduling_name="multiply.5"}
  ROOT copy.3 = f32[8]{0} copy(multiply.5)
}
)";

class Fixture {
 public:
  Fixture() : module_(ParseHloText(kModule, "test")) { REQUIRE(module_.ok()); }
  TargetName Of(const char* name) const {
    const uint32_t index = module_->FindByName(name);
    REQUIRE(index != kNoInstruction);
    return TargetNameOf(*module_, index);
  }

 private:
  Result<HloModule> module_;
};

TEST_CASE_FIXTURE(Fixture, "a wrapped collective goes under its start's name") {
  const TargetName target = Of("all-reduce.7");
  CHECK(target.name == "all-reduce-start.1");
  CHECK(target.cost_class == CostClass::kCollective);
  CHECK(target.async_start == kNoInstruction);
}

TEST_CASE_FIXTURE(Fixture, "a collective made synchronous again goes under the start that it was") {
  CHECK(Of("all-gather.2.1").name == "all-gather-start.2");
  CHECK(Of("all-gather.2.1").cost_class == CostClass::kCollective);
  CHECK(Of("permute").cost_class == CostClass::kPointToPoint);
}

TEST_CASE_FIXTURE(Fixture, "an asynchronous fusion is told from a collective") {
  CHECK(Of("loop_fusion.3").name == "fusion-start.4");
  CHECK(Of("loop_fusion.3").async_start != kNoInstruction);
  CHECK(Of("loop_fusion.3").cost_class == CostClass::kCompute);
}

TEST_CASE_FIXTURE(Fixture, "a fusion around a collective communicates") {
  CHECK(Of("reduce_fusion").name == "all-reduce.0-fusion");
  CHECK(Of("reduce_fusion").cost_class == CostClass::kCollective);
}

TEST_CASE_FIXTURE(Fixture, "old opcodes: the start has the cost, the done is never written") {
  CHECK(Of("old").name == "old");
  CHECK(Of("old").cost_class == CostClass::kCollective);
  CHECK(Of("old_done").name.empty());
}

TEST_CASE("without scheduling names: own names, and a clone's original") {
  const auto module = ParseHloText(R"(HloModule jit_old

ENTRY main {
  x = f32[8]{0} parameter(0)
  multiply.5 = f32[8]{0} multiply(x, x)
  multiply.5.remat2 = f32[8]{0} multiply(x, x)
  ROOT add.remat = f32[8]{0} add(multiply.5, multiply.5.remat2)
}
)",
                                   "test");
  REQUIRE(module.ok());
  CHECK_FALSE(module->has_scheduling_names());
  CHECK(TargetNameOf(*module, module->FindByName("multiply.5")).name == "multiply.5");
  CHECK(TargetNameOf(*module, module->FindByName("multiply.5.remat2")).name == "multiply.5");
  CHECK(TargetNameOf(*module, module->FindByName("add.remat")).name == "add");
  CHECK(TargetNameOf(*module, module->FindByName("add.remat")).is_own_name);
}

TEST_CASE_FIXTURE(Fixture, "what XLA added after scheduling keeps its own name") {
  CHECK(Of("multiply.5").name == "multiply.5");
  CHECK_FALSE(Of("multiply.5").is_own_name);
  CHECK(Of("copy.3").name == "copy.3");
  CHECK(Of("copy.3").is_own_name);
}

}  // namespace
}  // namespace pgle
