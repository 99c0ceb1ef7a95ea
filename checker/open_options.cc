#include "checker/open_options.h"

#include <algorithm>
#include <set>

namespace keydrome {
namespace {

// Each try costs a sweep and a graph: a hundredth of a second for a hundred thousand calls.
constexpr uint32_t kCombinationsMax = 64;
constexpr uint32_t kRoundsMax = 12;
constexpr uint32_t kWalkMax = 150;
// How often the walk goes on from a somewhat worse choice: a way out where every step is worse.
constexpr uint32_t kLeapOneIn = 4;
constexpr std::size_t kLeap = 4;

std::size_t elements_in(const std::vector<std::vector<uint32_t>>& conflicts) {
  std::size_t sum = 0;
  for (const std::vector<uint32_t>& conflict : conflicts) sum += conflict.size();
  return sum;
}

}  // namespace

OpenOptions::OpenOptions(Writers& writers)
    : writers_(writers), positions_(writers.open.size(), 0), rounds_(writers.open.size(), 0) {
  std::size_t combinations = 1;
  for (const OpenElement& open : writers.open) {
    combinations *= open.options.size();
    enumerates_ &= combinations <= kCombinationsMax;
    if (!enumerates_) break;
  }
}

bool OpenOptions::next(const std::vector<std::vector<uint32_t>>& conflicts,
                       const std::vector<uint32_t>& order) {
  if (enumerates_) return next_combination();
  if (++tries_ >= kWalkMax) return false;
  keep(conflicts);
  if (tries_ > kRoundsMax) return walk();
  if (tries_ == 1) {
    of_call_order_ = conflicts;
    for (std::size_t i = 0; i < positions_.size(); ++i) {
      choose(i, by_order(writers_.open[i], order));
    }
    return true;
  }
  if (tries_ == 2 && of_call_order_.size() < conflicts.size()) {
    for (std::size_t i = 0; i < positions_.size(); ++i) choose(i, 0);
    return next_locally(of_call_order_);
  }
  return next_locally(conflicts);
}

// For each conflict, chooses anew for the element of it that was chosen least often so far; of
// these, where the commits lay closest together.
bool OpenOptions::next_locally(const Conflicts& conflicts) {
  bool changed = false;
  std::set<std::size_t> moved;
  for (const std::vector<uint32_t>& conflict : conflicts) {
    std::size_t chosen = writers_.open.size();
    for (const uint32_t element : conflict) {
      const std::size_t number = number_of(element);
      if (chosen == writers_.open.size() || doubt(number) < doubt(chosen)) chosen = number;
    }
    if (chosen == writers_.open.size()) continue;
    // An element in two conflicts changes once: two options would be back where they were.
    changed = true;
    if (!moved.insert(chosen).second) continue;
    ++rounds_[chosen];
    advance(chosen);
  }
  return changed;
}

// Keeps what was tried last unless it is worse than what is kept.
void OpenOptions::keep(const Conflicts& conflicts) {
  const bool leap = random_() % kLeapOneIn == 0;
  const std::size_t allowed = elements_in(kept_conflicts_) + (leap ? kLeap : 0);
  if (!kept_.empty() && elements_in(conflicts) > allowed) return;
  kept_ = positions_;
  kept_conflicts_ = conflicts;
}

// From the choice that is kept, another option at random for one element of a conflict.
bool OpenOptions::walk() {
  if (kept_conflicts_.empty()) return false;
  for (std::size_t i = 0; i < positions_.size(); ++i) choose(i, kept_[i]);
  const std::vector<uint32_t>& conflict = kept_conflicts_[random_() % kept_conflicts_.size()];
  if (conflict.empty()) return true;  // a circle without an open element: another one, next time
  const std::size_t number = number_of(conflict[random_() % conflict.size()]);
  const std::size_t options = writers_.open[number].options.size();
  choose(number, (positions_[number] + 1 + random_() % (options - 1)) % options);
  return true;
}

std::size_t OpenOptions::number_of(uint32_t element) const {
  const auto found =
      std::lower_bound(writers_.open.begin(), writers_.open.end(), element,
                       [](const OpenElement& open, uint32_t e) { return open.element < e; });
  return static_cast<std::size_t>(found - writers_.open.begin());
}

bool OpenOptions::next_combination() {
  for (std::size_t i = 0; i < positions_.size(); ++i) {
    advance(i);
    if (positions_[i] != 0) return true;
  }
  exhausted_ = true;
  return false;
}

// The first deletion behind the insert, else none, else the last deletion before it.
std::size_t OpenOptions::by_order(const OpenElement& open,
                                  const std::vector<uint32_t>& order) const {
  const uint64_t inserted = order[writers_.of[open.element].inserter];
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
  return {rounds_[number], writers_.open[number].margin_ticks};
}

void OpenOptions::choose(std::size_t number, std::size_t position) {
  const OpenElement& open = writers_.open[number];
  positions_[number] = position;
  writers_.of[open.element].deleter = open.options[position];
}

void OpenOptions::advance(std::size_t number) {
  choose(number, (positions_[number] + 1) % writers_.open[number].options.size());
}

}  // namespace keydrome
