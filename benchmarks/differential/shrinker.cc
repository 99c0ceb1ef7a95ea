// Implements shrinking, the search for a small case (a sequence of API calls with their keys and
// payloads) that still fails: Remover drops calls, and Simplifier replaces types, keys and payloads
// with simpler ones.
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

// Stores the smallest failing case found so far, and tries smaller cases until time is up.
class SmallestCase {
 public:
  SmallestCase(Case session, const Fails& fails) : best_(std::move(session)), fails_(fails) {}

  const Case& best() const { return best_; }
  Case take_best() { return std::move(best_); }
  bool out_of_time() const { return out_of_time_; }

  // If `session` fails, makes it the best case and returns true. Returns false if the session
  // passes or if time is up.
  bool accept(Case session) {
    if (out_of_time_) return false;
    session.calls = playable(session.calls);
    const Answer answer = fails_(session);
    out_of_time_ = answer == Answer::kNoTime;
    if (answer != Answer::kFails) return false;
    best_ = std::move(session);
    return true;
  }

  // Does the same as accept() for the best case with `calls` instead of its own calls.
  bool accept_calls(std::vector<Call> calls) {
    Case session = best_;
    session.calls = std::move(calls);
    return accept(std::move(session));
  }

  // Returns the values of one member, such as Call::key, in all calls of the best case.
  template <typename Value>
  std::set<Value> values(Value Call::* member) const {
    std::set<Value> values;
    for (const Call& call : best_.calls) values.insert(call.*member);
    return values;
  }

 private:
  Case best_;
  const Fails& fails_;
  bool out_of_time_ = false;
};

// Removes calls from the best case.
class Remover {
 public:
  explicit Remover(SmallestCase& smallest) : smallest_(smallest) {}

  // Finds the shortest failing prefix of the calls by binary search, and keeps only this prefix.
  // Calls after the failure do not matter.
  void shorten() {
    const std::vector<Call> all = smallest_.best().calls;
    std::size_t passes = 0, fails = all.size();
    while (fails - passes > 1 && !smallest_.out_of_time()) {
      const std::size_t middle = passes + (fails - passes) / 2;
      const auto end = all.begin() + static_cast<std::ptrdiff_t>(middle);
      (smallest_.accept_calls({all.begin(), end}) ? fails : passes) = middle;
    }
  }

  // Removes groups of similar calls and chunks of consecutive calls until no call can be removed.
  void remove_all() {
    for (std::size_t before = SIZE_MAX; size() < before && !smallest_.out_of_time();) {
      before = size();
      remove_classes();
      remove_chunks();
    }
  }

 private:
  std::size_t size() const { return smallest_.best().calls.size(); }

  template <typename Belongs>
  void remove_if(Belongs belongs) {
    if (smallest_.out_of_time()) return;
    std::vector<Call> left;
    std::ranges::copy_if(smallest_.best().calls, std::back_inserter(left),
                         [&](const Call& call) { return !belongs(call); });
    if (left.size() < size()) smallest_.accept_calls(std::move(left));
  }

  // Removes at once all calls of one kind, or on one index, handle or key. If a failure needs a
  // thousand calls of one kind, this step removes the other kinds.
  void remove_classes() {
    remove_if([](const Call& call) { return !uses_index(call.kind); });
    for (const uint16_t index : smallest_.values(&Call::index)) {
      remove_if([&](const Call& call) { return uses_index(call.kind) && call.index == index; });
    }
    for (uint32_t kind = 0; kind < kCallKinds; ++kind) {
      remove_if([&](const Call& call) { return static_cast<uint32_t>(call.kind) == kind; });
    }
    for (const uint8_t slot : smallest_.values(&Call::slot)) {
      remove_if([&](const Call& call) { return is_data_call(call.kind) && call.slot == slot; });
    }
    constexpr std::size_t kKeysTried = 50;
    const auto keys = smallest_.values(&Call::key);
    if (keys.size() > kKeysTried) return;
    for (const uint32_t key : keys) {
      remove_if([&](const Call& call) { return has_key(call.kind) && call.key == key; });
    }
  }

  // Removes chunks of decreasing size, beginning at the end, because later calls depend on earlier
  // calls.
  void remove_chunks() {
    for (std::size_t chunk = std::max<std::size_t>(size() / 2, 1);; chunk /= 2) {
      std::size_t end = size();
      while (end > 0 && !smallest_.out_of_time()) {
        const std::size_t first = end - std::min(chunk, end);
        std::vector<Call> left = smallest_.best().calls;
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(first),
                   left.begin() + static_cast<std::ptrdiff_t>(end));
        const std::size_t before = size();
        smallest_.accept_calls(std::move(left));
        // playable() may have removed further calls that depended on the chunk.
        end = std::min(first, before == size() ? first : size());
      }
      if (chunk == 1 || smallest_.out_of_time()) return;
    }
  }

  SmallestCase& smallest_;
};

// Replaces types, keys and payloads with simpler ones.
class Simplifier {
 public:
  explicit Simplifier(SmallestCase& smallest) : smallest_(smallest) {}

  // Returns true if a type or key became simpler. Removing further calls may then be possible.
  bool simplify() {
    if (smallest_.out_of_time()) return false;
    const bool types = simplify_types();
    const bool keys = simplify_keys();
    simplify_payloads();
    return types || keys;
  }

 private:
  // Returns the keys that calls on an index use, in key order.
  std::vector<uint32_t> keys_of(uint16_t index) const {
    const Case& best = smallest_.best();
    std::set<uint32_t> used;
    for (const Call& call : best.calls) {
      if (has_key(call.kind) && call.index == index) used.insert(call.key);
    }
    std::vector<uint32_t> keys(used.begin(), used.end());
    const auto value = [&](uint32_t key) {
      return std::tie(best.keys[key].number, best.keys[key].text);
    };
    std::ranges::sort(keys, [&](uint32_t a, uint32_t b) { return value(a) < value(b); });
    return keys;
  }

  // Makes every index int32 if the failure does not depend on its type.
  bool simplify_types() {
    bool changed = false;
    for (const uint16_t index : smallest_.values(&Call::index)) {
      if (smallest_.best().indexes[index] == SHORT) continue;
      Case session = smallest_.best();
      session.indexes[index] = SHORT;
      if (number_keys(session, keys_of(index))) changed |= smallest_.accept(std::move(session));
    }
    return changed;
  }

  // Replaces the keys with 1, 2, 3 or a, b, c, in the same order. Returns false if there are too
  // many keys.
  static bool number_keys(Case& session, const std::vector<uint32_t>& keys) {
    constexpr std::size_t kLetters = 26;
    if (keys.size() > kLetters * MAX_VARCHAR_LEN) return false;
    int64_t number = 0;
    for (const uint32_t key : keys) {
      const auto position = static_cast<std::size_t>(number++);
      std::string text(position / kLetters, 'z');
      text += static_cast<char>('a' + position % kLetters);
      session.keys[key] = {.number = number, .text = std::move(text)};
    }
    return true;
  }

  bool simplify_keys() {
    bool changed = false;
    for (const uint16_t index : smallest_.values(&Call::index)) {
      const std::vector<uint32_t> keys = keys_of(index);
      Case session = smallest_.best();
      if (number_keys(session, keys) && smallest_.accept(std::move(session))) {
        changed = true;
        continue;
      }
      for (const uint32_t key : keys) changed |= simplify_key(index, key);
      changed |= merge_keys(index);
    }
    return changed;
  }

  // Tries a few simple values for one key. Its order relative to the other keys may change.
  bool simplify_key(uint16_t index, uint32_t key) {
    if (smallest_.out_of_time()) return false;
    const KeyValue old = smallest_.best().keys[key];
    std::vector<KeyValue> simpler;
    if (smallest_.best().indexes[index] == VARCHAR) {
      simpler = {{.number = 0, .text = "a"}, {.number = 0, .text = "b"}, {.number = 0, .text = ""}};
      if (old.text.size() > 1) simpler.push_back({.number = 0, .text = old.text.substr(0, 1)});
    } else {
      for (const int64_t number : {1, 2, 0, -1}) simpler.push_back({.number = number, .text = ""});
    }
    for (const KeyValue& value : simpler) {
      if (value.number == old.number && value.text == old.text) return false;
      if (is_used(index, value)) continue;
      Case session = smallest_.best();
      session.keys[key] = value;
      if (smallest_.accept(std::move(session))) return true;
    }
    return false;
  }

  bool is_used(uint16_t index, const KeyValue& value) const {
    return std::ranges::any_of(keys_of(index), [&](uint32_t key) {
      const KeyValue& used = smallest_.best().keys[key];
      return used.number == value.number && used.text == value.text;
    });
  }

  // Replaces the second to tenth key with the first, because fewer different keys are easier to
  // read.
  bool merge_keys(uint16_t index) {
    const std::vector<uint32_t> keys = keys_of(index);
    bool changed = false;
    for (std::size_t i = 1; i < keys.size() && i < 10 && !smallest_.out_of_time(); ++i) {
      Case session = smallest_.best();
      for (Call& call : session.calls) {
        if (has_key(call.kind) && call.key == keys[i]) call.key = keys[0];
      }
      changed |= smallest_.accept(std::move(session));
    }
    return changed;
  }

  // A payload is a tag (a number) and a text. Changes the tags to 1, 2, 3 in the order of the
  // calls, and removes the texts if the failure does not need them.
  void simplify_payloads() {
    Case session = smallest_.best();
    number_payloads(session, /*without_texts=*/true);
    if (smallest_.accept(std::move(session))) return;
    session = smallest_.best();
    number_payloads(session, /*without_texts=*/false);
    smallest_.accept(std::move(session));
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

  SmallestCase& smallest_;
};

}  // namespace

Case shrink(Case session, const Fails& fails) {
  SmallestCase smallest(std::move(session), fails);
  Remover remover(smallest);
  remover.shorten();
  remover.remove_all();
  if (Simplifier(smallest).simplify()) remover.remove_all();
  return smallest.take_best();
}

Case shorten(Case session, const Fails& fails) {
  SmallestCase smallest(std::move(session), fails);
  Remover(smallest).shorten();
  return smallest.take_best();
}

}  // namespace keydrome::differential
