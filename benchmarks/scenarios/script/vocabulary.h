// Vocabulary: maps the labels of a scenario (such as key 1 or payload a) to values in one run of
// the scenario. Keys have the type of the index and the key distance of the run. Payloads are
// unique to the run.
//
// In every key type, keys have the same order as their labels. Immutable after construction and
// therefore thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "benchmarks/kit/script/script_builder.h"
#include "benchmarks/scenarios/script/plan.h"

namespace keydrome::scenarios {

// Adds keys and texts to the script's pools (numbered lists), each value only once, and returns
// their pool numbers.
class PoolNumbers {
 public:
  explicit PoolNumbers(script::ScriptBuilder& script) : script_(&script) {}
  uint32_t integer(KeyType type, int64_t key);
  uint32_t string(const std::string& key);
  uint32_t text(const std::string& text);

 private:
  script::ScriptBuilder* script_;
  std::map<std::pair<KeyType, int64_t>, uint32_t> integers_;
  std::map<std::string, uint32_t> strings_, texts_;
};

// Returns a number with at least `width` digits, written with the letters "a" to "j" as digits. The
// order of texts of equal width is the order of their numbers. REQUIRES: the number is not
// negative.
std::string letters_of(int64_t number, std::size_t width);

// Returns the key type of an index in a run. Index A has the type in `variant`, the choices for
// this run (plan.h); B and C have the next two types.
KeyType index_type(const Variant& variant, uint32_t index);

// Returns the name of an index: "A", "B" or "C".
inline std::string index_name(uint32_t index) { return {static_cast<char>('A' + index)}; }

// The values of all labels of one scenario in one run.
class Vocabulary {
 public:
  // Takes new payloads from the script. `scenario` must outlive this object.
  Vocabulary(const Scenario& scenario, const Variant& variant, PoolNumbers& pools,
             script::ScriptBuilder& script);

  // Return the key of a label as a number (SHORT, INT) or as bytes (VARCHAR).
  int64_t integer(int64_t label) const;
  std::string string(int64_t label) const;
  // Returns the pool number of the key of a label.
  uint32_t pool_key(KeyType type, int64_t label, PoolNumbers& pools) const;

  // Fillers are additional records around the scenario's own records. The labels of fillers are
  // alternately below and above all other labels.
  uint32_t fillers() const { return fillers_; }
  int64_t filler_label(uint32_t number) const;
  script::Payload filler_payload(uint32_t number) const {
    return {.tag = first_filler_tag_ + number, .text = 0};
  }
  // Returns a label above all others of the scenario.
  int64_t beyond() const { return highest_ + 1; }

  script::Payload payload(const std::string& label) const { return payloads_.at(label).payload; }
  // Returns the bytes of a payload, including the tag in its first eight characters.
  const std::string& payload_bytes(const std::string& label) const {
    return payloads_.at(label).bytes;
  }

  // These functions find the label of a recorded key or payload. A recorded key is a number or the
  // hash of a string. A recorded payload is a hash. Reports show the texts.
  std::string key_text(KeyType type, uint64_t key) const;
  std::optional<int64_t> label_of(KeyType type, uint64_t key) const;
  std::string payload_text(uint64_t hash) const;
  bool knows_payload(uint64_t hash) const { return !payload_label(hash).empty(); }
  std::string label_text(int64_t label) const;

  // Returns every string key of the run.
  std::vector<std::string> strings() const;

 private:
  struct Named {
    script::Payload payload;
    std::string bytes;
  };
  void add_literal_payloads(PoolNumbers& pools, script::ScriptBuilder& script);
  void add_payloads(uint32_t text, script::ScriptBuilder& script);
  std::vector<int64_t> labels() const;
  // Fills the maps from recorded values to labels. Without the maps, each value would need a search
  // through thousands of fillers.
  void remember_labels(const Variant& variant);
  std::string payload_label(uint64_t hash) const;

  const Scenario* scenario_;
  int64_t distance_;
  uint32_t fillers_;
  uint32_t first_filler_tag_ = 0;
  int64_t lowest_ = 0, highest_ = 0;
  std::map<std::string, Named> payloads_;
  // Labels by recorded value: the number or hash of a key, and the hash of a payload.
  std::unordered_map<uint64_t, int64_t> integer_labels_, string_labels_;
  std::unordered_map<uint64_t, std::string> payload_labels_;
};

// The payload labels of fillers, and of the record that is inserted at the end of a run.
inline constexpr const char* kFillerPayload = "filler";
inline constexpr const char* kLastPayload = "last";

}  // namespace keydrome::scenarios
