// sample: uniformly random members of a language.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "automata/csrc/delayed_acceptor.h"

namespace tokamata {

// n independent members (the same one may come again), each uniformly random among all members of low..high bytes:
// exact, by counting and by finding the text of a random rank in byte order (Wilf 1977). Equal seeds give equal texts.
// Empty when there is no such member. Holds O(√high) layers of counts: time O(high² · (arcs + n)).
// LimitError past most_bytes of big numbers and texts, and past the acceptor's own limits.
std::vector<std::string> SampleMembers(DelayedAcceptor* acceptor, size_t n, size_t low, size_t high, uint64_t seed,
                                       size_t most_bytes);

}  // namespace tokamata
