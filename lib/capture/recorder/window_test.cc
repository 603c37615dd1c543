#include "capture/recorder/window.h"

#include <doctest/doctest.h>

#include <cstring>
#include <string>

#include "capture/recorder/memory.h"
#include "capture/recorder/recorder.h"

namespace pgle::recorder {
namespace {

constexpr uint64_t kMillisecond = 1'000'000;

// A program that runs modules, without NVTX: it writes what the callbacks would.
class Program {
 public:
  explicit Program(const WindowSettings& settings)
      : recorder_(new (Reserve<Recorder>(1)) Recorder), page_(Reserve<ControlPage>(1)) {
    REQUIRE(recorder_->texts.Init());
    REQUIRE(recorder_->modules.Init());
    page_->window = settings;
    recorder_->page = page_;
    recorder_->slot = &page_->slots[0];
    page_->processes = 1;
    window_.Init(recorder_, now_);
  }

  Module* Load(const std::string& name, uint32_t operations, bool is_program = true) {
    const std::string text =
        "XlaModule:#hlo_module=" + name + (is_program ? ",program_id=7#" : "#");
    Module* const module = recorder_->modules.Find(recorder_->texts.Intern(text.c_str()));
    module->operations = operations;
    return module;
  }

  // One execution on each lane, `interval` after the one before.
  void Run(Module* module, uint64_t interval, uint32_t lanes = 1) {
    now_ += interval;
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      if (module->reference_lane == 0) {
        module->reference_lane = lane + 1;
        recorder_->modules.last_news = now_;
      }
      const uint32_t index = module->lanes[lane].begun;
      if (module->reference_lane == lane + 1) {
        module->recent_starts[index % kRecentStarts] = now_;
        if (index != 0 && (index & (index - 1)) == 0) {
          module->modules_known[__builtin_ctz(index)] = recorder_->modules.count();
        }
      }
      ++module->lanes[lane].begun;
      ++module->lanes[lane].ended;
    }
  }

  void Answer(const Module* module, Verdict verdict) {
    recorder_->slot->modules[recorder_->modules.IndexOf(module)].verdict = verdict;
  }
  WindowChange change() { return window_.Change(WindowState::kOpen, now_); }
  std::string chosen() {
    const uint32_t id = change().string;
    return id == 0 ? "" : recorder_->texts.At(id - 1)->data();
  }

  Recorder* recorder_;
  ControlPage* page_;
  uint64_t now_ = 1'000'000 * kMillisecond;
  Window window_;
};

WindowSettings Steps(uint64_t first, uint64_t last) {
  WindowSettings settings;
  settings.mode = WindowMode::kSteps;
  settings.first = first;
  settings.last = last;
  return settings;
}

WindowSettings Auto() {
  WindowSettings settings;
  settings.mode = WindowMode::kAuto;
  settings.count = 5;
  settings.give_up_after = 100;
  return settings;
}

TEST_CASE("steps: armed ahead, opened at the first one, ended when all devices are through") {
  Program program(Steps(50, 60));
  Module* const step = program.Load("jit_step", 100);
  int armed_at = -1;
  for (int i = 0; i < 50; ++i) {
    program.Run(step, 10 * kMillisecond, 2);
    if (armed_at < 0 && program.window_.ShouldArm(program.now_)) {
      armed_at = i;
      program.window_.OnArmed(program.now_);
    }
    if (armed_at >= 0) CHECK_FALSE(program.window_.HasOpened(program.now_));
  }
  // A tenth of a second ahead: ten steps and a few.
  CHECK(armed_at >= 34);
  CHECK(armed_at <= 40);
  program.Run(step, 10 * kMillisecond, 2);
  REQUIRE(program.window_.HasOpened(program.now_));
  CHECK(program.change().first == 50);
  CHECK(program.change().last == 60);
  for (int i = 51; i < 59; ++i) program.Run(step, 10 * kMillisecond, 2);
  CHECK_FALSE(program.window_.HasEnded(program.now_));
  program.Run(step, 10 * kMillisecond, 1);  // one device is ahead
  CHECK_FALSE(program.window_.HasEnded(program.now_));
  step->lanes[1].begun += 1;
  step->lanes[1].ended += 1;
  CHECK(program.window_.HasEnded(program.now_));
}

TEST_CASE("steps: a device that stops running the module does not hold up the end for ever") {
  Program program(Steps(4, 6));
  Module* const step = program.Load("jit_step", 100);
  program.Run(step, kMillisecond, 2);
  for (int i = 0; i < 3; ++i) program.Run(step, kMillisecond, 1);
  REQUIRE(program.window_.ShouldArm(program.now_));
  program.window_.OnArmed(program.now_);
  program.Run(step, kMillisecond, 1);
  REQUIRE(program.window_.HasOpened(program.now_));
  for (int i = 0; i < 4; ++i) program.Run(step, kMillisecond, 1);
  CHECK_FALSE(program.window_.HasEnded(program.now_));
  CHECK(program.window_.HasEnded(program.now_ + 11'000 * kMillisecond));
}

TEST_CASE("steps: neither the autotuner's modules nor helpers are steps") {
  Program program(Steps(40, 45));
  Module* const trial = program.Load("gemm_fusion_dot.9", 50, /*is_program=*/false);
  Module* const helper = program.Load("jit_convert", 1);
  for (int i = 0; i < 100; ++i) {
    program.Run(trial, kMillisecond / 10);
    program.Run(helper, kMillisecond / 10);
    REQUIRE_FALSE(program.window_.ShouldArm(program.now_));
  }
  Module* const step = program.Load("jit_step", 100);
  bool is_armed = false;
  for (int i = 0; i < 41; ++i) {
    program.Run(step, 5 * kMillisecond);
    if (!is_armed && program.window_.ShouldArm(program.now_)) {
      is_armed = true;
      program.window_.OnArmed(program.now_);
    }
  }
  REQUIRE(is_armed);
  REQUIRE(program.window_.HasOpened(program.now_));
  CHECK(program.chosen() == "XlaModule:#hlo_module=jit_step,program_id=7#");
}

TEST_CASE("steps: too few of them to arm in time start the window late, and say so") {
  Program program(Steps(10, 1000));
  Module* const step = program.Load("jit_step", 100);
  for (int i = 0; i < 200; ++i) program.Run(step, kMillisecond / 100);
  REQUIRE(program.window_.ShouldArm(program.now_));
  program.window_.OnArmed(program.now_);
  CHECK_FALSE(program.window_.HasOpened(program.now_));
  CHECK(program.change().first == 201);
  CHECK(std::string(program.window_.reason()).find("behind the first one asked for (10)") !=
        std::string::npos);
  CHECK_FALSE(program.window_.is_given_up());
}

TEST_CASE("steps: a window that has passed before it could be armed is given up") {
  Program program(Steps(10, 20));
  Module* const step = program.Load("jit_step", 100);
  for (int i = 0; i < 200; ++i) program.Run(step, kMillisecond / 100);
  REQUIRE(program.window_.ShouldArm(program.now_));
  program.window_.OnArmed(program.now_);
  CHECK_FALSE(program.window_.HasOpened(program.now_));
  CHECK(program.window_.is_given_up());
}

TEST_CASE("steps from the start on are armed at once, the module is known at the end") {
  Program program(Steps(0, 3));
  REQUIRE(program.window_.ShouldArm(program.now_));
  program.window_.OnArmed(program.now_);
  Module* const init = program.Load("jit_init", 300);
  program.Run(init, kMillisecond);
  CHECK_FALSE(program.window_.HasOpened(program.now_));
  Module* const step = program.Load("jit_step", 100);
  for (int i = 0; i < 2; ++i) program.Run(step, kMillisecond);
  CHECK_FALSE(program.window_.HasOpened(program.now_));
  program.Run(step, kMillisecond);
  REQUIRE(program.window_.HasOpened(program.now_));
  CHECK(program.change().first == 0);
  CHECK(program.window_.HasEnded(program.now_));
}

TEST_CASE("a module asked for by name is chosen however small, once the launcher said yes") {
  WindowSettings settings = Steps(10, 12);
  settings.has_module_filter = 1;
  Program program(settings);
  Module* const step = program.Load("jit_step", 100);
  Module* const wanted = program.Load("jit_eval", 0);
  program.Answer(step, Verdict::kNo);
  for (int i = 0; i < 9; ++i) {
    program.Run(step, kMillisecond);
    program.Run(wanted, kMillisecond);
  }
  CHECK_FALSE(program.window_.ShouldArm(program.now_));
  program.Answer(wanted, Verdict::kYes);
  REQUIRE(program.window_.ShouldArm(program.now_));
  program.window_.OnArmed(program.now_);
  program.Run(wanted, kMillisecond);
  CHECK_FALSE(program.window_.HasOpened(program.now_));
  program.Run(wanted, kMillisecond);
  REQUIRE(program.window_.HasOpened(program.now_));
  CHECK(program.chosen() == "XlaModule:#hlo_module=jit_eval,program_id=7#");
}

TEST_CASE("auto: waits until compilation is over and steps are steady") {
  Program program(Auto());
  Module* const step = program.Load("jit_step", 100);
  // Slow first steps, then steady ones.
  for (int i = 0; i < 12; ++i) {
    program.Run(step, static_cast<uint64_t>(100 - 6 * i) * kMillisecond);
    REQUIRE_FALSE(program.window_.ShouldArm(program.now_));
  }
  program.recorder_->modules.last_news = program.now_;  // XLA compiles once more
  int runs = 0;
  do {
    program.Run(step, 20 * kMillisecond);
    ++runs;
    REQUIRE(runs < 50);
  } while (!program.window_.ShouldArm(program.now_));
  CHECK(runs >= 6);
  program.window_.OnArmed(program.now_);
  CHECK(program.change().first == 12U + static_cast<unsigned>(runs) + 1);
  CHECK(program.change().last == program.change().first + 5);
  CHECK(std::string(program.window_.reason()) == "step times steady at 20.000 ms");
}

TEST_CASE("auto: step times that never steady are recorded all the same, and that is said") {
  Program program(Auto());
  Module* const step = program.Load("jit_step", 100);
  int runs = 0;
  do {
    // Medians of five that go up and down by more than a twentieth.
    program.Run(step, static_cast<uint64_t>(runs / 5 % 2 == 0 ? 20 : 30 + runs % 3) * kMillisecond);
    ++runs;
    REQUIRE(runs < 200);
  } while (!program.window_.ShouldArm(program.now_));
  CHECK(runs >= 100);
  const std::string reason = program.window_.reason();
  CHECK(reason.find("step times did not steady in 100 executions") != std::string::npos);
}

TEST_CASE("auto: an initialisation that looked like steps is let go") {
  Program program(Auto());
  Module* const init = program.Load("jit_init_layer", 10);
  for (int i = 0; i < 30; ++i) program.Run(init, kMillisecond);
  REQUIRE(program.window_.ShouldArm(program.now_));
  program.window_.OnArmed(program.now_);
  CHECK_FALSE(program.window_.HasOpened(program.now_));
  CHECK_FALSE(program.window_.ReconsidersChoice(program.now_ + 100 * kMillisecond));
  program.now_ += 5'000 * kMillisecond;
  REQUIRE(program.window_.ReconsidersChoice(program.now_));
  CHECK(program.page_->agreed_first == 0);
  Module* const step = program.Load("jit_step", 100);
  for (int i = 0; i < 40; ++i) program.Run(step, 10 * kMillisecond);
  REQUIRE(program.window_.ShouldArm(program.now_));
  program.window_.OnArmed(program.now_);
  CHECK(program.chosen() == "XlaModule:#hlo_module=jit_step,program_id=7#");
}

TEST_CASE("auto: processes of one command take the same steps") {
  Program program(Auto());
  program.page_->processes = 2;
  Module* const step = program.Load("jit_step", 100);
  for (int i = 0; i < 20; ++i) program.Run(step, 10 * kMillisecond);
  program.page_->agreed_first = 90 + 1;
  REQUIRE(program.window_.ShouldArm(program.now_));
  program.window_.OnArmed(program.now_);
  CHECK(program.change().first == 90);
  CHECK(program.change().last == 95);
}

TEST_CASE("auto by count: the same on every rank, whatever its speed") {
  for (const uint64_t interval : {3 * kMillisecond, 40 * kMillisecond}) {
    WindowSettings settings = Auto();
    settings.decide_by_count = 1;
    Program program(settings);
    Module* const step = program.Load("jit_step", 100);
    uint64_t first = 0;
    for (int i = 0; i < 300 && first == 0; ++i) {
      // A module that comes late, at execution 40, moves the window to the next candidate. The
      // control thread looks at candidates only: executions of such a number wait for it.
      if (i == 40) program.Run(program.Load("jit_eval", 50), kMillisecond);
      program.Run(step, interval);
      if ((i + 1) % 64 == 0 && program.window_.ShouldArm(program.now_)) {
        program.window_.OnArmed(program.now_);
        first = program.change().first;
      }
    }
    CHECK(first == 128);
  }
}

TEST_CASE("auto by count: candidates alone decide, and their executions wait") {
  WindowSettings settings = Auto();
  settings.decide_by_count = 1;
  Program program(settings);
  CHECK(program.recorder_->gate == Recorder::kGateAtCandidates);
  Module* const step = program.Load("jit_step", 100);
  for (int i = 0; i < 63; ++i) program.Run(step, kMillisecond);
  CHECK_FALSE(program.window_.ShouldArm(program.now_));
  program.Run(step, kMillisecond);
  REQUIRE(program.window_.ShouldArm(program.now_));
  program.window_.OnArmed(program.now_);
  CHECK(program.change().first == 64);
  CHECK(program.recorder_->gate == Recorder::kNoGate);
}

TEST_CASE("steps: a helper that runs more often than the step does not pass for it") {
  Program program(Steps(10, 12));
  Module* const step = program.Load("jit_step", 100);
  Module* const helper = program.Load("jit_metrics", 5);
  bool is_armed = false;
  for (int i = 0; i < 10; ++i) {
    program.Run(step, 20 * kMillisecond);
    for (int j = 0; j < 3; ++j) program.Run(helper, kMillisecond);
    if (!is_armed && program.window_.ShouldArm(program.now_)) {
      is_armed = true;
      program.window_.OnArmed(program.now_);
    }
    if (is_armed) CHECK_FALSE(program.window_.HasOpened(program.now_));
  }
  REQUIRE(is_armed);
  program.Run(step, 20 * kMillisecond);
  REQUIRE(program.window_.HasOpened(program.now_));
  CHECK(program.chosen() == "XlaModule:#hlo_module=jit_step,program_id=7#");
  CHECK(program.change().first == 10);
}

TEST_CASE("steps: a module that is left behind inside the window ends it") {
  Program program(Steps(10, 1000));
  Module* const step = program.Load("jit_step", 100);
  for (int i = 0; i < 10; ++i) program.Run(step, 20 * kMillisecond);
  REQUIRE(program.window_.ShouldArm(program.now_));
  program.window_.OnArmed(program.now_);
  for (int i = 0; i < 5; ++i) program.Run(step, 20 * kMillisecond);
  REQUIRE(program.window_.HasOpened(program.now_));
  CHECK_FALSE(program.window_.HasEnded(program.now_ + 60'000 * kMillisecond));
  CHECK(program.window_.HasEnded(program.now_ + 700'000 * kMillisecond));
  CHECK(program.change().last == 15);
}

TEST_CASE("a window that is cut short ends with what has begun") {
  Program program(Steps(10, 1000));
  Module* const step = program.Load("jit_step", 100);
  for (int i = 0; i < 10; ++i) program.Run(step, 50 * kMillisecond);
  REQUIRE(program.window_.ShouldArm(program.now_));
  program.window_.OnArmed(program.now_);
  for (int i = 0; i < 7; ++i) program.Run(step, 50 * kMillisecond);
  REQUIRE(program.window_.HasOpened(program.now_));
  program.window_.CutShort("stopped");
  CHECK(program.change().first == 10);
  CHECK(program.change().last == 17);
}

TEST_CASE("a window by time") {
  WindowSettings settings;
  settings.mode = WindowMode::kTime;
  settings.delay_ns = 100 * kMillisecond;
  settings.duration_ns = 50 * kMillisecond;
  Program program(settings);
  CHECK_FALSE(program.window_.ShouldArm(program.now_ + 99 * kMillisecond));
  REQUIRE(program.window_.ShouldArm(program.now_ + 100 * kMillisecond));
  program.window_.OnArmed(program.now_ + 110 * kMillisecond);
  CHECK(program.window_.HasOpened(program.now_ + 110 * kMillisecond));
  CHECK_FALSE(program.window_.HasEnded(program.now_ + 159 * kMillisecond));
  CHECK(program.window_.HasEnded(program.now_ + 160 * kMillisecond));
  CHECK(program.change().string == 0);
}

}  // namespace
}  // namespace pgle::recorder
