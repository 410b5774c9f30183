#include "constraints/csrc/lexed_texts.h"

#include <algorithm>
#include <queue>
#include <unordered_set>
#include <utility>

#include "automata/csrc/id_table.h"
#include "automata/csrc/insert_new.h"
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
constexpr size_t kMostLast = 1000;      // and of an ignored lexeme that ends a text,
constexpr size_t kMostLastSpent = 20'000;  // all together
constexpr size_t kMostInVain = 20'000;  // lexemes beside states of operands, of all searches that found nothing
constexpr size_t kMostPending = 300;    // lexer states looked at beside what is pending

bool Add(uint32_t terminal, Lexer::Terminals* set) {
  const uint64_t bit = uint64_t{1} << (terminal & 63);
  if ((*set)[terminal >> 6] & bit) return false;
  (*set)[terminal >> 6] |= bit;
  return true;
}

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
    const bool ends = i > 0 && (from == kEmpty || MayEnd(at.r)) && !lexer_->IsGuarded(at.lexer) && !at.pending &&
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
  if (free && MayEnd(r)) out->push_back({r, bytes});
  if (!separated_) return;
  const Expr after = operand_->RowOf(r)[separator_];
  if (after != kEmpty && MayEnd(after)) out->push_back({after, bytes + 1});
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
    if (r != kEmpty && MayEnd(r)) ends.push_back({r, 1});
    return ends;
  }
  const Sample& sample = SampleOf(terminal);
  if (!sample.found) return ends;
  add(sample.text);
  const Lexer::State pending = sample.at_once ? after_all_ : after_separator_;
  if (std::string text; ends.empty() && FindLexeme(terminal, pending, from, &text)) add(text);
  return ends;
}

// The bytes of an ignored lexeme that leads to a final state, where the text ends, behind a separator or newline: 0 from a
// final one, kFar where none was found.
uint32_t LexedTexts::LastIgnored(Expr r) {
  if (operand_->IsFinal(r)) return 0;
  const auto [it, added] = last_ignored_.try_emplace(r, StackLengths::kFar);
  const Lexer::State begin = added && separated_ ? lexer_->Begin(rules_.all, rules_.ignored) : Lexer::State{Lexer::kDead};
  if (!begin) return it->second;
  // Of ASCII, if there is one: inside of other characters an operand may have many states.
  if ((it->second = LastIgnored(r, begin, 0x80)) == StackLengths::kFar) it->second = LastIgnored(r, begin, 0x100);
  return it->second;
}

uint32_t LexedTexts::LastIgnored(Expr r, Lexer::State begin, unsigned bytes) {
  struct Visit {
    Lexer::State lexer, pending;
    Expr r;
    uint32_t bytes;
  };
  std::vector<Visit> all{{begin, after_all_, r, 0}};
  std::unordered_set<uint64_t> seen;
  for (size_t i = 0; i < all.size() && i < kMostLast && last_spent_ < kMostLastSpent; ++i, ++last_spent_) {
    const Visit at = all[i];
    TimeLimit::Spend(4);
    if (i > 0 && operand_->IsFinal(at.r) && !lexer_->IsGuarded(at.lexer) && lexer_->IsFinal(at.lexer)) return at.bytes;
    const Lexer::State* const row = lexer_->DenseRow(at.lexer);
    const Lexer::State* const pending_row = at.pending ? lexer_->DenseRow(at.pending) : nullptr;
    const RegularOperand::Row& regular = operand_->RowOf(at.r);
    for (unsigned b = 0; b < bytes; ++b) {
      const Lexer::State next = row[b], on = pending_row ? pending_row[b] : Lexer::State{Lexer::kDead};
      if (!next || regular[b] == kEmpty || (on && lexer_->IsFinal(on))) continue;
      if (seen.insert(MixHash(PairKey(next, on)) ^ regular[b]).second) all.push_back({next, on, regular[b], at.bytes + 1});
    }
  }
  return StackLengths::kFar;
}

// The states that lexemes lead to from `root`; then those that lack terminals which others have are left out, and so
// again, until all that are left have the same ones.
void LexedTexts::FindHome(Expr root) {
  home_of_[root] = nullptr;
  Begin();
  if (!MayEnd(root) || homes_.size() >= kMostHomes || spent_ > kMostSpent) return;
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
      if (const Expr r = operand_->RowOf(states[i])[separator_]; r != kEmpty && MayEnd(r)) add(r);
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
        read[i] += !IsNewline(t) && costs[i][t] != StackLengths::kFar;
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
    const Expr padded = separated_ ? operand_->RowOf(states[i])[separator_] : Expr{kEmpty};
    const auto to = place.find(padded);
    home->pads = home->pads && to != place.end() && left[to->second];
    // Newlines are not read behind others, so that they may come behind a separator is enough.
    for (uint32_t t = 0; t < num_terminals; ++t)
      if (!IsNewline(t) || home->pads) cost[t] = std::max(cost[t], costs[IsNewline(t) ? to->second : i][t]);
    if (const uint32_t last = LastIgnored(states[i])) home->more = std::max(home->more, last + 1);
  }
  if (home->more && !home->pads) return;
  if (lexer_->HasEnd()) cost.back() = 0;
  if (!lines_) {
    home->lengths = std::make_unique<StackLengths>(*rules_.automata, cost);
    home->has_all = home->lengths->HasAll();
  } else {
    if (!home->pads || separator_ != ' ') return;
    Lexer::Terminals excluded = rules_.shadowed, at_once(rules_.all.size(), 0);
    for (uint32_t t = 0; t < num_terminals; ++t) {
      const uint64_t bit = uint64_t{1} << (t & 63);
      if (IsEnd(t)) at_once[t >> 6] |= bit;
      if (HasNoText(t)) continue;
      if (cost[t] == StackLengths::kFar)
        excluded[t >> 6] |= bit;
      else if (!HasTerminal(rules_.ignored, t) && !IsNewline(t) && SampleOf(t).at_once)
        at_once[t >> 6] |= bit;
    }
    home->lines = std::make_unique<LineSummaries>(rules_, num_terminals, std::move(excluded), std::move(at_once));
    home->has_all = WritesAll(cost);
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
  if (!MayAsk(operand)) return {};
  Beside(operand, from);
  return Shortest(p, from);
}

void LexedTexts::ForgetOperand() {
  last_ignored_.clear();
  home_of_.clear();
  homes_.clear();
  good_.clear();
  most_to_end_ = 0;
  bad_.clear();
  for (auto& after : after_characters_) after.clear();
}

// Other bytes may separate lexemes as the separator does.
void LexedTexts::Beside(RegularOperand* operand, Expr from) {
  Begin();
  if (of_.lock().get() != operand) {
    ForgetOperand();
    spent_ = explored_ = last_spent_ = 0;
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
    ForgetOperand();
    return;
  }
}

bool LexedTexts::FindsWherever(const Position& p, RegularOperand* operand, Expr from, MeetingLeaf::Left* left) {
  if (rules_.contextual || !MayAsk(operand)) return false;
  Beside(operand, from);
  Lexing root{p.lexer, p.pending, from};
  if (p.lexer == Position::kBoundary) {
    if (p.pending || !IsHome(from)) return false;
    root.lexer = begin_;
    root.begins = 1;
  }
  if (!root.lexer || bad_.count(root)) return false;
  if (!good_.count(root)) {
    if (in_vain_ > kMostInVain) return false;
    const size_t explored = explored_;
    if (!Explore(root)) {
      in_vain_ += explored_ - explored;
      bad_.insert(root);
      return false;
    }
  }
  if (left) AddLeft(stacks_->StacksOf(p.stacks), left);
  return true;
}

// Two lexemes that are being read, now and then, may make stacks longer, and so may those that are read as a whole, whose
// bytes share that.
std::unique_ptr<MeetingLeaf::Left> LexedTexts::LeftOf(const Home& home) {
  auto left = std::make_unique<MeetingLeaf::Left>();
  const std::vector<uint32_t> growth = home.lengths->MostGrowth(*rules_.automata, lexer_->NumTerminals());
  for (uint32_t t = 0; t < growth.size(); ++t) {
    if (!growth[t]) continue;
    const uint32_t length = std::max(lexer_->LeastLengthOf(t), uint32_t{1});
    const uint32_t share = growth[t] / length + (growth[t] % length > 0);
    left->bytes = std::max(left->bytes, growth[t]);
    lexer_->BytesOf(t).ForEach([&](uint8_t b) { left->per_byte[b] = std::max(left->per_byte[b], share); });
  }
  left->bytes = StackLengths::Sum(left->bytes, left->bytes);
  return left;
}

// Then the lexeme is ended, a separator comes, and what the longest of the stacks asks for.
void LexedTexts::AddLeft(StackSets::Set stacks, MeetingLeaf::Left* left) {
  constexpr size_t kMost = 1 << 21;  // states and terminals of rules
  if (lines_ || rules_.automata->states.size() * lexer_->NumTerminals() > kMost) {
    left->bytes = MeetingLeaf::kOfAnyLength;
    return;
  }
  for (const std::unique_ptr<Home>& home : homes_) {
    if (!home->has_all) continue;
    if (!home->left) home->left = LeftOf(*home);
    const uint32_t rest = home->lengths->MostOf(stacks, stacks_->Stacks());
    const uint32_t bytes = StackLengths::Sum(most_to_end_ + 1 + home->more, rest);
    left->bytes = std::max(left->bytes, StackLengths::Sum(bytes, home->left->bytes));
    for (size_t b = 0; b < 256; ++b) left->per_byte[b] = std::max(left->per_byte[b], home->left->per_byte[b]);
  }
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

// Whether newlines need not follow each other: lexemes between them, or the end, are possible, too.
bool LexedTexts::NewlinesLeadOn() const {
  const RuleAutomata& automata = *rules_.automata;
  const auto goes_on = [&](uint32_t q) {
    const RuleAutomata::State& s = automata.states[q];
    return s.final || std::any_of(s.arcs.begin(), s.arcs.end(), [this](const RuleAutomata::Arc& arc) {
             return arc.letter != rules_.indentation->newline;
           });
  };
  for (const RuleAutomata::State& s : automata.states)
    for (const RuleAutomata::Arc& arc : s.arcs)
      if ((arc.letter == rules_.indentation->newline || HasNoText(arc.letter)) && !goes_on(arc.state)) return false;
  return true;
}

// Whether every terminal has lexemes that lead back home, behind a separator and, with indentation, at once after a
// newline: then every text can be written with these, its newlines with the columns that they have.
bool LexedTexts::WritesAll(const std::vector<uint32_t>& cost) {
  for (const Lexer::Terminals& taken : Taken())
    for (uint32_t t = 0; t < lexer_->NumTerminals(); ++t) {
      if (!HasTerminal(taken, t) || HasNoText(t)) continue;
      if (HasTerminal(rules_.ignored, t) || HasTerminal(rules_.shadowed, t)) continue;
      if (cost[t] == StackLengths::kFar || (!IsNewline(t) && !SampleOf(t).at_once)) return false;
    }
  return NewlinesLeadOn();
}

// The terminals as which a lexeme can be ended although something is pending, whatever becomes of that later; more where
// it takes long to find out.
const Lexer::Terminals& LexedTexts::Possible(Lexer::State lexer, Lexer::State pending) {
  const auto [it, added] = possible_.try_emplace(PairKey(lexer, pending), rules_.all.size(), 0);
  Lexer::Terminals& possible = it->second;
  if (!added) return possible;
  const auto add_all = [&](Lexer::State q) {
    lexer_->AnyPossible(q, [&](uint32_t t) { return Add(t, &possible), false; });
  };
  std::vector<std::pair<Lexer::State, Lexer::State>> work{{lexer, pending}};
  std::unordered_set<uint64_t> seen{PairKey(lexer, pending)};
  for (size_t i = 0; i < work.size(); ++i) {
    const auto [q, on] = work[i];
    TimeLimit::Spend(4);
    if (!on || i >= kMostPending) {
      add_all(i >= kMostPending ? lexer : q);
      if (on) break;
      continue;
    }
    lexer_->AnyEnd(q, [&](uint32_t accepted, Lexer::State) {
      lexer_->ForEachAccepted(accepted, [&](uint32_t t) { Add(IsNewline(t) ? rules_.indentation->newline : t, &possible); });
      return false;
    });
    const Lexer::State* const row = lexer_->DenseRow(q);
    const Lexer::State* const pending_row = lexer_->DenseRow(on);
    for (size_t b = 0; b < 256; ++b) {
      if (!row[b] || (pending_row[b] && lexer_->IsFinal(pending_row[b]))) continue;
      if (seen.insert(PairKey(row[b], pending_row[b])).second) work.emplace_back(row[b], pending_row[b]);
    }
  }
  return possible;
}

// Whether a lexeme that begins with a byte may follow; yes where it takes long to find out.
bool LexedTexts::MayFollow(Lexer::State pending, uint8_t b) {
  const Lexer::State begun = lexer_->Next(begin_, b), on = lexer_->Next(pending, b);
  if (!begun || (on && lexer_->IsFinal(on))) return false;
  const Lexer::Terminals none(rules_.all.size(), 0);
  return !on || Possible(begun, on) != none;
}

// Whether all lexemes that may follow begin with the end of the line, as after a comment; or none may.
bool LexedTexts::OnlyNewlineFollows(Lexer::State pending) {
  const auto [it, added] = only_newline_follows_.try_emplace(pending, true);
  if (!added) return it->second;
  for (int b = 0; b < 256 && it->second; ++b)
    it->second = b == '\n' || b == '\r' || IsEndByte(b) || !MayFollow(pending, static_cast<uint8_t>(b));
  return it->second;
}

// Whether, behind a lexeme, whatever the rules allow can be written.
bool LexedTexts::IsHomeAfter(uint32_t terminal, Lexer::State pending, Expr r) {
  if (lines_ && terminal >= lexer_->NumTerminals())  // other columns begin another line
    return terminal == lexer_->NumTerminals() && pending == after_newline_[0] && IsHome(r);
  if ((!pending || pending == after_separator_) && IsHome(r)) return true;
  if (!separated_) return false;
  const RegularOperand::Row& row = operand_->RowOf(r);
  const Lexer::State separated = lexer_->Next(begin_, separator_);
  for (const uint8_t b : {separator_, uint8_t{' '}, uint8_t{'\n'}, uint8_t{'\t'}})
    if (row[b] != kEmpty && lexer_->Next(begin_, b) == separated)
      if (!(pending && lexer_->Next(pending, b)) && IsHome(row[b])) return true;
  if (!lines_ || !pending || !OnlyNewlineFollows(pending)) return false;
  if (!lexer_->Next(pending, '\n')) return row['\n'] != kEmpty && IsHome(row['\n']);
  return !MayFollow(pending, '\n') && !MayFollow(pending, '\r') && operand_->IsFinal(r);  // only the end does
}

// What a lexeme may begin with while something is pending after one of a terminal.
uint32_t LexedTexts::FollowNumber(uint32_t terminal, Lexer::State pending) {
  if (follow_.empty()) follow_.push_back(ByteSet::All());
  if (!pending || pending == after_separator_ || IsNewline(terminal)) return 0;
  const ByteSet& bytes = rules_.follow[terminal];
  const auto found = std::find(follow_.begin(), follow_.end(), bytes);
  if (found != follow_.end()) return static_cast<uint32_t>(found - follow_.begin());
  follow_.push_back(bytes);
  return static_cast<uint32_t>(follow_.size() - 1);
}

bool LexedTexts::ReadCharacters(const Pair& at, uint8_t phase, Pair* to) {
  const auto [q, on] = at;
  if (!phase) {
    if (!to->first) *to = at;
    return *to == at;
  }
  if (lexer_->IsFinal(q) || lexer_->IsGuarded(q)) return false;
  const Lexer::State* const row = lexer_->DenseRow(q);
  const Lexer::State* const pending_row = on ? lexer_->DenseRow(on) : nullptr;
  const Utf8Phase& p = kUtf8Phases[phase];
  Pair last{Lexer::kDead, Lexer::kDead};
  for (unsigned b = p.low; b <= p.high; ++b) {
    const Pair next{row[b], pending_row ? pending_row[b] : Lexer::State{Lexer::kDead}};
    if (!next.first || (next.second && lexer_->IsFinal(next.second))) return false;
    if (next == last) continue;
    if (!ReadCharacters(next, p.next, to)) return false;
    last = next;
  }
  return true;
}

const LexedTexts::Pair& LexedTexts::AfterAnyCharacter(const Pair& inside, uint8_t phase) {
  const uint64_t key = PairKey(inside.first, inside.second);
  const auto [it, added] = after_any_character_[phase].try_emplace(key, Lexer::kDead, Lexer::kDead);
  Pair to{Lexer::kDead, Lexer::kDead};
  if (added && ReadCharacters(inside, phase, &to)) it->second = to;
  return it->second;
}

bool LexedTexts::ReadCharacters(Expr at, uint8_t phase, std::vector<Expr>* to) {
  if (!phase) return InsertNew(to, at), true;
  const RegularOperand::Row& row = operand_->RowOf(at);
  const Utf8Phase& p = kUtf8Phases[phase];
  Expr last = kEmpty;
  for (unsigned b = 0; b < 256; ++b) {
    if (row[b] == kEmpty) continue;
    if (b < p.low || b > p.high) return false;
    if (row[b] != last && !ReadCharacters(last = row[b], p.next, to)) return false;
  }
  return true;
}

const std::vector<Expr>& LexedTexts::AfterCharacters(Expr inside, uint8_t phase) {
  const auto [it, added] = after_characters_[phase].try_emplace(inside);
  if (added && !ReadCharacters(inside, phase, &it->second)) it->second.clear();
  return it->second;
}

// All that follows, also in further lexemes, where any terminal may come that the last one allows; then, backwards from
// the ends of lexemes that lead home, which of the terminals that a lexeme may still become it can be ended as: each of
// them, or, where stacks can always be emptied, one whatever the stacks take.
bool LexedTexts::Explore(const Lexing& root) {
  constexpr size_t kMost = 20'000, kMostInAll = 60'000;
  constexpr uint32_t kMostCharacter = 4;  // bytes
  const size_t most_rows = operand_->NumRows() + 1000;  // more are those of a counter
  constexpr uint32_t kNone = 0xffffffff;
  std::vector<Lexing> all;
  struct Earlier {
    uint32_t place, bytes;
  };
  std::vector<std::vector<Earlier>> before;  // by place in `all`: where the same lexeme was, so many bytes earlier at most
  std::unordered_map<Lexing, uint32_t, LexingHash> place;
  struct End {
    uint32_t bytes, terminal, place;
    bool operator<(const End& e) const { return bytes > e.bytes; }  // the nearest first
  };
  std::vector<End> ends;
  bool is_bad = false;
  const auto for_each_possible = [&](const Lexing& l, const auto& f) {
    if (!l.pending)
      lexer_->AnyPossible(l.lexer, [&](uint32_t t) { return f(t), false; });
    else
      for (uint32_t t = 0; t < lexer_->NumTerminals(); ++t)
        if (HasTerminal(Possible(l.lexer, l.pending), t)) f(t);
  };
  const auto add = [&](const Lexing& l, uint32_t from, uint32_t bytes) {
    if (const auto good = good_.find(l); good != good_.end()) {
      if (from != kNone) for_each_possible(l, [&](uint32_t t) { ends.push_back({bytes + good->second, t, from}); });
      return;
    }
    is_bad = is_bad || bad_.count(l);
    const auto [it, added] = place.emplace(l, static_cast<uint32_t>(all.size()));
    if (added) {
      all.push_back(l);
      before.emplace_back();
    }
    if (from != kNone) before[it->second].push_back({from, bytes});
  };
  FollowNumber(Lexer::kNoTerminal, Lexer::kDead);
  add(root, kNone, 0);
  for (uint32_t i = 0; i < all.size(); ++i) {
    if (is_bad || all.size() > kMost || ++explored_ > kMostInAll || operand_->NumRows() > most_rows) return false;
    TimeLimit::Spend(8);
    const Lexing at = all[i];
    if (!at.begins)
      lexer_->AnyEnd(at.lexer, [&](uint32_t accepted, Lexer::State longer) {
        const Lexer::State pending = lexer_->UnionOfPending(at.pending, longer);
        lexer_->ForEachAccepted(accepted, [&](uint32_t t) {
          if (IsHomeAfter(t, pending, at.r)) ends.push_back({0, IsNewline(t) ? rules_.indentation->newline : t, i});
          add({begin_, pending, at.r, 1 + FollowNumber(t, pending)}, kNone, 0);
        });
        return false;
      });
    const ByteSet& follow = follow_[at.begins ? at.begins - 1 : 0];
    const Lexer::State* const row = lexer_->DenseRow(at.lexer);
    const Lexer::State* const pending_row = at.pending ? lexer_->DenseRow(at.pending) : nullptr;
    const RegularOperand::Row& regular = operand_->RowOf(at.r);
    Lexing last;
    for (size_t b = 0; b < 256; ++b) {
      const Lexing next{row[b], pending_row ? pending_row[b] : Lexer::State{Lexer::kDead}, regular[b]};
      if (!next.lexer || next.r == kEmpty || next == last || (next.pending && lexer_->IsFinal(next.pending))) continue;
      if (IsEndByte(b)) continue;
      if (next.pending && !follow.Has(static_cast<uint8_t>(b))) continue;
      last = next;
      const uint32_t from = at.begins ? kNone : i;
      // Inside of a character most lexemes know nothing about it, but an operand may.
      if (const uint8_t phase = b < 0x80 ? 0 : Utf8LeadPhase(static_cast<uint8_t>(b)))
        if (const Pair& to = AfterAnyCharacter({next.lexer, next.pending}, phase); to.first)
          if (const std::vector<Expr>& regular_to = AfterCharacters(next.r, phase); !regular_to.empty()) {
            for (const Expr r : regular_to) add({to.first, to.second, r}, from, kMostCharacter);
            continue;
          }
      add(next, from, 1);
    }
  }
  std::vector<Lexer::Terminals> ended(all.size(), Lexer::Terminals(rules_.all.size(), 0));
  std::vector<uint32_t> most(all.size(), 0);  // bytes to one of these
  for (std::priority_queue<End> queue({}, std::move(ends)); !queue.empty();) {
    const End end = queue.top();
    queue.pop();
    if (!lexer_->IsPossible(all[end.place].lexer, end.terminal) || !Add(end.terminal, &ended[end.place])) continue;
    most[end.place] = end.bytes;
    for (const Earlier& e : before[end.place]) queue.push({end.bytes + e.bytes, end.terminal, e.place});
  }
  std::vector<Lexing> bad;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].begins) continue;
    Lexer::Terminals possible(rules_.all.size(), 0);
    for_each_possible(all[i], [&](uint32_t t) { Add(t, &possible); });
    const bool good = std::all_of(Taken().begin(), Taken().end(), [&](const Lexer::Terminals& taken) {
      if (!lines_) return !Intersects(taken, possible) || Intersects(taken, ended[i]);
      for (size_t j = 0; j < taken.size(); ++j)
        if (taken[j] & possible[j] & ~ended[i][j]) return false;
      return true;
    });
    if (!good) bad.push_back(all[i]);
  }
  for (size_t i = 0; bad.empty() && i < all.size(); ++i) {
    good_.emplace(all[i], most[i]);
    most_to_end_ = std::max(most_to_end_, most[i]);
  }
  bad_.insert(bad.begin(), bad.end());
  return bad.empty();
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
      sum = StackLengths::Sum(bytes + home->more, home->lengths->Of(stacks_->StacksOf(stacks), stacks_->Stacks()));
    else if (!stacks_->HasFewLevels(stacks) && CanEnd(home, stacks_->StacksOf(stacks), before))
      sum = MeetingLeaf::kOfAnyLength;
    if (sum >= best.bytes) return;
    best.bytes = sum;
    best_home = home->lengths ? home : nullptr;
    best.separator = home->pads && home->lengths && !home->more ? separator_ : -1;
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
    if (bytes < best.bytes && !lexer_->HasEnd() && operand_->IsFinal(r) && stacks_->Accepts(stacks) == 1) best = {bytes, -1};
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
      if (!next || r == kEmpty || (on && lexer_->IsFinal(on)) || IsEndByte(b)) continue;
      if (next == last.lexer && on == last.pending && r == last.r) continue;
      last = {next, on, r, at.bytes + 1};
      add(last);
    }
  }
  return best;
}

}  // namespace tokamata
