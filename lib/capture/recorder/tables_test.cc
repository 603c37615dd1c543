#include <doctest/doctest.h>
#include <zlib.h>

#include <atomic>
#include <barrier>
#include <cstring>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "capture/recorder/activity_buffers.h"
#include "capture/recorder/correlation_set.h"
#include "capture/recorder/crc32.h"
#include "capture/recorder/event_ring.h"
#include "capture/recorder/memory.h"
#include "capture/recorder/module_table.h"
#include "capture/recorder/range_table.h"
#include "capture/recorder/text_table.h"

namespace pgle::recorder {
namespace {

template <typename Function>
void OnThreads(int count, Function function) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([=] { function(i); });
  for (std::thread& thread : threads) thread.join();
}

TEST_CASE("the checksum is zlib's, at every length and alignment") {
  std::string bytes(200, '\0');
  std::mt19937 random(1);
  for (char& byte : bytes) byte = static_cast<char>(random());
  for (size_t start = 0; start < 9; ++start) {
    for (size_t size = 0; size < 100; ++size) {
      const auto* const data = reinterpret_cast<const Bytef*>(bytes.data() + start);
      REQUIRE(Crc32(bytes.data() + start, size) == crc32(0, data, static_cast<uInt>(size)));
    }
  }
}

TEST_CASE("equal texts are one text, from any thread") {
  auto* const table = new (Reserve<TextTable>(1)) TextTable;
  REQUIRE(table->Init());
  constexpr int kThreads = 8, kTexts = 2000;
  std::vector<std::vector<const Text*>> found(kThreads);
  auto* const all = &found;
  OnThreads(kThreads, [=](int thread) {
    for (int i = 0; i < kTexts; ++i) {
      (*all)[thread].push_back(
          table->Intern(("Thunk:#hlo_op=fusion." + std::to_string(i) + "#").c_str()));
    }
  });
  std::set<const Text*> distinct;
  for (int i = 0; i < kTexts; ++i) {
    for (int thread = 0; thread < kThreads; ++thread) {
      REQUIRE(found[thread][i] == found[0][i]);
    }
    distinct.insert(found[0][i]);
    CHECK(std::string(found[0][i]->data()) == "Thunk:#hlo_op=fusion." + std::to_string(i) + "#");
    CHECK(table->At(found[0][i]->id - 1) == found[0][i]);
  }
  CHECK(distinct.size() == kTexts);
  CHECK(table->lost() == 0);
}

TEST_CASE("texts are told apart by what XLA means with them") {
  auto* const table = new (Reserve<TextTable>(1)) TextTable;
  REQUIRE(table->Init());
  CHECK(table->Intern("XlaModule:#hlo_module=jit_f,program_id=1#")->kind == TextKind::kModule);
  CHECK(table->Intern("XlaCompile:#module=jit_f#")->kind == TextKind::kCompile);
  CHECK(table->Intern("XlaCompileBackend:#module=jit_f#")->kind == TextKind::kCompile);
  CHECK(table->Intern("Thunk:#hlo_op=a#")->kind == TextKind::kOther);
  CHECK(table->Intern("")->size == 0);
  CHECK(table->Intern(nullptr) == nullptr);
}

TEST_CASE("a stack of ranges has one number, whichever thread asks") {
  auto* const table = new (Reserve<RangeTable>(1)) RangeTable;
  REQUIRE(table->Init());
  std::vector<std::vector<uint32_t>> found(8);
  std::atomic<int> fresh = 0;
  auto* const all = &found;
  auto* const made = &fresh;
  OnThreads(8, [=](int thread) {
    for (uint32_t text = 1; text <= 3000; ++text) {
      const RangeTable::Found outer = table->Intern(0, text % 7 + 1);
      const RangeTable::Found inner = table->Intern(outer.id, text);
      if (outer.is_fresh) ++*made;
      if (inner.is_fresh) ++*made;
      (*all)[thread].push_back(inner.id);
    }
  });
  for (int thread = 1; thread < 8; ++thread) CHECK(found[thread] == found[0]);
  CHECK(fresh == 3007);
  RangeEntry entry;
  uint32_t count = 0;
  while (table->At(count, &entry)) {
    ++count;
    // Perhaps another number than its own: then this one lost a race and is of no use.
    RangeEntry used;
    REQUIRE(table->At(table->Intern(entry.parent, entry.string).id - 1, &used));
    CHECK(used.parent == entry.parent);
    CHECK(used.string == entry.string);
  }
  CHECK(count >= 3007);
}

TEST_CASE("a ring keeps order and counts what it loses") {
  auto* const ring = new (Reserve<EventRing>(1)) EventRing;
  std::vector<Event> events(1 << 15);
  Event event;
  for (uint32_t i = 0; i < (1 << 16) + 10; ++i) {
    event.range = i;
    ring->Push(event);
  }
  CHECK(ring->lost() == 10);
  uint32_t next = 0;
  while (const uint32_t count = ring->Pop(events.data(), 1 << 15)) {
    for (uint32_t i = 0; i < count; ++i) REQUIRE(events[i].range == next++);
  }
  CHECK(next == 1 << 16);
  CHECK(ring->is_empty());
}

TEST_CASE("a ring passes all events from one thread to another") {
  auto* const ring = new (Reserve<EventRing>(1)) EventRing;
  constexpr uint32_t kEvents = 400'000, kPlaces = 1 << 16;
  std::atomic<uint32_t> read = 0;
  std::thread writer([ring, &read] {
    Event event;
    for (uint32_t i = 0; i < kEvents; ++i) {
      while (i - read >= kPlaces) std::this_thread::yield();
      event.range = i;
      ring->Push(event);
    }
  });
  std::vector<Event> events(4096);
  uint32_t wrong = 0;
  while (read < kEvents && ring->lost() == 0) {
    const uint32_t count = ring->Pop(events.data(), 4096);
    for (uint32_t i = 0; i < count; ++i) wrong += events[i].range != read + i;
    read += count;
    if (count == 0) std::this_thread::yield();
  }
  read = kEvents;  // whatever was lost: the writer is to end
  writer.join();
  CHECK(ring->lost() == 0);
  CHECK(wrong == 0);
  CHECK(ring->is_empty());
}

TEST_CASE("a module that threads run first at the same time is one module") {
  auto* const texts = new (Reserve<TextTable>(1)) TextTable;
  auto* const modules = new (Reserve<ModuleTable>(1)) ModuleTable;
  REQUIRE(texts->Init());
  REQUIRE(modules->Init());
  constexpr int kThreads = 8, kModules = 500;
  std::vector<std::vector<Module*>> found(kThreads, std::vector<Module*>(kModules));
  std::barrier together(kThreads);
  OnThreads(kThreads, [texts, modules, &found, &together](int thread) {
    for (int i = 0; i < kModules; ++i) {
      const std::string name = "jit_f" + std::to_string(i);
      const Text* const text =
          texts->Intern(("XlaModule:#hlo_module=" + name + ",program_id=1#").c_str());
      together.arrive_and_wait();
      found[thread][i] = modules->Find(text);
    }
  });
  CHECK(modules->count() == kModules);
  for (int i = 0; i < kModules; ++i) {
    REQUIRE(found[0][i] != nullptr);
    for (int thread = 1; thread < kThreads; ++thread) REQUIRE(found[thread][i] == found[0][i]);
    char name[32];
    CopyModuleName(*found[0][i]->text.load(), name, sizeof(name));
    CHECK(std::string(name) == "jit_f" + std::to_string(i));
    CHECK(modules->At(modules->IndexOf(found[0][i])) == found[0][i]);
  }
}

TEST_CASE("buffers come back zeroed and are limited") {
  auto* const buffers = new (Reserve<ActivityBuffers>(1)) ActivityBuffers;
  buffers->Init(4096, 4 * 4096, /*may_refuse=*/true);
  buffers->Prepare(2);
  std::vector<uint8_t*> held;
  for (int i = 0; i < 4; ++i) {
    uint8_t* data = nullptr;
    size_t size = 0;
    buffers->Request(&data, &size);
    REQUIRE(data != nullptr);
    CHECK(size == 4096);
    memset(data, i + 1, 100);
    held.push_back(data);
  }
  uint8_t* data = nullptr;
  size_t size = 1;
  buffers->Request(&data, &size);
  CHECK(data == nullptr);
  CHECK(size == 0);
  CHECK(buffers->dropped() == 1);
  for (uint8_t* one : held) buffers->Complete(one, 100);
  int count = 0;
  for (auto* filled = buffers->TakeFilled(); filled != nullptr;) {
    auto* const next = filled->next;
    CHECK(filled->data[0] == ++count);  // the oldest first
    buffers->Return(filled);
    filled = next;
  }
  CHECK(count == 4);
  for (int i = 0; i < 4; ++i) {
    buffers->Request(&data, &size);
    REQUIRE(data != nullptr);
    for (size_t at = 0; at < size; ++at) REQUIRE(data[at] == 0);
  }
}

TEST_CASE("a CUPTI that must get a buffer gets one over the limit, whose content is thrown away") {
  auto* const buffers = new (Reserve<ActivityBuffers>(1)) ActivityBuffers;
  buffers->Init(4096, 2 * 4096, /*may_refuse=*/false);
  uint8_t* data = nullptr;
  size_t size = 0;
  for (int i = 0; i < 3; ++i) buffers->Request(&data, &size);
  REQUIRE(data != nullptr);
  CHECK(buffers->dropped() == 1);
  data[0] = 1;
  buffers->Complete(data, 64);
  CHECK(buffers->TakeFilled() == nullptr);
  buffers->Request(&data, &size);  // the same one again
  CHECK(data != nullptr);
  CHECK(data[0] == 0);
  CHECK(buffers->dropped() == 2);
}

TEST_CASE("the set of launches counts each once") {
  CorrelationSet set;
  REQUIRE(set.Init());
  set.Add(5);
  set.Add(5);
  set.Add(UINT32_MAX);
  CHECK(set.count() == 2);
  set.Remove(7);
  set.Remove(5);
  set.Remove(5);
  CHECK(set.count() == 1);
  set.Remove(UINT32_MAX);
  CHECK(set.count() == 0);
}

}  // namespace
}  // namespace pgle::recorder
