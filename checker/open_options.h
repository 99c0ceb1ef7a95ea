// OpenOptions: goes through the options of open elements (writers.h): who deleted which record,
// where blind deletions overlap inserts.
//
// Few combinations are tried one by one, so that the end of them proves something. Of many, two are
// tried first: deletions took effect in the order of their calls (locks), or as an order of the
// transactions says that fits everything else (validation). From the better one on, those elements
// are chosen anew that took part in a conflict; conflicts are local, so a few rounds are enough
// where a choice exists. Where they go in circles, a choice that is kept is changed at random, one
// element of a conflict at a time, and replaced when that is no worse or, now and then, although it
// is, as WalkSAT does (B. Selman, H. Kautz, B. Cohen, AAAI 1994). The same history is judged alike
// each time. Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "checker/writers.h"

namespace keydrome {

class OpenOptions {
 public:
  // `writers` outlives it; the first option of each open element is chosen there.
  explicit OpenOptions(Writers& writers);

  bool empty() const { return writers_.open.empty(); }

  // Chooses anew after a conflict in each of these groups of open elements. `order` has a place for
  // each committed transaction, in an order that fits what is not open. False when all combinations
  // have been tried, or when that is enough.
  bool next(const std::vector<std::vector<uint32_t>>& conflicts,
            const std::vector<uint32_t>& order);

  // next() was false because every combination has been tried.
  bool exhausted() const { return exhausted_; }

 private:
  using Conflicts = std::vector<std::vector<uint32_t>>;

  bool next_combination();
  bool next_locally(const Conflicts& conflicts);
  void keep(const Conflicts& conflicts);
  bool walk();
  std::size_t number_of(uint32_t element) const;
  std::size_t by_order(const OpenElement& open, const std::vector<uint32_t>& order) const;
  std::pair<uint32_t, uint64_t> doubt(std::size_t number) const;
  void choose(std::size_t number, std::size_t position);
  void advance(std::size_t number);

  Writers& writers_;
  Conflicts of_call_order_;
  std::vector<std::size_t> positions_;  // of the option chosen, by open element
  std::vector<uint32_t> rounds_;        // how often each was chosen anew
  std::vector<std::size_t> kept_;       // positions from which the walk goes on
  Conflicts kept_conflicts_;
  // The same for every history, so that each is judged alike again.
  std::mt19937_64 random_{1};  // NOLINT(bugprone-random-generator-seed): predictable on purpose
  bool enumerates_ = true;
  bool exhausted_ = false;
  uint32_t tries_ = 0;
};

}  // namespace keydrome
