// Implements Stripes, extra transactions on keys that only one thread uses: keeps a model of each
// thread's keys, so that every stripe has known results.
#include "benchmarks/kit/workload/stripes.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/check.h"

namespace keydrome::workload {
namespace {

constexpr uint8_t kStripeSlot = 0;
constexpr int32_t kInt32Step = 65'537;  // each key is chosen at random from a range of this size
constexpr int64_t kInt64Step = int64_t{1} << 40;
constexpr uint64_t kPrefixLetters = 14;  // random letters that distinguish the threads

// The kinds of stripes, which follow one another in this order.
enum Pattern : uint32_t {
  kInsertSome,
  kReadCommitted,
  kExactPairs,
  kScanRange,
  kAbortAll,
  kDeleteAll,
  kPatterns
};

// Returns a random string of lower-case letters.
std::string letters(Rng& rng, uint64_t length) {
  std::string text;
  for (uint64_t i = 0; i < length; ++i) text += static_cast<char>('a' + rng.below(26));
  return text;
}

}  // namespace

Stripes::Stripes(script::ScriptBuilder& script, uint64_t seed, uint32_t threads,
                 uint32_t class_number, bool changes_alone, StripeKeys keys)
    : script_(&script),
      class_(class_number),
      changes_alone_(changes_alone),
      text_(script.add_text("stripe")) {
  std::vector<int32_t> stream_keys;
  if (keys == StripeKeys::kPublished) stream_keys = script.pools().int32_keys;
  constexpr std::array kTypes = {SHORT, INT, VARCHAR};
  std::array<script::KeyRange, kTypes.size()> ranges;
  for (const KeyType type : kTypes) ranges[type].first = script.key_count(type);
  std::sort(stream_keys.begin(), stream_keys.end());
  for (uint32_t number = 0; number < threads; ++number) {
    Thread thread{
        .rng = Rng(seed, number, Purpose::kStripes), .keys = {}, .homes = {}, .next_pattern = 0};
    if (keys == StripeKeys::kPublished) {
      add_published_keys(stream_keys, thread);
    } else {
      add_outside_keys(number, thread);
    }
    const uint32_t homes = std::min(kHomes, script.index_count());
    while (thread.homes.size() < homes) {
      const uint32_t index = static_cast<uint32_t>(thread.rng.below(script.index_count()));
      const bool taken = std::any_of(thread.homes.begin(), thread.homes.end(),
                                     [&](const Home& home) { return home.index == index; });
      if (!taken) thread.homes.push_back({.index = index, .model = {}});
    }
    thread.next_pattern = number;
    threads_.push_back(std::move(thread));
  }
  for (const KeyType type : kTypes) {
    ranges[type].end = script.key_count(type);
    script.keep_from_procedures(type, ranges[type]);
  }
}

// Adds the keys of one thread. The keys of a thread are adjacent in key order, so no other thread's
// key is between them.
void Stripes::add_outside_keys(uint32_t number, Thread& thread) {
  thread.keys.resize(3);
  std::string prefix = "!";
  for (uint32_t digit = 26 * 26; digit > 0; digit /= 26) {
    prefix += static_cast<char>('a' + number / digit % 26);
  }
  for (uint32_t i = 0; i < kKeys; ++i) {
    const auto place = static_cast<int32_t>(number * kKeys + i);
    const auto noise32 = static_cast<int32_t>(thread.rng.below(kInt32Step));
    const auto noise64 = static_cast<int64_t>(thread.rng.below(kInt64Step));
    thread.keys[SHORT].push_back(script_->add_int32_key(-1 - place * kInt32Step - noise32));
    thread.keys[INT].push_back(script_->add_int64_key(-1 - place * kInt64Step - noise64));
    thread.keys[VARCHAR].push_back(script_->add_varchar_key(
        prefix + static_cast<char>('a' + i) + letters(thread.rng, thread.rng.below(24))));
  }
  std::reverse(thread.keys[SHORT].begin(), thread.keys[SHORT].end());
  std::reverse(thread.keys[INT].begin(), thread.keys[INT].end());
}

// Adds the keys of one thread: adjacent keys at a random position. No 32-bit key is one of the
// sorted keys `taken`. The other types have so many values that equal keys are practically
// impossible.
void Stripes::add_published_keys(const std::vector<int32_t>& taken, Thread& thread) {
  constexpr int32_t kInt32Places = INT32_MAX - 2 * static_cast<int32_t>(kKeys);
  thread.keys.resize(3);
  int32_t first32 = 0;
  auto next = taken.end();
  do {
    first32 = 1 + static_cast<int32_t>(thread.rng.below(kInt32Places));
    next = std::lower_bound(taken.begin(), taken.end(), first32);
  } while (next != taken.end() && *next < first32 + static_cast<int32_t>(kKeys));
  const auto first64 = static_cast<int64_t>(1 + thread.rng.below(INT64_MAX - 2 * kKeys));
  const std::string prefix = letters(thread.rng, kPrefixLetters);
  for (uint32_t i = 0; i < kKeys; ++i) {
    thread.keys[SHORT].push_back(script_->add_int32_key(first32 + static_cast<int32_t>(i)));
    thread.keys[INT].push_back(script_->add_int64_key(first64 + i));
    thread.keys[VARCHAR].push_back(script_->add_varchar_key(
        prefix + static_cast<char>('a' + i) + letters(thread.rng, thread.rng.below(24))));
  }
}

uint32_t Stripes::key(const Thread& thread, const Home& home, uint32_t place) const {
  return thread.keys[script_->type(home.index)][place];
}

// Returns the position of a random key that has stored payloads.
uint32_t Stripes::pick_present(Thread& thread, const Home& home) {
  auto entry = home.model.begin();
  std::advance(entry, static_cast<int64_t>(thread.rng.below(home.model.size())));
  return entry->first;
}

// Every pattern writes first and then reads. begin_changes() begins the writes, and begin_reads()
// the reads.
void Stripes::begin_changes(script::ThreadBuilder& out) const {
  if (changes_alone_) return out.auto_commit_as(format::Kind::kStripe, class_);
  out.begin(format::Kind::kStripe, class_);
}

void Stripes::begin_reads(script::ThreadBuilder& out) const {
  if (changes_alone_) out.begin(format::Kind::kStripe, class_);
}

// Reads every payload of a key. Also reads a key without payloads, because the get must not find
// it.
void Stripes::read(script::ThreadBuilder& out, Thread& thread, const Home& home, uint32_t place) {
  out.get(kStripeSlot, key(thread, home, place));
  const auto entry = home.model.find(place);
  if (entry == home.model.end() || entry->second.size() == 1) return;
  out.next(kStripeSlot, static_cast<uint32_t>(entry->second.size() - 1));
}

// Inserts up to three new payloads of one key, and reads this key and the next.
void Stripes::insert_some(script::ThreadBuilder& out, Thread& thread, Home& home) {
  const auto place = static_cast<uint32_t>(thread.rng.below(kKeys));
  const uint64_t wanted = 1 + thread.rng.below(3);
  for (uint64_t i = 0; i < wanted && home.model[place].size() < kPayloadsMax; ++i) {
    const script::Payload payload = script_->new_payload(text_);
    out.insert(kStripeSlot, key(thread, home, place), payload);
    home.model[place].push_back(payload);
  }
  begin_reads(out);
  read(out, thread, home, place);
  read(out, thread, home, (place + 1) % kKeys);
}

// Inserts a stored pair again, then deletes a stored pair twice. The insert and the second delete
// must fail.
void Stripes::exact_pairs(script::ThreadBuilder& out, Thread& thread, Home& home) {
  const uint32_t place = pick_present(thread, home);
  const uint32_t number = key(thread, home, place);
  Payloads& payloads = home.model[place];
  out.insert(kStripeSlot, number, payloads.front());
  const script::Payload gone = payloads.back();
  payloads.pop_back();
  if (payloads.empty()) home.model.erase(place);
  out.delete_pair(kStripeSlot, number, gone);
  out.delete_pair(kStripeSlot, number, gone);
  begin_reads(out);
  read(out, thread, home, place);
}

// Deletes all payloads of a stored key, and deletes the key again. The second delete must fail.
void Stripes::delete_all(script::ThreadBuilder& out, Thread& thread, Home& home) {
  const uint32_t place = pick_present(thread, home);
  home.model.erase(place);
  out.delete_key(kStripeSlot, key(thread, home, place));
  out.delete_key(kStripeSlot, key(thread, home, place));
  begin_reads(out);
  read(out, thread, home, place);
}

// Scans all records of the thread, beginning at its first key, whether that key is stored or not.
void Stripes::scan_range(script::ThreadBuilder& out, Thread& thread, const Home& home) {
  begin_reads(out);
  std::size_t records = 0;
  for (const auto& [place, payloads] : home.model) records += payloads.size();
  out.get(kStripeSlot, key(thread, home, 0));
  const std::size_t got = home.model.contains(0) ? 1 : 0;
  if (records > got) out.next(kStripeSlot, static_cast<uint32_t>(records - got));
}

void Stripes::append_insert(script::ThreadBuilder& out, uint32_t number) {
  Thread& thread = threads_.at(number);
  Home& home = thread.homes[thread.rng.below(thread.homes.size())];
  const auto place = static_cast<uint32_t>(thread.rng.below(kKeys));
  const script::Payload payload = script_->new_payload(text_);
  home.model[place].push_back(payload);
  out.unit_start();
  out.open(kStripeSlot, home.index);
  out.auto_commit_as(format::Kind::kStripe, class_);
  out.insert(kStripeSlot, key(thread, home, place), payload);
  out.close(kStripeSlot);
}

void Stripes::append_transaction(script::ThreadBuilder& out, uint32_t number) {
  Thread& thread = threads_.at(number);
  Home& home = thread.homes[thread.rng.below(thread.homes.size())];
  uint32_t pattern = home.model.empty() ? kInsertSome : thread.next_pattern % kPatterns;
  if (changes_alone_ && pattern == kAbortAll) pattern = kDeleteAll;
  ++thread.next_pattern;
  const Model before = home.model;
  out.unit_start();
  out.open(kStripeSlot, home.index);
  begin_changes(out);
  switch (pattern) {
    case kReadCommitted:
      begin_reads(out);
      read(out, thread, home, pick_present(thread, home));
      read(out, thread, home, static_cast<uint32_t>(thread.rng.below(kKeys)));
      break;
    case kExactPairs:
      exact_pairs(out, thread, home);
      break;
    case kScanRange:
      scan_range(out, thread, home);
      break;
    case kAbortAll:
      insert_some(out, thread, home);
      delete_all(out, thread, home);
      break;
    case kDeleteAll:
      delete_all(out, thread, home);
      break;
    default:
      insert_some(out, thread, home);
  }
  if (pattern == kAbortAll) {
    out.abort();
    home.model = before;
  } else {
    out.commit();
  }
  out.close(kStripeSlot);
}

}  // namespace keydrome::workload
