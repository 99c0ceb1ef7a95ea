#include "benchmarks/kit/fingerprint.h"

#include "base/sha256.h"
#include "benchmarks/kit/images.h"

namespace keydrome {

std::string fingerprint(const Script& script) {
  Sha256 sha;
  sha.update(pools_image(script));
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
