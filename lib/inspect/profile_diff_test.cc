#include "inspect/profile_diff.h"

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "inspect/cost_class.h"
#include "inspect/profile_summary.h"

namespace pgle {
namespace {

TEST_CASE("changes, largest first either way, and names of one side only") {
  const ProfileDiff diff =
      DiffProfiles({{{"a", 10}, {"b", 10}, {"same", 3}, {"zero", 0}, {"old", 1}}},
                   {{{"b", 5}, {"a", 11}, {"same", 3}, {"zero", 2}, {"new", 4}}});
  CHECK(diff.equal == 1);
  REQUIRE(diff.changed.size() == 3);
  CHECK(diff.changed[0].name == "zero");
  CHECK(std::isinf(diff.changed[0].relative()));
  CHECK(diff.changed[1].name == "b");
  CHECK(diff.changed[1].relative() == doctest::Approx(-0.5));
  CHECK(diff.changed[2].name == "a");
  CHECK(diff.only_in_a == std::vector<InstructionCost>{{"old", 1}});
  CHECK(diff.only_in_b == std::vector<InstructionCost>{{"new", 4}});
  CHECK(diff.common_a_us == 23);
  CHECK(diff.common_b_us == 21);
  CHECK(diff.Over(0.2) == 4);  // zero, b, old, new
  CHECK(diff.Over(0.05) == 5);
  CHECK(SummarizeDiff(diff, "A", "B") ==
        "3 costs differ, the most by 2.00 us from 0; 1 only in A; 1 only in B");
  CHECK(SummarizeDiff(DiffProfiles({}, {}), "A", "B") == "equal");
}

TEST_CASE("profiles of one module compare by instruction, whatever the keys") {
  const CostProfile bare{{{"a", 1}, {"a", 2}}};
  CHECK(DiffProfiles(bare, {{{"f::a", 2}}}).empty());
  CHECK(DiffProfiles(bare, {{{"f::a", 2}, {"a", 7}}}).empty());  // the exact fingerprint wins
  const CostProfile two{{{"f::a", 2}, {"g::a", 3}}};
  CHECK(DiffProfiles(two, two).empty());
  CHECK(DiffProfiles(two, {{{"f::a", 2}, {"g::a", 4}}}).changed.front().name == "g::a");
}

TEST_CASE("diff as JSON") {
  DiffReport report{"a.pb", "b.pb", DiffProfiles({{{"x", 0}, {"y", 1}}}, {{{"x", 2}}})};
  report.has_limit = true;
  report.limit = 0.2;
  const auto json = nlohmann::json::parse(FormatDiffJson(report));
  CHECK(json.begin() != json.end());
  CHECK(json["schema"] == "pgle.inspect.diff/1");
  CHECK(json["changed"][0]["relative"].is_null());
  CHECK(json["only_in_a"][0] == nlohmann::json{{"name", "y"}, {"cost_us", 1.0}});
  CHECK(json["over"] == 2);
}

TEST_CASE("classes by name") {
  CHECK(CostClassOf("all-gather-start.3") == "all-gather");
  CHECK(CostClassOf("all-reduce.5.0-fusion.1") == "all-reduce");
  CHECK(CostClassOf("ragged-all-to-all.1") == "ragged-all-to-all");
  CHECK(CostClassOf("send.1") == "send");
  CHECK(CostClassOf("sender_fusion") == "fusion");
  CHECK(CostClassOf("gemm_fusion_dot.139") == "gemm");
  CHECK(CostClassOf("custom-call.5") == "gemm");
  CHECK(CostClassOf("dot.1") == "gemm");
  CHECK(CostClassOf("loop_dotted_fusion") == "fusion");
  CHECK(CostClassOf("copy.7") == "copy");
  CHECK(CostClassOf("copy_fusion.7") == "fusion");
  CHECK(CostClassOf("command_buffer_3") == "command buffer");
  CHECK(CostClassOf("transpose.2") == "other");
}

TEST_CASE("a summary counts each instruction once") {
  const ProfileSummary summary = Summarize({{{"gemm.1", 4},
                                             {"f::gemm.1", 5},
                                             {"copy.1", 0},
                                             {"f::all-gather.2", 9},
                                             {"copy.1", 1},
                                             {"f::x::y", 3},
                                             {"g::gemm.1", 1}}});
  CHECK(summary.entries == 7);
  CHECK(summary.bare == 3);
  CHECK(summary.fingerprints == std::vector<std::pair<std::string, uint64_t>>{{"f", 2}, {"g", 1}});
  CHECK(summary.instructions == 4);
  CHECK(summary.total_us == 16);  // 5 + 9 + 1 + 1
  CHECK(summary.classes.front().name == "all-gather");
  CHECK(summary.costs.front().name == "f::all-gather.2");
  CHECK(summary.repeated == std::vector<std::string>{"copy.1"});
  CHECK(summary.dropped == std::vector<std::string>{"f::x::y"});
  CHECK_FALSE(summary.has_remat);
  const auto json = nlohmann::json::parse(FormatShowJson({"p.pb", summary}));
  CHECK(json["schema"] == "pgle.inspect.show/1");
  CHECK(json["classes"][0] ==
        nlohmann::json{{"class", "all-gather"}, {"instructions", 1}, {"total_us", 9.0}});
}

}  // namespace
}  // namespace pgle
