// Relaxed time: is there a serial order at all, for a history that has none in real time?
//
// A library may answer from states that are old but consistent. Which order it had in mind is not
// guessed: the transactions that began too late for what they saw are moved back in time to where
// their answers belong, and the history is judged once more by the same rules. What is certified
// then has a serial order, proven by replay like any other; only real time is given up, and only as
// far as the answers demand.
//
// Where a transaction belongs: behind the begin of whatever it must stand behind, and before the
// end of whatever must stand behind it. Of all the edges that say so none rests on real time.
//
// What rests on it, or on who is taken for the deleter of a record, is believed first. Where that
// ends in a circle, its readers get more time: first back to the records that the doubt is about,
// then over the whole circle. More time never makes a wrong order right, since the order that is
// found is replayed; it leaves more to choose, so no reader gets more of it than circles ask for.
#pragma once

#include "checker/history.h"
#include "checker/sweep.h"

namespace keydrome {

// Moves in `moved`, the history that `the_case` is about, every transaction that began too late
// back to where it belongs, each to a thread of its own; if there is none, those that take part in
// a circle by an absence that time explains, so far that it may be explained the other way as well;
// and if there is no such one either, in a history that is not too long, those that take part in a
// circle by the deleters that are chosen in `the_case`, rather those that only read. False when
// there is nothing left to move. Cost: two sweeps and a copy of the history.
bool move_back(const Case& the_case, History& moved);

}  // namespace keydrome
