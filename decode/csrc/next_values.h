// Tokens in which a value that must not occur twice begins, behind another one: in a row of a state that forgets.
#pragma once
#include <cstdint>

#include "automata/csrc/delayed_acceptor.h"
#include "decode/csrc/rows.h"
#include "tokenizer_fst/csrc/vocabulary.h"

namespace tokamata {

// Takes those below `size` out of the row that allows(id) is false of, where a value can end; whether there are any.
template <class A>
bool ClearNextValues(const Vocabulary& vocabulary, DelayedAcceptor* acceptor, DelayedAcceptor::State q, uint32_t size,
                     A allows, uint32_t* row) {
  bool any = false;
  for (const Vocabulary::Continued& c : vocabulary.WithNextValues()) {
    const DelayedAcceptor::State opened = acceptor->Run(q, c.begin);
    if (!opened || !acceptor->Opens(opened)) continue;
    for (const uint32_t id : c.ids) {
      if (id >= size || !HasToken(row, id) || allows(id)) continue;  // what forgets allows more
      ClearToken(id, row);
      any = true;
    }
  }
  return any;
}

}  // namespace tokamata
