// Tests two parsers: of plans, the JSON files that describe one repetition of a benchmark, and of
// the meta lines in which a jail (sandbox) reports how it ended. Covers defaults, errors, and round
// trips through JSON.
#include "harness/referee/plan/plan.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/referee/processes/jail_end.h"

namespace keydrome {
namespace {

Json minimal() {
  return *Json::parse(R"({
    "schema": "keydrome.plan.v1", "benchmark": "sigmod2009", "benchmark_version": 1,
    "instance": "preliminary1", "scale": "smoke", "seed": "00000000000000ff",
    "library": {"path": "/lib/a.so"}, "player": "/bin/player", "jail": {"path": "/bin/jail"},
    "limits": {"phase_timeout_ms": 1000}})");
}

std::string error_of(const Json& json) {
  const Result<Plan> plan = parse_plan(json);
  return plan ? "" : plan.error().message;
}

TEST(Plan, FillsInDefaults) {
  const Result<Plan> plan = parse_plan(minimal());
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(plan->seed_number(), 255u);
  EXPECT_EQ(plan->jail.require, "full");
  EXPECT_EQ(plan->limits.load_timeout_ms, 10'000u);
  EXPECT_FALSE(plan->limits.session_timeout_ms.has_value());
  EXPECT_FALSE(plan->plain);
  EXPECT_EQ(configuration_text(plan->library, 4, {INT}), "");
}

TEST(Plan, IsTheSameAfterJson) {
  Json json = minimal();
  json["parameters"]["threads"] = 4;
  json["library"]["configuration"]["latch"] = "rw";
  json["jail"]["memory_bytes"] = uint64_t{1} << 30;
  json["jail"]["cpus"] = "0-1";
  json["limits"]["session_timeout_ms"] = 60'000;
  json["keys"] = "/data/a:b";
  json["trace"] = "/data/calls";
  const Result<Plan> plan = parse_plan(json);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  const Result<Plan> again = parse_plan(to_json(*plan));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(to_json(*again).dump(), to_json(*plan).dump());
  EXPECT_EQ(again->parameters.at("threads"), 4);
  EXPECT_EQ(again->limits.session_timeout_ms, 60'000u);
  EXPECT_EQ(again->keys, "/data/a:b");
  EXPECT_EQ(again->trace, "/data/calls");
}

TEST(Plan, SaysWhatIsWrong) {
  struct Case {
    const char* path;
    Json value;
    const char* message;
  };
  const Case cases[] = {
      {"schema", "keydrome.plan.v2",
       "plan.schema: is \"keydrome.plan.v2\", but must be \"keydrome.plan.v1\""},
      {"keys", "books",
       "plan.keys: is \"books\", but must be an absolute path, which begins with /"},
      {"trace", "calls",
       "plan.trace: is \"calls\", but must be an absolute path, which begins with /"},
      {"scale", "huge", "plan.scale: is \"huge\", but must be one of smoke, laptop, paper"},
      {"seed", "12", "plan.seed: is \"12\", but must be 16 lower-case hexadecimal digits"},
      {"seed", 12, "plan.seed: is 12, but must be a string"},
      {"benchmark", "../x",
       "plan.benchmark: is \"../x\", but must be lower-case letters, digits and underscores, with "
       "a letter first"},
      {"benchmark_version", 0,
       "plan.benchmark_version: is 0, but must be an integer from 1 to 2147483647"},
      {"player", "bin/player",
       "plan.player: is \"bin/player\", but must be an absolute path, which begins with /"},
      {"plain", "yes", "plan.plain: is \"yes\", but must be true or false"},
      {"surprise", 1, "plan.surprise: this field is unknown; remove it or correct its name"},
  };
  for (const Case& wrong : cases) {
    Json json = minimal();
    json[wrong.path] = wrong.value;
    EXPECT_EQ(error_of(json), wrong.message);
  }
}

TEST(Plan, SaysWhatIsWrongInItsParts) {
  Json json = minimal();
  json["jail"]["slot"] = 1000;
  EXPECT_EQ(error_of(json), "plan.jail.slot: is 1000, but must be an integer from 0 to 999");
  json = minimal();
  json["jail"]["require"] = "some";
  EXPECT_EQ(error_of(json), "plan.jail.require: is \"some\", but must be one of full, weak, none");
  json = minimal();
  json["library"]["path"] = "/a:b.so";
  EXPECT_EQ(error_of(json),
            "plan.library.path: is \"/a:b.so\", but must be a path without a colon, because the "
            "jail separates paths with colons");
  json = minimal();
  json["limits"] = Json::Object{};
  EXPECT_EQ(
      error_of(json),
      "plan.limits.phase_timeout_ms: this required field is missing; add it (an integer from 1 "
      "to 604800000)");
  json["limits"]["phase_timeout_ms"] = 604'800'001;  // more than the 7 days that the jail accepts
  EXPECT_EQ(error_of(json),
            "plan.limits.phase_timeout_ms: is 604800001, but must be an integer from 1 to "
            "604800000");
  json = minimal();
  json["parameters"]["threads"] = "four";
  EXPECT_EQ(error_of(json), "plan.parameters.threads: is \"four\", but must be an integer");
  json = minimal();
  json["library"]["configuration"]["text"] = std::string(9000, 'x');
  EXPECT_EQ(error_of(json),
            "plan.library.configuration: takes 9011 bytes as JSON, but may take at most 8128; "
            "shorten it");
  EXPECT_EQ(error_of(Json::Array{}), "plan: is an array, but must be an object");
}

TEST(Plan, WrapsTheConfigurationOfAStructure) {
  LibraryPlan library{.path = "/runtime.so", .structure = "/btree.so", .configuration = {}};
  EXPECT_EQ(
      configuration_text(library, 4, {VARCHAR, INT, VARCHAR}),
      R"({"configuration":{},"key_types":["int","varchar"],"structure":"/structure.so","threads":4})");
  library.configuration = Json(Json::Object{{"latch", "rw"}});
  EXPECT_EQ(
      configuration_text(library, 1, {SHORT}),
      R"({"configuration":{"latch":"rw"},"key_types":["short"],"structure":"/structure.so","threads":1})");
}

TEST(JailMeta, IsKeyColonValue) {
  JailEnd end;
  end.meta = parse_meta("level:full\nmechanisms:seccomp,cgroup v1\nexit_code:-1\nerror:a: b\nrest");
  EXPECT_EQ(end.text("level"), "full");
  EXPECT_EQ(end.number("exit_code"), -1);
  EXPECT_EQ(end.number("level"), std::nullopt);
  EXPECT_EQ(end.number("signal"), std::nullopt);
  EXPECT_EQ(end.text("error"), "a: b");
  EXPECT_EQ(end.meta.size(), 4u);
}

}  // namespace
}  // namespace keydrome
