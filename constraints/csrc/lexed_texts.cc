#include "constraints/csrc/lexed_texts.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "automata/csrc/id_table.h"
#include "automata/csrc/time_limit.h"

namespace tokamata {
namespace {

constexpr size_t kMostStates = 64;      // that a home may have
constexpr size_t kMostHomes = 64;
constexpr size_t kMostLexemes = 1000;   // lexer states looked at in search of one lexeme
constexpr size_t kMostEnds = 1000;      // and of the end of the lexeme that is being read
constexpr size_t kMostSpent = 100'000;  // lexer states looked at for homes

// Letters first: what nobody forbids.
const std::vector<uint8_t>& BytesInOrder() {
  static const std::vector<uint8_t> bytes = [] {
    std::vector<uint8_t> all;
    const auto add = [&all](int low, int high) {
      for (int b = low; b <= high; ++b)
        if (std::find(all.begin(), all.end(), b) == all.end()) all.push_back(static_cast<uint8_t>(b));
    };
    add('a', 'z');
    add('A', 'Z');
    add('0', '9');
    add(' ', '~');
    add(0, 255);
    return all;
  }();
  return bytes;
}

}  // namespace

Expr LexedTexts::Run(Expr r, const std::string& text) {
  for (size_t i = 0; i < text.size() && r != kEmpty; ++i) r = operand_->RowOf(r)[static_cast<uint8_t>(text[i])];
  return r;
}

// A shortest lexeme that can be written after a separator and before one, from whose end `from` leads to a final state;
// with kEmpty, beside anything.
bool LexedTexts::FindLexeme(uint32_t terminal, Expr from, std::string* text) {
  struct Visit {
    Lexer::State lexer, pending;
    Expr r;
    size_t before;
    uint8_t byte;
  };
  Lexer::State begin = Lexer::kDead, pending = Lexer::kDead;
  if (!rules_.longest) {
    Lexer::Terminals only(rules_.all.size(), 0);
    only[terminal >> 6] |= uint64_t{1} << (terminal & 63);
    begin = lexer_->Begin(rules_.all, only);
  } else {
    begin = lexer_->Begin(rules_.all, rules_.all);
    if (rules_.has_separator) pending = lexer_->Pending(lexer_->Next(begin, rules_.separator));
  }
  if (!begin) return false;
  std::vector<Visit> all{{begin, pending, from, 0, 0}};
  std::unordered_set<uint64_t> seen;
  for (size_t i = 0; i < all.size() && i < kMostLexemes; ++i) {
    const Visit at = all[i];
    ++spent_;
    TimeLimit::Spend(4);
    const bool ends = i > 0 && (from == kEmpty || operand_->IsFinal(at.r)) && !lexer_->IsGuarded(at.lexer) && !at.pending &&
                      lexer_->AnyEnd(at.lexer, [&](uint32_t accepted, Lexer::State longer) {
                        bool is = false;
                        lexer_->ForEachAccepted(accepted, [&](uint32_t t) { is = is || t == terminal; });
                        return is && (!rules_.longest || !longer || (rules_.has_separator && SeparatorEnds(longer)));
                      });
    if (ends) {
      text->clear();
      for (size_t j = i; j; j = all[j].before) text->push_back(static_cast<char>(all[j].byte));
      std::reverse(text->begin(), text->end());
      return true;
    }
    const Lexer::State* const row = lexer_->DenseRow(at.lexer);
    const Lexer::State* const pending_row = at.pending ? lexer_->DenseRow(at.pending) : nullptr;
    const RegularOperand::Row* const regular = from == kEmpty ? nullptr : &operand_->RowOf(at.r);
    for (const uint8_t b : BytesInOrder()) {
      const Lexer::State next = row[b], on = pending_row ? pending_row[b] : Lexer::State{Lexer::kDead};
      const Expr r = regular ? (*regular)[b] : Expr{kEmpty};
      if (!next || (regular && r == kEmpty) || (on && lexer_->IsFinal(on)) || !lexer_->IsPossible(next, terminal)) continue;
      if (seen.insert(MixHash(PairKey(next, on)) ^ r).second) all.push_back({next, on, r, i, b});
    }
  }
  return false;
}

const LexedTexts::Sample& LexedTexts::SampleOf(uint32_t terminal) {
  if (samples_.empty()) samples_.resize(lexer_->NumTerminals());
  Sample& sample = samples_[terminal];
  if (!sample.asked) {
    sample.found = FindLexeme(terminal, kEmpty, &sample.text);
    sample.asked = true;
  }
  return sample;
}

// After a lexeme: at once, where nothing is pending, and behind a separator.
void LexedTexts::AddEnds(bool free, Expr r, uint32_t bytes, std::vector<End>* out) {
  if (free && operand_->IsFinal(r)) out->push_back({r, bytes});
  if (!rules_.has_separator) return;
  const Expr after = operand_->RowOf(r)[rules_.separator];
  if (after != kEmpty && operand_->IsFinal(after)) out->push_back({after, bytes + 1});
}

std::vector<LexedTexts::End> LexedTexts::Ways(uint32_t terminal, Expr from) {
  std::vector<End> ends;
  const auto add = [&](const std::string& text) {
    const Expr r = Run(from, text);
    if (r == kEmpty) return;
    bool free = !rules_.longest;
    if (!free) {
      Lexer::State q = lexer_->Begin(rules_.all, rules_.all);
      for (const char c : text) q = lexer_->Next(q, static_cast<uint8_t>(c));
      free = !lexer_->Pending(q);
    }
    AddEnds(free, r, static_cast<uint32_t>(text.size()), &ends);
  };
  const Sample& sample = SampleOf(terminal);
  if (!sample.found) return ends;
  add(sample.text);
  if (std::string text; ends.empty() && FindLexeme(terminal, from, &text)) add(text);
  return ends;
}

// The states that lexemes lead to from `root`; then those that lack terminals which others have are left out, and so
// again, until all that are left have the same ones.
void LexedTexts::FindHome(Expr root) {
  home_of_[root] = nullptr;
  if (!operand_->IsFinal(root) || homes_.size() >= kMostHomes || spent_ > kMostSpent) return;
  const uint32_t num_terminals = lexer_->NumTerminals();
  std::vector<Expr> states{root};
  std::unordered_map<Expr, size_t> place{{root, 0}};
  std::vector<std::vector<std::vector<End>>> ways;  // by state and terminal
  const auto add = [&](Expr r) {
    if (states.size() < kMostStates && place.emplace(r, states.size()).second) states.push_back(r);
  };
  for (size_t i = 0; i < states.size(); ++i) {
    ways.emplace_back(num_terminals);
    if (rules_.has_separator)
      if (const Expr r = operand_->RowOf(states[i])[rules_.separator]; r != kEmpty && operand_->IsFinal(r)) add(r);
    for (uint32_t t = 0; t < num_terminals; ++t) {
      if (HasTerminal(rules_.ignored, t)) continue;
      ways[i][t] = Ways(t, states[i]);
      for (const End& end : ways[i][t]) add(end.to);
    }
  }
  std::vector<bool> left(states.size(), true);
  std::vector<std::vector<uint32_t>> costs(states.size());
  for (bool again = true; again;) {
    again = false;
    size_t most = 0;
    std::vector<size_t> read(states.size(), 0);
    for (size_t i = 0; i < states.size(); ++i) {
      if (!left[i]) continue;
      costs[i].assign(num_terminals, StackLengths::kFar);
      for (uint32_t t = 0; t < num_terminals; ++t) {
        for (const End& end : ways[i][t])
          if (const auto to = place.find(end.to); to != place.end() && left[to->second])
            costs[i][t] = std::min(costs[i][t], end.bytes);
        read[i] += costs[i][t] != StackLengths::kFar;
      }
      most = std::max(most, read[i]);
    }
    for (size_t i = 0; i < states.size(); ++i) {
      if (!left[i] || read[i] == most) continue;
      left[i] = false;
      again = true;
    }
  }
  auto home = std::make_unique<Home>();
  std::vector<uint32_t> cost(num_terminals, 0);
  home->pads = rules_.has_separator;
  for (size_t i = 0; i < states.size(); ++i) {
    if (!left[i]) continue;
    for (uint32_t t = 0; t < num_terminals; ++t) cost[t] = std::max(cost[t], costs[i][t]);
    const Expr padded = rules_.has_separator ? operand_->RowOf(states[i])[rules_.separator] : Expr{kEmpty};
    const auto to = place.find(padded);
    home->pads = home->pads && to != place.end() && left[to->second];
  }
  home->lengths = std::make_unique<StackLengths>(*rules_.automata, cost);
  for (size_t i = 0; i < states.size(); ++i)
    if (left[i]) home_of_[states[i]] = home.get();
  homes_.push_back(std::move(home));
}

LexedTexts::Home* LexedTexts::HomeOf(Expr r) {
  const auto known = home_of_.find(r);
  if (known != home_of_.end()) return known->second;
  FindHome(r);
  return home_of_[r];
}

MeetingLeaf::Text LexedTexts::Find(const Position& p, RegularOperand* operand, Expr from) {
  if (rules_.indentation || lexer_->HasEnd() || operand->weak_from_this().expired()) return {};
  if (of_.lock().get() != operand) {
    home_of_.clear();
    homes_.clear();
    spent_ = 0;
    of_ = operand->weak_from_this();
  }
  operand_ = operand;
  return Shortest(p, from);
}

MeetingLeaf::Text LexedTexts::Shortest(const Position& p, Expr from) {
  MeetingLeaf::Text best;
  const auto go_on = [&](StackSets::Set stacks, Expr r, uint32_t bytes) {
    const Home* const home = HomeOf(r);
    if (!home) return;
    const uint32_t sum = StackLengths::Sum(bytes, home->lengths->Of(stacks, stacks_->Stacks()));
    if (sum >= best.bytes) return;
    best.bytes = sum;
    best.separator = home->pads ? rules_.separator : -1;
  };
  // Behind a lexeme, with something pending or not.
  const auto consider = [&](ParserStates::Set stacks, Lexer::State pending, Expr r, uint32_t bytes) {
    if (bytes >= best.bytes) return;
    if (!pending || !rules_.longest) go_on(stacks_->StacksOf(stacks), r, bytes);
    if (rules_.has_separator && SeparatorEnds(pending))
      if (const Expr after = operand_->RowOf(r)[rules_.separator]; after != kEmpty) go_on(stacks_->StacksOf(stacks), after, bytes + 1);
    if (bytes < best.bytes && operand_->IsFinal(r) && stacks_->Accepts(stacks) == 1) best = {bytes, -1};
  };
  Lexer::State begin = p.lexer;
  if (p.lexer == Position::kBoundary) {
    consider(p.stacks, p.pending, from, 0);
    if (best.bytes != MeetingLeaf::kNotKnown) return best;
    begin = steps_->Begin(p.stacks);
    if (!begin) return best;
  }
  struct Visit {
    Lexer::State lexer, pending;
    Expr r;
    uint32_t bytes;
  };
  std::vector<Visit> all{{begin, p.pending, from, 0}};
  std::unordered_set<uint64_t> seen;
  for (size_t i = 0; i < all.size() && i < kMostEnds && all[i].bytes < best.bytes; ++i) {
    const Visit at = all[i];
    TimeLimit::Spend(4);
    if ((i > 0 || p.lexer != Position::kBoundary) && !lexer_->IsGuarded(at.lexer))
      lexer_->AnyEnd(at.lexer, [&](uint32_t accepted, Lexer::State longer) {
        const Lexer::State pending = lexer_->UnionOfPending(at.pending, longer);
        lexer_->ForEachAccepted(accepted, [&](uint32_t t) {
          const ParserStates::Set next = HasTerminal(rules_.ignored, t) ? p.stacks : stacks_->Advance(p.stacks, t);
          if (next != ParserStates::kNone) consider(next, pending, at.r, at.bytes);
        });
        return false;
      });
    const Lexer::State* const row = lexer_->DenseRow(at.lexer);
    const Lexer::State* const pending_row = at.pending ? lexer_->DenseRow(at.pending) : nullptr;
    const RegularOperand::Row& regular = operand_->RowOf(at.r);
    Visit last{};
    for (const uint8_t b : BytesInOrder()) {
      const Lexer::State next = row[b], on = pending_row ? pending_row[b] : Lexer::State{Lexer::kDead};
      const Expr r = regular[b];
      if (!next || r == kEmpty || (on && lexer_->IsFinal(on))) continue;
      if (next == last.lexer && on == last.pending && r == last.r) continue;
      last = {next, on, r, at.bytes + 1};
      if (seen.insert(MixHash(PairKey(next, on)) ^ r).second) all.push_back(last);
    }
  }
  return best;
}

}  // namespace tokamata
