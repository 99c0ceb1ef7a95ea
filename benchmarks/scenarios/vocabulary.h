// Vocabulary: what the labels of a scenario stand for in one run: keys of the index's type at the
// run's distance, payloads of its own.
//
// Labels keep their order: label 1 stands before label 2 in every key type. Thread safety: plain
// data after construction.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "benchmarks/kit/script_builder.h"
#include "benchmarks/scenarios/plan.h"

namespace keydrome::scenarios {

// Numbers of keys and texts in the script's pools, each of them once.
class PoolNumbers {
 public:
  explicit PoolNumbers(ScriptBuilder& script) : script_(&script) {}
  uint32_t integer(KeyType type, int64_t key);
  uint32_t string(const std::string& key);
  uint32_t text(const std::string& text);

 private:
  ScriptBuilder* script_;
  std::map<std::pair<KeyType, int64_t>, uint32_t> integers_;
  std::map<std::string, uint32_t> strings_, texts_;
};

// The type of index number `index` in a run: A has the run's, B and C the ones after it.
KeyType index_type(const Variant& variant, uint32_t index);

// "A", "B" or "C".
inline std::string index_name(uint32_t index) { return {static_cast<char>('A' + index)}; }

class Vocabulary {
 public:
  // Draws the payloads of the run from the script. Borrows `scenario`.
  Vocabulary(const Scenario& scenario, const Variant& variant, PoolNumbers& pools,
             ScriptBuilder& script);

  // A key as a number (SHORT, INT) or as bytes (VARCHAR).
  int64_t integer(int64_t label) const;
  std::string string(int64_t label) const;
  // Its number in the script's pool.
  uint32_t pool_key(KeyType type, int64_t label, PoolNumbers& pools) const;

  // Records around the scenario's own: their labels, below and above in turn.
  uint32_t fillers() const { return fillers_; }
  int64_t filler_label(uint32_t number) const;
  Payload filler_payload(uint32_t number) const {
    return {.tag = first_filler_tag_ + number, .text = 0};
  }
  // A label above all others of the scenario.
  int64_t beyond() const { return highest_ + 1; }

  Payload payload(const std::string& label) const { return payloads_.at(label).payload; }
  // The bytes of a payload with its tag.
  const std::string& payload_bytes(const std::string& label) const {
    return payloads_.at(label).bytes;
  }

  // For people: the labels of a recorded key (a number, or the fingerprint of a string) and of a
  // recorded payload.
  std::string key_text(KeyType type, uint64_t key) const;
  std::optional<int64_t> label_of(KeyType type, uint64_t key) const;
  std::string payload_text(uint64_t fingerprint) const;
  bool knows_payload(uint64_t fingerprint) const { return !payload_label(fingerprint).empty(); }
  std::string label_text(int64_t label) const;

  // Every string key of the run.
  std::vector<std::string> strings() const;

 private:
  struct Named {
    Payload payload;
    std::string bytes;
  };
  std::vector<int64_t> labels() const;
  // So that every recorded call of a run with 3,000 fillers is told in constant time.
  void remember_labels(const Variant& variant);
  std::string payload_label(uint64_t fingerprint) const;

  const Scenario* scenario_;
  int64_t distance_;
  uint32_t fillers_;
  uint32_t first_filler_tag_ = 0;
  int64_t lowest_ = 0, highest_ = 0;
  std::map<std::string, Named> payloads_;
  // By what is recorded: the number or fingerprint of a key, the fingerprint of a payload.
  std::unordered_map<uint64_t, int64_t> integer_labels_, string_labels_;
  std::unordered_map<uint64_t, std::string> payload_labels_;
};

// What the payload of a filler is called, and the label of the record that ends a run.
inline constexpr const char* kFillerPayload = "filler";
inline constexpr const char* kLastPayload = "last";

}  // namespace keydrome::scenarios
