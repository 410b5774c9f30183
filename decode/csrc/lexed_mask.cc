#include "decode/csrc/lexed_mask.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "automata/csrc/id_table.h"
#include "automata/csrc/time_limit.h"
#include "automata/csrc/utf8.h"
#include "decode/csrc/rows.h"

namespace tokamata {
namespace {

constexpr uint32_t kManyTokens = 256;  // below a node, from which its rows are kept
constexpr uint32_t kSomeTokens = 8;    // from which a row is worth more than walking
constexpr size_t kMostBytes = size_t{48} << 20;
// Cutting ambiguous stacks off further down costs more than asking the few tokens left over for each of them.
constexpr uint32_t kDepths[] = {1, 2, 3, 4, 6, 8};

}  // namespace

LexedMask::LexedMask(LexedGrammar* grammar, const Vocabulary* vocabulary)
    : grammar_(grammar),
      factoring_(vocabulary->Masks()),
      trie_(factoring_.trie()),
      words_(factoring_.Words()),
      most_bytes_(kMostBytes) {}

void LexedMask::Write(const Tokens& tokens, uint32_t* row) const {
  for (const uint32_t id : tokens.ids) SetToken(id, row);
  if (!tokens.row.empty()) OrRow(tokens.row.data(), words_, row);
}

void LexedMask::Append(const uint32_t* ids, size_t count, Tokens* to) {
  if (to->row.empty()) {
    to->ids.insert(to->ids.end(), ids, ids + count);
    if (to->ids.size() <= words_) return;
    to->row.assign(words_, 0);
    std::vector<uint32_t> all;
    all.swap(to->ids);
    return Append(all.data(), all.size(), to);
  }
  for (size_t i = 0; i < count; ++i) SetToken(ids[i], to->row.data());
}

void LexedMask::Merge(const Tokens& from, Tokens* to) {
  if (!from.row.empty()) {
    if (to->row.empty()) {
      to->row.assign(words_, 0);
      std::vector<uint32_t> all;
      all.swap(to->ids);
      Append(all.data(), all.size(), to);
    }
    Write(from, to->row.data());
  }
  Append(from.ids.data(), from.ids.size(), to);
}

uint64_t LexedMask::Add(uint32_t state, uint32_t* row) {
  if (bytes_ > most_bytes_) {
    rows_.clear();
    levels_.clear();
    bytes_ = 0;
  }
  grammar_->PositionsOf(state, &positions_);
  for (const Position& p : positions_) AddPosition(p, row);
  const Position& first = positions_.front();
  const uint32_t lexing = Number(first.lexer, first.pending);
  return MixHash(PairKey(grammar_->stacks().Truncate(first.stacks, kDepths[0]), lexing) + positions_.size()) | 1;
}

const void** LexedMask::Shared(uint32_t state) {
  grammar_->PositionsOf(state, &positions_);
  if (positions_.size() != 1) return nullptr;
  const Position& p = positions_[0];
  const Lexer::State lexer = p.lexer == Position::kBoundary ? grammar_->steps().Begin(p.stacks) : p.lexer;
  if (!lexer) return nullptr;
  const uint32_t lexing = Number(lexer, p.pending);
  for (const uint32_t depth : kDepths) {
    const auto level = levels_.find(PairKey(grammar_->stacks().Truncate(p.stacks, depth), lexing));
    if (level == levels_.end()) return nullptr;
    if (level->second->blocked.empty()) return &level->second->shared[grammar_->IsFinal(state)];
  }
  return nullptr;
}

void LexedMask::AddPosition(const Position& p, uint32_t* row) {
  const Lexer::State lexer = p.lexer == Position::kBoundary ? grammar_->steps().Begin(p.stacks) : p.lexer;
  if (!lexer) return;
  const uint32_t lexing = Number(lexer, p.pending);
  Write(RowAt(0, lexing).inside, row);
  ParserStates& stacks = grammar_->stacks();
  const Level* before = nullptr;
  for (const uint32_t depth : kDepths) {
    const Set cut = stacks.Truncate(p.stacks, depth);
    const bool whole = !stacks.HasVariables(cut);
    before = &LevelOf(cut, lexing, before);
    Write(before->tokens, row);
    if (before->blocked.empty() || whole) return;
  }
  Write(LevelOf(p.stacks, lexing, before).tokens, row);
}

uint32_t LexedMask::Number(Lexer::State lexer, Lexer::State pending) {
  const auto [it, added] = lexing_ids_.emplace(PairKey(lexer, pending), static_cast<uint32_t>(lexings_.size()));
  if (added) lexings_.push_back({lexer, pending});
  return it->second;
}

// What a lexing and stacks allow beyond tokens inside the lexeme and what the level before has found out.
const LexedMask::Level& LexedMask::LevelOf(Set stacks, uint32_t lexing, const Level* before) {
  std::unique_ptr<Level>& known = levels_[PairKey(stacks, lexing)];
  if (known) return *known;
  auto level = std::make_unique<Level>();
  if (!before) {
    ApplyEnds(0, lexing, stacks, level.get());
  } else {
    Path path({lexings_[lexing].lexer, lexings_[lexing].pending, stacks});
    for (const Blocked& b : before->blocked) Retry(b, &path, level.get());
  }
  std::stable_sort(level->blocked.begin(), level->blocked.end(),
                   [](const Blocked& a, const Blocked& b) { return a.node < b.node; });
  bytes_ += sizeof(Level) + (level->tokens.ids.size() + level->tokens.row.size()) * sizeof(uint32_t) +
            level->blocked.size() * sizeof(Blocked) + 64;
  return *(levels_[PairKey(stacks, lexing)] = std::move(level));
}

LexedMask::Answer LexedMask::Ask(const Position& p) {
  if (p.stacks == ParserStates::kUnknown) return Answer::kUnknown;
  if (grammar_->stacks().HasVariables(p.stacks))
    return grammar_->completable().EndsFreelyAt(p) ? Answer::kYes : Answer::kUnknown;
  return grammar_->completable().Ask(p) ? Answer::kYes : Answer::kNo;
}

// ---------------------------------------------------------------------------------------------- inside one lexeme

// Whether every character of a class leads back to a state, so that what is inside or leaves the class below a node is
// known; a lexeme that may end there must surely go on inside the class.
bool LexedMask::Loops(Lexer::State state, const CharacterClass& c) {
  Lexer& lexemes = grammar_->lexer();
  const Lexer::State* row = lexemes.Row(state);
  const auto stays = [&](uint8_t b) { return row[b] == state; };
  bool loops = true;
  c.ascii.ForEach([&](uint8_t b) { loops = loops && stays(b); });
  if (!loops) return false;
  if (lexemes.IsFinal(state)) {
    const Lexer::State longer = lexemes.Pending(state);
    if (c.non_ascii || !longer) return false;
    const Lexer::State* more = lexemes.Row(longer);
    c.ascii.ForEach([&](uint8_t b) { loops = loops && more[b] && lexemes.IsFinal(more[b]); });
    return loops;
  }
  if (!c.non_ascii) return true;
  struct Inside {  // of a character
    Lexer::State state;
    uint8_t phase;
  };
  std::vector<Inside> work;
  const auto go = [&](Lexer::State to, uint8_t phase) {
    if (!to || (phase ? lexemes.IsFinal(to) : to != state)) return false;
    const auto same = [&](const Inside& i) { return i.state == to && i.phase == phase; };
    if (phase && std::none_of(work.begin(), work.end(), same)) work.push_back({to, phase});
    return true;
  };
  for (int b = 0x80; b < 0x100; ++b) {
    const uint8_t phase = Utf8LeadPhase(static_cast<uint8_t>(b));
    if (phase ? !go(row[b], phase) : row[b] != Lexer::kDead) return false;
  }
  for (size_t i = 0; i < work.size(); ++i) {
    const Inside at = work[i];
    const Utf8Phase& p = kUtf8Phases[at.phase];
    const Lexer::State* next = lexemes.Row(at.state);
    for (int b = 0; b < 0x100; ++b) {
      const bool inside = b >= p.low && b <= p.high;
      if (inside ? !go(next[b], p.next) : next[b] != Lexer::kDead) return false;
    }
  }
  return true;
}

// The table of the class with the most tokens over which a state loops, below a node; null where there is none.
const Factor* LexedMask::FactorAt(uint32_t node, Lexer::State state, Lexer::State pending) {
  if (pending || !factoring_.At(node, 0)) return nullptr;
  constexpr int8_t kNotAsked = -2, kNone = -1;
  if (state >= loop_of_.size()) loop_of_.resize(std::max<size_t>(state + 1, loop_of_.size() * 2), kNotAsked);
  if (loop_of_[state] == kNotAsked) {
    int8_t best = kNone;
    for (int c = 0; c < kHan; ++c) {
      const bool more = best < 0 || factoring_.At(0, c)->inside.size() > factoring_.At(0, best)->inside.size();
      if (more && Loops(state, CharacterClasses()[static_cast<size_t>(c)])) best = static_cast<int8_t>(c);
    }
    loop_of_[state] = best;
  }
  return loop_of_[state] < 0 ? nullptr : factoring_.At(node, loop_of_[state]);
}

const LexedMask::Row& LexedMask::RowAt(uint32_t node, uint32_t lexing) {
  const auto known = rows_.find(PairKey(node, lexing));
  if (known != rows_.end()) return *known->second;
  Lexer& lexemes = grammar_->lexer();
  Completable& completable = grammar_->completable();
  struct At {
    Lexer::State state;
    const Lexer::State* row;
    const Lexer::State* pending;  // the row of what is pending, or null
    const Lexer::State* longer;   // where the state is final: the row of what is pending then, or null
    bool ends;
  };
  struct Stretch {  // of siblings with all below them
    uint32_t begin, end;
    Lexer::State lexer, pending;  // above them
  };
  std::vector<At> path(trie_.max_depth + 2);
  const auto enter = [&](Lexer::State q, Lexer::State pending) {
    At at{q, lexemes.Row(q), pending ? lexemes.Row(pending) : nullptr, nullptr, lexemes.IsFinal(q)};
    const Lexer::State longer = at.ends ? lexemes.Pending(q) : Lexer::State{Lexer::kDead};
    if (longer) at.longer = lexemes.Row(longer);
    return at;
  };
  auto row = std::make_unique<Row>();
  std::map<std::tuple<uint32_t, Lexer::State, uint8_t>, std::vector<uint32_t>> exits;
  std::map<uint64_t, std::vector<uint32_t>> asked;
  std::vector<uint32_t> ids;
  std::vector<const Row*> parts;
  const Trie::Node* nodes = trie_.nodes.data;
  uint64_t last = 0;
  std::vector<uint32_t>* to = nullptr;  // where tokens go that end like the last one
  const auto ends_at = [&](Lexer::State state, Lexer::State pending) {
    if (PairKey(state, pending) != last) {
      last = PairKey(state, pending);
      to = !pending && completable.EndsFreely(state) ? &ids : &asked[last];
    }
    return to;
  };
  std::vector<Stretch> walks;
  // What a state that loops over a class allows below a node: its table knows the tokens inside and the ways out.
  const auto loop = [&](uint32_t below, const Factor& factor, const At& at) {
    std::vector<uint32_t>* tokens = ends_at(at.state, Lexer::kDead);
    tokens->insert(tokens->end(), factor.inside.begin() + factor.offsets[1], factor.inside.end());
    (at.ends ? factor.exit_bytes : factor.exit_bytes & lexemes.Live(at.state)).ForEach([&](uint8_t b) {
      const Span<const FactorExit> ways = factor.ExitsBy(b);
      if (at.row[b]) {
        for (const FactorExit& way : ways) walks.push_back({way.node, nodes[way.node].end, at.state, Lexer::kDead});
        return;
      }
      const Lexer::State longer = at.longer ? at.longer[b] : Lexer::State{Lexer::kDead};
      if (longer && lexemes.IsFinal(longer)) return;
      std::vector<uint32_t>& places = exits[{lexemes.Accepted(at.state), longer, b}];
      for (const FactorExit& way : ways) places.push_back(way.node);
    });
    TimeLimit::Spend(1 + trie_.CountBelow(below) / 16);
  };
  const Lexing& entered = lexings_[lexing];
  if (const Factor* factor = FactorAt(node, entered.lexer, entered.pending))
    loop(node, *factor, enter(entered.lexer, Lexer::kDead));
  else
    walks.push_back({node + 1, nodes[node].end, entered.lexer, entered.pending});
  for (size_t w = 0; w < walks.size(); ++w) {
    const Stretch walk = walks[w];
    const uint32_t base = nodes[walk.begin].depth - 1;
    path[0] = enter(walk.lexer, walk.pending);
    for (uint32_t n = walk.begin; n < walk.end;) {
      const Trie::Node& child = nodes[n];
      const uint32_t depth = child.depth - base;
      const At& at = path[depth - 1];
      const Lexer::State pending = at.pending ? at.pending[child.byte] : Lexer::State{Lexer::kDead};
      if (pending && lexemes.IsFinal(pending)) {  // an earlier lexeme was longer
        n = child.end;
        continue;
      }
      if (at.ends) {
        const Lexer::State longer = at.longer ? at.longer[child.byte] : Lexer::State{Lexer::kDead};
        if (!longer || !lexemes.IsFinal(longer))
          exits[{lexemes.Accepted(at.state), lexemes.UnionOfPending(pending, longer), child.byte}].push_back(n);
      }
      const Lexer::State next = at.row[child.byte];
      if (!next) {
        n = child.end;
        continue;
      }
      if (trie_.TokensBegin(n) != trie_.TokensEnd(n)) {
        std::vector<uint32_t>* tokens = ends_at(next, pending);
        const uint32_t* order = trie_.order.data;
        tokens->insert(tokens->end(), order + trie_.TokensBegin(n), order + trie_.TokensEnd(n));
      }
      if (trie_.CountBelow(n) >= kManyTokens) {
        parts.push_back(&RowAt(n, Number(next, pending)));
        n = child.end;
        continue;
      }
      if (child.end > n + 1) {
        const At inner = enter(next, pending);
        if (const Factor* factor = FactorAt(n, next, pending)) {
          loop(n, *factor, inner);
          n = child.end;
          continue;
        }
        path[depth] = inner;
      }
      ++n;
    }
  }
  TimeLimit::Spend(static_cast<int64_t>(ids.size() / 8 + exits.size()));
  Append(ids.data(), ids.size(), &row->inside);
  for (const Row* part : parts) {
    Merge(part->inside, &row->inside);
    for (const auto& [at, some] : part->asked) {
      std::vector<uint32_t>& all = asked[PairKey(at.lexer, at.pending)];
      all.insert(all.end(), some.begin(), some.end());
    }
    for (const Exit& e : part->exits) {
      std::vector<uint32_t>& all = exits[{e.terminal, e.pending, e.byte}];
      all.insert(all.end(), part->nodes.begin() + e.first, part->nodes.begin() + e.first + e.count);
    }
  }
  for (auto& [key, some] : asked) {
    bytes_ += some.size() * sizeof(uint32_t);
    row->asked.emplace_back(Lexing{static_cast<uint32_t>(key >> 32), static_cast<uint32_t>(key)}, std::move(some));
  }
  for (const auto& [key, places] : exits) {
    row->exits.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), static_cast<uint32_t>(row->nodes.size()),
                          static_cast<uint32_t>(places.size())});
    row->nodes.insert(row->nodes.end(), places.begin(), places.end());
  }
  bytes_ += sizeof(Row) + (row->inside.ids.size() + row->inside.row.size()) * sizeof(uint32_t) +
            row->exits.size() * sizeof(Exit) + row->nodes.size() * sizeof(uint32_t) + 64;
  return *(rows_[PairKey(node, lexing)] = std::move(row));
}

// ---------------------------------------------------------------------------------------------- past lexemes

void LexedMask::ApplyEnds(uint32_t node, uint32_t lexing, Set stacks, Level* level) {
  const Row& r = RowAt(node, lexing);
  for (uint32_t i = 0; i < r.asked.size(); ++i) ApplyAsked(r, i, node, lexing, stacks, level);
  for (uint32_t i = 0; i < r.exits.size(); ++i) ApplyExit(r, i, node, lexing, stacks, level);
}

void LexedMask::ApplyAsked(const Row& r, uint32_t asked, uint32_t node, uint32_t lexing, Set stacks, Level* level) {
  const auto& [end, ids] = r.asked[asked];
  switch (Ask({end.lexer, end.pending, stacks})) {
    case Answer::kNo: return;
    case Answer::kUnknown: return level->blocked.push_back({node, lexing, static_cast<uint32_t>(r.exits.size()) + asked});
    case Answer::kYes:
      Append(ids.data(), ids.size(), &level->tokens);
  }
}

void LexedMask::ApplyExit(const Row& r, uint32_t exit, uint32_t node, uint32_t lexing, Set stacks, Level* level) {
  const Exit& e = r.exits[exit];
  TimeLimit::Spend(1 + e.count / 4);
  const Set after = grammar_->steps().After(stacks, e.terminal);
  if (after == ParserStates::kNone) return;
  if (after == ParserStates::kUnknown || grammar_->stacks().Allowed(after) == ParserStates::kUnknown)
    return level->blocked.push_back({node, lexing, exit});
  const Lexer::State begin = grammar_->steps().Begin(after);
  const Position next{begin ? grammar_->lexer().Next(begin, e.byte) : Lexer::kDead, e.pending, after};
  if (!next.lexer) return;
  switch (Ask(next)) {
    case Answer::kNo: return;
    case Answer::kUnknown: return level->blocked.push_back({node, lexing, exit});
    case Answer::kYes:
      for (uint32_t i = e.first; i < e.first + e.count; ++i) {
        AddAt(r.nodes[i], &level->tokens);
        Below(r.nodes[i], next, level);
      }
  }
}

void LexedMask::Below(uint32_t node, const Position& p, Level* level) {
  if (trie_.nodes[node].end == node + 1) return;
  if (trie_.CountBelow(node) >= kSomeTokens) {
    const uint32_t lexing = Number(p.lexer, p.pending);
    Merge(RowAt(node, lexing).inside, &level->tokens);
    return ApplyEnds(node, lexing, p.stacks, level);
  }
  Walk(node, {p}, level);
}

// The tokens below a node, position by position.
void LexedMask::Walk(uint32_t root, const std::vector<Position>& positions, Level* level) {
  const Trie::Node* nodes = trie_.nodes.data;
  const uint32_t base = nodes[root].depth, end = nodes[root].end;
  Positions& steps = grammar_->steps();
  std::vector<std::vector<Positions::Ready>> path(1);
  for (const Position& p : positions) path[0].push_back(steps.Prepare(p));
  std::vector<Position> next;
  for (uint32_t n = root + 1; n < end;) {
    const Trie::Node& child = nodes[n];
    const uint32_t depth = child.depth - base;
    bool unknown = false;
    next.clear();
    for (const Positions::Ready& r : path[depth - 1]) unknown = !steps.Move(r, child.byte, &next) || unknown;
    TimeLimit::Spend(static_cast<int64_t>(1 + 4 * (path[depth - 1].size() + next.size())));
    size_t alive = 0;
    for (const Position& q : next) {
      const Answer answer = Ask(q);
      unknown = unknown || answer == Answer::kUnknown;
      if (answer == Answer::kYes) next[alive++] = q;
    }
    if (unknown) level->blocked.push_back({n, 0, Blocked::kNode});
    if (!alive) {
      n = child.end;
      continue;
    }
    AddAt(n, &level->tokens);
    if (child.end > n + 1) {
      if (path.size() <= depth) path.resize(depth + 1);
      path[depth].clear();
      for (size_t i = 0; i < alive; ++i) path[depth].push_back(steps.Prepare(next[i]));
    }
    ++n;
  }
}

// Goes on from where the path to the last node parts from the path to this one.
const std::vector<Position>* LexedMask::Path::To(uint32_t node, LexedMask* masks) {
  const Trie& trie = masks->trie_;
  Positions& steps = masks->grammar_->steps();
  while (node < at_.back().node || node >= trie.nodes[at_.back().node].end) at_.pop_back();
  while (at_.back().node != node && at_.back().known) {
    uint32_t child = at_.back().node + 1;
    while (trie.nodes[child].end <= node) child = trie.nodes[child].end;
    At next{child, true, {}};
    std::vector<Position> moved;
    TimeLimit::Spend(static_cast<int64_t>(1 + 4 * at_.back().positions.size()));
    for (const Position& p : at_.back().positions)
      next.known = next.known && steps.Move(steps.Prepare(p), trie.nodes[child].byte, &moved);
    for (const Position& q : moved) {
      if (!next.known) break;
      const Answer answer = masks->Ask(q);
      next.known = answer != Answer::kUnknown;
      if (answer == Answer::kYes) next.positions.push_back(q);
    }
    at_.push_back(std::move(next));
  }
  return at_.back().known ? &at_.back().positions : nullptr;
}

void LexedMask::Retry(const Blocked& b, Path* path, Level* level) {
  const std::vector<Position>* positions = path->To(b.node, this);
  if (!positions) return level->blocked.push_back(b);
  if (b.what == Blocked::kNode) {
    if (!positions->empty()) AddAt(b.node, &level->tokens);
    for (const Position& p : *positions) Below(b.node, p, level);
    return;
  }
  for (const Position& p : *positions) {
    if (Number(p.lexer, p.pending) != b.lexing) continue;
    const Row& r = RowAt(b.node, b.lexing);
    if (b.what < r.exits.size())
      ApplyExit(r, b.what, b.node, b.lexing, p.stacks, level);
    else
      ApplyAsked(r, b.what - static_cast<uint32_t>(r.exits.size()), b.node, b.lexing, p.stacks, level);
  }
}

}  // namespace tokamata
