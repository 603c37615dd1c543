// Random programs of pushes, pops, launches and graphs, against a model that knows the answer.
#include <doctest/doctest.h>

#include <map>
#include <random>
#include <set>
#include <tuple>

#include "capture/convert/run_reader.h"

using namespace pgle;
using recorder::WindowState;

namespace {

constexpr uint64_t kTick = 100'000;       // ns between two events of the host
constexpr uint32_t kCorrelations = 4096;  // ids come again after this many launches
constexpr uint64_t kFirst = 2, kLast = 5;

const std::string kChosen = "XlaModule:#hlo_module=jit_step,program_id=7#";
const std::string kOther = "XlaModule:#hlo_module=jit_eval,program_id=9#";

struct Expected {
  std::string op, module;
  std::string execution;  // equal for kernels of one execution of one op
  uint32_t device = 0;
  bool is_held = true;
};

struct Frame {
  std::string text;
  uint32_t push = 0;
};

struct Node {
  uint64_t id = 0;
  std::string op, module, maker;  // op is empty: unknown
};

struct Thread {
  uint32_t number = 0, device = 0;
  std::vector<Frame> stack;
  uint32_t pushes = 0, executions = 0;
  uint64_t steps = 0;
  std::string run;         // text of the open XlaModule
  uint64_t index = 0;      // of the open execution
  uint32_t execution = 0;  // 0: none is open
  uint64_t span_begin = 0, span_end = 0;
};

class Model {
 public:
  explicit Model(uint64_t seed) : random_(seed) {
    for (uint32_t i = 0; i < 3; ++i) threads_.push_back({i, i % 2});
  }

  std::string Run() {
    spill_.Window(WindowState::kOpen, 1, kChosen, kFirst, kLast);
    spill_.Window(WindowState::kClosing, UINT64_MAX / 4, kChosen, kFirst, kLast);
    for (int round = 0; round < 40; ++round) {
      // Threads 0 and 1 run steps of a device each; thread 2 only other work.
      Thread& thread = threads_[Pick(3)];
      if (thread.number < 2 && Pick(4) != 0) {
        Execute(thread, kChosen, thread.steps++);
      } else {
        Execute(thread, kOther, others_++);
      }
      if (Pick(4) == 0) spill_.Flush();
    }
    for (Thread* thread : {&threads_[0], &threads_[1]}) {
      while (thread->steps <= kLast) Execute(*thread, kChosen, thread->steps++);
    }
    spill_.Flush();
    spill_.Window(WindowState::kClosed, UINT64_MAX / 4, kChosen);
    spill_.End(UINT64_MAX / 4);
    for (auto& [name, pending] : by_time_) {
      const Thread& owner = threads_[pending.second];
      expected_[name].is_held = pending.first >= owner.span_begin && pending.first < owner.span_end;
    }
    return spill_.bytes();
  }

  const std::map<std::string, Expected>& expected() const { return expected_; }

 private:
  uint32_t Pick(uint32_t below) { return static_cast<uint32_t>(random_() % below); }

  uint32_t RangeOf(const Thread& thread) {
    std::vector<std::string> texts;
    for (const Frame& frame : thread.stack) texts.push_back(frame.text);
    return spill_.Stack(texts);
  }
  void Push(Thread& thread, const std::string& text) {
    thread.stack.push_back({text, ++thread.pushes});
  }

  void Execute(Thread& thread, const std::string& module, uint64_t index) {
    time_ += kTick;
    Push(thread, module);
    thread.run = module;
    thread.index = index;
    thread.execution = ++thread.executions;
    const auto device = static_cast<uint8_t>(thread.device);
    spill_.ModuleBegin(thread.number, device, RangeOf(thread), time_, index, thread.execution);
    if (module == kChosen) {
      if (index == kFirst) thread.span_begin = time_;
      if (index == kLast) thread.span_end = time_;
    }
    const uint32_t work = 1 + Pick(12);
    for (uint32_t i = 0; i < work; ++i) Work(thread, 3);
    time_ += kTick;
    spill_.ModuleEnd(thread.number, device, RangeOf(thread), time_, index, thread.execution);
    thread.stack.pop_back();
    thread.execution = 0;
    if (Pick(3) == 0) Launch(thread);  // between executions
  }

  void Work(Thread& thread, int depth) {
    switch (Pick(6)) {
      case 0:
      case 1:
        Launch(thread);
        break;
      case 2:
        MakeNodes(thread);
        break;
      case 3:
        LaunchGraph(thread);
        break;
      default: {
        static const std::string kPlain[] = {"ncclGroupStart", "XlaCompileBackend:#m=x#"};
        const uint32_t op = Pick(9);
        Push(thread,
             op < 7 ? "Thunk:#name=f(a,b),hlo_op=op." + std::to_string(op) + "#" : kPlain[op - 7]);
        const uint32_t work = 1 + Pick(3);
        for (uint32_t i = 0; i < work && depth > 0; ++i) Work(thread, depth - 1);
        if (depth == 0) Launch(thread);
        thread.stack.pop_back();
      }
    }
  }

  // What the stack of a thread says: op and module.
  static std::pair<std::string, std::string> Meaning(const Thread& thread) {
    std::string op, module;
    for (const Frame& frame : thread.stack) {
      if (frame.text.rfind("XlaCompile", 0) == 0) return {};
      if (frame.text.rfind("XlaModule", 0) == 0) {
        module = frame.text == kChosen ? "jit_step" : "jit_eval";
      }
      const size_t at = frame.text.find("hlo_op=");
      if (at != std::string::npos) op = frame.text.substr(at + 7, frame.text.size() - at - 8);
    }
    return module.empty() ? std::pair<std::string, std::string>() : std::pair(op, module);
  }
  static std::string PushKey(const Thread& thread) {
    const uint32_t push = thread.stack.empty() ? 0 : thread.stack.back().push;
    return std::to_string(thread.number) + "/" + std::to_string(push);
  }

  void Launch(Thread& thread) {
    const auto [op, module] = Meaning(thread);
    const uint32_t id = LaunchEvent(thread);
    const uint32_t kernels = Pick(3) == 0 ? 2 : 1;
    for (uint32_t i = 0; i < kernels; ++i) {
      Kernel(thread, id, 0, {op, module, "push " + PushKey(thread), thread.device, true});
    }
  }

  uint32_t LaunchEvent(Thread& thread) {
    time_ += kTick;
    const uint32_t id = 0xfffff000u + launches_++ % kCorrelations;  // close to the wrap
    const uint32_t push = thread.stack.empty() ? 0 : thread.stack.back().push;
    spill_.Launch(thread.number, RangeOf(thread), time_, id, push, thread.execution);
    return id;
  }

  void Kernel(const Thread& thread, uint32_t id, uint64_t node, Expected expected) {
    const std::string name = "kernel" + std::to_string(expected_.size());
    device_time_ = std::max(device_time_ + 100, time_ + 100);
    // The device never lags behind by as much as a correlation id takes to come again.
    spill_.Kernel(id, device_time_, device_time_ + 50, name, thread.device, node);
    if (thread.execution != 0 && thread.run == kChosen) {
      expected.is_held = thread.index >= kFirst && thread.index < kLast;
    } else {
      by_time_[name] = {time_, thread.device};
    }
    expected_[name] = std::move(expected);
  }

  void MakeNodes(Thread& thread) {
    const uint32_t nodes = 1 + Pick(3);
    const auto [op, module] = Meaning(thread);
    for (uint32_t i = 0; i < nodes; ++i) {
      Node node{++node_ids_, op, module, PushKey(thread)};
      const bool is_unknown = Pick(8) == 0;
      const uint32_t push = thread.stack.empty() ? 0 : thread.stack.back().push;
      spill_.NodeCreated(thread.number, node.id, is_unknown ? 0 : RangeOf(thread), push);
      if (is_unknown) node.op.clear();
      for (uint32_t copies = Pick(4); copies > 0; --copies) {
        // Copies may be told on another thread, ahead of what they copy.
        spill_.NodeCloned(Pick(3), ++node_ids_, node.id);
        node.id = node_ids_;
      }
      nodes_.push_back(node);
    }
  }

  void LaunchGraph(Thread& thread) {
    if (nodes_.empty()) return;
    const auto [own_op, own_module] = Meaning(thread);
    const std::string launch = "launch " + std::to_string(launches_);
    const uint32_t id = LaunchEvent(thread);
    std::map<uint64_t, int> visits;
    for (uint32_t count = 1 + Pick(6); count > 0; --count) {
      const Node& node = nodes_[Pick(static_cast<uint32_t>(nodes_.size()))];
      const std::string visit = " visit " + std::to_string(visits[node.id]++);
      if (node.op.empty()) {
        Kernel(thread, id, node.id,
               {own_op, own_module, launch + visit + " " + PushKey(thread), thread.device, true});
      } else {
        Kernel(thread, id, node.id,
               {node.op, node.module, launch + visit + " " + node.maker, thread.device, true});
      }
    }
  }

  std::mt19937_64 random_;
  SpillBuilder spill_;
  std::vector<Thread> threads_;
  std::vector<Node> nodes_;
  std::map<std::string, Expected> expected_;  // by kernel's name
  // Kernels that belong by time: of their launch, and the device whose span counts.
  std::map<std::string, std::pair<uint64_t, uint32_t>> by_time_;
  uint64_t time_ = 1'000'000, device_time_ = 0, others_ = 0, node_ids_ = 0;
  uint32_t launches_ = 0;
};

}  // namespace

TEST_CASE("Random programs: every kernel has the op, the module and the execution it should") {
  size_t kernels = 0, in_graphs = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    Model model(seed);
    const ConvertedRun run = ConvertBytes(model.Run());
    size_t held = 0;
    for (const auto& [name, expected] : model.expected()) held += expected.is_held;
    if (held == 0) {
      CHECK(run.error == "no kernel was recorded inside the window");
      continue;
    }
    REQUIRE(run.error.empty());
    REQUIRE(run.device.size() == held);
    kernels += held;
    in_graphs += run.summary.in_graphs;
    std::map<std::tuple<uint32_t, std::string, std::string>, int64_t> scopes;
    std::map<std::tuple<std::string, std::string, int64_t>, std::string> executions;
    for (const RunEvent& event : run.device) {
      CAPTURE(event.name);
      const Expected& expected = model.expected().at(event.name);
      CHECK(expected.is_held);
      CHECK(event.plane == "/device:GPU:" + std::to_string(expected.device));
      CHECK(event.hlo_op == expected.op);
      CHECK(event.hlo_module == expected.module);
      const auto [it, added] = scopes.try_emplace(
          std::tuple(expected.device, expected.op, expected.execution), event.scope);
      CHECK(it->second == event.scope);
      const auto [other, is_new] = executions.try_emplace(
          std::tuple(event.plane, expected.module + expected.op, event.scope),
          expected.op + " " + expected.execution);
      CHECK(other->second == expected.op + " " + expected.execution);
    }
  }
  CHECK(kernels > 5'000);
  CHECK(in_graphs > 1'000);
}
