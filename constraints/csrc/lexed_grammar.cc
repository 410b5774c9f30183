#include "constraints/csrc/lexed_grammar.h"

#include <algorithm>
#include <set>

#include "automata/csrc/errors.h"
#include "automata/csrc/id_table.h"
#include "automata/csrc/recall.h"
#include "automata/csrc/time_limit.h"

namespace tokamata {

LexedGrammar::LexedGrammar(std::shared_ptr<const LexedRules> rules)
    : rules_(std::move(rules)),
      lexer_(rules_->lexer->IsHalfFull() ? rules_->lexer->Fresh() : rules_->lexer),
      stacks_(rules_->automata, lexer_->NumTerminals(), rules_->most_nodes, rules_->indentation.get()),
      steps_(*rules_, lexer_.get(), &stacks_),
      completable_(*rules_, lexer_.get(), &stacks_),
      lengths_(*rules_, lexer_.get(), &stacks_),
      texts_(*rules_, lexer_.get(), &stacks_, &steps_) {
  states_.emplace_back();  // kDead
}

uint32_t LexedGrammar::Start() {
  std::vector<Position> start{{Position::kBoundary, 0, stacks_.Start()}};
  try {
    return completable_.Ask(start[0]) ? Intern(&start) : kDead;
  } catch (const LimitError& error) {
    if (rules_->nested.empty()) throw;
    const bool alone = rules_->contextual || rules_->nesting_apart;
    const char* first = alone ? "" : "use lexer=\"contextual\", where what the rules can take competes, or ";
    throw LimitError("grammar: where lexemes of " + rules_->nested + " end, which nest without bound, was not decided" +
                     " (" + error.what() + "); " + first + "write what nests as rules of this grammar, or use " +
                     "lexer=\"none\" for it and for what it is made of, with the blanks in the rules");
  }
}

// Stacks of positions that differ in nothing else become one.
void LexedGrammar::Unite(std::vector<Position>* all) {
  std::vector<Position>& positions = *all;
  if (positions.size() < 2) return;
  std::sort(positions.begin(), positions.end(), [](const Position& a, const Position& b) {
    if (a.lexer != b.lexer) return a.lexer < b.lexer;
    return a.pending != b.pending ? a.pending < b.pending : a.stacks < b.stacks;
  });
  size_t count = 1;
  for (size_t i = 1; i < positions.size(); ++i) {
    Position& last = positions[count - 1];
    const bool alike = positions[i].lexer == last.lexer && positions[i].pending == last.pending;
    if (alike && (last.stacks == positions[i].stacks ||
                  (!rules_->contextual && stacks_.CanUnite(last.stacks, positions[i].stacks))))
      last.stacks = stacks_.Union(last.stacks, positions[i].stacks);  // what competes depends on each of them
    else
      positions[count++] = positions[i];
  }
  positions.resize(count);
}

// Where a lexeme cannot go on it has ended, and which one it was makes no difference; nor does it where an ignored one
// goes on by the bytes alone that would begin it again, to the same state.
bool LexedGrammar::IsLikeBoundary(const Position& p) {
  const Lexeme& lexeme = LexemeAt(p.lexer);
  if (lexeme.stuck) return true;
  if (!lexeme.ignored) return false;
  const ByteSet live = lexer_->Live(p.lexer);
  const Lexer::State begin = steps_.Begin(p.stacks), pending = lexer_->Pending(p.lexer);
  if (!begin || !pending || lexer_->Live(pending) != live) return false;
  const uint64_t key = PairKey(p.lexer, begin);
  if (const bool* const known = like_begin_.Find(key)) return *known;
  const Lexer::State *row = lexer_->DenseRow(p.lexer), *first = lexer_->DenseRow(begin), *longer = lexer_->DenseRow(pending);
  bool alike = true;
  live.ForEach([&](uint8_t b) {
    alike = alike && row[b] == p.lexer && first[b] == p.lexer && lexer_->IsFinal(longer[b]);
  });
  return like_begin_[key] = alike;
}

// Whether the text may end here.
bool LexedGrammar::CanStop(const Position& p) {
  if (!lexer_->HasEnd()) return steps_.IsFinal(p);
  std::vector<Position> ends;
  steps_.Move(steps_.Prepare(p), Lexer::kEndByte, &ends);
  return std::any_of(ends.begin(), ends.end(), [this](const Position& end) { return steps_.IsFinal(end); });
}

uint32_t LexedGrammar::Intern(std::vector<Position>* all) {
  std::vector<Position>& positions = *all;
  if (positions.empty()) return kDead;
  for (Position& p : positions)
    if (p.lexer != Position::kBoundary && !p.pending && IsLikeBoundary(p))
      p = {Position::kBoundary, Lexer::kDead, steps_.AfterLexeme(p)};
  Unite(&positions);
  uint64_t hash = positions.size();
  for (const Position& p : positions)
    hash = MixHash(hash ^ (uint64_t{p.lexer} << 32 | p.pending)) + 0x9e3779b97f4a7c15ull * (p.stacks + 1);
  hash = MixHash(hash);
  const StateId known = index_.Find(hash, [&](StateId id) {
    const State& s = states_[static_cast<size_t>(id)];
    return s.count == positions.size() && std::equal(positions.begin(), positions.end(), positions_.begin() + s.first);
  });
  if (known != kNoState) return static_cast<uint32_t>(known);
  State state;
  state.final = std::any_of(positions.begin(), positions.end(), [this](const Position& p) { return CanStop(p); });
  state.first = static_cast<uint32_t>(positions_.size());
  state.count = static_cast<uint32_t>(positions.size());
  positions_.insert(positions_.end(), positions.begin(), positions.end());
  states_.push_back(state);
  index_.Insert(hash, static_cast<StateId>(states_.size() - 1));
  return static_cast<uint32_t>(states_.size() - 1);
}

void LexedGrammar::Arcs(uint32_t state, std::vector<Arc>* out) {
  out->clear();
  std::vector<Position> positions;
  PositionsOf(state, &positions);
  if (positions.size() == 1 && !positions[0].pending)
    AddArcs(positions[0], out);
  else
    Determinize(positions, steps_.TextBytes(), out);
}

// The rules on top of its stacks.
std::string LexedGrammar::PlaceOf(uint32_t state) const {
  constexpr size_t kMostCharacters = 200;
  std::vector<Position> positions;
  PositionsOf(state, &positions);
  std::vector<uint32_t> rules;
  for (const Position& p : positions) {
    const std::vector<uint32_t> top = stacks_.Stacks().TopRules(stacks_.StacksOf(p.stacks));
    rules.insert(rules.end(), top.begin(), top.end());
  }
  std::sort(rules.begin(), rules.end());
  rules.erase(std::unique(rules.begin(), rules.end()), rules.end());
  std::string names;
  std::set<std::string> seen;  // several rules may have one name, see BalanceBlocks
  for (const uint32_t rule : rules) {
    if (!seen.insert(rules_->rule_names[rule]).second) continue;
    names += (names.empty() ? "" : ", ") + rules_->rule_names[rule];
    if (names.size() > kMostCharacters) {
      names += ", …";
      break;
    }
  }
  return names.empty() ? names : (seen.size() == 1 ? "the rule " : "the rules ") + names;
}

LexedGrammar::Lexeme& LexedGrammar::LookUp(Lexer::State q) {
  Lexeme l;
  l.row = lexer_->DenseRow(q);
  l.accepted = lexer_->Accepted(q);
  l.final = lexer_->IsFinal(q);
  l.guarded = lexer_->IsGuarded(q);
  if (l.final && !l.guarded) {
    const Lexer::State pending = lexer_->Pending(q);
    l.longer = lexer_->DenseRow(pending);
    l.ignored = HasTerminal(rules_->ignored, l.accepted);
    l.stuck = !pending && !lexer_->Live(q).Any();
  }
  if (q >= lexemes_.size()) lexemes_.resize(q + q / 2 + 64);
  return lexemes_[q] = l;
}

// How many bytes can only go on with the lexeme that is being read.
size_t LexedGrammar::GoOn(std::string_view bytes, Lexer::State* lexer) {
  for (size_t i = 0;; ++i) {
    const Lexeme& at = LexemeAt(*lexer);
    if (i == bytes.size() || at.guarded) return i;
    const uint8_t byte = static_cast<uint8_t>(bytes[i]);
    const Lexer::State next = at.row[byte];
    if (!next || (at.final && !(at.longer[byte] && lexer_->IsFinal(at.longer[byte])))) return i;
    *lexer = next;
  }
}

// One position with nothing pending, where only one way can be open after the byte.
LexedGrammar::Ways LexedGrammar::StepOne(Position* p, uint8_t byte) {
  if (p->lexer != Position::kBoundary) {
    const Lexeme& at = LexemeAt(p->lexer);
    if (at.guarded) return Ways::kMore;
    const Lexer::State next = at.row[byte], longer = at.final ? at.longer[byte] : Lexer::State{Lexer::kDead};
    if (at.final && (longer ? !lexer_->IsFinal(longer) : next)) return Ways::kMore;
    if (!at.final || longer) {
      p->lexer = next;
      return next ? Ways::kOne : Ways::kNone;
    }
    if (!at.ignored) p->stacks = steps_.After(p->stacks, at.accepted);
    if (p->stacks == ParserStates::kNone) return Ways::kNone;
  }
  const Lexer::State begin = steps_.Begin(p->stacks);
  p->lexer = begin ? LexemeAt(begin).row[byte] : Lexer::State{Lexer::kDead};
  return p->lexer ? Ways::kBegins : Ways::kNone;
}

// In a state of its own what a long lexeme has left would have to be made, and its mask be found, without what is known
// of such languages elsewhere.
bool LexedGrammar::IsNested(const std::vector<Position>& positions, bool begun, Inside* inside) {
  if (positions.size() != 1) return false;
  const Position& p = positions[0];
  if (p.lexer == Position::kBoundary || p.pending) return false;
  Lexeme& lexeme = LexemeAt(p.lexer);
  if (lexeme.by_itself == Lexeme::Ends::kNotAsked)
    lexeme.by_itself = lexer_->EndsByItself(p.lexer, &lexeme.terminal) ? Lexeme::Ends::kYes : Lexeme::Ends::kNo;
  if (lexeme.by_itself == Lexeme::Ends::kNo) return begun && IsOneOfSeveral(p, inside);
  const uint32_t terminal = lexeme.terminal;
  // Rules that are called were copied with the terminal, and again they would be others.
  inside->left = !lexer_->Calls(terminal);
  if (!inside->left && !begun) return false;
  inside->nested = inside->left ? lexer_->NumTerminals() + p.lexer : terminal;
  inside->after = AfterNested(p, terminal);
  return inside->after != kDead;
}

// Where a lexeme of a terminal leads that begins at the position's stacks; kDead where it may not come.
uint32_t LexedGrammar::AfterNested(const Position& p, uint32_t terminal) {
  std::vector<Position> ended{{Position::kBoundary, Lexer::kDead, steps_.After(p.stacks, terminal)}};
  return ended[0].stacks == ParserStates::kNone || !completable_.Ask(ended[0]) ? uint32_t{kDead} : Intern(&ended);
}

// Where the terminals have texts in common, either it does not matter of which one they are, or each has its own.
bool LexedGrammar::IsOneOfSeveral(const Position& p, Inside* inside) {
  if (LexemeAt(p.lexer).together == Lexeme::Ends::kNo) return false;
  std::vector<uint32_t> terminals;
  const bool together = lexer_->EndTogether(p.lexer, &terminals);
  LexemeAt(p.lexer).together = together ? Lexeme::Ends::kYes : Lexeme::Ends::kNo;
  if (!together) return false;
  const Lexer::Terminals wanted = steps_.Wanted(stacks_.Allowed(p.stacks));
  const Lexer::Terminals& competing = steps_.Competing(wanted);
  std::vector<uint32_t> after;
  for (const uint32_t t : terminals) after.push_back(AfterNested(p, t));
  bool apart = false, whole = lexer_->CompeteAlone(terminals, competing, wanted, &apart);
  for (const uint32_t a : after) whole = whole && a != kDead && (apart || a == after[0]);
  for (size_t i = 0; i < terminals.size(); ++i) {
    if (after[i] == kDead) continue;
    const uint32_t nested = whole ? terminals[i] : kOwn + lexer_->OwnNumber(terminals[i], competing);
    if (inside->after == kDead) {
      inside->nested = nested;
      inside->after = after[i];
    } else {
      inside->others.emplace_back(nested, after[i]);
    }
  }
  return inside->after != kDead;
}

uint32_t LexedGrammar::Nested(uint32_t number, Expressions* pool) {
  const auto import = [pool](const Expressions& other, Expr e) { return pool->Import(other, e); };
  const uint32_t terminals = lexer_->NumTerminals();
  return Recall(&nested_, number, [&] {
    if (number >= kOwn) return lexer_->WithOwn(number - kOwn, import);
    return number < terminals ? lexer_->WithTerminal(number, import) : lexer_->WithRest(number - terminals, import);
  });
}

bool LexedGrammar::AllBegin(const std::vector<Position>& positions, uint8_t byte) {
  return std::none_of(positions.begin(), positions.end(), [&](const Position& p) {
    return p.lexer != Position::kBoundary && lexer_->Next(p.lexer, byte) != Lexer::kDead;
  });
}

// States on the way are not kept, and what cannot be completed is found out at the end.
bool LexedGrammar::Step(uint32_t state, std::string_view bytes, After* next) {
  constexpr size_t kNotKnown = ~size_t{0};
  constexpr uint32_t kMostSteps = 4096, kLoopCost = 1, kCost = 8;  // beyond which the state is worth a row
  uint32_t& spent = states_[state].spent;
  if (spent >= kMostSteps) return false;
  *next = {kNowhere};
  PositionsOf(state, &now_);
  uint32_t cost = kCost;
  size_t begin = kNotKnown;  // of the lexeme
  try {
    for (size_t i = 0; i < bytes.size(); ++i) {
      if (!steps_.IsText(static_cast<uint8_t>(bytes[i]))) return true;
      if (now_.size() == 1 && !now_[0].pending) {
        if (now_[0].lexer != Position::kBoundary && !lexer_->HasEnd()) {
          const size_t read = GoOn(bytes.substr(i), &now_[0].lexer);
          cost += kLoopCost * static_cast<uint32_t>(read);
          i += read;
          if (i == bytes.size()) break;
        }
        const Ways ways = StepOne(&now_[0], static_cast<uint8_t>(bytes[i]));
        cost += kLoopCost;
        if (ways == Ways::kNone) return true;
        if (ways == Ways::kBegins) begin = i;
        if (ways != Ways::kMore) continue;
      }
      const uint8_t byte = static_cast<uint8_t>(bytes[i]);
      cost += kCost;
      after_.clear();
      for (const Position& p : now_) steps_.Move(steps_.Prepare(p), byte, &after_);
      if (after_.empty()) return true;
      begin = AllBegin(now_, byte) ? i : kNotKnown;
      Unite(&after_);
      now_.swap(after_);
    }
    spent += cost;
    now_.erase(std::remove_if(now_.begin(), now_.end(), [this](const Position& p) { return !completable_.Ask(p); }),
               now_.end());
    Inside inside;
    if (IsNested(now_, begin != kNotKnown, &inside)) {
      *next = {inside.after, inside.nested, inside.left ? bytes.size() : begin, std::move(inside.others)};
      return true;
    }
  } catch (const LimitError&) {
    return false;  // Arcs says where
  }
  if (!now_.empty()) next->state = Intern(&now_);
  return true;
}

void LexedGrammar::AddArc(const Arc& added, std::vector<Arc>* out) {
  if (added.state == kDead || !added.bytes.Any()) return;
  const auto same = std::find_if(out->begin(), out->end(), [&added](const Arc& arc) {
    return arc.state == added.state && arc.nested == kNotNested && added.nested == kNotNested;
  });
  if (same != out->end())
    same->bytes = same->bytes | added.bytes;
  else
    out->push_back(added);
}

// One position with nothing pending: most often a byte either goes on with the lexeme or begins another one, and what
// begins after some stacks is the same wherever the lexeme before it ended.
void LexedGrammar::AddArcs(const Position& p, std::vector<Arc>* out) {
  const Positions::Ready ready = steps_.Prepare(p);
  if (!ready.others.empty()) return Determinize({p}, steps_.TextBytes(), out);
  const Lexer::State *lexeme = ready.lexeme, *longer = ready.ended.longer;
  ByteSet both;     // the lexeme may go on, or have ended before
  ByteSet goes_on;  // it goes on, if at all
  Lexer::State last = Lexer::kDead;
  std::vector<std::pair<Lexer::State, ByteSet>> targets;
  for (int b = 0; b < 256; ++b) {
    const uint8_t byte = static_cast<uint8_t>(b);
    const Lexer::State next = lexeme ? lexeme[b] : Lexer::State{Lexer::kDead};
    const Lexer::State on = longer ? longer[b] : Lexer::State{Lexer::kDead};
    if (ready.ended.after != ParserStates::kNone && ((on && !lexer_->IsFinal(on)) || (next && !on))) {
      both.Add(byte);
      continue;
    }
    if (next || on) goes_on.Add(byte);
    if (!next) continue;
    if (next != last) {
      const auto known = std::find_if(targets.begin(), targets.end(), [next](const auto& t) { return t.first == next; });
      if (known == targets.end())
        targets.emplace_back(next, ByteSet());
      else
        std::swap(*known, targets.back());
      last = next;
    }
    targets.back().second.Add(byte);
  }
  for (const auto& [next, bytes] : targets) {
    std::vector<Position> on{{next, Lexer::kDead, p.stacks}};
    if (!completable_.Ask(on[0])) continue;
    Inside inside;
    if (IsNested(on, false, &inside))
      AddArc({bytes, inside.after, inside.nested, inside.left, std::move(inside.others)}, out);
    else
      AddArc({bytes, Intern(&on)}, out);
  }
  if (both.Any()) Determinize({p}, both, out);
  if (ready.ended.after == ParserStates::kNone) return;
  const std::vector<Arc>& begins = BeginsOf(ready.ended.after);
  for (const Arc& arc : begins) AddArc({arc.bytes - both - goes_on, arc.state, arc.nested, arc.left, arc.others}, out);
}

// The arcs of lexemes that begin after some stacks, with nothing pending.
const std::vector<LexedGrammar::Arc>& LexedGrammar::BeginsOf(ParserStates::Set stacks) {
  const auto known = begins_.find(stacks);
  if (known != begins_.end()) return known->second;
  std::vector<Arc> arcs;
  Determinize({Position{Position::kBoundary, Lexer::kDead, stacks}}, steps_.TextBytes(), &arcs);
  return begins_[stacks] = std::move(arcs);
}

// The steps of positions by some bytes, byte class by byte class.
void LexedGrammar::Determinize(const std::vector<Position>& positions, const ByteSet& within, std::vector<Arc>* out) {
  struct Class {
    ByteSet bytes;
    std::vector<Position> positions;
  };
  std::vector<Class> classes;
  std::vector<ByteSet> parts;
  std::vector<Position> next;
  for (const Position& p : positions) {
    const Positions::Ready ready = steps_.Prepare(p);
    steps_.Classes(ready, &parts);
    for (ByteSet bytes : parts) {
      bytes = bytes & within;
      if (!bytes.Any()) continue;
      next.clear();
      steps_.Move(ready, bytes.First(), &next);
      next.erase(std::remove_if(next.begin(), next.end(), [this](const Position& n) { return !completable_.Ask(n); }),
                 next.end());
      if (next.empty()) continue;
      TimeLimit::Spend();
      if (positions.size() > 1)
        for (size_t c = 0, n = classes.size(); c < n && bytes.Any(); ++c) {
          const ByteSet common = classes[c].bytes & bytes;
          if (!common.Any()) continue;
          bytes = bytes - common;
          if (common != classes[c].bytes) {
            classes.push_back({classes[c].bytes - common, classes[c].positions});
            classes[c].bytes = common;
          }
          classes[c].positions.insert(classes[c].positions.end(), next.begin(), next.end());
        }
      if (bytes.Any()) classes.push_back({bytes, next});
    }
  }
  for (Class& c : classes) {
    Inside inside;
    if (IsNested(c.positions, AllBegin(positions, c.bytes.First()), &inside))
      AddArc({c.bytes, inside.after, inside.nested, inside.left, std::move(inside.others)}, out);
    else
      AddArc({c.bytes, Intern(&c.positions)}, out);
  }
}

template <class F>
uint32_t LexedGrammar::LeastOf(uint32_t state, F of_position) {
  if (states_[state].final) return 0;
  uint32_t least = 0xffffffff;
  std::vector<Position> positions;
  PositionsOf(state, &positions);
  for (const Position& p : positions) least = std::min(least, of_position(p));
  return least;
}

uint32_t LexedGrammar::Least(uint32_t state) {
  const uint32_t least = LeastOf(state, [this](const Position& p) { return lengths_.Least(p); });
  return states_[state].final ? 0 : std::max<uint32_t>(least, 1);
}

MeetingLeaf::Text LexedGrammar::FindText(uint32_t state, RegularOperand* operand, uint32_t from) {
  std::vector<Position> positions;
  PositionsOf(state, &positions);
  Text best;
  for (const Position& p : positions)
    if (const Text text = texts_.Find(p, operand, from); text.bytes < best.bytes) best = text;
  return best;
}

bool LexedGrammar::MeetsWherever(uint32_t state, RegularOperand* operand, uint32_t from, Left* left) {
  std::vector<Position> positions;
  PositionsOf(state, &positions);
  return std::all_of(positions.begin(), positions.end(),
                     [&](const Position& p) { return texts_.FindsWherever(p, operand, from, left); });
}

uint32_t LexedGrammar::LeastCharacters(uint32_t state) {
  return LeastOf(state, [this](const Position& p) { return lengths_.LeastCharacters(p); });
}

bool LexedGrammar::CannotEnd(uint32_t state, const ByteSet& bytes) {
  std::vector<Position> positions;
  PositionsOf(state, &positions);
  return std::all_of(positions.begin(), positions.end(), [&](const Position& p) { return lengths_.CannotEnd(p, bytes); });
}

// Forgets what is known beside another operand.
void LexedGrammar::MeetWith(RegularOperand* operand) {
  const bool kept = !operand->weak_from_this().expired();
  if (kept && met_.lock().get() == operand) return;
  meets_[0].reset();
  meets_[1].reset();
  indented_meet_.reset();
  met_ = operand->weak_from_this();
}

LexedMeet& LexedGrammar::MeetBeside(RegularOperand* operand, bool fewest) {
  MeetWith(operand);
  std::unique_ptr<LexedMeet>& meet = meets_[fewest];
  if (!meet || meet->IsLarge()) meet = std::make_unique<LexedMeet>(*rules_, lexer_.get(), &stacks_, operand, fewest);
  return *meet;
}

bool LexedGrammar::EndsBeside(uint32_t state, RegularOperand* operand, uint32_t from, std::vector<uint32_t>* ends) {
  if (rules_->indentation) return false;
  std::vector<Position> positions;
  PositionsOf(state, &positions);
  const auto meet = [&](bool fewest) {
    std::vector<uint32_t> found;
    for (const Position& p : positions) MeetBeside(operand, fewest).Ends(p, from, &found);
    std::sort(found.begin(), found.end());
    return found;
  };
  const std::vector<uint32_t> sure = meet(false);
  if (rules_->contextual && sure != meet(true)) {
    ContextualSummaries summaries(*rules_, lexer_.get(), &stacks_, operand);
    return std::all_of(positions.begin(), positions.end(),
                       [&](const Position& p) { return summaries.Ends(p, from, ends); });
  }
  for (const uint32_t end : sure)
    if (std::find(ends->begin(), ends->end(), end) == ends->end()) ends->push_back(end);
  return true;
}

bool LexedGrammar::EndsAtMost(uint32_t state, RegularOperand* operand, uint32_t from, std::vector<uint32_t>* ends) {
  if (!rules_->indentation) return false;
  std::vector<Position> positions;
  PositionsOf(state, &positions);
  MeetWith(operand);
  if (!indented_meet_ || indented_meet_->IsLarge())
    indented_meet_ = std::make_unique<IndentedMeet>(*rules_, lexer_.get(), &stacks_, operand);
  return std::all_of(positions.begin(), positions.end(),
                     [&](const Position& p) { return indented_meet_->Ends(p, from, ends); });
}

std::shared_ptr<LeafAutomaton> LexedGrammar::Clone() const { return std::make_shared<LexedGrammar>(rules_); }

void LexedGrammar::Adopt(const LeafAutomaton& other, std::vector<uint32_t>* states) {
  const auto& from = static_cast<const LexedGrammar&>(other);
  std::vector<std::vector<Position>> all(states->size());
  std::vector<Lexer::State> lexing;
  for (size_t i = 0; i < all.size(); ++i) {
    from.PositionsOf((*states)[i], &all[i]);
    for (const Position& p : all[i]) lexing.insert(lexing.end(), {p.lexer, p.pending});
  }
  lexer_->Adopt(*from.lexer_, &lexing);
  auto next = lexing.begin();
  std::unordered_map<ParserStates::Set, ParserStates::Set> done;
  for (size_t i = 0; i < all.size(); ++i) {
    for (Position& p : all[i]) {
      p.lexer = *next++;
      p.pending = *next++;
      p.stacks = stacks_.Adopt(from.stacks_, p.stacks, &done);
    }
    (*states)[i] = Intern(&all[i]);
  }
}

size_t LexedGrammar::MemoryBytes() const {
  return stacks_.MemoryBytes() + states_.size() * (sizeof(State) + 32) + positions_.size() * sizeof(Position) + lexer_->MemoryBytes();
}

}  // namespace tokamata
