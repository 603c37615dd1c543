#include "capture/convert/graph_nodes.h"

#include <doctest/doctest.h>

#include <tuple>
#include <utility>

namespace pgle {
namespace {

uint64_t Id(uint32_t graph, uint32_t number) {
  return static_cast<uint64_t>(graph) << 32 | number;
}

// Announces graphs as CUPTI 13.0 does for XLA's command buffers.
struct Recording {
  GraphNodes nodes;
  uint32_t thread = 0;

  void Create(uint32_t graph, uint32_t number, uint32_t range) {
    nodes.AddCreated(thread, Id(graph, number), {range, thread, range + 1000});
  }
  void Clone(uint32_t graph, uint32_t number, uint32_t from_graph, uint32_t from, uint32_t range) {
    Create(graph, number, range);
    nodes.AddCloned(thread, Id(graph, number), Id(from_graph, from));
  }
  uint32_t Range(uint32_t graph, uint32_t number) const {
    return nodes.MakerOf(Id(graph, number)).range;
  }
};

constexpr uint32_t kModule = 1;  // the range in which graphs are instantiated

// Graph 8: kernels 0 and 1, a child at 2 (graph 9, copied as 10), a kernel at 3, another child at 4
// (graph 11, copied as 12). Instantiated as graph 20, its children as 21 and 22.
void CommandBuffer(Recording* r) {
  r->Create(8, 0, 100);
  r->Create(8, 1, 101);
  r->Create(9, 0, 102);
  r->Create(9, 1, 102);
  r->Clone(10, 0, 9, 0, 102);
  r->Clone(10, 1, 9, 1, 102);
  r->Create(8, 2, 102);
  r->Create(8, 3, 103);
  r->Create(11, 0, 104);
  r->Clone(12, 0, 11, 0, 104);
  r->Create(8, 4, 104);
  r->Clone(20, 0, 8, 0, kModule);
  r->Clone(20, 1, 8, 1, kModule);
  r->Clone(21, 0, 10, 0, kModule);
  r->Clone(21, 1, 10, 1, kModule);
  r->Clone(20, 2, 8, 2, kModule);
  r->Clone(20, 3, 8, 3, kModule);
  r->Clone(22, 0, 12, 0, kModule);
  r->Clone(20, 4, 8, 4, kModule);
  // The children's places once more, in a graph of their own.
  r->Create(23, 2, kModule);
  r->Create(23, 4, kModule);
}

TEST_CASE("a node of an executable graph was made where its original was recorded") {
  Recording r;
  CommandBuffer(&r);
  r.nodes.Finish();
  CHECK(r.Range(20, 0) == 100);
  CHECK(r.Range(20, 1) == 101);
  CHECK(r.Range(20, 3) == 103);
  CHECK(r.nodes.MakerOf(Id(20, 3)).scope == 1103);
}

TEST_CASE("nodes of children are numbered on behind the graph's own") {
  Recording r;
  CommandBuffer(&r);
  r.nodes.Finish();
  CHECK(r.Range(20, 5) == 102);
  CHECK(r.Range(20, 6) == 102);
  CHECK(r.Range(20, 7) == 104);
  CHECK(r.Range(20, 8) == 0);
}

TEST_CASE("two threads that record at the same time do not mix") {
  Recording r;
  GraphNodes& nodes = r.nodes;
  const auto create = [&](uint32_t thread, uint32_t graph, uint32_t number, uint32_t range) {
    nodes.AddCreated(thread, Id(graph, number), {range, thread, 0});
  };
  const auto clone = [&](uint32_t thread, uint32_t graph, uint32_t number, uint32_t from) {
    create(thread, graph, number, kModule);
    nodes.AddCloned(thread, Id(graph, number), Id(from, number));
  };
  create(0, 2, 0, 100);
  create(1, 5, 0, 200);
  clone(0, 3, 0, 2);  // the child's copy on thread 0 ...
  create(1, 6, 0, 201);
  clone(1, 7, 0, 6);
  create(0, 1, 0, 100);  // ... belongs to the node that thread 0 makes next
  create(1, 5, 1, 201);
  clone(0, 30, 0, 3);
  clone(1, 40, 0, 7);
  clone(0, 10, 0, 1);
  clone(1, 11, 0, 5);
  clone(1, 11, 1, 5);
  nodes.Finish();
  CHECK(r.Range(10, 1) == 100);
  CHECK(r.Range(11, 0) == 200);
  CHECK(r.Range(11, 2) == 201);
  CHECK(r.Range(11, 3) == 0);
}

TEST_CASE("a graph that was instantiated right before is nobody's child") {
  Recording r;
  r.Create(1, 0, 100);
  r.Clone(2, 0, 1, 0, kModule);  // instantiated
  r.Create(3, 0, 101);           // the next command buffer
  r.Clone(4, 0, 3, 0, kModule);
  r.nodes.Finish();
  CHECK(r.Range(4, 0) == 101);
  CHECK(r.Range(4, 1) == 0);
}

TEST_CASE("a graph that is copied before it is instantiated keeps its children") {
  Recording r;
  r.Create(2, 0, 100);
  r.Clone(3, 0, 2, 0, 100);
  r.Create(1, 0, 100);
  r.Create(1, 1, 101);
  for (const auto& [to, from, child, of] :
       {std::tuple(10U, 1U, 11U, 3U), std::tuple(20U, 10U, 21U, 11U)}) {
    r.Clone(child, 0, of, 0, kModule);
    r.Clone(to, 0, from, 0, kModule);
    r.Clone(to, 1, from, 1, kModule);
  }
  r.nodes.Finish();
  CHECK(r.Range(20, 1) == 101);
  CHECK(r.Range(20, 2) == 100);
}

TEST_CASE("children of children stay unknown, and what is numbered behind them") {
  Recording r;
  r.Create(3, 0, 100);
  r.Clone(4, 0, 3, 0, 100);
  r.Create(2, 0, 100);  // has graph 4 as its child
  r.Clone(6, 0, 4, 0, 100);
  r.Clone(5, 0, 2, 0, 100);
  r.Create(1, 0, 100);  // has graph 5 as its child
  r.Clone(12, 0, 6, 0, kModule);
  r.Clone(11, 0, 5, 0, kModule);
  r.Clone(10, 0, 1, 0, kModule);
  r.nodes.Finish();
  CHECK(r.Range(10, 0) == 100);
  CHECK(r.Range(10, 1) == 0);
}

TEST_CASE("damaged chains end") {
  Recording r;
  r.Clone(1, 0, 2, 0, 0);
  r.Clone(2, 0, 1, 0, 0);
  r.nodes.Finish();
  CHECK(r.Range(1, 0) == 0);
  CHECK(r.Range(9, 9) == 0);
}

}  // namespace
}  // namespace pgle
