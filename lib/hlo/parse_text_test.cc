#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "hlo/module.h"
#include "hlo/scheduler_queries.h"
#include "io/input.h"

namespace pgle {
namespace {

constexpr std::string_view kGetTupleElement = "get-tuple-element";

HloModule Parsed(std::string_view text) {
  auto module = ParseHloText(text, "a.txt");
  if (!module.ok()) FAIL(module.error().what);
  return std::move(*module);
}

// A module whose entry holds the given line as instruction `x`, and whatever it may refer to.
HloModule WithLine(const std::string& line) {
  return Parsed(
      "HloModule m\n\n"
      "%f (p: f32[]) -> f32[] {\n  ROOT %p = f32[] parameter(0)\n}\n\n"
      "%g (q: f32[]) -> f32[] {\n  ROOT %q = f32[] parameter(0)\n}\n\n"
      "ENTRY %main (a: f32[2], b: f32[2]) -> f32[2] {\n"
      "  %a = f32[2]{0} parameter(0)\n  %b = f32[2]{0} parameter(1)\n  " +
      line + "\n}\n");
}

const HloInstruction& Find(const HloModule& module, std::string_view name) {
  const uint32_t index = module.FindByName(name);
  if (index == kNoInstruction) FAIL(fmt::format("no instruction '{}'", name));
  return module.instruction(index);
}

std::vector<std::string_view> Operands(const HloModule& module, std::string_view name) {
  std::vector<std::string_view> names;
  for (uint32_t i : Find(module, name).operands) names.push_back(module.instruction(i).name);
  return names;
}

std::vector<std::string_view> Calls(const HloModule& module, std::string_view name) {
  std::vector<std::string_view> names;
  for (uint32_t c : Find(module, name).calls) names.push_back(module.computation(c).name);
  return names;
}

using Names = std::vector<std::string_view>;

// What the text keeps of a computation: instructions but for get-tuple-element, in order.
Names Order(const HloModule& module, const HloComputation& computation) {
  Names names;
  for (uint32_t i : computation.instructions) {
    if (module.instruction(i).opcode != kGetTupleElement) {
      names.push_back(module.instruction(i).name);
    }
  }
  return names;
}

Names SortedCallers(const HloModule& module, const HloComputation& computation) {
  Names names;
  for (uint32_t i : computation.callers) names.push_back(module.instruction(i).name);
  std::sort(names.begin(), names.end());
  return names;
}

uint32_t ThroughTuples(const HloModule& module, uint32_t index) {
  while (module.instruction(index).opcode == kGetTupleElement) {
    index = module.instruction(index).operands.front();
  }
  return index;
}

using Query = std::tuple<QueryKind, std::string_view, std::string_view, bool>;

// The queries of each computation, in order.
std::map<std::string_view, std::vector<Query>> Queries(const HloModule& module) {
  std::map<std::string_view, std::vector<Query>> queries;
  for (const SchedulerQuery& query : SchedulerQueries(module)) {
    const HloInstruction& instruction = module.instruction(query.instruction);
    if (instruction.opcode == kGetTupleElement) continue;
    queries[module.computation(instruction.computation).name].push_back(
        {query.kind, query.name, query.wrapped_name, query.is_free});
  }
  return queries;
}

TEST_CASE("the text of a dump gives the module of its proto") {
  for (const std::string run : {"fsdp_scan", "fsdp_unrolled"}) {
    CAPTURE(run);
    const std::string stem = PGLE_TESTDATA "/runs/" + run +
                             "/hlo/profiled/module_2667.jit_train_step.sm_9.0a_gpu_after_"
                             "optimizations.";
    const auto text_input = Input::Open(stem + "txt.zst");
    const auto proto_input = Input::Open(stem + "hlo.pb.zst");
    REQUIRE(text_input.ok());
    REQUIRE(proto_input.ok());
    const auto text_module = ParseHlo(text_input->bytes(), "a.txt");
    const auto proto_module = ParseHlo(proto_input->bytes(), "a.pb");
    REQUIRE(text_module.ok());
    REQUIRE(proto_module.ok());
    const HloModule& text = *text_module;
    const HloModule& proto = *proto_module;

    CHECK(text.name() == proto.name());
    CHECK(text.fingerprint().size() == 32);
    CHECK(text.fingerprint() == proto.fingerprint());
    CHECK(text.root_fingerprint() == proto.root_fingerprint());
    CHECK(text.is_scheduled());
    CHECK(proto.is_scheduled());
    CHECK(text.computation(text.entry()).name == proto.computation(proto.entry()).name);
    CHECK(Queries(text) == Queries(proto));
    CHECK(Queries(text).size() > 0);

    std::map<std::string_view, const HloComputation*> computations;
    for (const HloComputation& c : text.computations()) computations[c.name] = &c;
    REQUIRE(computations.size() == text.computations().size());
    REQUIRE(text.computations().size() == proto.computations().size());
    for (const HloComputation& expected : proto.computations()) {
      CAPTURE(expected.name);
      REQUIRE(computations.count(expected.name) == 1);
      const HloComputation& read = *computations[expected.name];
      CHECK(Order(text, read) == Order(proto, expected));
      CHECK(SortedCallers(text, read) == SortedCallers(proto, expected));
      CHECK(text.instruction(read.root).name == proto.instruction(expected.root).name);
    }

    size_t compared = 0;
    for (uint32_t i = 0; i < proto.instructions().size(); ++i) {
      const HloInstruction& expected = proto.instruction(i);
      CAPTURE(expected.name);
      const uint32_t index = text.FindByName(expected.name);
      if (expected.opcode == kGetTupleElement) {
        CHECK(index == kNoInstruction);
        continue;
      }
      REQUIRE(index != kNoInstruction);
      const HloInstruction& read = text.instruction(index);
      CHECK(read.opcode == expected.opcode);
      CHECK(read.scheduling_name == expected.scheduling_name);
      CHECK(read.is_root == expected.is_root);
      CHECK(read.group_size == expected.group_size);
      CHECK(read.groups == expected.groups);
      CHECK(read.source_target_pairs == expected.source_target_pairs);
      Names operands;
      for (uint32_t o : expected.operands) {
        operands.push_back(proto.instruction(ThroughTuples(proto, o)).name);
      }
      CHECK(Operands(text, expected.name) == operands);
      CHECK(Calls(text, expected.name) == Calls(proto, expected.name));
      const uint32_t text_collective = text.CollectiveIn(index);
      const uint32_t proto_collective = proto.CollectiveIn(i);
      REQUIRE((text_collective == kNoInstruction) == (proto_collective == kNoInstruction));
      if (text_collective != kNoInstruction) {
        CHECK(text.instruction(text_collective).name == proto.instruction(proto_collective).name);
      }
      ++compared;
    }
    CHECK(compared == text.instructions().size());
    CHECK(proto.device_ids() == std::vector<int64_t>{0, 1});
    CHECK(text.device_ids().empty());
  }
}

TEST_CASE("header") {
  const std::string body = "\nENTRY %e () -> f32[] {\n  ROOT %c = f32[] constant(0)\n}\n";
  const HloModule module = Parsed(
      "HloModule jit_f, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias) }, "
      "entry_computation_layout={(f32[2]{0}, /*index=5*/s32[])->f32[]}, frontend_attributes={"
      "note=\"a, b} fingerprint_before_lhs=\\\"no\\\"\",json={\"k\": [1, 2]},"
      "fingerprint_before_lhs=\"00ff\"}\n\n"
      "FileNames\n1 \"/a {b.py\"\n\nFunctionNames\n1 \"<module>\"\n\nFileLocations\n"
      "1 {file_name_id=1}\n\nStackFrames\n1 {file_location_id=1}\n\n" +
      body);
  CHECK(module.name() == "jit_f");
  CHECK(module.is_scheduled());
  CHECK(module.fingerprint() == "00ff");
  CHECK(module.root_fingerprint().empty());
  CHECK(module.computation(module.entry()).name == "e");

  CHECK(!Parsed("HloModule m" + body).is_scheduled());
  CHECK(Parsed("HloModule m\r\n" + body).name() == "m");
}

TEST_CASE("the fingerprint of old XLA stands on the entry's root") {
  const HloModule module = WithLine(
      "ROOT %x = f32[2]{0} add(%a, %b), frontend_attributes={fingerprint_before_lhs=\"12ab\"}");
  CHECK(module.fingerprint() == "12ab");
  CHECK(module.root_fingerprint() == "12ab");
  CHECK(WithLine("%x = f32[2]{0} add(%a, %b), "
                 "frontend_attributes={fingerprint_before_lhs=\"12ab\"}\n  ROOT %y = f32[] iota()")
            .fingerprint()
            .empty());
}

TEST_CASE("operands") {
  for (const std::string line :
       {"ROOT %x = f32[2]{0} add(%a, %b)", "ROOT %x = f32[2]{0} add(f32[2]{0} %a, f32[2]{0} %b)",
        "ROOT x = f32[2]{0} add(a, b)", "ROOT x = f32[2]{0:T(8,128)S(1)} add(f32[2]{0:S(1)} a, b)",
        "ROOT %x = f32[2]{0} add(%a,%b)", "ROOT %x = f32[2]{0} add(%a#1, /*index=5*/%b#2)",
        "ROOT %x = ((f32[2]{0}, (s32[], /*index=1*/token[])), u8[]{:S(5)}) add((f32[2], s32[]) %a, "
        "/*index=1*/f32[2] %b), control-predecessors={%a}",
        "ROOT %x = f32[2]{0} add(%a,\n    %b), metadata={op_name=\"o\"},\n    sharding={}",
        "ROOT %x = f32[<=2]{0} add(%a, %b), kind=kLoop // done"}) {
    CAPTURE(line);
    const HloModule module = WithLine(line);
    CHECK(Operands(module, "x") == Names{"a", "b"});
    CHECK(Find(module, "x").opcode == "add");
    CHECK(Find(module, "x").is_root);
    CHECK(Find(module, "x").id == 0);
  }
  // A reference forwards, and the last instruction as root where none is marked.
  const HloModule module = WithLine("%x = f32[2] negate(%y)\n  %y = f32[2] copy(%a)");
  CHECK(Operands(module, "x") == Names{"y"});
  CHECK(Find(module, "y").is_root);
  CHECK(Find(module, "p").is_root);
}

TEST_CASE("operands that are no names") {
  for (const std::string line :
       {"ROOT %x = f32[2,2]{1,0} constant({ { 1, 2 }, { 3, nan } })",
        "ROOT %x = f32[2,2]{1,0} constant({\n  { 1, 2 },\n  { 3, 4 }\n})",
        "ROOT %x = f32[9]{0} constant({...})", "ROOT %x = f32[] parameter(2)",
        "ROOT %x = f32[] fusion(), kind=kLoop, calls=%f"}) {
    CAPTURE(line);
    CHECK(Operands(WithLine(line), "x").empty());
  }
}

TEST_CASE("strings with brackets and quotes in attributes") {
  for (const std::string attribute :
       {R"(custom_call_target="a)}b", backend_config="{\"x\": \"}\"}")",
        R"(backend_config={"config":{"name":"(((","list":["}","\"]"]}})",
        R"(backend_config={ir = "a \22 b {", n = dense<[1, 2]> : tensor<2xi32>})",
        R"(opaque="\\", literal=s32[2] {1,2})",
        R"(sharding={mesh['x'=2], [{'x'}, {}]}, window={size=3x3 pad=1_1x1_1})"}) {
    CAPTURE(attribute);
    const HloModule module = WithLine("ROOT %x = f32[2]{0} custom-call(%a, %b), " + attribute +
                                      ", metadata={op_name=\"n\" scheduling_name=\"s\"}, calls=%f");
    CHECK(Find(module, "x").scheduling_name == "s");
    CHECK(Calls(module, "x") == Names{"f"});
    CHECK(Operands(module, "x") == Names{"a", "b"});
  }
}

TEST_CASE("scheduling names") {
  const auto name = [](const std::string& metadata) {
    return std::string(
        Find(WithLine("ROOT %x = f32[] add(%a, %b), metadata=" + metadata), "x").scheduling_name);
  };
  CHECK(name(R"({op_name="f" scheduling_name="all-gather.1" stack_frame_id=3})") == "all-gather.1");
  CHECK(name(R"({op_name="p[\'o\'] scheduling_name=\"no\"" scheduling_name="yes"})") == "yes");
  CHECK(name(R"({deduplicated_scheduling_name="no" profile_type={1}})") == "");
  CHECK(name(R"({scheduling_name="a\"b\\c\n\t\101\1012\"}"})") == "a\"b\\c\n\tAA2\"}");
  CHECK(name("{}") == "");
  CHECK(name("{scheduling_name=\"\"}") == "");
}

TEST_CASE("calls") {
  const auto calls = [](const std::string& opcode, const std::string& attributes) {
    const HloModule module = WithLine("ROOT %x = f32[] " + opcode + "(%a), " + attributes);
    std::string names;
    for (std::string_view name : Calls(module, "x")) names += fmt::format("{} ", name);
    return names;
  };
  CHECK(calls("fusion", "kind=kLoop, calls=%f") == "f ");
  CHECK(calls("fusion", "kind=kLoop, calls=f") == "f ");
  CHECK(calls("call", "to_apply=%g") == "g ");
  CHECK(calls("while", "condition=%f, body=%g") == "g f ");
  CHECK(calls("while", "body=%g, condition=%f") == "g f ");
  CHECK(calls("conditional", "branch_computations={%g, %f, %g}") == "g f g ");
  CHECK(calls("conditional", "true_computation=%g, false_computation=%f") == "g f ");
  CHECK(calls("custom-call", "called_computations={%f,%g}") == "f g ");
  CHECK(calls("custom-call", "called_computations={}") == "");
  CHECK(calls("select-and-scatter", "window={size=2}, select=%f, scatter=%g") == "f g ");
  CHECK(calls("async-start", "calls=%f, metadata={op_name=\"calls=%g\"}") == "f ");
  const HloModule module = WithLine("ROOT %x = f32[] while(%a), condition=%f, body=%g");
  CHECK(module.computation(0).callers == std::vector<uint32_t>{module.FindByName("x")});
}

TEST_CASE("groups of collectives") {
  const auto size = [](const std::string& groups) {
    return Find(WithLine("ROOT %x = f32[] all-gather(%a), channel_id=1, replica_groups=" + groups +
                         ", dimensions={0}"),
                "x")
        .group_size;
  };
  CHECK(size("{{0,1},{2,3}}") == 2);
  CHECK(size("{{0, 1, 2}, {3}}") == 3);
  CHECK(size("{{0},{1}}") == 1);
  CHECK(size("{}") == 0);
  CHECK(size("[2,4]<=[8]") == 4);
  CHECK(size("[4,2]<=[2,4]T(1,0)") == 2);
  CHECK(size("[8]<=[8]") == 0);
  CHECK(size("mesh['a'=2,'b'=4] {'a'}") == 2);
  CHECK(size("mesh['a'=2,'b'=4] {'b'}") == 4);
  CHECK(size("mesh['a'=2,'b'=4] {'b','a'}") == 8);
  CHECK(size("mesh['a'=2, 'b'=4, device_ids=([8]T(0))] {'b':(2)2, 'a'}") == 4);
  CHECK(size("mesh['a'=2] {'z'}") == 0);
  CHECK(size("mesh['a'=9223372036854775807,'b'=9] {'a','b'}") == 0);
  CHECK(size("mesh") == 0);
  CHECK(size("7") == 0);

  using Pairs = std::vector<std::pair<int64_t, int64_t>>;
  const auto pairs = [](const std::string& value) {
    return Find(WithLine("ROOT %x = f32[] collective-permute(%a), source_target_pairs=" + value),
                "x")
        .source_target_pairs;
  };
  CHECK(pairs("{{0,1},{1,0}}") == Pairs{{0, 1}, {1, 0}});
  CHECK(pairs("{{10, 11}}") == Pairs{{10, 11}});
  CHECK(pairs("{}").empty());
}

TEST_CASE("asynchronous operations printed as their wrapped opcode") {
  const HloModule module = WithLine(
      "%s = ((f32[2]), f32[1]) reduce-scatter-start(%a), replica_groups={{0,1}}, to_apply=%f, "
      "metadata={scheduling_name=\"s0\"}\n"
      "  %u = ((f32[2]), f32[1]) reduce-scatter-update(%s)\n"
      "  %d = f32[1] reduce-scatter-done(%u)\n"
      "  %o = (f32[2], f32[4]) all-gather-start(%a), replica_groups={{0,1,2}}\n"
      "  %c = (f32[2], f32[2], u32[]) copy-start(%b)\n"
      "  ROOT %x = f32[2] copy-done(%c)");
  const HloInstruction& start = Find(module, "s");
  CHECK(start.opcode == "async-start");
  CHECK(start.scheduling_name == "s0");
  CHECK(start.group_size == 0);
  CHECK(start.groups.empty());
  CHECK(Operands(module, "s") == Names{"a"});
  const uint32_t wrapped = module.WrappedInstruction(module.FindByName("s"));
  REQUIRE(wrapped != kNoInstruction);
  CHECK(module.instruction(wrapped).opcode == "reduce-scatter");
  CHECK(module.instruction(wrapped).group_size == 2);
  CHECK(module.instruction(wrapped).groups == std::vector<std::vector<int64_t>>{{0, 1}});
  CHECK(Calls(module, module.instruction(wrapped).name) == Names{"f"});
  CHECK(module.AsyncStartOf(wrapped) == module.FindByName("s"));
  CHECK(Find(module, "u").opcode == "async-update");
  CHECK(Find(module, "d").opcode == "async-done");
  CHECK(Find(module, "o").opcode == "all-gather-start");
  CHECK(Find(module, "o").group_size == 3);
  CHECK(Find(module, "c").opcode == "copy-start");
  CHECK(Find(module, "x").opcode == "copy-done");
}

TEST_CASE("computations without signature, on one line, with attributes behind") {
  const HloModule module = Parsed(
      "HloModule m // a remark\n/* another { */\n"
      "f { ROOT p = f32[] parameter(0) }, execution_thread=\"t\"\n"
      "ENTRY main {\n  ROOT c = f32[] call(d), to_apply=f\n  d = f32[] constant(1)}");
  CHECK(module.computations().size() == 2);
  CHECK(Calls(module, "c") == Names{"f"});
  CHECK(Operands(module, "c") == Names{"d"});
}

TEST_CASE("faults name the line") {
  const auto fault = [](const std::string& text) {
    const auto module = ParseHloText(text, "a.txt");
    if (module.ok()) return std::string("none");
    CHECK(module.error().where == "a.txt");
    CHECK(!module.error().hint.empty());
    CHECK(module.error().what.find('\n') == std::string::npos);
    return module.error().what;
  };
  const std::string head = "HloModule m\n\nENTRY %e (a: f32[]) -> f32[] {\n";
  CHECK(fault("") == "line 1: HLO text starts with 'HloModule'");
  CHECK(fault("\n\x01\x02") == "line 2: HLO text starts with 'HloModule'");
  CHECK(fault("HloModule m\n") == "the HLO module has no entry computation");
  CHECK(fault("HloModule m, a={\n") == "line 1: a quote or bracket never closes");
  CHECK(fault("HloModule m\n\nhello world\n") ==
        "line 3: expected a computation: name (parameters) -> shape {");
  CHECK(fault("HloModule m\n%e (a: f32[] {\n") == "line 2: '(' never closes");
  CHECK(fault(head) == "line 4: the text ends inside computation 'e'");
  CHECK(fault(head + "}\n") == "computation 'e' has no root");
  CHECK(fault(head + "  %x\n}\n") ==
        "line 4: expected an instruction: name = shape opcode(operands)");
  CHECK(fault(head + "  %x = f32[\n") ==
        "line 4: the shape of 'x' has a bracket that never closes");
  CHECK(fault(head + "  %x = f32[]\n}\n") == "line 4: expected an opcode and '(' in 'x'");
  CHECK(fault(head + "  %x = f32[] add(%x\n}\n") ==  // brackets are only counted
        "line 6: the text ends inside computation 'e'");
  CHECK(fault(head + "  %x = f32[] add(%x\n") == "line 4: the operands of 'x' never end");
  CHECK(fault(head + "  %x = f32[] iota(), m={\"\n}\n") ==
        "line 4: a quote or bracket never closes");
  CHECK(fault(head + "  %x = f32[] iota() junk\n}\n") ==
        "line 4: expected a comma or the end of the line, not 'j'");
  CHECK(fault(head + "  %x = f32[] copy(%y)\n}\n") ==
        "line 4: operand 'y' is not in computation 'e'");
  CHECK(fault(head + "  %x = f32[] call(), to_apply=%z\n}\n") ==
        "line 4: no computation is called 'z'");
  CHECK(fault(head + "  %x = f32[] iota()\n  %x = f32[] iota()\n}\n") ==
        "line 5: a second instruction is called 'x'");
  CHECK(fault("HloModule m\n%e {\n%x = f32[] iota()\n}\n%e {\n}\n") ==
        "line 5: a second computation is called 'e'");
  CHECK(fault(head + "  %x = f32[] call(), to_apply=%e\n}\n") ==
        "computations of the HLO module call each other in a circle");
}

TEST_CASE("no bytes crash the reader") {
  const auto input =
      Input::Open(PGLE_TESTDATA
                  "/runs/fsdp_scan/hlo/profiled/module_2667.jit_train_step.sm_9.0a_gpu_after_"
                  "optimizations.txt.zst");
  REQUIRE(input.ok());
  const std::string_view whole = input->bytes();
  // A piece of the middle, cut and broken at every place.
  const size_t computation = whole.find("\n%async_computation");
  REQUIRE(computation != std::string_view::npos);
  const std::string text =
      "HloModule m, is_scheduled=true\n" + std::string(whole.substr(computation, 3000));
  for (size_t size = 0; size < text.size(); ++size) {
    CHECK(!ParseHloText(text.substr(0, size), "cut").ok());
  }
  uint32_t random = 1;
  for (size_t at = 0; at < text.size(); ++at) {
    for (const char c : {'{', '}', '"', '\\', '\n', ',', '=', '%', '\0', '\xff'}) {
      std::string broken = text;
      broken[at] = c;
      random = random * 1664525 + 1013904223;
      broken[(random >> 8) % broken.size()] = static_cast<char>(random >> 24);
      if (at % 7 == 0) (void)ParseHloText(broken, "broken");
    }
  }
  for (size_t size = 0; size < whole.size(); size += 9973) {
    CHECK(!ParseHloText(whole.substr(0, size), "cut").ok());
  }
}

TEST_CASE("a module of 100,000 instructions") {
  std::string text =
      "HloModule big, is_scheduled=true\n\nENTRY %main () -> f32[] {\n"
      "  %i0 = f32[] constant(0)\n";
  constexpr int kCount = 100000;
  for (int i = 1; i < kCount; ++i) {
    text += fmt::format(
        "  {}%i{} = f32[8,128]{{1,0}} add(%i{}, %i{}), metadata={{op_name=\"jit(f)/add\" "
        "scheduling_name=\"i{}\"}}, backend_config={{\"operation_queue_id\":\"0\"}}\n",
        i == kCount - 1 ? "ROOT " : "", i, i - 1, i / 2, i);
  }
  const HloModule module = Parsed(text + "}\n");
  CHECK(module.instructions().size() == kCount);
  CHECK(module.instruction(module.computation(module.entry()).root).name == "i99999");
  CHECK(Operands(module, "i99999") == Names{"i99998", "i49999"});
  CHECK(SchedulerQueries(module).size() == kCount - 1);
}

}  // namespace
}  // namespace pgle
