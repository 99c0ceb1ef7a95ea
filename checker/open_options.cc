#include "checker/open_options.h"

#include <algorithm>

namespace keydrome {
namespace {

// Each try costs a sweep and a graph.
constexpr uint32_t kTriesMax = 64;

}  // namespace

OpenOptions::OpenOptions(Writers& writers)
    : writers_(writers), positions_(writers.open.size(), 0), rounds_(writers.open.size(), 0) {
  std::size_t combinations = 1;
  for (const OpenElement& open : writers.open) {
    combinations *= open.options.size();
    enumerates_ &= combinations <= kTriesMax;
    if (!enumerates_) break;
  }
}

bool OpenOptions::next(const std::vector<std::vector<uint32_t>>& conflicts) {
  if (enumerates_) return next_combination();
  if (++tries_ >= kTriesMax) return false;
  bool changed = false;
  for (const std::vector<uint32_t>& conflict : conflicts) {
    std::size_t chosen = writers_.open.size();
    for (const uint32_t element : conflict) {
      const auto found =
          std::lower_bound(writers_.open.begin(), writers_.open.end(), element,
                           [](const OpenElement& open, uint32_t e) { return open.element < e; });
      const auto number = static_cast<std::size_t>(found - writers_.open.begin());
      if (chosen == writers_.open.size() || rounds_[number] < rounds_[chosen]) chosen = number;
    }
    if (chosen == writers_.open.size()) continue;
    ++rounds_[chosen];
    advance(chosen);
    changed = true;
  }
  return changed;
}

bool OpenOptions::next_combination() {
  for (std::size_t i = 0; i < positions_.size(); ++i) {
    advance(i);
    if (positions_[i] != 0) return true;
  }
  exhausted_ = true;
  return false;
}

void OpenOptions::advance(std::size_t number) {
  const OpenElement& open = writers_.open[number];
  positions_[number] = (positions_[number] + 1) % open.options.size();
  writers_.of[open.element].deleter = open.options[positions_[number]];
}

}  // namespace keydrome
