#include "automata/csrc/read.h"

#include <memory>
#include <vector>

#include "automata/csrc/errors.h"
#include "automata/csrc/expression_place.h"
#include "automata/csrc/places.h"
#include "automata/csrc/time_limit.h"

namespace tokamata {
namespace {

using State = DelayedAcceptor::State;

// Continues from q at text[from] without rows. What is left of the text may be nested, an expression of many: where that
// fills the pool nearly by itself, a fresh one has no room worth the copy.
Reading ReadByDerivatives(const ExpressionAcceptor& acceptor, State q, std::string_view text, size_t from) {
  auto pool = std::make_unique<Expressions>();
  Expr e = acceptor.WithPool([&](const Expressions& other) {
    pool->limits = other.limits;
    return pool->Import(other, acceptor.SourceOf(q));
  });
  constexpr size_t kSteps = 512;  // a copy of so many expressions has to be worth a step
  std::vector<Expressions::Term> steps;
  size_t renewed_at = from;
  bool full = false;
  return Placed([&] { return PlaceIn(*pool, e); }, [&]() -> Reading {
    for (size_t i = from; i < text.size(); ++i) {
      TimeLimit::Spend(2);
      Expr next = kEmpty;
      try {
        if (!pool->StepByte(e, static_cast<uint8_t>(text[i]), &next)) {
          pool->Step(e, &steps);
          for (const Expressions::Term& t : steps)
            if (t.bytes.Has(static_cast<uint8_t>(text[i]))) next = t.target;
        }
      } catch (const LimitError&) {
        if (i == renewed_at || (full && (i - renewed_at) * kSteps < pool->Size())) throw;
        auto fresh = std::make_unique<Expressions>();
        fresh->limits = pool->limits;
        e = fresh->Import(*pool, e);
        full = fresh->Size() > pool->Size() / 2;
        pool = std::move(fresh);
        renewed_at = i--;
        continue;
      }
      if (next == kEmpty) return {i, true, pool->Nullable(e)};
      e = next;
    }
    return {text.size(), true, pool->Nullable(e)};
  });
}

}  // namespace

Reading Read(ExpressionAcceptor* acceptor, std::string_view text) {
  State q = acceptor->Start();
  if (!q) return {};
  for (size_t i = 0; i < text.size(); ++i) {
    State next;
    if (!acceptor->HasRow(q) && acceptor->NumRows() >= acceptor->max_states / 2)
      return ReadByDerivatives(*acceptor, q, text, i);
    try {
      next = acceptor->Next(q, static_cast<uint8_t>(text[i]));
    } catch (const LimitError&) {  // of the pool, probably: a fresh one has room
      return ReadByDerivatives(*acceptor, q, text, i);
    }
    if (!next) return {i, true, acceptor->IsFinal(q)};
    q = next;
  }
  return {text.size(), true, acceptor->IsFinal(q)};
}

}  // namespace tokamata
