// OpenOptions: searches for a deleter of each record whose deleter is not known, so that all
// results of a recorded history fit a serial order of the transactions.
//
// A deleteRecord call for all payloads of a key does not name the records that it deleted. If the
// call overlaps the insert of a record, the call may or may not have deleted this record. Such a
// record is an *open element*, and its possible deleters are its *options* (versions.h).
//
// An *assignment* picks one option for each open element. The caller judges the history with the
// deleters of the current assignment. If no serial order fits them, the caller calls next() to get
// another assignment. The caller passes the *conflicts* that it found. A conflict is a group of
// open elements, for example those of one cycle, of which at least one has the wrong option.
//
// If there are few combinations of options, OpenOptions tries all of them. If no combination gives
// a serial order, the history has none. If there are many combinations, the search has three steps:
// 1. Try two assignments. The first one assumes that calls took effect in the order in which they
//    returned, as with locks. The second one assumes that transactions took effect one after the
//    other, in the order that the caller passes to next(). This order fits all edges that depend on
//    no open element. As far as possible, it also fits what the reads of open elements imply
//    (reads()).
// 2. Start from the better assignment, and change the option of one element in each conflict.
//    Conflicts are local, so a few changes suffice if a solution exists.
// 3. Walk at random, as in WalkSAT (B. Selman, H. Kautz, B. Cohen, AAAI 1994). The walk keeps one
//    assignment. Each step changes one random element of one random conflict of the kept
//    assignment. The new assignment replaces the kept one if it does not have more elements in
//    conflict. Sometimes, at random, it replaces the kept one even if it has a few more.
//
// The random numbers have a fixed seed, so a history always gets the same verdict. Thread safety:
// one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "checker/certify/dependencies.h"
#include "checker/certify/versions.h"
#include "checker/history/transactions.h"

namespace keydrome::certify {

class OpenOptions {
 public:
  // `versions` must outlive the object, and must use the first option of each open element. There
  // are at most `tries_max` tries, including the first one, which uses these first options.
  OpenOptions(Versions& versions, uint32_t tries_max);

  bool empty() const { return versions_.open.empty(); }

  // Returns what the reads of open elements imply. Let D be a possible deleter of an element, and S
  // a transaction that saw the element. Then D precedes the inserter of the element, or S precedes
  // D. The result has a Choice for each such D and S. A Choice is a pair of possible edges of which
  // at least one holds (dependencies.h), here these two. Its member `reader` is D, and its member
  // `deleter` is S.
  std::vector<Choice> reads(const std::vector<history::Transaction>& committed) const;

  // Changes to the next assignment. Returns false if all combinations or the maximum number of
  // assignments were tried, or if no conflict contains an element to change. `conflicts` are the
  // conflicts that the caller found with the current assignment. `order` contains the position of
  // each committed transaction in an order that fits all edges that depend on no open element. It
  // also fits reads(), as far as the caller could settle them.
  bool next(const std::vector<std::vector<uint32_t>>& conflicts,
            const std::vector<uint32_t>& order);

  // Returns true if next() returned false because it had tried every combination.
  bool exhausted() const { return exhausted_; }

 private:
  using Conflicts = std::vector<std::vector<uint32_t>>;

  bool next_combination();
  bool next_locally(const Conflicts& conflicts);
  void keep(const Conflicts& conflicts);
  bool walk();
  std::size_t number_of(uint32_t element) const;
  std::size_t option_by_order(const OpenElement& open, const std::vector<uint32_t>& order) const;
  std::pair<uint32_t, uint64_t> doubt(std::size_t number) const;
  void choose(std::size_t number, std::size_t position);
  void advance(std::size_t number);

  Versions& versions_;
  const uint32_t tries_max_;
  Conflicts of_call_order_;             // conflicts of the first assignment
  std::vector<std::size_t> positions_;  // by open element: position of the current option
  std::vector<uint32_t> rounds_;        // by open element: how often next_locally() changed it
  std::vector<std::size_t> kept_;       // positions_ of the assignment that the walk keeps
  Conflicts kept_conflicts_;
  // NOLINTNEXTLINE(bugprone-random-generator-seed): a history gets the same verdict every time
  std::mt19937_64 random_{1};
  bool enumerates_ = true;
  bool exhausted_ = false;
  uint32_t tries_ = 0;
};

}  // namespace keydrome::certify
