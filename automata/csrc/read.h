// read: takes a text through an expression acceptor.
#pragma once
#include <cstddef>
#include <string_view>

#include "automata/csrc/expression_acceptor.h"

namespace tokamata {

struct Reading {
  size_t length = 0;   // bytes read before no member could follow any more
  bool alive = false;  // whether some member begins with those bytes; false for the empty language only
  bool final = false;  // whether those bytes are a member
};

// Reads as much of a text as members begin with. Uses and makes the acceptor's rows while it has room for many more,
// and goes on by derivatives in a pool of its own after that, so that neither long texts nor texts with many states use
// the acceptor up. Linear in the text. LimitError only where a single byte takes too much.
Reading Read(ExpressionAcceptor* acceptor, std::string_view text);

}  // namespace tokamata
