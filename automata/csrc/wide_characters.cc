#include "automata/csrc/wide_characters.h"

#include <algorithm>
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
  if (!SplitLoop(Source(q), &r)) return nullptr;
  const auto kept = [&](Expr body, Expr follows, auto make) {
    for (const Wide& known : *wide_)
      if (known.body == body && known.follows == follows) return known.characters;
    wide_->push_front({body, follows, make()});
    if (wide_->size() > kMostKept) wide_->pop_back();
    return wide_->front().characters;
  };
  const auto all = kept(r.body, kEmpty, [&] { return FindWide(r.body); });
  if (!all || !pool_->First(r.rest).Intersects(ByteSet::Range(0x80, 0xFF))) return all;
  const Expr follows = Beginning(r.rest);
  return kept(r.body, follows, [&] { return MayBegin(follows, *all) ? nullptr : all; });
}

std::vector<DelayedAcceptor::State> ExpressionAcceptor::LoopParts(State q) {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  Repetition r;
  const ByteSet beyond = ByteSet::Range(0x80, 0xFF);
  if (!SplitLoop(Source(q), &r) || !pool_->First(r.rest).Intersects(beyond) || !WideOfLoop(q)) return {};
  const Expr more = pool_->Repeat(r.body, std::max(r.low, 1u), r.high);
  return {StateOf(r.rest), StateOf(pool_->Concat(more, r.rest))};
}

// A language whose texts begin like those of e, and maybe otherwise, too, if e begins with what ends inside of a
// character: states of a pattern mostly differ in what comes later.
Expr ExpressionAcceptor::Beginning(Expr e) {
  std::vector<Expr> heads;
  while (heads.size() < 4 && pool_->Kind(e) == ExprKind::kConcat) {
    heads.push_back(pool_->Head(e));
    const bool more = pool_->Kind(heads.back()) == ExprKind::kBytes || pool_->Nullable(heads.back());
    e = more ? pool_->Tail(e) : pool_->Complement(kEmpty);
  }
  for (; !heads.empty(); heads.pop_back()) e = pool_->Concat(heads.back(), e);
  return e;
}

// Whether a text of the language may begin with one of the characters. Yes where that takes long to find out.
bool ExpressionAcceptor::MayBegin(Expr e, const WideCharacters& characters) {
  constexpr size_t kMostPlaces = 1'000;
  struct Inside {
    WideCharacters::Place place;
    Expr rest;
  };
  std::vector<Inside> work;
  std::vector<Expressions::Term> steps;
  bool begins = false;
  const auto add = [&](WideCharacters::Place place, Expr rest) {
    begins = begins || place == WideCharacters::kWhole || work.size() >= kMostPlaces;
    const auto same = [&](const Inside& known) { return known.place == place && known.rest == rest; };
    if (place > WideCharacters::kWhole && std::none_of(work.begin(), work.end(), same)) work.push_back({place, rest});
  };
  pool_->Step(e, &steps);
  for (const auto& t : steps)
    (t.bytes & ByteSet::Range(0x80, 0xFF)).ForEach([&](uint8_t b) { add(characters.Lead(b), t.target); });
  for (size_t i = 0; i < work.size() && !begins; ++i) {
    const Inside at = work[i];
    pool_->Step(at.rest, &steps);
    for (const auto& t : steps) t.bytes.ForEach([&](uint8_t b) { add(characters.Next(at.place, b), t.target); });
  }
  return begins;
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
