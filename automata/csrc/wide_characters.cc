#include "automata/csrc/wide_characters.h"

#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "automata/csrc/expression_acceptor.h"
#include "automata/csrc/utf8.h"

namespace tokamata {

std::shared_ptr<const WideCharacters> ExpressionAcceptor::WideOfLoop(State q) {
  constexpr size_t kMostKept = 16;
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  Repetition r;
  if (!SplitRepetition(Source(q), &r)) return nullptr;
  for (const Wide& known : wide_)
    if (known.body == r.body) return known.characters;
  wide_.push_front({r.body, FindWide(r.body)});
  if (wide_.size() > kMostKept) wide_.pop_back();
  return wide_.front().characters;
}

// Null where more than a character is read in a turn that begins beyond ASCII, or none is.
std::shared_ptr<const WideCharacters> ExpressionAcceptor::FindWide(Expr body) {
  constexpr size_t kMostPlaces = 1'000;
  struct Inside {
    Expr rest;
    int missing;  // bytes
  };
  const auto wide = std::make_shared<WideCharacters>();
  std::vector<Inside> work;
  std::map<std::pair<Expr, int>, WideCharacters::Place> places;
  std::vector<Expressions::Term> steps;
  bool characters = true;
  const auto place_of = [&](Expr rest, int missing) {
    if ((rest == kEpsilonExpr) != (missing == 0)) characters = false;
    if (!missing || !characters) return WideCharacters::kWhole;
    const auto [at, made] = places.try_emplace({rest, missing}, WideCharacters::kNone);
    if (made) {
      at->second = wide->AddPlace();
      work.push_back({rest, missing});
    }
    return at->second;
  };
  pool_->Step(body, &steps);
  for (const auto& t : steps) {
    (t.bytes & ByteSet::Range(0x80, 0xFF)).ForEach([&](uint8_t b) {
      characters = characters && Utf8LeadPhase(b);
      wide->SetLead(b, place_of(t.target, b < 0xE0 ? 1 : b < 0xF0 ? 2 : 3));
    });
  }
  if (work.empty()) return nullptr;
  for (size_t i = 0; characters && i < work.size(); ++i) {
    if (work.size() > kMostPlaces) return nullptr;
    const Inside at = work[i];
    pool_->Step(at.rest, &steps);
    for (const auto& t : steps) {
      characters = characters && t.bytes.SubsetOf(ByteSet::Range(0x80, 0xBF));
      if (!characters) break;
      const WideCharacters::Place next = place_of(t.target, at.missing - 1);
      const auto here = static_cast<WideCharacters::Place>(WideCharacters::kFirst + i);
      t.bytes.ForEach([&](uint8_t b) { wide->SetNext(here, b, next); });
    }
  }
  return characters ? wide : nullptr;
}

}  // namespace tokamata
