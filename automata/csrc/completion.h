// Completion: a text that leads to an end.
#pragma once
#include <string>

#include "automata/csrc/delayed_acceptor.h"

namespace tokamata {

// A text that leads from a state to a final one; a shortest one, unless states remember what they have read: then as
// far as the way that is found can be gone, and on from there, which may come to no end. Best first by LeastLength.
std::string Completion(DelayedAcceptor* acceptor, DelayedAcceptor::State q);

}  // namespace tokamata
