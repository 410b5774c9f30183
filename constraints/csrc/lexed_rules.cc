#include "constraints/csrc/lexed_rules.h"

#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <unordered_set>
#include <utility>

#include "automata/csrc/errors.h"
#include "automata/csrc/time_limit.h"
#include "constraints/csrc/balanced_blocks.h"
#include "constraints/csrc/called_grammars.h"

namespace tokamata {

bool Intersects(const Lexer::Terminals& a, const Lexer::Terminals& b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i] & b[i]) return true;
  return false;
}

void LexedRules::Spend(size_t steps, size_t* spent, const char* searched, const char* simpler) const {
  TimeLimit::Spend(static_cast<int64_t>(steps));
  if ((*spent += steps) > 64 * most_searched)
    throw LimitError("grammar: the limit emptiness=" + std::to_string(most_searched) + " was reached (" + searched +
                     "); simplify the " + simpler + " or raise it: tokamata.Limits(emptiness=...)");
}

Lexer::State Positions::Begin(ParserStates::Set stacks) {
  const uint32_t allowed = stacks_->Allowed(stacks);
  if (allowed == ParserStates::kUnknown) return Lexer::kDead;
  if (allowed >= begins_.size()) begins_.resize(allowed + 1, 0);
  if (!begins_[allowed]) {
    const Lexer::Terminals wanted = Wanted(allowed);
    begins_[allowed] = lexer_->Begin(Competing(wanted), wanted);
  }
  return begins_[allowed];
}

ParserStates::Set Positions::AfterLexeme(const Position& p) {
  if (p.lexer == Position::kBoundary) return p.stacks;
  return lexer_->IsFinal(p.lexer) ? After(p.stacks, lexer_->Accepted(p.lexer)) : ParserStates::kNone;
}

ParserStates::Set Positions::After(ParserStates::Set stacks, uint32_t accepted) {
  if (HasTerminal(rules_.ignored, accepted)) return stacks;
  if (accepted < Lexer::kFirstSet) return stacks_->Advance(stacks, accepted);
  ParserStates::Set all = ParserStates::kNone;
  lexer_->ForEachAccepted(accepted, [&](uint32_t t) {
    const ParserStates::Set next = stacks_->Advance(stacks, t);
    if (next == ParserStates::kUnknown || all == ParserStates::kUnknown)
      all = ParserStates::kUnknown;
    else if (next != ParserStates::kNone)
      all = all == ParserStates::kNone ? next : stacks_->Union(all, next);
  });
  return all;
}

Lexer::Terminals Positions::Wanted(uint32_t allowed) const {
  Lexer::Terminals wanted = stacks_->Terminals(allowed);
  for (size_t i = 0; i < wanted.size(); ++i) wanted[i] |= rules_.ignored[i];
  return wanted;
}

bool Positions::IsFinal(const Position& p) {
  if (p.lexer == Position::kBoundary) return stacks_->Accepts(p.stacks) == 1;
  return lexer_->AnyEnd(p.lexer, [&](uint32_t accepted, Lexer::State) {
    if (HasTerminal(rules_.ignored, accepted)) return stacks_->Accepts(p.stacks) == 1;
    bool may_end = false;
    lexer_->ForEachAccepted(accepted, [&](uint32_t t) {
      const bool newline = t >= lexer_->NumTerminals();
      may_end = may_end || ((newline || HasTerminal(rules_.last, t)) && stacks_->AcceptsAfter(p.stacks, t));
    });
    return may_end;
  });
}

Positions::Ready::Ended Positions::EndedAt(ParserStates::Set after, Lexer::State longer) {
  Ready::Ended e;
  e.after = after;
  if (after == ParserStates::kNone) return e;
  e.unknown = after == ParserStates::kUnknown || stacks_->Allowed(after) == ParserStates::kUnknown;
  if (longer) e.longer = lexer_->DenseRow(longer);
  const Lexer::State begin = e.unknown ? Lexer::State{Lexer::kDead} : Begin(after);
  if (begin) e.begin = lexer_->DenseRow(begin);
  return e;
}

Positions::Ready Positions::Prepare(const Position& p) {
  Ready r;
  r.at = p;
  if (p.pending) r.pending = lexer_->DenseRow(p.pending);
  if (p.lexer == Position::kBoundary) {
    r.ended = EndedAt(p.stacks, Lexer::kDead);
    return r;
  }
  r.lexeme = lexer_->DenseRow(p.lexer);
  if (!lexer_->IsGuarded(p.lexer)) {
    const ParserStates::Set after = AfterLexeme(p);
    r.ended = EndedAt(after, after != ParserStates::kNone ? lexer_->Pending(p.lexer) : Lexer::State{Lexer::kDead});
    return r;
  }
  lexer_->AnyEnd(p.lexer, [&](uint32_t accepted, Lexer::State longer) {
    r.others.push_back(EndedAt(After(p.stacks, accepted), longer));
    return false;
  });
  return r;
}

void Positions::Classes(const Ready& r, std::vector<ByteSet>* out) {
  out->clear();
  std::vector<const Lexer::State*> rows{r.lexeme, r.ended.begin};
  for (const Ready::Ended& e : r.others) rows.push_back(e.begin);
  const size_t leading = rows.size();  // what leads on
  rows.insert(rows.end(), {r.pending, r.ended.longer});
  for (const Ready::Ended& e : r.others) rows.push_back(e.longer);
  std::map<std::vector<Lexer::State>, size_t> index;
  std::vector<Lexer::State> key(rows.size(), Lexer::kDead), last = key;
  size_t last_class = 0;
  for (int b = 0; b < 256; ++b) {
    for (size_t i = 0; i < rows.size(); ++i) key[i] = rows[i] ? rows[i][b] : Lexer::State{Lexer::kDead};
    if (std::all_of(key.begin(), key.begin() + static_cast<std::ptrdiff_t>(leading), [](Lexer::State q) { return !q; }))
      continue;
    if (key != last) {
      last_class = index.emplace(key, index.size()).first->second;
      last = key;
    }
    if (last_class == out->size()) out->emplace_back();
    (*out)[last_class].Add(static_cast<uint8_t>(b));
  }
}

namespace {

// The terminals that the automata read, in order.
std::vector<uint32_t> TerminalsOf(const RuleAutomata& automata, uint32_t count) {
  std::vector<uint8_t> read(count, 0);
  for (const RuleAutomata::State& state : automata.states)
    for (const RuleAutomata::Arc& arc : state.arcs)
      if (arc.letter < count) read[arc.letter] = 1;
  std::vector<uint32_t> terminals;
  for (uint32_t t = 0; t < count; ++t)
    if (read[t]) terminals.push_back(t);
  return terminals;
}

// The terminals that texts of the automata may end with, whatever dedents come after them.
Lexer::Terminals LastTerminals(const RuleAutomata& automata, uint32_t count, uint32_t dedent) {
  std::vector<uint8_t> dedents(automata.start_of.size(), 0);  // by rule: whether it may read dedents alone
  std::vector<uint8_t> ends(automata.states.size());          // by state: the same of what is left of its rule
  for (size_t q = 0; q < ends.size(); ++q) ends[q] = automata.states[q].final;
  const auto is_dedent = [&](uint32_t letter) { return letter < count ? letter == dedent : dedents[letter - count] != 0; };
  const auto reads_dedents = [&](uint32_t q) {
    const std::vector<RuleAutomata::Arc>& arcs = automata.states[q].arcs;
    return std::any_of(arcs.begin(), arcs.end(), [&](const auto& arc) { return is_dedent(arc.letter) && ends[arc.state]; });
  };
  for (bool again = dedent != Indentation::kNoTerminal; again;) {
    again = false;
    TimeLimit::Spend(static_cast<int64_t>(ends.size()));
    const auto set = [&again](uint8_t* flag) { again |= !std::exchange(*flag, 1); };
    for (uint32_t q = 0; q < ends.size(); ++q)
      if (!ends[q] && reads_dedents(q)) set(&ends[q]);
    for (size_t r = 0; r < dedents.size(); ++r)
      if (const uint32_t q = automata.start_of[r]; q != RuleAutomata::kNone && reads_dedents(q)) set(&dedents[r]);
  }
  Lexer::Terminals last((count + 63) / 64, 0);
  std::vector<uint8_t> seen(ends.size(), 0);
  std::vector<uint32_t> work;
  const auto visit = [&](uint32_t q) {
    if (q != RuleAutomata::kNone && !std::exchange(seen[q], 1)) work.push_back(q);
  };
  visit(automata.start);
  while (!work.empty()) {
    const uint32_t q = work.back();
    work.pop_back();
    for (const RuleAutomata::Arc& arc : automata.states[q].arcs) {
      visit(arc.state);
      if (!ends[arc.state]) continue;
      if (arc.letter < count)
        last[arc.letter >> 6] |= uint64_t{1} << (arc.letter & 63);
      else
        visit(automata.start_of[arc.letter - count]);
    }
  }
  return last;
}

// By terminal, the bytes that what may follow it in the automata begins with.
std::vector<ByteSet> FollowOf(const RuleAutomata& automata, uint32_t count, const std::vector<ByteSet>& first_of) {
  const std::vector<RuleAutomata::State>& states = automata.states;
  // What is left of a rule begins with; no rule begins by calling itself.
  std::vector<ByteSet> first(states.size());
  std::vector<uint8_t> known(states.size(), 0);
  std::vector<uint32_t> work;
  for (uint32_t root = 0; root < states.size(); ++root) {
    work.assign(1, root);
    while (!work.empty()) {
      const uint32_t q = work.back();
      const size_t open = work.size();
      for (const RuleAutomata::Arc& arc : states[q].arcs) {
        const uint32_t begin = arc.letter < count ? q : automata.start_of[arc.letter - count];
        if (arc.letter >= count && !known[begin]) work.push_back(begin);
      }
      if (work.size() > open) continue;
      work.pop_back();
      if (std::exchange(known[q], 1)) continue;
      TimeLimit::Spend(static_cast<int64_t>(states[q].arcs.size()));
      for (const RuleAutomata::Arc& arc : states[q].arcs)
        first[q] = first[q] | (arc.letter < count ? first_of[arc.letter] : first[automata.start_of[arc.letter - count]]);
    }
  }
  // What follows a letter; where a rule may be over then, what follows that as well.
  std::vector<ByteSet> follow(count + automata.start_of.size());
  std::vector<std::vector<uint32_t>> passes_on(automata.start_of.size());
  for (const RuleAutomata::State& state : states)
    for (const RuleAutomata::Arc& arc : state.arcs) {
      follow[arc.letter] = follow[arc.letter] | first[arc.state];
      if (states[arc.state].final) passes_on[states[arc.state].rule].push_back(arc.letter);
    }
  for (std::vector<uint32_t>& letters : passes_on) {
    std::sort(letters.begin(), letters.end());
    letters.erase(std::unique(letters.begin(), letters.end()), letters.end());
  }
  for (uint32_t r = 0; r < passes_on.size(); ++r) work.push_back(r);
  while (!work.empty()) {
    const uint32_t r = work.back();
    work.pop_back();
    TimeLimit::Spend(static_cast<int64_t>(passes_on[r].size()));
    for (const uint32_t letter : passes_on[r]) {
      const ByteSet more = follow[letter] | follow[count + r];
      if (more == follow[letter]) continue;
      follow[letter] = more;
      if (letter >= count) work.push_back(letter - count);
    }
  }
  follow.resize(count);
  return follow;
}

// The bytes that may go on with newlines of a line end and blanks, whatever their column, or with longer lexemes. False
// where they are no such newlines, or what is pending after them depends on more than whether there are blanks.
bool FindNewline(Lexer* lexer, const Lexer::State* begin, const Indentation& indentation, ByteSet* live) {
  Lexer::State q = begin['\n'];
  Lexer::State blank = Lexer::kDead;
  for (uint32_t column = 0; column <= indentation.most_columns; ++column, q = lexer->Next(q, ' ')) {
    if (!q || lexer->Accepted(q) != lexer->NumTerminals() + column) return false;
    const Lexer::State pending = lexer->Pending(q);
    if (column == 1) blank = pending;
    if (column > 1 && pending != blank) return false;
    *live = *live | lexer->Live(q);
    if (pending) *live = *live | lexer->Live(pending);
  }
  return true;
}

// Whether dedents come directly behind newlines and other dedents only, whatever is derived.
bool DedentsEndLines(const RuleAutomata& automata, uint32_t count, const Indentation& indentation) {
  std::vector<uint8_t> ends_line(automata.start_of.size(), 1);  // by rule: whether all its texts end with one of them
  const auto is_end = [&](uint32_t letter) {
    return letter == indentation.newline || letter == indentation.dedent || (letter >= count && ends_line[letter - count]);
  };
  for (bool again = true; again;) {
    again = false;
    TimeLimit::Spend(static_cast<int64_t>(automata.states.size()));
    for (const RuleAutomata::State& s : automata.states)
      for (const RuleAutomata::Arc& arc : s.arcs)
        if (automata.states[arc.state].final && ends_line[s.rule] && !is_end(arc.letter)) {
          ends_line[s.rule] = 0;
          again = true;
        }
  }
  std::vector<uint8_t> at_end(automata.states.size(), 1);
  for (const uint32_t q : automata.start_of)
    if (q != RuleAutomata::kNone) at_end[q] = 0;
  if (automata.start != RuleAutomata::kNone) at_end[automata.start] = 0;
  for (const RuleAutomata::State& s : automata.states)
    for (const RuleAutomata::Arc& arc : s.arcs)
      if (!is_end(arc.letter)) at_end[arc.state] = 0;
  for (uint32_t q = 0; q < at_end.size(); ++q)
    for (const RuleAutomata::Arc& arc : automata.states[q].arcs)
      if (arc.letter == indentation.dedent && !at_end[q]) return false;
  return true;
}

// Whether some states of rules lead to the end of their rule by an indent only. Directly behind a newline that is no
// matter: whether there is a column for it, was asked before the newline.
bool NeedsBlocks(const RuleAutomata& automata, uint32_t count, const Indentation& indentation) {
  if (!DedentsEndLines(automata, count, indentation)) return true;  // which rules can be ended, depends on more
  std::vector<uint8_t> ends(automata.states.size());  // by state: whether its rule can end without an indent
  const auto passes = [&](const RuleAutomata::Arc& arc) {
    if (!ends[arc.state] || arc.letter == indentation.indent) return false;
    return arc.letter < count || ends[automata.start_of[arc.letter - count]];
  };
  for (bool again = true; again;) {
    again = false;
    TimeLimit::Spend(static_cast<int64_t>(ends.size()));
    for (uint32_t q = static_cast<uint32_t>(ends.size()); q-- > 0;) {
      const RuleAutomata::State& s = automata.states[q];
      if (ends[q] || !(s.final || std::any_of(s.arcs.begin(), s.arcs.end(), passes))) continue;
      ends[q] = again = true;
    }
  }
  std::vector<uint8_t> behind_newline(ends.size(), 1);  // and nothing else
  for (const uint32_t q : automata.start_of)
    if (q != RuleAutomata::kNone) behind_newline[q] = 0;
  if (automata.start != RuleAutomata::kNone) behind_newline[automata.start] = 0;
  for (const RuleAutomata::State& s : automata.states)
    for (const RuleAutomata::Arc& arc : s.arcs)
      if (arc.letter != indentation.newline) behind_newline[arc.state] = 0;
  for (uint32_t q = 0; q < ends.size(); ++q) {
    if (ends[q]) continue;
    const std::vector<RuleAutomata::Arc>& arcs = automata.states[q].arcs;
    const bool indents = std::any_of(arcs.begin(), arcs.end(), [&](const RuleAutomata::Arc& arc) {
      return arc.letter == indentation.indent && ends[arc.state];
    });
    if (!behind_newline[q] || !indents) return true;
  }
  return false;
}

// The most levels that the end of a rule needs blocks to be nested by, from some state on.
uint32_t LevelsNeeded(const RuleAutomata& automata, uint32_t count, const Indentation& indentation) {
  constexpr uint32_t kUnknown = ParserStates::kManyLevels;
  std::vector<uint32_t> levels(automata.states.size(), kUnknown);
  const auto needed = [&](const RuleAutomata::Arc& arc) {
    const uint32_t after = levels[arc.state];
    if (arc.letter == indentation.indent) return after + 1;
    if (arc.letter == indentation.dedent && after < kUnknown) return after ? after - 1 : 0;
    return arc.letter < count ? after : std::max(after, levels[automata.start_of[arc.letter - count]]);
  };
  for (bool again = true; again;) {
    again = false;
    TimeLimit::Spend(static_cast<int64_t>(levels.size()));
    for (uint32_t q = static_cast<uint32_t>(levels.size()); q-- > 0;) {
      uint32_t least = automata.states[q].final ? 0 : levels[q];
      for (const RuleAutomata::Arc& arc : automata.states[q].arcs) least = std::min(least, needed(arc));
      again = again || least < levels[q];
      levels[q] = least;
    }
  }
  return levels.empty() ? 0 : *std::max_element(levels.begin(), levels.end());
}

// Whether the first byte of a lexeme tells terminals that nest from all others.
bool NestingApart(const Lexer& lexer) {
  const uint32_t count = lexer.NumTerminals();
  for (uint32_t t = 0; t < count; ++t) {
    if (!lexer.Calls(t)) continue;
    for (uint32_t other = 0; other < count; ++other)
      if (other != t && lexer.FirstOf(t).Intersects(lexer.FirstOf(other))) return false;
  }
  return true;
}

// An ignored one-byte lexeme such that few terminals have the byte inside.
void FindSeparator(LexedRules* rules, const std::vector<uint32_t>& used) {
  Lexer* lexer = rules->lexer.get();
  const Lexer::State begin = lexer->Begin(rules->all, rules->all);
  if (!begin) return;
  const uint32_t count = lexer->NumTerminals();
  std::vector<ByteSet> bytes(count);
  for (uint32_t t = 0; t < count; ++t) bytes[t] = lexer->BytesOf(t);
  const Lexer::State* row = lexer->DenseRow(begin);
  const Indentation* indentation = rules->indentation.get();
  rules->shadowed.assign(rules->all.size(), 0);
  bool has_shadowed = false;
  for (const uint32_t t : used) {
    const bool no_text = indentation && (t == indentation->indent || t == indentation->dedent);
    if (no_text || lexer->IsPossible(begin, t)) continue;
    rules->shadowed[t >> 6] |= uint64_t{1} << (t & 63);
    has_shadowed = true;
  }
  size_t fewest = count + 1;
  for (const int candidate : {'\n', ' ', '\t', ','}) {
    const uint8_t byte = static_cast<uint8_t>(candidate);
    const Lexer::State after = row[byte];
    const uint32_t accepted = after ? lexer->Accepted(after) : Lexer::kNoTerminal;
    if (accepted == Lexer::kNoTerminal || !HasTerminal(rules->ignored, accepted) || lexer->HasGuard(accepted)) continue;
    ByteSet inside_first;
    size_t number = 0;
    for (uint32_t t = 0; t < count; ++t) {
      if (!bytes[t].Has(byte) || t == accepted) continue;
      inside_first = inside_first | lexer->FirstOf(t);
      ++number;
    }
    if (number >= fewest) continue;
    // Every terminal must be able to follow: a lexeme that neither continues what the separator began nor may contain
    // the separator, or ends by itself.
    const ByteSet blocked = lexer->Live(after);
    const auto follows = [&](uint32_t t, const ByteSet& not_first) {
      const ByteSet first = lexer->FirstOf(t) - not_first;
      if (HasTerminal(rules->ignored, t)) return true;
      bool at_once = false;  // where all compete, as few lexemes as anywhere are left to it
      (first - inside_first).ForEach([&](uint8_t b) {
        at_once = at_once || lexer->IsPossible(row[b], t);
      });
      if (at_once) return true;
      // Some lexeme at whose end the separator leads nowhere: the nearest ends first.
      std::unordered_set<Lexer::State> seen;
      std::priority_queue<std::pair<uint64_t, Lexer::State>, std::vector<std::pair<uint64_t, Lexer::State>>,
                          std::greater<>> queue;
      const auto add = [&](Lexer::State q) {
        if (!lexer->IsPossible(q, t) || !seen.insert(q).second) return;
        queue.emplace(uint64_t{lexer->LeastLength(q)} << 32 | seen.size(), q);
      };
      first.ForEach([&](uint8_t b) {
        if (row[b]) add(row[b]);
      });
      constexpr size_t kMost = 200;
      for (size_t i = 0; !queue.empty() && i < kMost; ++i) {
        const Lexer::State q = queue.top().second;
        queue.pop();
        const bool ends = lexer->AnyEnd(q, [&](uint32_t ended, Lexer::State pending) {
          return ended == t && !(lexer->IsGuarded(q) ? lexer->Next(pending, byte) : lexer->Next(q, byte));
        });
        if (ends) return true;
        const std::vector<Lexer::State>& ahead = lexer->Ahead(q);
        for (const Lexer::State to : ahead) add(to);
        if (!ahead.empty()) continue;
        const Lexer::State* next = lexer->DenseRow(q);
        Lexer::State last = Lexer::kDead;
        for (int b = 0; b < 256; ++b)
          if (next[b] && next[b] != last) add(last = next[b]);
      }
      return false;
    };
    const bool all_follow = std::all_of(used.begin(), used.end(), [&](uint32_t t) {
      if (HasTerminal(rules->shadowed, t)) return true;
      if (!indentation) return follows(t, blocked);
      if (t == indentation->newline) return !blocked.Has('\n');
      return t == indentation->indent || t == indentation->dedent || follows(t, blocked);
    });
    if (!all_follow) continue;
    if (indentation) {
      ByteSet newline;  // what goes on with it
      if (lexer->HasGuard(indentation->newline)) continue;  // then it may ask for what comes behind it
      if (!FindNewline(lexer, row, *indentation, &newline)) continue;
      rules->after_newline.assign(rules->all.size(), 0);
      for (const uint32_t t : used)
        if (t != indentation->newline && !HasTerminal(rules->ignored, t) && follows(t, newline))
          rules->after_newline[t >> 6] |= uint64_t{1} << (t & 63);
    }
    fewest = number;
    (indentation || has_shadowed ? rules->has_line_separator : rules->has_separator) = true;
    rules->separator = byte;
  }
}

}  // namespace

std::map<uint32_t, std::set<Lexer::State>> FindColumns(Lexer* lexer, Lexer::State begin, uint32_t newline) {
  std::map<uint32_t, std::set<Lexer::State>> pending_behind;
  std::vector<Lexer::State> work{begin};
  std::unordered_set<Lexer::State> seen{Lexer::kDead, begin};
  while (!work.empty()) {
    const Lexer::State q = work.back();
    work.pop_back();
    if (!lexer->IsPossible(q, newline)) continue;
    TimeLimit::Spend(16);
    lexer->AnyEnd(q, [&](uint32_t accepted, Lexer::State pending) {
      lexer->ForEachAccepted(accepted, [&](uint32_t t) {
        if (t >= lexer->NumTerminals()) pending_behind[t - lexer->NumTerminals()].insert(pending);
      });
      return false;
    });
    const Lexer::State* row = lexer->DenseRow(q);
    for (int b = 0; b < 256; ++b)
      if (seen.insert(row[b]).second) work.push_back(row[b]);
  }
  return pending_behind;
}

std::shared_ptr<const LexedRules> CompileLexed(Grammar grammar, std::unique_ptr<Expressions> pool,
                                               std::vector<Expr> terminals, const std::vector<uint32_t>& ignored,
                                               Lexing lexing, const Indentation* indentation,
                                               std::vector<Lexer::Guard> guards) {
  const bool contextual = lexing == Lexing::kContextual;
  auto rules = std::make_shared<LexedRules>();
  rules->contextual = contextual;
  rules->longest = lexing != Lexing::kNone;
  rules->most_nodes = pool->limits.nodes;
  rules->most_searched = pool->limits.emptiness;
  const uint32_t count = static_cast<uint32_t>(terminals.size());
  const size_t words = (count + 63) / 64;
  rules->all.assign(words, 0);
  rules->ignored.assign(words, 0);
  for (const uint32_t t : ignored) rules->ignored[t >> 6] |= uint64_t{1} << (t & 63);
  grammar.terminal_nullable.assign(count, 0);
  grammar.terminal_nonempty.assign(count, 1);
  for (uint32_t t = 0; t < count; ++t) {
    if (rules->longest) terminals[t] = CallGrammars(pool.get(), terminals[t]);
    if (pool->Nullable(terminals[t]) && !rules->longest) {
      grammar.terminal_nullable[t] = 1;
      terminals[t] = pool->Difference(terminals[t], kEpsilonExpr);
    }
    if (pool->Nullable(terminals[t]))
      throw ConstraintError("grammar: the terminal " + grammar.terminal_names[t] +
                            " matches the empty text; a lexeme has at least one character, so write the terminal without "
                            "it and make it optional where it is used");
    rules->all[t >> 6] |= uint64_t{1} << (t & 63);
    if (rules->longest && pool->IsPushDown(terminals[t]))
      rules->nested += (rules->nested.empty() ? "" : ", ") + grammar.terminal_names[t];
  }
  const auto has_end_byte = [&pool](Expr e) {
    if (!pool->BytesOf(e).Has(Lexer::kEndByte)) return false;
    const Expr any = pool->Star(pool->Bytes(ByteSet::All())), end = pool->Bytes(ByteSet::Of(Lexer::kEndByte));
    return !pool->IsEmpty(pool->Intersect(e, pool->Concat({any, end, any})));
  };
  for (uint32_t t = 0; !guards.empty() && t + 1 < count; ++t)
    if (has_end_byte(terminals[t]))
      throw UnsupportedError("grammar: the terminal " + grammar.terminal_names[t] +
                             " has the byte 0xf8, which no UTF-8 has, and the match of " +
                             grammar.terminal_names[guards[0].terminal] +
                             " depends on the text after the lexeme; use terminals of characters");
  Indentation* layout = nullptr;
  if (indentation) {
    auto own = std::make_unique<Indentation>(*indentation);
    if (!guards.empty()) own->end = count - 1;
    layout = own.get();
    rules->indentation = std::move(own);
  }
  rules->lexer = std::make_shared<Lexer>(std::move(pool), std::move(terminals), rules->longest,
                                         rules->indentation.get(), std::move(guards));
  rules->lexer->names = grammar.terminal_names;
  // Terminals that earlier ones take all lexemes from never occur.
  const Lexer::State begin = contextual ? Lexer::kDead : rules->lexer->Begin(rules->all, rules->all);
  for (uint32_t t = 0; t < count; ++t) {
    if (contextual) {
      Lexer::Terminals competing = rules->ignored;
      competing[t >> 6] |= uint64_t{1} << (t & 63);
      grammar.terminal_nonempty[t] = rules->lexer->Occurs(t, competing);
    } else {
      grammar.terminal_nonempty[t] = rules->lexer->IsPossible(begin, t);
    }
    if (indentation && (t == indentation->indent || t == indentation->dedent)) {  // without text, but they occur
      grammar.terminal_nonempty[t] = 1;
      continue;
    }
    if (HasTerminal(rules->ignored, t)) grammar.terminal_nonempty[t] = 0;  // the rules never see it
  }
  if (layout) {
    Lexer::Terminals newline(words, 0);
    newline[layout->newline >> 6] |= uint64_t{1} << (layout->newline & 63);
    Lexer::Terminals competing = contextual ? rules->ignored : rules->all;
    for (size_t i = 0; i < words; ++i) competing[i] |= newline[i];
    const Lexer::State begin = rules->lexer->Begin(competing, newline);
    for (const auto& [column, pending] : FindColumns(rules->lexer.get(), begin, layout->newline))
      layout->columns.push_back(column);
    if (layout->columns.empty() || layout->columns.back() == 0) grammar.terminal_nonempty[layout->indent] = 0;
    grammar = BalanceBlocks(std::move(grammar), *layout);
  }
  rules->rule_names = grammar.rule_names;
  rules->automata = std::make_shared<const RuleAutomata>(CompileRules(grammar));
  if (rules->automata->start == RuleAutomata::kNone && !rules->automata->nullable)
    throw ConstraintError("grammar: the start rule " + grammar.rule_names[grammar.start] +
                          " has no text: every alternative needs a rule that calls itself without end, or a terminal "
                          "without text; add an alternative that ends");
  if (layout && NeedsBlocks(*rules->automata, count, *layout))  // two more: longest match may rule out the least ones
    layout->needed_levels = std::min(ParserStates::kManyLevels, LevelsNeeded(*rules->automata, count, *layout) + 2);
  rules->last = LastTerminals(*rules->automata, count, indentation ? indentation->dedent : Indentation::kNoTerminal);
  std::vector<ByteSet> first;
  ByteSet anywhere;  // what need not be written in the rules
  for (uint32_t t = 0; t < count; ++t) {
    const bool no_text = indentation && (t == indentation->indent || t == indentation->dedent);
    first.push_back(no_text ? ByteSet::All() : rules->lexer->FirstOf(t));
  }
  for (const uint32_t t : ignored) anywhere = anywhere | first[t];
  if (indentation) anywhere = anywhere | first[indentation->newline];  // in brackets
  rules->follow = FollowOf(*rules->automata, count, first);
  for (ByteSet& bytes : rules->follow) bytes = bytes | anywhere;
  for (const uint32_t t : ignored) rules->follow[t] = ByteSet::All();
  if (indentation) rules->follow[indentation->newline] = ByteSet::All();
  rules->nesting_apart = NestingApart(*rules->lexer);
  if (rules->longest && (!contextual || rules->nesting_apart)) FindSeparator(rules.get(), TerminalsOf(*rules->automata, count));
  return rules;
}

}  // namespace tokamata
