#include "decode/csrc/tokens_left.h"

#include <algorithm>
#include <string>

#include "automata/csrc/sure_meets.h"
#include "automata/csrc/time_limit.h"
#include "constraints/csrc/line_lengths.h"
#include "decode/csrc/fewest_tokens.h"

namespace tokamata {
namespace {

constexpr size_t kMostRules = 1 << 21;  // states and terminals
constexpr uint32_t kMostCost = 0xfffe;  // of a token: that or more
constexpr uint16_t kNotAsked = 0xffff;

}  // namespace

void TokensLeft::Prepare(Grammar* grammar) {
  const LexedRules& rules = grammar->leaf->Rules();
  Lexer& lexer = grammar->leaf->lexer();
  LexedTexts& texts = grammar->leaf->texts();
  const uint32_t num_terminals = lexer.NumTerminals();
  const Indentation* const indentation = rules.indentation.get();
  const Trie& trie = vocabulary_->Masks().trie();
  if (rules.contextual || !rules.longest || !rules.nested.empty()) return;
  if (rules.automata->states.size() * num_terminals > kMostRules) return;
  grammar->begin = lexer.Begin(rules.all, rules.all);
  if (!grammar->begin) return;
  std::vector<uint32_t> cost(num_terminals, StackLengths::kFar);
  Lexer::Terminals excluded = rules.shadowed, at_once(rules.all.size(), 0);
  excluded.resize(rules.all.size(), 0);
  uint32_t newline = 0;
  if (indentation) {
    std::string text = "\n";
    for (uint32_t column = 0; column <= indentation->most_columns; ++column, text += ' ')
      newline = std::max(newline, FewestTokens(trie, text)[0]);
  }
  const auto add = [](uint32_t t, Lexer::Terminals* set) { (*set)[t >> 6] |= uint64_t{1} << (t & 63); };
  for (uint32_t t = 0; t < num_terminals; ++t) {
    if (texts.IsEnd(t)) {
      cost[t] = 0;
      add(t, &at_once);
    } else if (texts.IsNewline(t)) {
      cost[t] = newline;
    } else if (!texts.HasNoText(t) && !HasTerminal(rules.ignored, t)) {
      bool begins_line = false;
      const std::string* const text = texts.TextOf(t, &begins_line);
      if (text) cost[t] = FewestTokens(trie, *text)[0] + texts.IsSeparated();
      if (!text) add(t, &excluded);
      if (begins_line) add(t, &at_once);
    }
  }
  std::unique_ptr<StackLengths> lengths;
  if (!indentation) {
    lengths = std::make_unique<StackLengths>(*rules.automata, cost);
    if (!lengths->HasAll()) return;
  } else {
    const LineSummaries lines(rules, num_terminals, std::move(excluded), std::move(at_once));
    std::optional<std::vector<uint32_t>> of_state = LineLengths(rules, lines, cost);
    if (!of_state) return;
    lengths = std::make_unique<StackLengths>(std::move(*of_state));
  }
  grammar->growth = lengths->MostGrowth(*rules.automata, num_terminals);
  grammar->separator = texts.IsSeparated() + newline;
  if (indentation) {  // a block may begin with a newline
    if (grammar->growth[indentation->dedent]) return;
    grammar->newline = indentation->newline;
    grammar->growth[indentation->newline] += grammar->growth[indentation->indent];
    for (uint32_t t = 0; t < num_terminals; ++t)  // a comment may only be left by one
      if (HasTerminal(rules.ignored, t)) grammar->growth[t] = grammar->growth[indentation->newline];
  }
  grammar->most_growth = *std::max_element(grammar->growth.begin(), grammar->growth.end());
  grammar->grows_from.assign(256, false);
  for (unsigned b = 0; b < 256; ++b)
    if (const Lexer::State q = lexer.Next(grammar->begin, static_cast<uint8_t>(b)))
      grammar->grows_from[b] = lexer.AnyPossible(q, [&](uint32_t t) { return grammar->Growth(t) > 0; });
  grammar->lengths = std::move(lengths);
}

TokensLeft::Left TokensLeft::Find(State q) {
  Left left;
  acceptor_->WithLeaf(q, [&](LeafAutomaton* leaf, uint32_t state) {
    const auto [it, added] = grammars_.try_emplace(leaf);
    Grammar& grammar = it->second;
    if (added && (grammar.leaf = dynamic_cast<LexedGrammar*>(leaf))) Prepare(&grammar);
    if (!grammar.lengths) return;
    Expr any_bytes;
    const bool everywhere = acceptor_->WithBuilder([&](Expressions& pool) {
      any_bytes = pool.AnyBytes();
      return grammar.leaf->MeetsWherever(state, pool.Sure().Operand(), any_bytes, nullptr);
    });
    if (!everywhere) return;
    uint32_t most = 0, to_end = 0;
    const LexedTexts& texts = grammar.leaf->texts();
    grammar.leaf->PositionsOf(state, &positions_);
    const ParserStates& stacks = grammar.leaf->stacks();
    for (const Position& p : positions_) {
      uint32_t growth = 0;
      if (p.lexer != Position::kBoundary)
        grammar.leaf->lexer().AnyPossible(p.lexer, [&](uint32_t t) {
          growth = std::max(growth, grammar.Growth(t));
          return false;
        });
      const uint32_t of_stacks = grammar.lengths->MostOf(stacks.StacksOf(p.stacks), stacks.Stacks());
      most = std::max(most, StackLengths::Sum(of_stacks, growth));
      to_end = std::max(to_end, texts.ToEnd(p, any_bytes));
    }
    if (most >= StackLengths::kFar) return;
    left.now = to_end + grammar.separator + most;
    left.later = texts.MostToEnd() + grammar.separator + most;
    left.grammar = &grammar;
  });
  return left;
}

// What a lexeme that ends at q adds.
uint32_t TokensLeft::GrowthOf(const Grammar& grammar, Lexer::State q) {
  Lexer& lexer = grammar.leaf->lexer();
  uint32_t growth = 0;
  lexer.AnyEnd(q, [&](uint32_t accepted, Lexer::State) {
    lexer.ForEachAccepted(accepted, [&](uint32_t t) {
      growth = std::max(growth, grammar.Growth(t));
    });
    return false;
  });
  return growth;
}

// The most that lexemes add together that begin inside of a token. None ends where a longer one goes on at once.
uint32_t TokensLeft::CostOf(const Grammar& grammar, std::string_view token) {
  Lexer& lexer = grammar.leaf->lexer();
  most_.assign(token.size() + 1, 0);
  for (size_t i = token.size(); i-- > 0;) {
    most_[i] = most_[i + 1];
    if (!grammar.grows_from[static_cast<uint8_t>(token[i])]) continue;
    Lexer::State q = grammar.begin;
    for (size_t j = i; j < token.size(); ++j) {
      q = lexer.Next(q, static_cast<uint8_t>(token[j]));
      if (!q) break;
      if (!lexer.IsFinal(q) && !lexer.IsGuarded(q)) continue;
      if (j + 1 < token.size() && !lexer.IsGuarded(q)) {
        const Lexer::State longer = lexer.Next(q, static_cast<uint8_t>(token[j + 1]));
        if (longer && lexer.IsFinal(longer) && !lexer.IsGuarded(longer)) continue;
      }
      most_[i] = std::max(most_[i], most_[j + 1] + GrowthOf(grammar, q));
    }
    if (q) lexer.AnyPossible(q, [&](uint32_t t) { return most_[i] = std::max(most_[i], grammar.Growth(t)), false; });
  }
  return most_[0];
}

uint32_t TokensLeft::CostOf(Grammar* grammar, uint32_t id) {
  if (grammar->costs.empty()) grammar->costs.assign(vocabulary_->Size(), kNotAsked);
  uint16_t& cost = grammar->costs[id];
  if (cost == kNotAsked) {
    TimeLimit::Spend(2);
    cost = static_cast<uint16_t>(std::min(kMostCost, CostOf(*grammar, vocabulary_->Token(id))));
  }
  return cost == kMostCost ? kNotKnown : cost;
}

uint32_t TokensLeft::OfTargets(State q, uint32_t k) {
  const Left left = Find(q);
  if (!left.grammar || left.later > k) return kNotKnown;
  std::optional<uint32_t>& most = left.grammar->most_cost;
  if (!most) {
    most = 0;
    for (auto [id, end] = vocabulary_->LongerThan(0); id != end; ++id) {  // the longest first
      if (vocabulary_->Token(*id).size() * left.grammar->most_growth <= *most) break;
      most = std::max(*most, CostOf(left.grammar, *id));
    }
  }
  return StackLengths::Sum(left.later, std::min(StackLengths::kFar, *most));
}

const std::vector<uint32_t>* TokensLeft::MayBeFar(State q, uint32_t k) {
  constexpr ptrdiff_t kMost = 16'000;  // tokens that are looked at
  constexpr uint32_t kOften = 64;      // questions left open, from which all are
  const Left left = Find(q);
  if (!left.grammar || left.later > k) return nullptr;
  Grammar& grammar = *left.grammar;
  const uint32_t room = k - left.later;
  far_.clear();
  if (!grammar.most_growth) return &far_;
  const auto [begin, end] = vocabulary_->LongerThan(room / grammar.most_growth);  // each lexeme has a byte
  if (grammar.left_open < kOften) {
    if (end - begin > kMost) return ++grammar.left_open, nullptr;
    for (const uint32_t* id = begin; id != end; ++id)
      if (CostOf(&grammar, *id) > room) far_.push_back(*id);
    return &far_;
  }
  if (grammar.by_cost.empty()) SortByCost(&grammar);
  for (const uint32_t id : grammar.by_cost) {
    if (CostOf(&grammar, id) <= room) break;
    far_.push_back(id);
  }
  return &far_;
}

void TokensLeft::SortByCost(Grammar* grammar) {
  const auto [begin, end] = vocabulary_->LongerThan(0);
  for (const uint32_t* id = begin; id != end; ++id) CostOf(grammar, *id);
  grammar->by_cost.assign(begin, end);
  const std::vector<uint16_t>& costs = grammar->costs;
  std::sort(grammar->by_cost.begin(), grammar->by_cost.end(),
            [&](uint32_t a, uint32_t b) { return costs[a] != costs[b] ? costs[a] > costs[b] : a < b; });
}

}  // namespace tokamata
