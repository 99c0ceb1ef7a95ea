// Tests the manifests (benchmark.json) and the fingerprints of all benchmarks.
#include "benchmarks/kit/workload/parameters.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>

#include "benchmarks/kit/workload/fingerprint.h"
#include "benchmarks/kit/workload/workload.h"

namespace keydrome {
namespace {

// Returns a small valid manifest, which the tests change.
Json manifest() {
  return Json::parse(R"({
    "name": "example", "version": 2, "kind": "performance", "title": "t", "description": "d", "source": "s",
    "metric": {"name": "total_ms", "direction": "lower", "unit": "ms"},
    "parameters": {"threads": {"unit": "threads", "min": 1, "max": 64, "description": "d"}},
    "instances": {"small": {"title": "t", "description": "d", "scales": {
      "smoke": {"threads": 2}, "laptop": {"threads": 4}, "paper": {"threads": 50}}}},
    "limits": {"smoke": {"phase_timeout_ms": 1, "memory_bytes": 1, "tmpfs_bytes": 1},
      "laptop": {"phase_timeout_ms": 1, "memory_bytes": 1, "tmpfs_bytes": 1},
      "paper": {"phase_timeout_ms": 1, "memory_bytes": 1, "tmpfs_bytes": 1}}})")
      .value();
}

TEST(Manifest, ResolvesScaleAndOverrides) {
  const Result<workload::Manifest> parsed = workload::Manifest::parse(manifest().dump());
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(parsed->resolve("small", "paper", {}).value()["threads"], 50);
  EXPECT_EQ(parsed->resolve("small", "paper", {{"threads", 3}}).value()["threads"], 3);
  EXPECT_EQ(parsed->limits.at("smoke").at("phase_timeout_ms"), 1);
}

TEST(Manifest, SaysWhatThereIsToChooseFrom) {
  const workload::Manifest parsed = workload::Manifest::parse(manifest().dump()).value();
  EXPECT_EQ(parsed.resolve("large", "smoke", {}).error().message,
            "benchmark example has no instance large; it has small");
  EXPECT_EQ(parsed.resolve("small", "huge", {}).error().message,
            "there is no scale huge; choose smoke, laptop or paper");
  EXPECT_EQ(parsed.resolve("small", "smoke", {{"thread", 1}}).error().message,
            "benchmark example has no parameter thread; it has threads");
  EXPECT_EQ(parsed.resolve("small", "smoke", {{"threads", 65}}).error().message,
            "parameter threads is 65, but must be from 1 to 64");
}

TEST(Manifest, RefusesMistakes) {
  const auto error_of = [](const std::function<void(Json&)>& change) {
    Json json = manifest();
    change(json);
    const Result<workload::Manifest> parsed = workload::Manifest::parse(json.dump());
    return parsed.ok() ? std::string("no error") : parsed.error().message;
  };
  const auto in_file = [](const std::string& what) {
    return "benchmarks/example/benchmark.json: " + what + "; after the correction, run ./dev build";
  };
  EXPECT_EQ(error_of([](Json& json) { json["colour"] = 1; }),
            in_file("the member colour is unknown: remove it, or correct its name to one of "
                    "description, instances, kind, limits, metric, name, own_metrics, parameters, "
                    "source, title, version"));
  EXPECT_EQ(error_of([](Json& json) { json["instances"]["small"]["trace"] = 1; }),
            in_file("instances.small: trace is 1, but must be true or false"));
  EXPECT_EQ(error_of([](Json& json) { json["version"] = 0; }),
            in_file("version: is 0, but must be from 1 to 4294967295"));
  EXPECT_EQ(error_of([](Json& json) { json["kind"] = "fun"; }),
            in_file("kind: is \"fun\", but must be \"correctness\" or \"performance\""));
  EXPECT_EQ(
      error_of([](Json& json) { json["instances"]["small"]["scales"]["smoke"]["threads"] = 0; }),
      in_file("instances.small.scales.smoke: parameter threads is 0, but must be from 1 to 64"));
  EXPECT_EQ(
      error_of([](Json& json) { json["instances"]["small"]["scales"]["smoke"] = Json::Object{}; }),
      in_file("instances.small.scales.smoke: the value of parameter threads is missing: add it"));
  EXPECT_EQ(error_of([](Json& json) { json["parameters"]["threads"]["min"] = 65; }),
            in_file("parameters.threads: min is 65, but must not exceed max, which is 64"));
}

// Tests the manifests of all benchmarks.
TEST(Registry, EveryManifestIsValidAndEveryInstanceGenerates) {
  ASSERT_FALSE(workload::benchmark_registry().empty());
  for (const workload::BenchmarkEntry& entry : workload::benchmark_registry()) {
    const Result<workload::Manifest> parsed = workload::Manifest::parse(entry.manifest_json);
    ASSERT_TRUE(parsed.ok()) << entry.name << ": " << parsed.error().message;
    EXPECT_EQ(parsed->name, entry.name);
    EXPECT_EQ(parsed->version, entry.version);
  }
}

// The operations of a version never change. New operations need a new version, and boards
// (rankings) show only the newest version. The test is left out of builds with sanitizers, because
// the other tests already generate scripts there.
#ifndef KEYDROME_SANITIZED
TEST(Registry, TheFingerprintOfEveryVersionIsTheRecordedOne) {
  for (const workload::BenchmarkEntry& entry : workload::benchmark_registry()) {
    const std::string path =
        KEYDROME_SOURCE_DIR "/benchmarks/" + std::string(entry.name) + "/fingerprint.json";
    const Result<Json> recorded = Json::parse_file(path);
    ASSERT_TRUE(recorded.ok()) << recorded.error().message;
    const std::string actual = workload::benchmark_fingerprint(entry).value();
    const Result<std::string> expected = recorded->string_member(std::to_string(entry.version));
    EXPECT_TRUE(expected.ok() && *expected == actual)
        << entry.name << ": the operations of version " << entry.version
        << " have the fingerprint\n  " << actual << "\nbut " << path << " has\n  "
        << (expected.ok() ? *expected : "none")
        << "\nThe operations of a published version must not change. If the change is intended, "
           "raise the version in benchmark.json and add the new fingerprint to fingerprint.json.";
  }
}

// A library that was written for the contest of 2009 may have no room for index names of more than
// 15 bytes. It may also hold a file descriptor or a memory area for each index. Only two instances
// of "scenarios", which test names and misuse, have longer names.
TEST(Registry, IndexesHaveShortNamesAndASuiteHasFewIndexes) {
  constexpr std::size_t kNameBytesMax = 15, kIndexesMax = 100;
  for (const workload::BenchmarkEntry& entry : workload::benchmark_registry()) {
    const workload::Manifest manifest = workload::Manifest::parse(entry.manifest_json).value();
    const bool suite = manifest.kind == "correctness";
    for (const auto& [instance, spec] : manifest.instances) {
      const std::string where = std::string(entry.name) + " " + instance;
      const bool odd = where == "scenarios names" || where == "scenarios misuse";
      const char* const scale = suite && spec.scales.contains("laptop") ? "laptop" : "smoke";
      const auto workload = entry.make(instance);
      const auto parameters = manifest.resolve(instance, scale, {});
      const script::Script script = workload->generate(parameters.value(), 1, {}).value();
      std::set<std::string> names;
      for (const script::IndexSpec& index : script.indexes) {
        names.insert(index.name);
        EXPECT_TRUE(odd || index.name.size() <= kNameBytesMax) << where << ": " << index.name;
      }
      EXPECT_TRUE(!suite || names.size() <= kIndexesMax)
          << where << " has " << names.size() << " indexes";
    }
  }
}
#endif

}  // namespace
}  // namespace keydrome
