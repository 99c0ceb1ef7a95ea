#include "benchmarks/differential/shrinker.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace keydrome::differential {
namespace {

class Shrinker {
 public:
  Shrinker(Case session, const Fails& fails) : best_(std::move(session)), fails_(fails) {}

  Case shrunk() {
    shorten();
    remove_all();
    if (simplify()) remove_all();
    return std::move(best_);
  }

  Case shortened() {
    shorten();
    return std::move(best_);
  }

 private:
  // Takes the session over if it fails too.
  bool take(Case session) {
    if (over_) return false;
    session.calls = playable(session.calls);
    const Answer answer = fails_(session);
    over_ = answer == Answer::kNoTime;
    if (answer != Answer::kFails) return false;
    best_ = std::move(session);
    return true;
  }

  bool take_calls(std::vector<Call> calls) {
    Case session = best_;
    session.calls = std::move(calls);
    return take(std::move(session));
  }

  // The first calls that fail: what comes behind the fault does not matter.
  void shorten() {
    const std::vector<Call> all = best_.calls;
    std::size_t passes = 0, fails = all.size();
    while (fails - passes > 1 && !over_) {
      const std::size_t middle = passes + (fails - passes) / 2;
      const auto end = all.begin() + static_cast<std::ptrdiff_t>(middle);
      (take_calls({all.begin(), end}) ? fails : passes) = middle;
    }
  }

  void remove_all() {
    for (std::size_t before = SIZE_MAX; best_.calls.size() < before && !over_;) {
      before = best_.calls.size();
      remove_classes();
      remove_chunks();
    }
  }

  template <typename Belongs>
  bool remove_if(Belongs belongs) {
    if (over_) return false;
    std::vector<Call> left;
    std::ranges::copy_if(best_.calls, std::back_inserter(left),
                         [&](const Call& call) { return !belongs(call); });
    if (left.size() == best_.calls.size()) return false;
    return take_calls(std::move(left));
  }

  // Faults that show only after a thousand calls of a kind are left with these.
  void remove_classes() {
    remove_if([](const Call& call) { return !uses_index(call.kind); });
    for (const uint16_t index : values(&Call::index)) {
      remove_if([&](const Call& call) { return uses_index(call.kind) && call.index == index; });
    }
    for (uint32_t kind = 0; kind < kCallKinds; ++kind) {
      remove_if([&](const Call& call) { return static_cast<uint32_t>(call.kind) == kind; });
    }
    for (const uint8_t slot : values(&Call::slot)) {
      remove_if([&](const Call& call) { return is_data_call(call.kind) && call.slot == slot; });
    }
    constexpr std::size_t kKeysTried = 50;
    const auto keys = values(&Call::key);
    if (keys.size() > kKeysTried) return;
    for (const uint32_t key : keys) {
      remove_if([&](const Call& call) { return has_key(call.kind) && call.key == key; });
    }
  }

  template <typename Value>
  std::set<Value> values(Value Call::* member) const {
    std::set<Value> values;
    for (const Call& call : best_.calls) values.insert(call.*member);
    return values;
  }

  // Smaller and smaller chunks, from the back: what stands there hangs on what stands before.
  void remove_chunks() {
    for (std::size_t size = std::max<std::size_t>(best_.calls.size() / 2, 1);; size /= 2) {
      std::size_t end = best_.calls.size();
      while (end > 0 && !over_) {
        const std::size_t first = end - std::min(size, end);
        std::vector<Call> left = best_.calls;
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(first),
                   left.begin() + static_cast<std::ptrdiff_t>(end));
        const std::size_t before = best_.calls.size();
        take_calls(std::move(left));
        // What was left out may have taken other calls with it.
        end = std::min(first, before == best_.calls.size() ? first : best_.calls.size());
      }
      if (size == 1 || over_) return;
    }
  }

  // Whether anything became simpler in a way that may allow for fewer calls.
  bool simplify() {
    if (over_) return false;
    const bool types = simplify_types();
    const bool keys = simplify_keys();
    simplify_payloads();
    return types || keys;
  }

  // The keys that the calls on an index use, in its order.
  std::vector<uint32_t> keys_of(uint16_t index) const {
    std::set<uint32_t> used;
    for (const Call& call : best_.calls) {
      if (has_key(call.kind) && call.index == index) used.insert(call.key);
    }
    std::vector<uint32_t> keys(used.begin(), used.end());
    const auto value = [&](uint32_t key) {
      return std::tie(best_.keys[key].number, best_.keys[key].text);
    };
    std::ranges::sort(keys, [&](uint32_t a, uint32_t b) { return value(a) < value(b); });
    return keys;
  }

  // int32 where the type does not matter.
  bool simplify_types() {
    bool changed = false;
    for (const uint16_t index : values(&Call::index)) {
      if (best_.indexes[index] == SHORT) continue;
      Case session = best_;
      session.indexes[index] = SHORT;
      if (count_up(session, keys_of(index))) changed |= take(std::move(session));
    }
    return changed;
  }

  // 1, 2, 3 or a, b, c, in the same order. False: there are too many.
  static bool count_up(Case& session, const std::vector<uint32_t>& keys) {
    constexpr std::size_t kLetters = 26;
    if (keys.size() > kLetters * MAX_VARCHAR_LEN) return false;
    int64_t number = 0;
    for (const uint32_t key : keys) {
      const auto place = static_cast<std::size_t>(number++);
      std::string text(place / kLetters, 'z');
      text += static_cast<char>('a' + place % kLetters);
      session.keys[key] = {.number = number, .text = std::move(text)};
    }
    return true;
  }

  bool simplify_keys() {
    bool changed = false;
    for (const uint16_t index : values(&Call::index)) {
      const std::vector<uint32_t> keys = keys_of(index);
      Case session = best_;
      if (count_up(session, keys) && take(std::move(session))) {
        changed = true;
        continue;
      }
      for (const uint32_t key : keys) changed |= simplify_key(index, key);
      changed |= merge_keys(index);
    }
    return changed;
  }

  // One key, in its place among the others.
  bool simplify_key(uint16_t index, uint32_t key) {
    if (over_) return false;
    const KeyValue old = best_.keys[key];
    std::vector<KeyValue> simpler;
    if (best_.indexes[index] == VARCHAR) {
      simpler = {{.number = 0, .text = "a"}, {.number = 0, .text = "b"}, {.number = 0, .text = ""}};
      if (old.text.size() > 1) simpler.push_back({.number = 0, .text = old.text.substr(0, 1)});
    } else {
      for (const int64_t number : {1, 2, 0, -1}) simpler.push_back({.number = number, .text = ""});
    }
    for (const KeyValue& value : simpler) {
      if (value.number == old.number && value.text == old.text) return false;
      if (is_used(index, value)) continue;
      Case session = best_;
      session.keys[key] = value;
      if (take(std::move(session))) return true;
    }
    return false;
  }

  bool is_used(uint16_t index, const KeyValue& value) const {
    return std::ranges::any_of(keys_of(index), [&](uint32_t key) {
      return best_.keys[key].number == value.number && best_.keys[key].text == value.text;
    });
  }

  // All calls on one key: fewer different ones are easier to read.
  bool merge_keys(uint16_t index) {
    const std::vector<uint32_t> keys = keys_of(index);
    bool changed = false;
    for (std::size_t i = 1; i < keys.size() && i < 10 && !over_; ++i) {
      Case session = best_;
      for (Call& call : session.calls) {
        if (has_key(call.kind) && call.key == keys[i]) call.key = keys[0];
      }
      changed |= take(std::move(session));
    }
    return changed;
  }

  // Tags 1, 2, 3 in the order of the calls, and no texts where texts do not matter.
  void simplify_payloads() {
    Case session = best_;
    number_payloads(session, true);
    if (take(std::move(session))) return;
    session = best_;
    number_payloads(session, false);
    take(std::move(session));
  }

  static void number_payloads(Case& session, bool without_texts) {
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> tags;
    for (Call& call : session.calls) {
      if (!has_payload(call.kind)) continue;
      const std::pair<uint32_t, uint32_t> pair{call.tag, without_texts ? call.text : 0};
      call.tag = tags.try_emplace(pair, static_cast<uint32_t>(tags.size() + 1)).first->second;
      if (without_texts) call.text = 0;
    }
  }

  Case best_;
  const Fails& fails_;
  bool over_ = false;  // no more time
};

}  // namespace

Case shrink(Case session, const Fails& fails) {
  return Shrinker(std::move(session), fails).shrunk();
}

Case shorten(Case session, const Fails& fails) {
  return Shrinker(std::move(session), fails).shortened();
}

}  // namespace keydrome::differential
