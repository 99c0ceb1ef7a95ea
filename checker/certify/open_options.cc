// Implements open_options.h. For some records, called open elements, it is not known which
// transaction deleted them, if any. The possible deleters of an open element are its options. An
// *assignment* picks one option for each open element. OpenOptions searches for an assignment with
// which a serial order exists. It tries all combinations of options if there are few. Otherwise it
// changes the options of single elements. It picks these elements from conflicts, first
// systematically and then at random. A conflict is a group of elements whose options contradicted
// each other in an earlier try. reads() returns objects of type Choice, which are something else:
// pairs of edges (dependencies.h).
#include "checker/certify/open_options.h"

#include <algorithm>
#include <set>

namespace keydrome::certify {

using history::kNoNumber;

namespace {

// Limits on the number of tries. If there are at most kCombinationsMax combinations, all are tried.
// Otherwise the first kRoundsMax tries are systematic, and walk() makes the further tries. For each
// try the caller makes a pass over the history and builds a graph. Both steps together take 10 ms
// for a hundred thousand calls, but minutes if thousands of records under one key were deleted.
constexpr uint32_t kCombinationsMax = 64;
constexpr uint32_t kRoundsMax = 12;
// To leave a local minimum, about one try in kLeapOneIn may accept a worse assignment. The worse
// assignment has at most kLeap more elements in conflict than the one kept so far.
constexpr uint32_t kLeapOneIn = 4;
constexpr std::size_t kLeap = 4;

std::size_t elements_in(const std::vector<std::vector<uint32_t>>& conflicts) {
  std::size_t sum = 0;
  for (const std::vector<uint32_t>& conflict : conflicts) sum += conflict.size();
  return sum;
}

}  // namespace

OpenOptions::OpenOptions(Versions& versions, uint32_t tries_max)
    : versions_(versions),
      tries_max_(tries_max),
      positions_(versions.open.size(), 0),
      rounds_(versions.open.size(), 0) {
  std::size_t combinations = 1;
  for (const OpenElement& open : versions.open) {
    combinations *= open.options.size();
    enumerates_ &= combinations <= kCombinationsMax;
    if (!enumerates_) break;
  }
}

std::vector<Choice> OpenOptions::reads(const std::vector<history::Transaction>& committed) const {
  std::vector<Choice> choices;
  for (const OpenElement& open : versions_.open) {
    const uint32_t inserter = versions_.of[open.element].inserter;
    for (const uint32_t option : open.options) {
      if (option == kNoNumber || precedes(committed[option], committed[inserter])) continue;
      for (const uint32_t reader : open.readers) {
        const bool known = reader == option || reader == inserter;
        if (known || precedes(committed[reader], committed[option])) continue;
        choices.push_back({option, inserter, reader, open.element, Coverage::kMissingKey, {}});
      }
    }
  }
  return choices;
}

bool OpenOptions::next(const std::vector<std::vector<uint32_t>>& conflicts,
                       const std::vector<uint32_t>& order) {
  if (++tries_ >= tries_max_) return false;
  if (enumerates_) return next_combination();
  keep(conflicts);
  if (tries_ > kRoundsMax) return walk();
  if (tries_ == 1) {
    of_call_order_ = conflicts;
    for (std::size_t i = 0; i < positions_.size(); ++i) {
      choose(i, option_by_order(versions_.open[i], order));
    }
    return true;
  }
  if (tries_ == 2 && of_call_order_.size() < conflicts.size()) {
    for (std::size_t i = 0; i < positions_.size(); ++i) choose(i, 0);
    return next_locally(of_call_order_);
  }
  return next_locally(conflicts);
}

// For each conflict, changes the option of one of its elements: the element whose option was
// changed least often so far. If there are several such elements, chooses the one with the smallest
// margin_ticks (versions.h), because its option is the least certain. Returns false if no conflict
// contains an element.
bool OpenOptions::next_locally(const Conflicts& conflicts) {
  bool changed = false;
  std::set<std::size_t> moved;
  for (const std::vector<uint32_t>& conflict : conflicts) {
    std::size_t chosen = versions_.open.size();
    for (const uint32_t element : conflict) {
      const std::size_t number = number_of(element);
      if (chosen == versions_.open.size() || doubt(number) < doubt(chosen)) chosen = number;
    }
    if (chosen == versions_.open.size()) continue;
    // An element in two conflicts is changed only once. If it has two options, a second change
    // would undo the first.
    changed = true;
    if (!moved.insert(chosen).second) continue;
    ++rounds_[chosen];
    advance(chosen);
  }
  return changed;
}

// Keeps the current assignment if it has at most as many elements in conflict as the kept one.
// Sometimes, at random, also keeps an assignment with up to kLeap more elements in conflict.
void OpenOptions::keep(const Conflicts& conflicts) {
  const bool leap = random_() % kLeapOneIn == 0;
  const std::size_t allowed = elements_in(kept_conflicts_) + (leap ? kLeap : 0);
  if (!kept_.empty() && elements_in(conflicts) > allowed) return;
  kept_ = positions_;
  kept_conflicts_ = conflicts;
}

// Goes back to the kept assignment. Then picks a random element of a random conflict, and changes
// its option to another one at random. Returns false if the kept assignment has no conflict.
bool OpenOptions::walk() {
  if (kept_conflicts_.empty()) return false;
  for (std::size_t i = 0; i < positions_.size(); ++i) choose(i, kept_[i]);
  const std::vector<uint32_t>& conflict = kept_conflicts_[random_() % kept_conflicts_.size()];
  if (conflict.empty())
    return true;  // no element to change here; the next step may pick another conflict
  const std::size_t number = number_of(conflict[random_() % conflict.size()]);
  const std::size_t options = versions_.open[number].options.size();
  choose(number, (positions_[number] + 1 + random_() % (options - 1)) % options);
  return true;
}

std::size_t OpenOptions::number_of(uint32_t element) const {
  const auto found =
      std::lower_bound(versions_.open.begin(), versions_.open.end(), element,
                       [](const OpenElement& open, uint32_t e) { return open.element < e; });
  return static_cast<std::size_t>(found - versions_.open.begin());
}

bool OpenOptions::next_combination() {
  for (std::size_t i = 0; i < positions_.size(); ++i) {
    advance(i);
    if (positions_[i] != 0) return true;
  }
  exhausted_ = true;
  return false;
}

// Returns the position of the option that fits the order best. The best option is the first delete
// after the insert. The second best is no delete. The third best is the last delete before the
// insert.
std::size_t OpenOptions::option_by_order(const OpenElement& open,
                                         const std::vector<uint32_t>& order) const {
  const uint64_t inserted = order[versions_.of[open.element].inserter];
  const auto rank = [&](uint32_t option) {
    if (option == kNoNumber) return UINT64_MAX / 2;
    const uint64_t place = order[option];
    return place > inserted ? place : UINT64_MAX - place;
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < open.options.size(); ++i) {
    if (rank(open.options[i]) < rank(open.options[best])) best = i;
  }
  return best;
}

std::pair<uint32_t, uint64_t> OpenOptions::doubt(std::size_t number) const {
  return {rounds_[number], versions_.open[number].margin_ticks};
}

void OpenOptions::choose(std::size_t number, std::size_t position) {
  const OpenElement& open = versions_.open[number];
  positions_[number] = position;
  versions_.of[open.element].deleter = open.options[position];
}

void OpenOptions::advance(std::size_t number) {
  choose(number, (positions_[number] + 1) % versions_.open[number].options.size());
}

}  // namespace keydrome::certify
