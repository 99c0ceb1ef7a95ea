// Implements Vocabulary: computes the keys of a run from the labels (such as 1 or a) that a
// scenario uses, and finds the labels of recorded keys and payloads.
#include "benchmarks/scenarios/script/vocabulary.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/hash.h"
#include "benchmarks/kit/format/payload_tag.h"

namespace keydrome::scenarios {
namespace {

// The key of label 0. The key of label n is this number plus n times the key distance of the run.
// So keys are positive numbers, unless the scenario gives their values. String keys are a "k" and
// such a number with the letters "a" to "j" as digits. Libraries written for the SIGMOD contest of
// 2009 may rely on such keys.
constexpr int64_t kOrigin = 500'000'000;
constexpr std::size_t kStringDigits = 10;
const std::string kLongText(80, 'L');

std::string tag_text(uint32_t tag) {
  std::string text(format::kTagBytes, ' ');
  format::write_tag(tag, text.data());
  return text;
}

}  // namespace

uint32_t PoolNumbers::integer(KeyType type, int64_t key) {
  const auto [entry, fresh] = integers_.try_emplace({type, key}, 0);
  if (fresh) {
    entry->second = type == SHORT ? script_->add_int32_key(static_cast<int32_t>(key))
                                  : script_->add_int64_key(key);
  }
  return entry->second;
}

uint32_t PoolNumbers::string(const std::string& key) {
  const auto [entry, fresh] = strings_.try_emplace(key, 0);
  if (fresh) entry->second = script_->add_varchar_key(key);
  return entry->second;
}

uint32_t PoolNumbers::text(const std::string& text) {
  const auto [entry, fresh] = texts_.try_emplace(text, 0);
  if (fresh) entry->second = script_->add_text(text);
  return entry->second;
}

std::string letters_of(int64_t number, std::size_t width) {
  std::string letters = std::to_string(number);
  letters.insert(0, width - std::min(width, letters.size()), '0');
  for (char& letter : letters) letter = static_cast<char>(letter - '0' + 'a');
  return letters;
}

KeyType index_type(const Variant& variant, uint32_t index) {
  constexpr std::array<KeyType, 3> kTypes{SHORT, INT, VARCHAR};
  return kTypes[(static_cast<uint32_t>(variant.type) + index) % kTypes.size()];
}

Vocabulary::Vocabulary(const Scenario& scenario, const Variant& variant, PoolNumbers& pools,
                       script::ScriptBuilder& script)
    : scenario_(&scenario), distance_(variant.distance), fillers_(variant.filler) {
  const auto include = [this](int64_t label) {
    lowest_ = std::min(lowest_, label);
    highest_ = std::max(highest_, label);
  };
  for (const SetupRecord& record : scenario.setup) include(record.key);
  for (const Step& step : scenario.steps) include(step.key);
  add_literal_payloads(pools, script);
  add_payloads(pools.text(variant.long_payloads ? kLongText : std::string()), script);
  for (uint32_t i = 0; i < fillers_; ++i) {
    const uint32_t tag = script.new_payload().tag;
    if (i == 0) first_filler_tag_ = tag;
    KEYDROME_CHECK(tag == first_filler_tag_ + i);
  }
  remember_labels(variant);
}

// A tag is the number with which a payload begins. Payloads whose bytes the scenario gives share a
// tag, because they must differ only in these bytes. The empty payload has no tag, because it must
// really be empty.
void Vocabulary::add_literal_payloads(PoolNumbers& pools, script::ScriptBuilder& script) {
  if (scenario_->literal_payloads.empty()) return;
  const uint32_t tag = script.new_payload().tag;
  for (const auto& [label, text] : scenario_->literal_payloads) {
    payloads_[label].payload = {.tag = text.empty() ? format::kNoTag : tag,
                                .text = pools.text(text)};
  }
}

void Vocabulary::add_payloads(uint32_t text, script::ScriptBuilder& script) {
  const auto add = [&](const std::string& label) {
    if (label.empty() || label == "*" || payloads_.contains(label)) return;
    payloads_[label].payload = script.new_payload(text);
  };
  for (const SetupRecord& record : scenario_->setup) add(record.payload);
  for (const Step& step : scenario_->steps) add(step.payload);
  add(kLastPayload);
  for (auto& [label, named] : payloads_) {
    if (named.payload.tag != format::kNoTag) named.bytes = tag_text(named.payload.tag);
    named.bytes += script.pools().payloads[named.payload.text];
  }
}

void Vocabulary::remember_labels(const Variant& variant) {
  const std::vector<int64_t> all = labels();
  for (uint32_t index = 0; index < scenario_->indexes; ++index) {
    const bool strings = index_type(variant, index) == VARCHAR;
    auto& known = strings ? string_labels_ : integer_labels_;
    for (const int64_t label : all) {
      const uint64_t key =
          strings ? hash_bytes(string(label)) : static_cast<uint64_t>(integer(label));
      known.try_emplace(key, label);
    }
  }
  for (const auto& [label, named] : payloads_) {
    payload_labels_.try_emplace(hash_bytes(named.bytes), label);
  }
  for (uint32_t i = 0; i < fillers_; ++i) {
    payload_labels_.try_emplace(hash_bytes(tag_text(first_filler_tag_ + i)), kFillerPayload);
  }
}

int64_t Vocabulary::integer(int64_t label) const {
  const std::vector<std::string>& literals = scenario_->literal_keys;
  if (literals.empty() || label > highest_) return label * distance_ + kOrigin;
  return std::stoll(literals[static_cast<std::size_t>(label)]);
}

std::string Vocabulary::string(int64_t label) const {
  const std::vector<std::string>& literals = scenario_->literal_keys;
  if (literals.empty() || label > highest_) {
    return "k" + letters_of(label * distance_ + kOrigin, kStringDigits);
  }
  return literals[static_cast<std::size_t>(label)];
}

uint32_t Vocabulary::pool_key(KeyType type, int64_t label, PoolNumbers& pools) const {
  return type == VARCHAR ? pools.string(string(label)) : pools.integer(type, integer(label));
}

int64_t Vocabulary::filler_label(uint32_t number) const {
  const int64_t steps = number / 2;
  return number % 2 == 0 ? lowest_ - 1 - steps : beyond() + 1 + steps;
}

std::vector<int64_t> Vocabulary::labels() const {
  std::vector<int64_t> labels;
  for (const SetupRecord& record : scenario_->setup) labels.push_back(record.key);
  for (const Step& step : scenario_->steps) labels.push_back(step.key);
  labels.push_back(beyond());
  for (uint32_t i = 0; i < fillers_; ++i) labels.push_back(filler_label(i));
  std::ranges::sort(labels);
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  return labels;
}

std::string Vocabulary::label_text(int64_t label) const {
  const bool literal = !scenario_->literal_keys.empty() && label <= highest_;
  const bool filler = label < lowest_ || label > beyond();
  return std::to_string(label) +
         (literal  ? " (" + scenario_->literal_keys[static_cast<std::size_t>(label)] + ")"
          : filler ? " (filler)"
                   : "");
}

std::optional<int64_t> Vocabulary::label_of(KeyType type, uint64_t key) const {
  const auto& known = type == VARCHAR ? string_labels_ : integer_labels_;
  const auto found = known.find(key);
  return found == known.end() ? std::nullopt : std::optional(found->second);
}

std::string Vocabulary::key_text(KeyType type, uint64_t key) const {
  if (const std::optional<int64_t> label = label_of(type, key)) return label_text(*label);
  return type == VARCHAR ? "a key that was never passed to the library"
                         : "the key " + std::to_string(static_cast<int64_t>(key)) +
                               " that was never passed to the library";
}

std::string Vocabulary::payload_label(uint64_t hash) const {
  const auto found = payload_labels_.find(hash);
  return found == payload_labels_.end() ? "" : found->second;
}

std::string Vocabulary::payload_text(uint64_t hash) const {
  const std::string label = payload_label(hash);
  return label.empty() ? "a payload that was never inserted" : label;
}

std::vector<std::string> Vocabulary::strings() const {
  std::vector<std::string> strings;
  for (const int64_t label : labels()) strings.push_back(string(label));
  return strings;
}

}  // namespace keydrome::scenarios
