#include "benchmarks/kit/fingerprint.h"

#include <span>
#include <string>
#include <vector>

#include "base/sha256.h"

namespace keydrome {

namespace {

void add_strings(Sha256& sha, const Strings& strings) {
  sha.update(std::to_string(strings.size()) + " strings\n");
  for (const std::string_view text : strings) {
    sha.update(std::to_string(text.size()) + " ");
    sha.update(text);
    sha.update("\n");
  }
}

}  // namespace

std::string fingerprint(const Script& script) {
  Sha256 sha;
  for (const IndexSpec& index : script.indexes)
    sha.update("index " + std::to_string(index.type) + " " + index.name + "\n");
  sha.update(std::as_bytes(std::span(script.pools.int32_keys)));
  sha.update(std::as_bytes(std::span(script.pools.int64_keys)));
  add_strings(sha, script.pools.varchar_keys);
  add_strings(sha, script.pools.payloads);
  sha.update(std::as_bytes(std::span(script.pools.instructions)));
  sha.update(std::as_bytes(std::span(script.pools.parameters)));
  for (const PhaseScript& phase : script.phases) {
    sha.update("phase " + phase.name + (phase.timed ? " timed" : "") +
               (phase.verifies ? " verifies" : ""));
    for (const std::vector<Op>& ops : phase.threads) {
      sha.update("thread");
      sha.update(std::as_bytes(std::span(ops)));
    }
  }
  return sha.hex_digest();
}

Result<std::string> benchmark_fingerprint(const BenchmarkEntry& entry) {
  const Result<Manifest> manifest = Manifest::parse(entry.manifest_json);
  if (!manifest) return manifest.error();
  Sha256 sha;
  for (const auto& [instance, description] : manifest->instances) {
    const Result<Parameters> parameters = manifest->resolve(instance, "smoke", {});
    if (!parameters) return parameters.error();
    const Result<Script> script =
        entry.make(instance)->generate(*parameters, kFingerprintSeed, CheckPolicy{});
    if (!script) return script.error();
    sha.update(instance + " " + fingerprint(*script) + "\n");
  }
  return sha.hex_digest();
}

}  // namespace keydrome
