#include <doctest/doctest.h>
#include <fmt/format.h>

#include <functional>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <vector>

#include "hlo/module.h"

namespace pgle {
namespace {

using protozero::pbf_writer;
using Groups = std::vector<std::vector<int64_t>>;
using Write = std::function<void(pbf_writer&)>;

std::string Message(const Write& write) {
  std::string bytes;
  pbf_writer writer(bytes);
  write(writer);
  return bytes;
}

void AddPacked(pbf_writer& writer, protozero::pbf_tag_type tag, const std::vector<int64_t>& ids) {
  writer.add_packed_int64(tag, ids.begin(), ids.end());
}

// A module with one instruction, an all-gather of the given fields; `in_module` adds to the module.
HloModule Parsed(
    const Write& collective, const Write& in_module = [](pbf_writer&) {}) {
  const std::string instruction = Message([&](pbf_writer& writer) {
    writer.add_string(1, "x");
    writer.add_string(2, "all-gather");
    writer.add_int64(35, 1);
    collective(writer);
  });
  const std::string computation = Message([&](pbf_writer& writer) {
    writer.add_string(1, "main");
    writer.add_message(2, instruction);
    writer.add_int64(5, 7);
    writer.add_int64(6, 1);
  });
  const std::string module = Message([&](pbf_writer& writer) {
    writer.add_string(1, "m");
    writer.add_message(3, computation);
    writer.add_int64(6, 7);
    in_module(writer);
  });
  auto parsed =
      ParseHloProto(Message([&](pbf_writer& writer) { writer.add_message(1, module); }), "a.pb");
  if (!parsed.ok()) FAIL(parsed.error().what);
  return std::move(*parsed);
}

HloInstruction Collective(const Write& collective) {
  return Parsed(collective).instruction(0);
}

// The same from text.
HloInstruction FromText(const std::string& groups) {
  const auto module = ParseHloText(
      "HloModule m\n\nENTRY %main () -> f32[] {\n  ROOT %x = f32[] all-gather(), replica_groups=" +
          groups + "\n}\n",
      "a.txt");
  if (!module.ok()) FAIL(module.error().what);
  return module->instruction(0);
}

void AddExplicit(pbf_writer& writer, protozero::pbf_tag_type tag, const Groups& groups) {
  for (const auto& group : groups) {
    writer.add_message(tag, Message([&](pbf_writer& w) { AddPacked(w, 1, group); }));
  }
}

HloInstruction Iota(int64_t count, int64_t size, const std::vector<int64_t>& dims,
                    const std::vector<int64_t>& perm) {
  return Collective([&](pbf_writer& writer) {
    writer.add_message(92, Message([&](pbf_writer& list) {
                         list.add_int64(1, count);
                         list.add_int64(2, size);
                         AddPacked(list, 3, dims);
                         AddPacked(list, 4, perm);
                       }));
  });
}

struct Axis {
  int64_t index = 0;
  int64_t part = 0;  // size of a part of the axis; 0: the whole axis
};

HloInstruction Mesh(const std::vector<int64_t>& sizes, const std::vector<Axis>& axes,
                    const std::vector<int64_t>& device_ids = {}) {
  return Collective([&](pbf_writer& writer) {
    const std::string mesh = Message([&](pbf_writer& w) {
      for (int64_t size : sizes) {
        w.add_message(1, Message([&](pbf_writer& axis) {
                        axis.add_string(1, "a");
                        axis.add_int64(2, size);
                      }));
      }
      if (!device_ids.empty()) AddPacked(w, 2, device_ids);
    });
    writer.add_message(93, Message([&](pbf_writer& list) {
                         list.add_message(1, mesh);
                         for (const Axis& axis : axes) {
                           list.add_message(2, Message([&](pbf_writer& reference) {
                                              if (axis.index != 0)
                                                reference.add_int64(1, axis.index);
                                              if (axis.part == 0) return;
                                              reference.add_message(
                                                  2, Message([&](pbf_writer& sub_axis) {
                                                    sub_axis.add_int64(1, 1);
                                                    sub_axis.add_int64(2, axis.part);
                                                  }));
                                            }));
                         }
                       }));
  });
}

void CheckEqual(const HloInstruction& read, const std::string& text, int64_t size,
                const Groups& groups) {
  CAPTURE(text);
  CHECK(read.group_size == size);
  CHECK(read.groups == groups);
  const HloInstruction from_text = FromText(text);
  CHECK(from_text.group_size == size);
  CHECK(from_text.groups == groups);
}

TEST_CASE("groups given one by one") {
  const Groups groups = {{0, 1, 2}, {3}};
  const HloInstruction old = Collective([&](pbf_writer& w) { AddExplicit(w, 49, groups); });
  CheckEqual(old, "{{0,1,2},{3}}", 3, groups);
  const auto list = [](const Groups& members) {
    return Message([&](pbf_writer& w) { AddExplicit(w, 1, members); });
  };
  CheckEqual(Collective([&](pbf_writer& w) { w.add_message(87, list(groups)); }), "{{0,1,2},{3}}",
             3, groups);
  // Both forms of the same: not twice the groups.
  CheckEqual(Collective([&](pbf_writer& w) {
               AddExplicit(w, 49, groups);
               w.add_message(87, list(groups));
             }),
             "{{0, 1, 2}, {3}}", 3, groups);
  CheckEqual(Collective([&](pbf_writer& w) { w.add_message(87, list({})); }), "{}", 0, {});
}

TEST_CASE("groups as a reshaped and transposed iota") {
  CheckEqual(Iota(2, 4, {8}, {0}), "[2,4]<=[8]", 4, {{0, 1, 2, 3}, {4, 5, 6, 7}});
  CheckEqual(Iota(2, 4, {8}, {}), "[2,4]<=[8]", 4, {{0, 1, 2, 3}, {4, 5, 6, 7}});
  CheckEqual(Iota(4, 2, {2, 4}, {1, 0}), "[4,2]<=[2,4]T(1,0)", 2, {{0, 4}, {1, 5}, {2, 6}, {3, 7}});
  CheckEqual(Iota(2, 6, {2, 3, 2}, {1, 2, 0}), "[2,6]<=[2,3,2]T(1,2,0)", 6,
             {{0, 6, 1, 7, 2, 8}, {3, 9, 4, 10, 5, 11}});
  // Numbers that do not fit each other.
  CheckEqual(Iota(3, 2, {8}, {}), "[3,2]<=[8]", 2, {});
  CheckEqual(Iota(4, 2, {2, 4}, {1, 1}), "[4,2]<=[2,4]T(1,1)", 2, {});
  CheckEqual(Iota(4, 2, {2, 4}, {0}), "[4,2]<=[2,4]T(0)", 2, {});
  CheckEqual(Iota(-4, 2, {-8}, {}), "[-4,2]<=[-8]", 2, {});
  CheckEqual(Iota(4, 2, {}, {}), "[4,2]", 2, {});
}

TEST_CASE("groups over axes of a mesh") {
  const auto text = [](const std::string& axes) { return "mesh['a'=2,'b'=4] " + axes; };
  CheckEqual(Mesh({2, 4}, {{1}}), text("{'b'}"), 4, {{0, 1, 2, 3}, {4, 5, 6, 7}});
  CheckEqual(Mesh({2, 4}, {{0}}), text("{'a'}"), 2, {{0, 4}, {1, 5}, {2, 6}, {3, 7}});
  CheckEqual(Mesh({2, 4}, {{0}, {1}}), text("{'a','b'}"), 8, {{0, 1, 2, 3, 4, 5, 6, 7}});
  CheckEqual(Mesh({2, 4}, {{1}, {0}}), text("{'b','a'}"), 8, {{0, 4, 1, 5, 2, 6, 3, 7}});
  CheckEqual(Mesh({2, 2, 2}, {{0}, {2}}), "mesh['a'=2,'b'=2,'c'=2] {'a','c'}", 4,
             {{0, 1, 4, 5}, {2, 3, 6, 7}});
  // Parts of axes, an order of devices of its own, axes that are not there or come twice.
  CheckEqual(Mesh({2, 4}, {{1, 2}}), text("{'b':(1)2}"), 2, {});
  CheckEqual(Mesh({2, 2}, {{0}}, {3, 2, 1, 0}), "mesh['a'=2,'b'=2, device_ids=(3,2,1,0)] {'a'}", 2,
             {});
  CheckEqual(Mesh({2, 4}, {{5}}), text("{'z'}"), 0, {});
  CheckEqual(Mesh({2, 2}, {{1}, {1}}), "mesh['a'=2,'b'=2] {'b','b'}", 4, {});
}

TEST_CASE("no more than 1024 ids are written out") {
  CHECK(Iota(256, 4, {1024}, {}).groups.size() == 256);
  CheckEqual(Iota(257, 4, {1028}, {}), "[257,4]<=[1028]", 4, {});
  CheckEqual(Mesh({512, 4}, {{1}}), "mesh['a'=512,'b'=4] {'b'}", 4, {});
  CheckEqual(Mesh({int64_t{1} << 62, 4}, {{1}}), "mesh['a'=4611686018427387904,'b'=4] {'b'}", 4,
             {});
  Groups groups;
  std::string text;
  for (int64_t i = 0; i < 513; ++i) {
    groups.push_back({2 * i, 2 * i + 1});
    text += fmt::format("{}{{{},{}}}", i == 0 ? "" : ",", 2 * i, 2 * i + 1);
  }
  CheckEqual(Collective([&](pbf_writer& w) { AddExplicit(w, 49, groups); }), "{" + text + "}", 2,
             {});
  groups.pop_back();
  CHECK(Collective([&](pbf_writer& w) { AddExplicit(w, 49, groups); }).groups == groups);
}

TEST_CASE("the devices of a module's ids") {
  const auto ids = [](const Groups& by_partition) {
    const std::string assignment = Message([&](pbf_writer& w) { AddExplicit(w, 3, by_partition); });
    return Parsed([](pbf_writer&) {}, [&](pbf_writer& w) { w.add_message(15, assignment); })
        .device_ids();
  };
  CHECK(ids({{0}, {1}, {3}, {2}}) == std::vector<int64_t>{0, 1, 3, 2});
  CHECK(ids({{0, 2}, {1, 3}}) == std::vector<int64_t>{0, 1, 2, 3});
  CHECK(ids({{0, 2}, {1}}).empty());
  CHECK(ids({}).empty());
}

}  // namespace
}  // namespace pgle
