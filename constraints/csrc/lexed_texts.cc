#include "constraints/csrc/lexed_texts.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "automata/csrc/id_table.h"
#include "automata/csrc/time_limit.h"
#include "constraints/csrc/nearest_first.h"

namespace tokamata {
namespace {

constexpr size_t kMostStates = 64;      // that a home may have
constexpr size_t kMostHomes = 64;
constexpr size_t kMostLexemes = 300;    // lexer states looked at in search of one lexeme
constexpr size_t kMostEnds = 300;       // and of the end of the lexeme that is being read,
constexpr size_t kMoreEnds = 16;        // and further ones, where there is a text of whatever length, in search of its length
constexpr size_t kMostSpent = 10'000;   // lexer states looked at for homes

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

void LexedTexts::Begin() {
  if (begin_) return;
  separator_ = rules_.separator;
  begin_ = lexer_->Begin(rules_.all, rules_.all);
  if (!rules_.longest || !separated_) return;
  after_all_ = after_separator_ = lexer_->Pending(lexer_->Next(begin_, separator_));
  if (!rules_.indentation) return;
  const Lexer::State newline = lexer_->Next(begin_, '\n');
  after_newline_[0] = lexer_->Pending(newline);
  after_newline_[1] = lexer_->Pending(lexer_->Next(newline, ' '));
  for (const Lexer::State pending : after_newline_) after_all_ = lexer_->UnionOfPending(after_all_, pending);
}

// A shortest lexeme that can be written where something is pending and before a separator, from whose end `from` leads
// to a final state; with kEmpty, beside anything.
bool LexedTexts::FindLexeme(uint32_t terminal, Lexer::State pending, Expr from, std::string* text) {
  struct Visit {
    Lexer::State lexer, pending;
    Expr r;
    size_t before;
    uint32_t bytes;
    uint8_t byte;
  };
  Lexer::State begin = begin_;
  if (!rules_.longest) {
    Lexer::Terminals only(rules_.all.size(), 0);
    only[terminal >> 6] |= uint64_t{1} << (terminal & 63);
    begin = lexer_->Begin(rules_.all, only);
  }
  if (!begin) return false;
  std::vector<Visit> all;
  NearestFirst queue;
  const auto push = [&](const Visit& to) {
    queue.Push(uint64_t{to.bytes} + lexer_->LeastLength(to.lexer), all.size());
    all.push_back(to);
  };
  push({begin, pending, from, 0, 0, 0});
  std::unordered_set<uint64_t> seen;
  for (size_t visited = 0; !queue.IsEmpty() && visited < kMostLexemes; ++visited) {
    const size_t i = queue.Pop();
    const Visit at = all[i];
    ++spent_;
    TimeLimit::Spend(4);
    const bool ends = i > 0 && (from == kEmpty || operand_->IsFinal(at.r)) && !lexer_->IsGuarded(at.lexer) && !at.pending &&
                      lexer_->AnyEnd(at.lexer, [&](uint32_t accepted, Lexer::State longer) {
                        bool is = false;
                        lexer_->ForEachAccepted(accepted, [&](uint32_t t) { is = is || t == terminal; });
                        return is && (!rules_.longest || !longer || (separated_ && SeparatorEnds(longer)));
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
      if (seen.insert(MixHash(PairKey(next, on)) ^ r).second) push({next, on, r, i, at.bytes + 1, b});
    }
  }
  return false;
}

const LexedTexts::Sample& LexedTexts::SampleOf(uint32_t terminal) {
  if (samples_.empty()) samples_.resize(lexer_->NumTerminals());
  Sample& sample = samples_[terminal];
  if (!sample.asked) {
    sample.at_once = HasTerminal(rules_.after_newline, terminal) && FindLexeme(terminal, after_all_, kEmpty, &sample.text);
    sample.found = sample.at_once || FindLexeme(terminal, after_separator_, kEmpty, &sample.text);
    sample.asked = true;
  }
  return sample;
}

// After a lexeme: at once, where nothing is pending, and behind a separator.
void LexedTexts::AddEnds(bool free, Expr r, uint32_t bytes, std::vector<End>* out) {
  if (free && operand_->IsFinal(r)) out->push_back({r, bytes});
  if (!separated_) return;
  const Expr after = operand_->RowOf(r)[separator_];
  if (after != kEmpty && operand_->IsFinal(after)) out->push_back({after, bytes + 1});
}

std::vector<LexedTexts::End> LexedTexts::Ways(uint32_t terminal, Expr from) {
  std::vector<End> ends;
  const auto add = [&](const std::string& text) {
    const Expr r = Run(from, text);
    if (r == kEmpty) return;
    bool free = !rules_.longest;
    if (!free && !lines_) {
      Lexer::State q = begin_;
      for (const char c : text) q = lexer_->Next(q, static_cast<uint8_t>(c));
      free = !lexer_->Pending(q);
    }
    AddEnds(free, r, static_cast<uint32_t>(text.size()), &ends);
  };
  if (IsNewline(terminal)) {
    const Expr r = operand_->RowOf(from)['\n'];
    if (r != kEmpty && operand_->IsFinal(r)) ends.push_back({r, 1});
    return ends;
  }
  const Sample& sample = SampleOf(terminal);
  if (!sample.found) return ends;
  add(sample.text);
  const Lexer::State pending = sample.at_once ? after_all_ : after_separator_;
  if (std::string text; ends.empty() && FindLexeme(terminal, pending, from, &text)) add(text);
  return ends;
}

// The states that lexemes lead to from `root`; then those that lack terminals which others have are left out, and so
// again, until all that are left have the same ones.
void LexedTexts::FindHome(Expr root) {
  home_of_[root] = nullptr;
  Begin();
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
    if (separated_)
      if (const Expr r = operand_->RowOf(states[i])[separator_]; r != kEmpty && operand_->IsFinal(r)) add(r);
    for (uint32_t t = 0; t < num_terminals; ++t) {
      if (HasTerminal(rules_.ignored, t) || HasNoText(t)) continue;
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
  home->pads = separated_;
  for (size_t i = 0; i < states.size(); ++i) {
    if (!left[i]) continue;
    for (uint32_t t = 0; t < num_terminals; ++t) cost[t] = std::max(cost[t], costs[i][t]);
    const Expr padded = separated_ ? operand_->RowOf(states[i])[separator_] : Expr{kEmpty};
    const auto to = place.find(padded);
    home->pads = home->pads && to != place.end() && left[to->second];
  }
  if (!lines_) {
    home->lengths = std::make_unique<StackLengths>(*rules_.automata, cost);
  } else {
    if (!home->pads || separator_ != ' ') return;
    Lexer::Terminals excluded = rules_.shadowed, at_once(rules_.all.size(), 0);
    for (uint32_t t = 0; t < num_terminals; ++t) {
      if (HasNoText(t)) continue;
      const uint64_t bit = uint64_t{1} << (t & 63);
      if (cost[t] == StackLengths::kFar)
        excluded[t >> 6] |= bit;
      else if (!HasTerminal(rules_.ignored, t) && !IsNewline(t) && SampleOf(t).at_once)
        at_once[t >> 6] |= bit;
    }
    home->lines = std::make_unique<LineSummaries>(rules_, num_terminals, std::move(excluded), std::move(at_once));
  }
  for (size_t i = 0; i < states.size(); ++i)
    if (left[i]) home_of_[states[i]] = home.get();
  homes_.push_back(std::move(home));
}

bool LexedTexts::CanEnd(Home* home, StackSets::Set stacks, LineSummaries::Before before) {
  const uint64_t key = PairKey(stacks, before);
  if (const bool* const known = home->can_end.Find(key)) return *known;
  const bool can = home->lines->CanEnd(stacks, stacks_->Stacks(), before,
                                       [](size_t steps) { TimeLimit::Spend(static_cast<int64_t>(steps)); });
  return home->can_end[key] = can;
}

LexedTexts::Home* LexedTexts::HomeOf(Expr r) {
  const auto known = home_of_.find(r);
  if (known != home_of_.end()) return known->second;
  FindHome(r);
  return home_of_[r];
}

MeetingLeaf::Text LexedTexts::Find(const Position& p, RegularOperand* operand, Expr from) {
  if (!MayFind(operand)) return {};
  Beside(operand, from);
  return Shortest(p, from);
}

// Other bytes may separate lexemes as the separator does.
void LexedTexts::Beside(RegularOperand* operand, Expr from) {
  Begin();
  if (of_.lock().get() != operand) {
    home_of_.clear();
    homes_.clear();
    good_.clear();
    bad_.clear();
    spent_ = explored_ = 0;
    allowed_ = false;
    of_ = operand->weak_from_this();
  }
  operand_ = operand;
  if (allowed_ || !separated_ || !rules_.longest) return;
  const RegularOperand::Row& row = operand_->RowOf(from);
  const auto may_be = [&](uint8_t b) {
    return row[b] != kEmpty && lexer_->Next(begin_, b) == lexer_->Next(begin_, rules_.separator);
  };
  for (const uint8_t b : {rules_.separator, uint8_t{' '}, uint8_t{'\n'}, uint8_t{'\t'}}) {
    if (!may_be(b)) continue;
    allowed_ = true;
    if (b == std::exchange(separator_, b)) return;
    samples_.clear();
    home_of_.clear();
    homes_.clear();
    good_.clear();
    bad_.clear();
    return;
  }
}

bool LexedTexts::FindsWherever(const Position& p, RegularOperand* operand, Expr from) {
  const bool alike = !rules_.contextual && !lines_;  // lexemes, wherever they begin
  if (!alike || !MayFind(operand)) return false;
  Beside(operand, from);
  Lexing root{p.lexer, p.pending, from};
  if (p.lexer == Position::kBoundary) {
    if (p.pending || !IsHome(from)) return false;
    root.lexer = begin_;
    root.begins = true;
  }
  if (!root.lexer) return false;
  if (good_.count(root)) return true;
  if (bad_.count(root)) return false;
  if (Explore(root)) return true;
  bad_.insert(root);
  return false;
}

// The terminals that single states of rules take, and the ignored ones: what stacks take is some of these together.
const std::vector<Lexer::Terminals>& LexedTexts::Taken() {
  if (!taken_.empty()) return taken_;
  for (uint32_t q = 0; q < rules_.automata->states.size(); ++q)
    taken_.push_back(stacks_->Stacks().Terminals(stacks_->Stacks().Allowed(stacks_->Stacks().Frame(q))));
  taken_.push_back(rules_.ignored);
  std::sort(taken_.begin(), taken_.end());
  taken_.erase(std::unique(taken_.begin(), taken_.end()), taken_.end());
  return taken_;
}

// All that follows, also in further lexemes, where any terminal may come; then, backwards from the ends of lexemes that
// lead home, which of the terminals that a lexeme may still become it can be ended as: one, whatever the stacks take.
bool LexedTexts::Explore(const Lexing& root) {
  constexpr size_t kMost = 20'000, kMostInAll = 60'000;
  constexpr uint32_t kNone = 0xffffffff;
  std::vector<Lexing> all;
  std::vector<std::vector<uint32_t>> before;  // by place in `all`: where the same lexeme was a byte earlier
  std::unordered_map<Lexing, uint32_t, LexingHash> place;
  std::vector<std::pair<uint32_t, uint32_t>> ends;  // a terminal and a place
  const auto add = [&](const Lexing& l, uint32_t from) {
    if (good_.count(l)) {
      if (from != kNone) lexer_->AnyPossible(l.lexer, [&](uint32_t t) { return ends.emplace_back(t, from), false; });
      return;
    }
    const auto [it, added] = place.emplace(l, static_cast<uint32_t>(all.size()));
    if (added) {
      all.push_back(l);
      before.emplace_back();
    }
    if (from != kNone) before[it->second].push_back(from);
  };
  const auto is_home = [&](Lexer::State pending, Expr r) {
    if ((!pending || pending == after_separator_) && IsHome(r)) return true;
    if (!separated_ || !SeparatorEnds(pending)) return false;
    const Expr after = operand_->RowOf(r)[separator_];
    return after != kEmpty && IsHome(after);
  };
  add(root, kNone);
  for (uint32_t i = 0; i < all.size(); ++i) {
    if (all.size() > kMost || ++explored_ > kMostInAll) return false;
    TimeLimit::Spend(8);
    const Lexing at = all[i];
    if (lexer_->IsGuarded(at.lexer)) return false;
    if (!at.begins)
      lexer_->AnyEnd(at.lexer, [&](uint32_t accepted, Lexer::State longer) {
        const Lexer::State pending = lexer_->UnionOfPending(at.pending, longer);
        if (is_home(pending, at.r)) lexer_->ForEachAccepted(accepted, [&](uint32_t t) { ends.emplace_back(t, i); });
        add({begin_, pending, at.r, true}, kNone);
        return false;
      });
    const Lexer::State* const row = lexer_->DenseRow(at.lexer);
    const Lexer::State* const pending_row = at.pending ? lexer_->DenseRow(at.pending) : nullptr;
    const RegularOperand::Row& regular = operand_->RowOf(at.r);
    Lexing last;
    for (size_t b = 0; b < 256; ++b) {
      const Lexing next{row[b], pending_row ? pending_row[b] : Lexer::State{Lexer::kDead}, regular[b]};
      if (!next.lexer || next.r == kEmpty || next == last || (next.pending && lexer_->IsFinal(next.pending))) continue;
      last = next;
      add(next, at.begins ? kNone : i);
    }
  }
  std::vector<Lexer::Terminals> ended(all.size(), Lexer::Terminals(rules_.all.size(), 0));
  while (!ends.empty()) {
    const auto [t, at] = ends.back();
    ends.pop_back();
    const uint64_t bit = uint64_t{1} << (t & 63);
    if (!lexer_->IsPossible(all[at].lexer, t) || ended[at][t >> 6] & bit) continue;
    ended[at][t >> 6] |= bit;
    for (const uint32_t earlier : before[at]) ends.emplace_back(t, earlier);
  }
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].begins) continue;
    Lexer::Terminals possible(rules_.all.size(), 0);
    lexer_->AnyPossible(all[i].lexer, [&](uint32_t t) { return possible[t >> 6] |= uint64_t{1} << (t & 63), false; });
    for (const Lexer::Terminals& taken : Taken())
      if (Intersects(taken, possible) && !Intersects(taken, ended[i])) return false;
  }
  good_.insert(all.begin(), all.end());
  return true;
}

MeetingLeaf::Text LexedTexts::Shortest(const Position& p, Expr from) {
  Begin();
  MeetingLeaf::Text best;
  Home* best_home = nullptr;  // that lengths are known of
  const auto go_on = [&](ParserStates::Set stacks, LineSummaries::Before before, Expr r, uint32_t bytes) {
    Home* const home = HomeOf(r);
    if (!home) return;
    uint32_t sum = MeetingLeaf::kNotKnown;
    if (home->lengths)
      sum = StackLengths::Sum(bytes, home->lengths->Of(stacks_->StacksOf(stacks), stacks_->Stacks()));
    else if (!stacks_->HasFewLevels(stacks) && CanEnd(home, stacks_->StacksOf(stacks), before))
      sum = MeetingLeaf::kOfAnyLength;
    if (sum >= best.bytes) return;
    best.bytes = sum;
    best_home = home->lengths ? home : nullptr;
    best.separator = home->pads && home->lengths ? separator_ : -1;
  };
  // Behind a lexeme, with something pending or not; the state behind a separator, where that may come.
  const auto consider = [&](uint32_t terminal, Lexer::State pending, Expr r, uint32_t bytes) {
    if (bytes >= best.bytes) return;
    const bool newline = terminal >= lexer_->NumTerminals() && terminal != Lexer::kNoTerminal;
    const bool stays = terminal == Lexer::kNoTerminal || HasTerminal(rules_.ignored, terminal) ||
                       (newline && stacks_->InBrackets(p.stacks));
    const ParserStates::Set stacks = stays ? p.stacks : stacks_->Advance(p.stacks, terminal);
    if (stacks == ParserStates::kNone) return;
    if (newline) {
      if (pending == after_newline_[0] || pending == after_newline_[1]) go_on(stacks, LineSummaries::kBegun, r, bytes);
    } else if (pending && pending == after_separator_) {
      go_on(stacks, LineSummaries::kSeparated, r, bytes);
    } else {
      if (!pending && !lines_) go_on(stacks, LineSummaries::kSeparated, r, bytes);
      if (separated_ && SeparatorEnds(pending))
        if (const Expr after = operand_->RowOf(r)[separator_]; after != kEmpty)
          go_on(stacks, LineSummaries::kSeparated, after, bytes + 1);
    }
    if (bytes < best.bytes && operand_->IsFinal(r) && stacks_->Accepts(stacks) == 1) best = {bytes, -1};
  };
  Lexer::State begin = p.lexer;
  if (p.lexer == Position::kBoundary) {
    consider(Lexer::kNoTerminal, p.pending, from, 0);
    if (best.bytes != MeetingLeaf::kNotKnown) return best;
    begin = steps_->Begin(p.stacks);
    if (!begin) return best;
  }
  struct Visit {
    Lexer::State lexer, pending;
    Expr r;
    uint32_t bytes;
  };
  // The least that is left to write after a lexeme that q may still become, from the home of the best text so far.
  const auto left = [&](Lexer::State q) {
    uint32_t least = StackLengths::kFar;
    lexer_->AnyPossible(q, [&](uint32_t t) {
      const ParserStates::Set stacks = HasTerminal(rules_.ignored, t) ? p.stacks : stacks_->Advance(p.stacks, t);
      if (stacks != ParserStates::kNone)
        least = std::min(least, best_home->lengths->Of(stacks_->StacksOf(stacks), stacks_->Stacks()));
      return least == 0;
    });
    return least;
  };
  std::vector<Visit> all;
  NearestFirst queue;
  const auto push = [&](const Visit& to) {
    queue.Push(uint64_t{to.bytes} + lexer_->LeastLength(to.lexer), all.size());
    all.push_back(to);
  };
  std::unordered_set<uint64_t> seen;
  const auto add = [&](const Visit& to) {
    if (to.lexer && seen.insert(MixHash(PairKey(to.lexer, to.pending)) ^ to.r).second) push(to);
  };
  push({begin, p.pending, from, 0});
  size_t most = kMostEnds;
  for (size_t visited = 0; !queue.IsEmpty() && visited < most && queue.Least() < best.bytes; ++visited) {
    if (best.bytes == MeetingLeaf::kOfAnyLength) most = std::min(most, visited + kMoreEnds);
    const size_t place = queue.Pop();
    const Visit at = all[place];
    TimeLimit::Spend(4);
    if (best_home && StackLengths::Sum(at.bytes, left(at.lexer)) >= best.bytes) continue;
    if ((place > 0 || p.lexer != Position::kBoundary) && !lexer_->IsGuarded(at.lexer))
      lexer_->AnyEnd(at.lexer, [&](uint32_t accepted, Lexer::State longer) {
        const Lexer::State pending = lexer_->UnionOfPending(at.pending, longer);
        lexer_->ForEachAccepted(accepted, [&](uint32_t t) {
          consider(t, pending, at.r, at.bytes);
          // Behind a comment that a separator would only make longer: another lexeme.
          if (pending && HasTerminal(rules_.ignored, t) && !SeparatorEnds(pending))
            add({steps_->Begin(p.stacks), pending, at.r, at.bytes});
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
      add(last);
    }
  }
  return best;
}

}  // namespace tokamata
