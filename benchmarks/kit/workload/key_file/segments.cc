// Implements segments(), which counts the lines that predict the ranks of keys (their positions in
// key order). It keeps the set of lines that fit all keys of the segment so far, and starts a new
// segment when no such line is left.
#include "benchmarks/kit/workload/key_file/segments.h"

#include <vector>

namespace keydrome::workload {
namespace {

__extension__ using Wide = __int128;

struct Point {
  int64_t x, y;
};

struct Slope {
  int64_t rise;
  uint64_t run;  // positive; the distance of two keys may exceed 63 bits
};

Slope slope(Point from, Point to) {
  return {.rise = to.y - from.y,
          .run = static_cast<uint64_t>(to.x) - static_cast<uint64_t>(from.x)};
}

bool less(Slope a, Slope b) {
  return static_cast<Wide>(a.rise) * b.run < static_cast<Wide>(b.rise) * a.run;
}

// The upper convex hull of points that are added in the order of x. Its slopes decrease from left
// to right.
class UpperHull {
 public:
  void add(Point point) {
    while (points_.size() > 1 &&
           !less(slope(points_.back(), point), slope(points_.end()[-2], points_.back()))) {
      points_.pop_back();
    }
    points_.push_back(point);
  }

  // Returns the minimum slope of a line from any point of the hull to `to`, which must be right of
  // the hull. This is the slope of the tangent from `to`. A binary search finds the point that the
  // tangent touches. An edge is left of this point if the edge's line passes above `to`.
  Slope min_slope(Point to) const {
    std::size_t low = 0, high = points_.size() - 1;
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      const Slope edge = slope(points_[middle], points_[middle + 1]);
      if (less(slope(points_[middle + 1], to), edge)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return slope(points_[low], to);
  }

  bool empty() const { return points_.empty(); }
  void clear() { points_.clear(); }

 private:
  std::vector<Point> points_;
};

// The set of lines that predict the ranks of all keys of the segment so far within epsilon. Every
// pair of keys gives a lower and an upper bound for the slope of such a line. A line exists as long
// as the largest lower bound is at most the smallest upper bound.
class Segment {
 public:
  explicit Segment(int64_t epsilon) : epsilon_(epsilon) {}

  // Adds a key. If no line fits all keys including this one, returns false and leaves the key out.
  bool extend(int64_t key, int64_t rank) {
    const Point floor = {.x = key, .y = rank - epsilon_};
    const Point ceiling = {.x = key, .y = rank + epsilon_};
    if (!floors_.empty()) {
      const Slope highest = floors_.min_slope(ceiling);
      const Slope lowest = mirrored(ceilings_.min_slope(mirrored(floor)));
      const Slope new_highest = less(highest, highest_) ? highest : highest_;
      const Slope new_lowest = less(lowest_, lowest) ? lowest : lowest_;
      if (less(new_highest, new_lowest)) return false;
      highest_ = new_highest;
      lowest_ = new_lowest;
    }
    floors_.add(floor);
    ceilings_.add(mirrored(ceiling));
    return true;
  }

  void restart() {
    floors_.clear();
    ceilings_.clear();
    highest_ = kSteepest;
    lowest_ = mirrored(kSteepest);
  }

 private:
  static constexpr Slope kSteepest = {.rise = INT64_MAX, .run = 1};
  static constexpr Slope mirrored(Slope slope) { return {.rise = -slope.rise, .run = slope.run}; }
  static constexpr Point mirrored(Point point) { return {.x = point.x, .y = -point.y}; }

  int64_t epsilon_;
  UpperHull floors_, ceilings_;  // ceilings_ are mirrored at the x axis, so that UpperHull fits
  Slope highest_ = kSteepest, lowest_ = mirrored(kSteepest);
};

}  // namespace

// Makes each segment as long as possible, which gives the minimum number of segments.
uint64_t segments(std::span<const int64_t> keys, int64_t epsilon) {
  uint64_t count = keys.empty() ? 0 : 1;
  Segment segment(epsilon);
  for (std::size_t rank = 0; rank < keys.size(); ++rank) {
    if (segment.extend(keys[rank], static_cast<int64_t>(rank))) continue;
    ++count;
    segment.restart();
    segment.extend(keys[rank], static_cast<int64_t>(rank));
  }
  return count;
}

}  // namespace keydrome::workload
