// shortestdistance: the sum of the weights of all paths from the start to each state.
#pragma once
#include <vector>

#include "automata/csrc/preconditions.h"
#include "automata/csrc/fst.h"

namespace tokamata {

struct ShortestDistanceOptions {
  bool reverse = false;    // from each state to the final states, final weights included
  bool connected = false;  // only along paths from the start to a final state: of other states the distance is Zero()
  float delta = kShortestDelta;
  int64_t max_visits = kDefaultMaxVisits;
  const char* operation = "shortestdistance";  // named in errors
};

// One distance per state; Zero() where there is no path.
std::vector<float> ShortestDistance(const Fst& fst, const ShortestDistanceOptions& options = {});

// How far rounding may part two sums of the weights of one path in another order, by the distances along it.
float RoundingOf(const std::vector<float>& distances);

}  // namespace tokamata
