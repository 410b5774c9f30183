// Completion: a text that leads to an end, and how a search finds one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "automata/csrc/delayed_acceptor.h"

namespace tokamata {

// A text that leads from a state to a final one; a shortest one, unless states remember what they have read: then where
// the way that is found cannot be gone, a few others of its length are tried; else as far as it can be gone, and on from
// there, which may come to no end. Best first by LeastLength.
std::string Completion(DelayedAcceptor* acceptor, DelayedAcceptor::State q);
// A short one, sooner: what comes nearer to an end is kept where the search goes on for long. Nothing where more than
// `most` states are reached without coming nearer, or the acceptor grows by more than `bytes`.
std::optional<std::string> ShortCompletion(DelayedAcceptor* acceptor, DelayedAcceptor::State q, size_t most, size_t bytes);
// However many it takes.
std::string ShortCompletion(DelayedAcceptor* acceptor, DelayedAcceptor::State q);

// How a search first reached a place: from which one, by which byte.
struct Reached {
  size_t parent;
  uint8_t byte;
};
// The bytes that led to place i from place 0. O(its length).
std::string PathTo(const std::vector<Reached>& how, size_t i);

}  // namespace tokamata
