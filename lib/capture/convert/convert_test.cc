// What a conversion makes of a recording, case by case.
#include "capture/convert/convert.h"

#include <doctest/doctest.h>

#include <set>

#include "capture/convert/run_reader.h"

using namespace pgle;
using recorder::WindowState;

namespace {

constexpr char kStep[] = "XlaModule:#hlo_module=jit_step,program_id=7#";
constexpr char kOther[] = "XlaModule:#hlo_module=jit_eval,program_id=9#";

std::string Thunk(const std::string& op) {
  return "Thunk:#name=jit(step),hlo_op=" + op + ",unique_hlo_op_id=1#";
}

// A program that runs one module on one thread and device. Each step is 1000 ns.
struct Program {
  SpillBuilder spill;
  uint32_t module = spill.Stack({kStep});
  uint32_t correlation = 0;
  uint32_t scope = 0;

  // Steps [0, count), one kernel each; what is in the window is told by Window().
  void Steps(uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
      spill.ModuleBegin(0, 0, module, Time(i), i, static_cast<uint32_t>(i + 1));
      spill.Launch(0, spill.Range(module, Thunk("fusion")), Time(i) + 10, ++correlation, ++scope,
                   static_cast<uint32_t>(i + 1));
      spill.Kernel(correlation, Time(i) + 500, Time(i) + 600, "fusion");
      spill.ModuleEnd(0, 0, module, Time(i) + 100, i, static_cast<uint32_t>(i + 1));
    }
  }
  static uint64_t Time(uint64_t step) { return 10'000 + 1'000 * step; }

  void Window(uint64_t first, uint64_t last) {
    spill.Window(WindowState::kArmed, Time(first) - 500, kStep, first, last);
    spill.Window(WindowState::kOpen, Time(first), kStep, first, last, "--steps");
    spill.Window(WindowState::kClosing, Time(last), kStep, first, last);
  }
  ConvertedRun Convert() {
    spill.Flush();
    spill.Window(WindowState::kClosed, 1'000'000, kStep);
    spill.End(2'000'000);
    return ConvertBytes(spill.bytes());
  }
};

}  // namespace

TEST_CASE("Steps of the window, no more and no fewer") {
  Program program;
  program.Steps(10);
  program.Window(3, 6);
  const ConvertedRun run = program.Convert();
  REQUIRE(run.error.empty());
  REQUIRE(run.device.size() == 3);
  for (size_t i = 0; i < 3; ++i) {
    const RunEvent& event = run.device[i];
    CHECK(event.start_ns == static_cast<int64_t>(Program::Time(i + 3)) + 500);
    CHECK(event.duration_ns == 100);
    CHECK(event.hlo_op == "fusion");
    CHECK(event.hlo_module == "jit_step");
    CHECK(event.program_id == 7);
    CHECK(event.plane == "/device:GPU:0");
    CHECK(event.line == "Stream #7(Compute)");
    CHECK(event.details == "regs:32 static_shared:0 dynamic_shared:0 grid:1,1,1 block:128,1,1");
  }
  CHECK(run.device[0].scope != run.device[1].scope);
  CHECK(run.summary.first_step == 3);
  CHECK(run.summary.last_step == 6);
  CHECK(run.summary.is_complete);
  CHECK(run.summary.window_reason == "--steps");
  CHECK(run.summary.kernels == 3);
  CHECK(run.summary.attributed == 3);
  CHECK(run.summary.attributed_time_share == 1);
  REQUIRE(run.summary.modules.size() == 1);
  CHECK(run.summary.modules[0].executions == 10);
  CHECK(run.summary.modules[0].is_chosen);
  CHECK(run.summary.modules[0].inside.count == 3);
  CHECK(run.summary.modules[0].inside.median_us == 1);
  CHECK(run.summary.modules[0].outside.count == 5);  // less the one in which it was armed
  CHECK(run.space.hostnames(0) == "host");
}

TEST_CASE("The same recording gives the same bytes") {
  Program a, b;
  for (Program* program : {&a, &b}) {
    program->Steps(10);
    program->Window(3, 6);
  }
  const ConvertedRun first = a.Convert(), second = b.Convert();
  CHECK(first.bytes == second.bytes);
  CHECK(first.summary.output_bytes == first.bytes.size());
}

TEST_CASE("A host event for each execution joins what the device did, and a step holds them") {
  Program program;
  program.Steps(4);
  program.Window(1, 3);
  const ConvertedRun run = program.Convert();
  std::set<uint64_t> groups;
  std::vector<int64_t> steps;
  for (const RunEvent& event : run.host) {
    if (event.name == "jit_step:XLA GPU module") groups.insert(event.correlation);
    if (event.step >= 0) steps.push_back(event.step);
  }
  CHECK(steps == std::vector<int64_t>{1, 2});
  CHECK(groups.size() == 2);
  for (const RunEvent& event : run.device) CHECK(groups.count(event.correlation) == 1);
}

TEST_CASE("Nodes of graphs have the op that made them, through copies and child graphs") {
  Program program;
  SpillBuilder& spill = program.spill;
  const uint32_t graph = spill.Range(program.module, Thunk("command_buffer"));
  spill.NodeCreated(0, 1, spill.Range(program.module, Thunk("gemm")));
  spill.NodeCreated(0, 2, spill.Range(program.module, Thunk("add")));
  spill.NodeCloned(0, 11, 1);
  spill.NodeCloned(0, 21, 11);  // a child graph's copy of a copy
  spill.NodeCloned(0, 12, 2);
  spill.NodeCloned(0, 30, 31);  // of a node that nobody saw
  spill.NodeCreated(0, 40, 0);
  spill.NodeCloned(0, 50, 51);  // a ring
  spill.NodeCloned(0, 51, 50);
  program.Window(0, 1);
  spill.ModuleBegin(0, 0, program.module, 10'000, 0, 1);
  spill.Launch(0, graph, 10'010, 1, 1, 1);
  uint64_t time = 10'100;
  for (uint64_t node : {21, 12, 30, 40, 50, 60}) {
    spill.Kernel(1, time, time + 10, "n" + std::to_string(node), 0, node);
    time += 20;
  }
  const ConvertedRun run = program.Convert();
  REQUIRE(run.device.size() == 6);
  CHECK(run.Named("n21")[0].hlo_op == "gemm");
  CHECK(run.Named("n12")[0].hlo_op == "add");
  for (const char* name : {"n30", "n40", "n50", "n60"}) {
    CHECK(run.Named(name)[0].hlo_op == "command_buffer");
  }
  CHECK(run.summary.in_graphs == 6);
}

TEST_CASE("Kernels of one op in one launch share their scope; visits and launches do not") {
  Program program;
  SpillBuilder& spill = program.spill;
  const uint32_t gemm = spill.Range(program.module, Thunk("gemm"));
  spill.NodeCreated(0, 1, gemm, 5);
  spill.NodeCreated(0, 2, gemm, 5);
  spill.NodeCreated(0, 3, gemm, 6);  // the next run of the same thunk, recorded into the same graph
  program.Window(0, 2);
  uint64_t time = 10'000;
  for (uint32_t step = 0; step < 2; ++step) {
    spill.ModuleBegin(0, 0, program.module, time, step, step + 1);
    spill.Launch(0, program.module, time + 10, step + 1, step + 1, step + 1);
    for (int visit = 0; visit < 2; ++visit) {  // a loop inside the graph
      for (uint64_t node : {1, 2, 3}) {
        time += 100;
        spill.Kernel(step + 1, time, time + 10, "n" + std::to_string(node), 0, node);
      }
    }
    time += 1000;
  }
  const ConvertedRun run = program.Convert();
  const auto one = run.Named("n1"), two = run.Named("n2"), three = run.Named("n3");
  REQUIRE(one.size() == 4);
  std::set<int64_t> scopes;
  for (size_t i = 0; i < 4; ++i) {
    CHECK(one[i].scope == two[i].scope);
    scopes.insert(one[i].scope);
    scopes.insert(three[i].scope);
  }
  CHECK(scopes.size() == 8);
}

TEST_CASE("Outside of graphs a scope is one push on one thread") {
  Program program;
  SpillBuilder& spill = program.spill;
  const uint32_t a = spill.Range(program.module, Thunk("a"));
  const uint32_t b = spill.Range(program.module, Thunk("b"));
  program.Window(0, 1);
  spill.ModuleBegin(0, 0, program.module, 10'000, 0, 1);
  spill.Launch(0, a, 10'010, 1, 5, 1);
  spill.Launch(0, a, 10'020, 2, 5, 1);  // a second kernel of the thunk
  spill.Launch(0, a, 10'030, 3, 6, 1);  // its next run
  spill.Launch(0, b, 10'040, 4, 7, 1);
  spill.Launch(1, a, 10'050, 5, 5, 0);  // another thread that counts for itself
  for (uint32_t i = 1; i <= 5; ++i) {
    spill.Kernel(i, 10'000 + 100 * i, 10'010 + 100 * i, "k" + std::to_string(i));
  }
  const ConvertedRun run = program.Convert();
  REQUIRE(run.device.size() == 5);
  CHECK(run.Named("k1")[0].scope == run.Named("k2")[0].scope);
  std::set<std::pair<std::string, int64_t>> executions;
  for (const RunEvent& event : run.device) executions.emplace(event.hlo_op, event.scope);
  CHECK(executions.size() == 4);
  // Within the module's execution two ops share a number; the second run of one has another.
  CHECK(run.Named("k1")[0].scope == run.Named("k4")[0].scope);
}

TEST_CASE("Correlation ids wrap: the last launch before the kernel is its own") {
  Program program;
  SpillBuilder& spill = program.spill;
  program.Window(0, 1);
  spill.ModuleBegin(0, 0, program.module, 10'000, 0, 1);
  constexpr uint64_t kHour = 3'600'000'000'000;
  spill.Launch(0, spill.Range(program.module, Thunk("old")), 10'010, 42, 1, 1);
  spill.Launch(0, spill.Range(program.module, Thunk("new")), kHour, 42, 2, 1);
  spill.Kernel(42, 10'100, 10'200, "first");
  spill.Kernel(42, kHour + 100, kHour + 200, "second");
  const ConvertedRun run = program.Convert();
  REQUIRE(run.device.size() == 2);
  CHECK(run.Named("first")[0].hlo_op == "old");
  CHECK(run.Named("second")[0].hlo_op == "new");
}

TEST_CASE("Two devices and threads: each has its own executions") {
  Program program;
  SpillBuilder& spill = program.spill;
  program.Window(1, 2);
  const uint32_t range = spill.Range(program.module, Thunk("fusion"));
  uint32_t correlation = 0;
  for (uint32_t device = 0; device < 2; ++device) {
    for (uint32_t step = 0; step < 3; ++step) {
      // The second device's host thread is far ahead of the first one's.
      const uint64_t time = 10'000 + 1'000 * step - 5'000 * device;
      spill.ModuleBegin(device, static_cast<uint8_t>(device), program.module, time, step, step + 1);
      spill.Launch(device, range, time + 10, ++correlation, step + 1, step + 1);
      spill.Kernel(correlation, 20'000 + 1'000 * step, 20'100 + 1'000 * step,
                   "k" + std::to_string(device) + std::to_string(step), device);
    }
  }
  const ConvertedRun run = program.Convert();
  REQUIRE(run.device.size() == 2);
  CHECK(run.device[0].name == "k01");
  CHECK(run.device[0].plane == "/device:GPU:0");
  CHECK(run.device[1].name == "k11");
  CHECK(run.device[1].plane == "/device:GPU:1");
  CHECK(run.summary.devices == 2);
  CHECK(run.summary.modules[0].devices == 2);
}

TEST_CASE("Other work belongs to the window by the time of its launch") {
  Program program;
  SpillBuilder& spill = program.spill;
  program.Steps(5);
  program.Window(1, 3);
  const uint32_t other = spill.Stack({kOther});
  const uint32_t op = spill.Range(other, Thunk("eval"));
  spill.ModuleBegin(1, 0, other, 11'500, 0, 1);
  spill.Launch(1, op, 10'990, 101, 1, 0);  // before the first step
  spill.Launch(1, op, 11'510, 102, 2, 1);
  spill.Launch(1, op, 12'990, 103, 3, 1);  // behind the last one's end, before the next begin
  spill.Launch(1, op, 13'000, 104, 4, 1);  // with the next step
  for (uint32_t i = 101; i <= 104; ++i) {
    spill.Kernel(i, 12'000, 12'001, "o" + std::to_string(i), 0, 0, 9);
  }
  spill.Kernel(999, 12'000, 12'100, "lost");
  spill.Kernel(998, 13'500, 13'600, "late");
  const ConvertedRun run = program.Convert();
  CHECK(run.Named("o101").empty());
  CHECK(run.Named("o102").size() == 1);
  CHECK(run.Named("o103").size() == 1);
  CHECK(run.Named("o104").empty());
  REQUIRE(run.Named("lost").size() == 1);
  CHECK(run.Named("lost")[0].hlo_op.empty());
  CHECK(run.Named("lost")[0].hlo_module.empty());
  CHECK(run.Named("late").empty());
  CHECK(run.Named("fusion").size() == 2);
  CHECK(run.Says("1 records have no launch"));
  CHECK(run.space.warnings_size() == 1);
}

TEST_CASE("A window between two times takes what is launched in it") {
  Program program;
  program.Steps(6);
  program.spill.Window(WindowState::kOpen, Program::Time(2), "", 0, 0, "--duration");
  program.spill.Window(WindowState::kClosing, Program::Time(4));
  const ConvertedRun run = program.Convert();
  REQUIRE(run.device.size() == 2);
  CHECK(run.device[0].start_ns == static_cast<int64_t>(Program::Time(2)) + 500);
  CHECK_FALSE(run.summary.modules[0].is_chosen);
  CHECK(run.summary.modules[0].inside.count == 2);
}

TEST_CASE("Autotuning and work without a module have no op") {
  Program program;
  SpillBuilder& spill = program.spill;
  program.Window(0, 1);
  spill.ModuleBegin(0, 0, program.module, 10'000, 0, 1);
  spill.Launch(0, spill.Stack({"XlaCompile:#module=jit_step#", Thunk("tuned")}), 10'010, 1, 1, 0);
  spill.Launch(0, spill.Stack({kStep, "XlaCompileBackend:#m=1#", Thunk("x")}), 10'011, 2, 2, 1);
  spill.Launch(0, 0, 10'012, 3, 0, 0);
  spill.Launch(0, program.module, 10'013, 4, 3, 1);
  spill.Launch(0, spill.Range(program.module, Thunk("real")), 10'014, 5, 4, 1);
  for (uint32_t i = 1; i <= 5; ++i)
    spill.Kernel(i, 10'100 * i, 10'100 * i + 9, "k" + std::to_string(i));
  const ConvertedRun run = program.Convert();
  REQUIRE(run.device.size() == 5);
  for (const char* name : {"k1", "k2", "k3", "k4"}) CHECK(run.Named(name)[0].hlo_op.empty());
  CHECK(run.Named("k1")[0].hlo_module.empty());
  CHECK(run.Named("k4")[0].hlo_module == "jit_step");
  CHECK(run.Named("k5")[0].hlo_op == "real");
  CHECK(run.summary.attributed == 1);
}

TEST_CASE("Thunks on threads without module: the module that holds the same text, if one does") {
  Program program;
  SpillBuilder& spill = program.spill;
  program.Window(0, 1);
  spill.ModuleBegin(0, 0, program.module, 10'000, 0, 1);
  spill.Range(program.module, Thunk("unique"));
  spill.Range(program.module, Thunk("common"));
  spill.Stack({kOther, Thunk("common")});
  spill.Launch(1, spill.Stack({Thunk("unique")}), 10'010, 1, 1, 0);
  spill.Launch(1, spill.Stack({Thunk("common")}), 10'020, 2, 2, 0);
  spill.Launch(1, spill.Stack({Thunk("unseen")}), 10'030, 3, 3, 0);
  for (uint32_t i = 1; i <= 3; ++i)
    spill.Kernel(i, 10'100 * i, 10'100 * i + 9, "k" + std::to_string(i));
  const ConvertedRun run = program.Convert();
  REQUIRE(run.device.size() == 3);
  CHECK(run.Named("k1")[0].hlo_op == "unique");
  CHECK(run.Named("k1")[0].hlo_module == "jit_step");
  CHECK(run.Named("k2")[0].hlo_op.empty());
  CHECK(run.Named("k3")[0].hlo_op.empty());
}

TEST_CASE("The innermost op wins, and ranges of other libraries change nothing") {
  Program program;
  SpillBuilder& spill = program.spill;
  program.Window(0, 1);
  spill.ModuleBegin(0, 0, program.module, 10'000, 0, 1);
  spill.Launch(0, spill.Stack({kStep, Thunk("while"), Thunk("body"), "ncclAllGather"}), 10'010, 1,
               1, 1);
  spill.Kernel(1, 10'100, 10'200);
  const ConvertedRun run = program.Convert();
  REQUIRE(run.device.size() == 1);
  CHECK(run.device[0].hlo_op == "body");
}

TEST_CASE("Overlapping nodes of one stream go to lines of their own") {
  Program program;
  SpillBuilder& spill = program.spill;
  program.Window(0, 1);
  spill.ModuleBegin(0, 0, program.module, 10'000, 0, 1);
  spill.Launch(0, spill.Range(program.module, Thunk("cb")), 10'010, 1, 1, 1);
  spill.Kernel(1, 10'100, 10'200, "a", 0, 1);
  spill.Kernel(1, 10'150, 10'300, "b", 0, 2);
  spill.Kernel(1, 10'180, 10'190, "c", 0, 3);
  spill.Kernel(1, 10'200, 10'250, "d", 0, 4);
  const ConvertedRun run = program.Convert();
  CHECK(run.Named("a")[0].line == "Stream #7(Compute)");
  CHECK(run.Named("b")[0].line == "Stream #7(Compute) overlap 1");
  CHECK(run.Named("c")[0].line == "Stream #7(Compute) overlap 2");
  CHECK(run.Named("d")[0].line == "Stream #7(Compute)");
  std::set<int64_t> ids;
  for (const proto::XPlane& plane : run.space.planes()) {
    if (plane.name() != "/device:GPU:0") continue;
    for (const proto::XLine& line : plane.lines()) ids.insert(line.id());
  }
  CHECK(ids.size() == 3);
}

TEST_CASE("Copies and memsets") {
  Program program;
  SpillBuilder& spill = program.spill;
  program.Window(0, 1);
  spill.ModuleBegin(0, 0, program.module, 10'000, 0, 1);
  spill.Launch(0, spill.Range(program.module, Thunk("copy.1")), 10'010, 1, 1, 1);
  spill.Launch(0, spill.Range(program.module, Thunk("zero.1")), 10'020, 2, 2, 1);
  recorder::CopyRecord copy;
  copy.start = 10'100;
  copy.end = 10'110;
  copy.correlation = 1;
  copy.copy_kind = 8;
  copy.stream = 7;
  spill.Copy(copy);
  recorder::SetRecord set;
  set.start = 10'120;
  set.end = 10'125;
  set.correlation = 2;
  set.stream = 7;
  set.memory_kind = 3;
  spill.Set(set);
  const ConvertedRun run = program.Convert();
  REQUIRE(run.device.size() == 2);
  CHECK(run.device[0].line == "Stream #7(MemcpyD2D,Memset)");
  CHECK(run.device[0].name == "MemcpyD2D");
  CHECK(run.device[0].hlo_op == "copy.1");
  CHECK(run.device[0].details == "kind_src:unknown kind_dst:unknown size:0 dest:0 async:0");
  CHECK(run.device[1].name == "Memset 3");
  CHECK(run.device[1].hlo_op == "zero.1");
  CHECK(run.summary.copies == 1);
  CHECK(run.summary.sets == 1);
}

TEST_CASE("Kernels' names are written as they read") {
  Program program;
  program.Window(0, 1);
  program.spill.ModuleBegin(0, 0, program.module, 10'000, 0, 1);
  program.spill.Launch(0, program.module, 10'010, 1, 1, 1);
  program.spill.Kernel(1, 10'100, 10'200, "_ZN4nccl6kernelEi");
  const ConvertedRun run = program.Convert();
  REQUIRE(run.device.size() == 1);
  CHECK(run.device[0].name == "nccl::kernel(int)");
}
