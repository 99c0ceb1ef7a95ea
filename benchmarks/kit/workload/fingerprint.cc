// Implements the fingerprint of a benchmark, which shows whether its operations have changed:
// hashes the parts of a script in a fixed order, with SHA-256.
#include "benchmarks/kit/workload/fingerprint.h"

#include <span>
#include <string>
#include <vector>

#include "benchmarks/kit/workload/sha256.h"

namespace keydrome::workload {

namespace {

void add_strings(Sha256& sha, const script::Strings& strings) {
  sha.update(std::to_string(strings.size()) + " strings\n");
  for (const std::string_view text : strings) {
    sha.update(std::to_string(text.size()) + " ");
    sha.update(text);
    sha.update("\n");
  }
}

// Adds a thread's ops (operations) without the flags that ask for evidence (whole results) and
// without the windows of reads, the payload bytes that their words contain
// (format/evidence_word.h). These flags and windows change only what the judge looks at. They do
// not change the calls that the library receives. For the same reason, leaves out the bits that
// hide a key (format/hidden_key.h), which depend on the windows.
void add_ops(Sha256& sha, const std::vector<format::Op>& ops) {
  std::vector<format::Op> asked = ops;
  for (format::Op& op : asked) {
    op.flags &= static_cast<uint8_t>(~(format::kEvidence | format::kEvidenceAll));
    if (op.code == format::OpCode::kGet || format::is_scan(op.code)) op.payload = 0;
    if (op.code == format::OpCode::kGet) op.argument = 0;
  }
  sha.update(std::as_bytes(std::span(asked)));
}

}  // namespace

std::string fingerprint(const script::Script& script) {
  Sha256 sha;
  for (const script::IndexSpec& index : script.indexes)
    sha.update("index " + std::to_string(index.type) + " " + index.name + "\n");
  sha.update(std::as_bytes(std::span(script.pools.int32_keys)));
  sha.update(std::as_bytes(std::span(script.pools.int64_keys)));
  add_strings(sha, script.pools.varchar_keys);
  add_strings(sha, script.pools.payloads);
  sha.update(std::as_bytes(std::span(script.pools.instructions)));
  sha.update(std::as_bytes(std::span(script.pools.parameters)));
  for (const script::PhaseScript& phase : script.phases) {
    sha.update("phase " + phase.name + (phase.timed ? " timed" : "") +
               (phase.verifies ? " verifies" : "") + (phase.pinned ? " pinned" : ""));
    for (const std::vector<format::Op>& ops : phase.threads) {
      sha.update("thread");
      add_ops(sha, ops);
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
    const Result<script::Script> script =
        entry.make(instance)->generate(*parameters, kFingerprintSeed, CheckPolicy{});
    if (!script) return script.error();
    sha.update(instance + " " + fingerprint(*script) + "\n");
  }
  return sha.hex_digest();
}

}  // namespace keydrome::workload
