#include "constraints/csrc/completable.h"

#include <algorithm>
#include <set>
#include <string>

#include "automata/csrc/id_table.h"
#include "automata/csrc/recall.h"
#include "constraints/csrc/nearest_first.h"

namespace tokamata {
namespace {

void Include(const std::vector<uint32_t>& more, std::vector<uint32_t>* all) {
  for (const uint32_t x : more)
    if (std::find(all->begin(), all->end(), x) == all->end()) all->push_back(x);
}

Lexer::Terminals Union(Lexer::Terminals a, const Lexer::Terminals& b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] |= b[i];
  return a;
}

// For Completable::HasEnd: every end is of its own kind.
bool EachEnd(uint32_t terminal, Lexer::State pending, uint64_t* end) {
  *end = PairKey(terminal, pending);
  return true;
}

}  // namespace

Completable::Completable(const LexedRules& rules, Lexer* lexer, ParserStates* stacks, Competing competing)
    : rules_(rules),
      lexer_(lexer),
      stacks_(stacks),
      positions_(rules, lexer, stacks),
      ends_(lexer, nullptr),
      fewest_(competing == Competing::kFewest),
      lines_(rules.indentation ? kLast + 1 : 1),
      summaries_(*rules.automata, lexer->NumTerminals()),
      by_lines_(rules, lexer->NumTerminals(), rules.shadowed, rules.after_newline) {
  if (rules_.has_separator || rules_.has_line_separator) {
    const Lexer::State begin = lexer_->Begin(rules_.all, rules_.all);
    after_separator_ = lexer_->Pending(lexer_->Next(begin, rules_.separator));
    if (rules_.has_line_separator && rules_.indentation) {
      const Lexer::State newline = lexer_->Next(begin, '\n');
      after_newline_[0] = lexer_->Pending(newline);
      after_newline_[1] = lexer_->Pending(lexer_->Next(newline, ' '));
    }
  }
  if (!rules_.contextual || competing != Competing::kByRules) return;
  if (rules_.nesting_apart) all_compete_ = std::make_unique<Completable>(rules, lexer, stacks, Competing::kAll);
  fewest_compete_ = std::make_unique<Completable>(rules, lexer, stacks, Competing::kFewest);
  contextual_ = std::make_unique<ContextualSummaries>(rules, lexer, stacks, nullptr);
}

Completable::~Completable() = default;

void Completable::BoundMemory() {
  constexpr size_t kMost = 1 << 20;
  for (EndsMet* met : {&ends_met_, &line_ends_met_})
    if (met->num_listed + met->all.Size() + met->one.Size() > kMost) *met = EndsMet();
}

bool Completable::Ask(const Position& p) {
  if (!rules_.longest) return p.stacks != ParserStates::kNone;
  if (p.lexer == Position::kBoundary) {
    if (rules_.has_separator && !p.pending) return p.stacks != ParserStates::kNone;
    if (rules_.has_line_separator && !p.pending && CanEndByLines(p.stacks, kSeparated, false)) return true;
  } else if (EndsFreelyAt(p)) {
    return true;
  }
  if (const bool* known = known_.Find(p)) return *known;
  spent_ = 0;
  BoundMemory();
  const bool by_lines = rules_.has_line_separator && p.lexer != Position::kBoundary;
  bool can = by_lines && EndsByLines(p, true);
  if (!can && p.lexer != Position::kBoundary) can = EndsText(p);
  if (!can && !(by_lines && IsStuck(p))) can = contextual_ ? AskByContext(p) : Search(p);
  known_.Add(p, can);
  return can;
}

bool Completable::AskByContext(const Position& p) {
  if (all_compete_ && all_compete_->Ask(p)) return true;
  if (!fewest_compete_->Ask(p)) return false;
  if (!rules_.indentation) {
    bool can;
    if (contextual_->CanEnd(p, &can)) return can;
  }
  return SearchPositions(p);
}

void Completable::Spend(size_t steps) {
  rules_.Spend(steps, &spent_, "search for a way to complete a text", "terminals");
}

bool Completable::EndsFreely(Lexer::State lexer) {
  if (!rules_.longest) return true;
  if (contextual_) return all_compete_ && all_compete_->EndsFreely(lexer);
  if (lexer >= free_.size()) free_.resize(lexer + lexer / 2 + 64, 0);
  if (free_[lexer]) return free_[lexer] == 2;
  if (!rules_.has_line_separator && ColumnsDiffer()) return false;
  const size_t spent = std::exchange(spent_, 0);
  bool free = rules_.has_separator && !lexer_->MayRead(lexer, rules_.separator);
  if (rules_.has_line_separator)
    free = FindEnd(lexer, [&](uint32_t t, Pending longer) { return IsGoodByLines(t, longer); });
  else if (!free)
    free = FindEnd(lexer, [&](uint32_t terminal, Pending longer) {
      if (terminal >= lexer_->NumTerminals()) return false;  // a newline: the stacks decide whether its column fits
      if (rules_.has_separator) return SeparatorEnds(longer);
      return IsAlwaysGood(terminal, ClassOf(longer));
    });
  spent_ = spent;
  free_[lexer] = free ? 2 : 1;
  return free;
}

// The states that one byte more leads to.
const std::vector<Lexer::State>& Completable::After(Lexer::State lexer) {
  return Recall(&after_, lexer, [&] {
    const Lexer::State* row = lexer_->DenseRow(lexer);
    Lexer::State all[256];
    Lexer::State* end = std::unique_copy(row, row + 256, all);  // of most rows a few
    std::sort(all, end);
    end = std::unique(all, end);
    return std::vector<Lexer::State>(all + (all[0] == Lexer::kDead), end);  // of many states: no larger than it has to be
  });
}

// Calls add(lexer, pending) for what one byte more leads to.
template <class F>
void Completable::ForEachAfter(Lexer::State lexer, Pending pending, F add) {
  if (!pending) {
    const std::vector<Lexer::State>& ahead = lexer_->Ahead(lexer);
    for (const Lexer::State to : ahead) add(to, Pending{Lexer::kDead});
    if (!ahead.empty()) return;
    for (const Lexer::State to : After(lexer)) add(to, Pending{Lexer::kDead});
    return;
  }
  const Lexer::State *row = lexer_->DenseRow(lexer), *pending_row = lexer_->DenseRow(pending);
  uint64_t last = 0;
  for (int b = 0; b < 256; ++b) {
    const Pending n = pending_row[b];
    const uint64_t key = PairKey(row[b], n);
    if (!row[b] || key == last) continue;
    last = key;
    if (!n || !lexer_->IsFinal(n)) add(row[b], n);
  }
}

template <class Kind, class F>
bool Completable::HasEnd(Lexer::State lexer, Pending pending, EndsMet* known, Kind kind_of, F is_asked_for) {
  enum : uint8_t { kUnknown, kNo, kYes };
  FlatMap<uint64_t, uint8_t> asked;
  const auto is_end = [&](uint64_t end) {
    uint8_t& answer = asked[end];
    if (!answer) answer = is_asked_for(static_cast<uint32_t>(end >> 32), static_cast<uint32_t>(end)) ? kYes : kNo;
    return answer == kYes;
  };
  std::map<const EndsMet::List*, bool> lists;  // and whether they have such an end
  const auto has_one = [&](const EndsMet::List* list) {
    const auto [has, added] = lists.emplace(list, false);
    if (added) has->second = std::any_of(list->begin(), list->end(), is_end);
    return has->second;
  };
  struct Seen {
    uint64_t key;
    size_t before;  // in `queue`
  };
  std::vector<Seen> queue;
  FlatMap<uint64_t, bool> seen;
  size_t at = 0;
  const auto add = [&](Lexer::State q, Pending n) {
    const uint64_t key = PairKey(q, n);
    if (std::exchange(seen[key], true)) return;
    const EndsMet::List* const* list = known->all.Find(key);
    if (!list || has_one(*list)) queue.push_back({key, at});
  };
  std::vector<uint64_t> met;
  const auto is_found = [&](uint64_t key) {
    if (const uint64_t* one = known->one.Find(key)) {
      met.push_back(*one);  // what is asked for may ask in turn, and add to these
      if (is_end(met.back())) return true;
    }
    return lexer_->AnyEnd(static_cast<Lexer::State>(key >> 32), [&](uint32_t accepted, Pending longer) {
      uint64_t end;
      if (!kind_of(accepted, lexer_->UnionOfPending(static_cast<Pending>(key), longer), &end)) return false;
      met.push_back(end);
      return is_end(end);
    });
  };
  add(lexer, pending);
  for (; at < queue.size(); ++at) {
    const uint64_t key = queue[at].key;
    if (is_found(key)) {
      for (size_t i = at; known->one[queue[i].key] = met.back(), i; i = queue[i].before) {}
      return true;
    }
    Spend(16);
    ForEachAfter(static_cast<Lexer::State>(key >> 32), static_cast<Pending>(key), add);
  }
  if (queue.empty()) return false;
  for (const auto& [list, has] : lists)
    if (!has) met.insert(met.end(), list->begin(), list->end());
  std::sort(met.begin(), met.end());
  met.erase(std::unique(met.begin(), met.end()), met.end());
  known->num_listed += met.size();
  const EndsMet::List* const list = &*known->lists.insert(std::move(met)).first;
  for (const Seen& state : queue) known->all[state.key] = list;
  return false;
}

template <class F>
bool Completable::FindEnd(Lexer::State lexer, F found) {
  struct Seen {
    Lexer::State state;
    size_t before;  // in `all`
  };
  std::vector<Seen> all{{lexer, 0}};
  std::unordered_set<Lexer::State> seen{lexer};
  NearestFirst queue;
  queue.Push(0, 0);
  const auto is_free = [this](Lexer::State q) { return q < free_.size() && free_[q] == 2; };
  while (!queue.IsEmpty()) {
    const size_t at = queue.Pop();
    const Lexer::State q = all[at].state;
    if (is_free(q) || lexer_->AnyEnd(q, found)) {
      for (size_t i = at; i; i = all[i].before) {
        if (all[i].state >= free_.size()) free_.resize(all[i].state + all[i].state / 2 + 64, 0);
        free_[all[i].state] = 2;
      }
      return true;
    }
    Spend(16);
    const auto add = [&](Lexer::State to) {
      if (!seen.insert(to).second) return;
      queue.Push(uint64_t{lexer_->LeastLength(to)} + all.size() / 16, all.size());
      all.push_back({to, at});
    };
    const std::vector<Lexer::State>& ahead = lexer_->Ahead(q);
    for (const Lexer::State to : ahead.empty() ? After(q) : ahead) add(to);
  }
  for (const Seen& s : all) {  // none of them can, but by the separator, which EndsFreely looks at first
    if (!rules_.has_line_separator && rules_.has_separator && !lexer_->MayRead(s.state, rules_.separator)) continue;
    if (s.state >= free_.size()) free_.resize(s.state + s.state / 2 + 64, 0);
    free_[s.state] = 1;
  }
  return false;
}

Lexer::State Completable::Begin(const Lexer::Terminals& wanted) {
  return lexer_->Begin(fewest_ ? Union(wanted, rules_.ignored) : rules_.all, wanted);
}

// What may be pending after one more lexeme from where it begins; most often nothing is left after its first byte.
const std::vector<Completable::Pending>& Completable::NextEnds(Lexer::State begin, Pending pending) {
  const auto known = next_ends_.find(PairKey(begin, pending));
  if (known != next_ends_.end()) return known->second;
  std::vector<Pending> all;
  const auto add = [&](uint32_t, LexemeEnds::Beside after) { Include({ends_.PendingOf(after)}, &all); };
  if (begin) ends_.ForEach(begin, ends_.Number(pending, kEmpty), add, [this](size_t steps) { Spend(steps); });
  return next_ends_[PairKey(begin, pending)] = std::move(all);
}

// What may be pending after any number of ignored lexemes, newlines among them or not.
const std::vector<Completable::Pending>& Completable::AfterIgnored(Pending pending, bool newlines) {
  const auto known = after_ignored_.find(PairKey(pending, newlines));
  if (known != after_ignored_.end()) return known->second;
  Lexer::Terminals wanted = rules_.ignored;
  if (newlines) wanted[rules_.indentation->newline >> 6] |= uint64_t{1} << (rules_.indentation->newline & 63);
  std::vector<Pending> all{pending};
  const Lexer::State begin = Begin(wanted);
  for (size_t i = 0; i < all.size(); ++i) Include(NextEnds(begin, all[i]), &all);
  return after_ignored_[PairKey(pending, newlines)] = std::move(all);
}

// ---------------------------------------------------------------------------------------------- classes

Completable::Class Completable::ClassOf(Pending pending) {
  const auto known = class_of_.find(pending);
  if (known != class_of_.end()) return known->second;
  AddClasses(pending);
  return class_of_.at(pending);
}

// Adds the pending states that come after one, and partitions them: at first all are alike, then those are told apart
// that a terminal leads into different classes, until nothing changes. Old classes stay what they are.
void Completable::AddClasses(Pending root) {
  const uint32_t num_terminals = lexer_->NumTerminals();
  std::vector<Pending> fresh{root};
  std::unordered_map<Pending, size_t> place{{root, 0}};
  std::vector<std::vector<std::vector<Pending>>> after;  // by fresh state and terminal
  std::vector<Lexer::State> begin(num_terminals);
  for (uint32_t t = 0; t < num_terminals; ++t) {
    Lexer::Terminals only(rules_.all.size(), 0);
    only[t >> 6] |= uint64_t{1} << (t & 63);
    begin[t] = Begin(only);
  }
  for (size_t i = 0; i < fresh.size(); ++i) {
    after.emplace_back(num_terminals);
    const std::vector<Pending> before = AfterIgnored(fresh[i], false);
    for (uint32_t t = 0; t < num_terminals; ++t) {
      bool none_goes_on = false;  // whether for some of these the lexeme's first byte leaves nothing pending
      for (const Pending n : before)
        if (n && begin[t] && lexer_->Live(n).Intersects(lexer_->Live(begin[t])))
          Include(NextEnds(begin[t], n), &after[i][t]);
        else
          none_goes_on = true;
      if (none_goes_on) Include(NextEnds(begin[t], Lexer::kDead), &after[i][t]);
      for (const Pending n : after[i][t])
        if (!class_of_.count(n) && place.emplace(n, fresh.size()).second) fresh.push_back(n);
    }
  }
  // Numbers below `old` are classes, others are blocks of fresh states.
  const Class old = static_cast<Class>(classes_.size());
  std::vector<Class> block(fresh.size(), old);
  std::vector<std::vector<std::vector<Class>>> signature(fresh.size());
  std::map<std::vector<std::vector<Class>>, Class> numbers;
  for (size_t count = 0;;) {
    numbers.clear();
    for (size_t i = 0; i < fresh.size(); ++i) {
      signature[i].assign(num_terminals, {});
      for (uint32_t t = 0; t < num_terminals; ++t) {
        std::vector<Class>& to = signature[i][t];
        for (const Pending n : after[i][t]) {
          const auto p = place.find(n);
          to.push_back(p == place.end() ? class_of_.at(n) : block[p->second]);
        }
        std::sort(to.begin(), to.end());
        to.erase(std::unique(to.begin(), to.end()), to.end());
        Spend(1 + to.size());
      }
      numbers.emplace(signature[i], 0);
    }
    Class next = old;
    for (auto& [key, number] : numbers) number = next++;
    for (size_t i = 0; i < fresh.size(); ++i) block[i] = numbers.at(signature[i]);
    if (numbers.size() == count) break;
    count = numbers.size();
  }
  classes_.resize(old + numbers.size());
  for (size_t i = 0; i < fresh.size(); ++i) {
    class_of_[fresh[i]] = block[i];
    if (!classes_[block[i]].after.empty()) continue;
    std::vector<std::vector<Class>>& to = classes_[block[i]].after;
    to.assign(num_terminals, {});
    for (uint32_t t = 0; t < num_terminals; ++t) {
      for (const Pending n : after[i][t]) {
        const auto p = place.find(n);
        to[t].push_back(p == place.end() ? class_of_.at(n) : block[p->second]);
      }
      std::sort(to[t].begin(), to[t].end());
      to[t].erase(std::unique(to[t].begin(), to[t].end()), to[t].end());
    }
  }
}

// ---------------------------------------------------------------------------------------------- summaries of rules

const std::vector<Completable::Class>& Completable::Out(uint32_t state, Class context) {
  const auto after = [this](uint32_t terminal, Class from) { return After(terminal, from); };
  return summaries_.Out(state, context, after, [this](size_t steps) { Spend(steps); });
}

std::vector<Completable::Class> Completable::After(uint32_t terminal, Class context) const {
  const Indentation* indentation = rules_.indentation.get();
  if (!indentation) return classes_[context].after[terminal];
  const Class pending = context / lines_;
  const Line line = static_cast<Line>(context % lines_);
  if (terminal == indentation->indent)
    return line == kNewline ? std::vector<Class>{ContextOf(pending)} : std::vector<Class>();
  if (terminal == indentation->dedent)
    return {ContextOf(pending, line == kNewline || line == kDedent ? kDedent : kLast)};
  if (line == kLast && terminal != indentation->end) return {};
  std::vector<Class> after = classes_[pending].after[terminal];
  for (Class& c : after) c = ContextOf(c, terminal == indentation->newline ? kNewline : kHere);
  return after;
}

template <class F>
bool Completable::FindBottom(std::unordered_map<uint64_t, bool>* can_end, StackSets::Set stacks, Class context,
                             F out_of) {
  std::vector<std::pair<StackSets::Set, Class>> work{{stacks, context}};
  while (!work.empty()) {
    const auto [p, n] = work.back();
    const uint64_t key = PairKey(p, n);
    if (can_end->count(key)) {
      work.pop_back();
      continue;
    }
    Spend(1);
    bool can = p != StackSets::kNone && stacks_->Stacks().HasBottom(p);
    const size_t open = work.size();
    if (!can)
      stacks_->Stacks().ForEachTop(p, [&](uint32_t state, StackSets::Set below) {
        if (can || work.size() > open) return;
        const std::vector<Class> out = out_of(state, n);
        for (const Class after : out) {
          const auto known = can_end->find(PairKey(below, after));
          if (known == can_end->end()) {
            work.emplace_back(below, after);
            return;
          }
          can = can || known->second;
        }
      });
    if (work.size() > open) continue;
    (*can_end)[key] = can;
    work.pop_back();
  }
  return can_end->at(PairKey(stacks, context));
}

bool Completable::CanEnd(StackSets::Set stacks, Class context) {
  return FindBottom(&can_end_, stacks, context, [this](uint32_t q, Class c) { return Out(q, c); });
}

struct Completable::Levels {
  Levels(const RuleAutomata& automata, uint32_t num_terminals) : summaries(automata, num_terminals) {}
  RuleSummaries summaries;  // contexts: (one of Completable, number of those blocks that ended, levels left)
  std::unordered_map<uint64_t, bool> can_end;
};

bool Completable::CanEndWithin(const std::vector<uint32_t>& few, StackSets::Set stacks, Class context) {
  constexpr uint32_t kMany = ParserStates::kManyLevels;
  const Class places = static_cast<Class>(few.size() + 1) * (kMany + 1);
  const auto place = [&](size_t ended, uint32_t left) { return static_cast<Class>(ended * (kMany + 1) + left); };
  const auto after = [&](uint32_t terminal, Class from) {
    const size_t ended = from % places / (kMany + 1);
    const uint32_t left = from % (kMany + 1);
    Class to = from % places;
    if (terminal == rules_.indentation->indent && left < kMany) {
      if (!left) return std::vector<Class>();
      to = place(ended, left - 1);
    } else if (terminal == rules_.indentation->dedent && left < kMany) {
      const bool is_open = left < few[ended];  // a block that was not open yet ends
      to = is_open ? place(ended, left + 1) : place(ended + 1, ended + 1 < few.size() ? few[ended + 1] : kMany);
    }
    std::vector<Class> all = After(terminal, from / places);
    for (Class& c : all) c = c * places + to;
    return all;
  };
  std::unique_ptr<Levels>& levels = levels_[few];
  if (!levels) levels = std::make_unique<Levels>(*rules_.automata, lexer_->NumTerminals());
  const auto spend = [this](size_t steps) { Spend(steps); };
  return FindBottom(&levels->can_end, stacks, context * places + place(0, few[0]),
                    [&](uint32_t q, Class c) { return levels->summaries.Out(q, c, after, spend); });
}

bool Completable::ColumnsDiffer() {
  if (!rules_.indentation) return false;
  if (columns_differ_) return *columns_differ_;
  const uint32_t newline = rules_.indentation->newline;
  Lexer::Terminals wanted(rules_.all.size(), 0);
  wanted[newline >> 6] |= uint64_t{1} << (newline & 63);
  const auto pending_behind = FindColumns(lexer_, Begin(wanted), newline);
  std::set<std::set<Class>> kinds;
  for (const auto& [column, pending] : pending_behind) {
    std::set<Class> kind;
    for (const Pending n : pending) kind.insert(ClassOf(n));
    kinds.insert(std::move(kind));
  }
  columns_differ_ = kinds.size() > 1 || (!kinds.empty() && !pending_behind.count(0));
  return *columns_differ_;
}

// Inside brackets newlines are as good as ignored lexemes.
bool Completable::CanEndAt(ParserStates::Set stacks, Pending pending) {
  const StackSets::Set below = stacks_->StacksOf(stacks);
  const std::vector<uint32_t> few = stacks_->FewLevels(stacks);
  const auto can_end = [&](Pending n) {
    const Class context = ContextOf(ClassOf(n));
    return few.empty() ? CanEnd(below, context) : CanEndWithin(few, below, context);
  };
  if (can_end(pending)) return true;
  if (!stacks_->InBrackets(stacks)) return false;
  const std::vector<Pending> after = AfterIgnored(pending, true);
  return std::any_of(after.begin(), after.end(), can_end);
}

bool Completable::Search(const Position& p) {
  return CanEndByColumns(p) && (!ColumnsDiffer() || SearchPositions(p));
}

bool Completable::CanEndByColumns(const Position& p) {
  if (p.lexer == Position::kBoundary) return CanEndAt(p.stacks, p.pending);
  return HasEnd(p.lexer, p.pending, &ends_met_, EachEnd, [&](uint32_t terminal, Pending after) {
    const ParserStates::Set next =
        HasTerminal(rules_.ignored, terminal) ? p.stacks : stacks_->Advance(p.stacks, terminal);
    return next != ParserStates::kNone && CanEndAt(next, after);
  });
}

bool Completable::EndsFreelyAt(const Position& p) {
  if (contextual_) return all_compete_ && all_compete_->EndsFreelyAt(p);
  if (stacks_->HasFewLevels(p.stacks)) return false;
  if (!p.pending && EndsFreely(p.lexer)) return true;
  BoundMemory();
  if (!rules_.has_line_separator && ColumnsDiffer()) return false;
  if (p.lexer == Position::kBoundary || (rules_.has_separator && !p.pending)) return false;
  const uint64_t key = MixHash(PairKey(p.lexer, p.pending)) ^ (rules_.has_separator ? 0 : p.stacks);
  std::vector<std::pair<Position, bool>>& known = free_at_[key];
  for (const auto& [position, free] : known)
    if (position.lexer == p.lexer && position.pending == p.pending &&
        (rules_.has_separator || position.stacks == p.stacks))
      return free;
  const size_t spent = std::exchange(spent_, 0);
  const auto ends = [&](uint32_t terminal, Pending after) {
    const bool newline = terminal >= lexer_->NumTerminals();
    if (rules_.has_separator) return !newline && SeparatorEnds(after);
    const bool ignored = HasTerminal(rules_.ignored, terminal);
    if ((newline || ignored) && stacks_->InBrackets(p.stacks)) {
      const std::vector<Pending> all = AfterIgnored(after, true);
      return std::any_of(all.begin(), all.end(), [&](Pending n) { return IsAlwaysGoodOn(p.stacks, ClassOf(n)); });
    }
    return IsAlwaysGoodOn(ignored ? p.stacks : stacks_->Advance(p.stacks, terminal), ClassOf(after));
  };
  const bool free = rules_.has_line_separator ? EndsByLines(p, false)
                                              : HasEnd(p.lexer, p.pending, &ends_met_, EachEnd, ends);
  spent_ = spent;
  free_at_[key].emplace_back(p, free);
  return free;
}

bool Completable::SeparatorEnds(Pending pending) {
  return !pending || pending == after_separator_ || !lexer_->Next(pending, rules_.separator);
}

// Greatest solution of: a rule's state is good for a context if the rule can end from there in some context for which
// every state that it may return to is good.
template <class F>
Completable::Good Completable::FindGood(size_t contexts, F out_of) {
  const std::vector<RuleAutomata::State>& states = rules_.automata->states;
  const uint32_t num_terminals = lexer_->NumTerminals();
  std::vector<std::vector<uint32_t>> returns(rules_.automata->start_of.size());  // by rule
  for (const RuleAutomata::State& s : states)
    for (const RuleAutomata::Arc& arc : s.arcs)
      if (arc.letter >= num_terminals) returns[arc.letter - num_terminals].push_back(arc.state);
  for (std::vector<uint32_t>& r : returns) {
    std::sort(r.begin(), r.end());
    r.erase(std::unique(r.begin(), r.end()), r.end());
  }
  Good all(contexts, std::vector<uint8_t>(states.size(), 1));
  std::vector<std::vector<uint8_t>> back(returns.size(), std::vector<uint8_t>(contexts));  // by rule, by context
  for (bool again = true; again;) {
    again = false;
    for (size_t r = 0; r < returns.size(); ++r)
      for (uint32_t n = 0; n < contexts; ++n) {
        Spend(1 + returns[r].size() / 8);
        back[r][n] = std::all_of(returns[r].begin(), returns[r].end(), [&](uint32_t to) { return all[n][to] != 0; });
      }
    for (uint32_t c = 0; c < contexts; ++c)
      for (uint32_t q = 0; q < states.size(); ++q) {
        if (!all[c][q]) continue;
        const std::vector<uint32_t>& out = out_of(q, c);
        const std::vector<uint8_t>& ends = back[states[q].rule];
        if (std::any_of(out.begin(), out.end(), [&](uint32_t n) { return n < ends.size() && ends[n]; })) continue;
        all[c][q] = 0;
        again = true;
      }
  }
  return all;
}

void Completable::FindAlwaysGood() {
  ClassOf(Lexer::kDead);
  const auto out = [this](uint32_t q, Class context) -> const std::vector<Class>& { return Out(q, context); };
  always_good_ = FindGood(classes_.size() * lines_, out);
}

bool Completable::IsAfterKnown(const Position& p) {
  const uint32_t newline = rules_.indentation ? rules_.indentation->newline : Lexer::kNoTerminal;
  return lexer_->AnyPossible(p.lexer, [&](uint32_t t) {
    if (HasTerminal(rules_.ignored, t) || (t == newline && stacks_->InBrackets(p.stacks))) return true;
    const StackSets::Set after =
        t == newline ? stacks_->Stacks().Advance(stacks_->StacksOf(p.stacks), t) : stacks_->Advance(p.stacks, t);
    return after != ParserStates::kNone && after != ParserStates::kUnknown;
  });
}

bool Completable::EndsByLines(const Position& p, bool whole) {
  if (p.lexer != Position::kBoundary && !IsAfterKnown(p)) return false;
  const bool in_brackets = stacks_->InBrackets(p.stacks);
  const auto kind_of = [&](uint32_t terminal, Pending after, uint64_t* end) {
    Before before = kInLine;
    if (terminal >= lexer_->NumTerminals()) {
      if (after != after_newline_[0] && after != after_newline_[1]) return false;
      before = kBegun;
    } else if (SeparatorEnds(after)) {
      before = kSeparated;
    } else if (lexer_->Next(after, '\n')) {
      return false;
    }
    *end = PairKey(terminal, before);
    return true;
  };
  return HasEnd(p.lexer, p.pending, &line_ends_met_, kind_of, [&](uint32_t terminal, uint32_t before) {
    const bool newline = terminal >= lexer_->NumTerminals();
    const bool stays = HasTerminal(rules_.ignored, terminal) || (newline && in_brackets);
    const ParserStates::Set next = stays ? p.stacks : stacks_->Advance(p.stacks, terminal);
    const bool begun = before == kInLine && stays && in_brackets;
    return CanEndByLines(next, begun ? kBegun : static_cast<Before>(before), whole);
  });
}

bool Completable::EndsText(const Position& p) {
  return HasEnd(p.lexer, p.pending, &ends_met_, EachEnd, [&](uint32_t terminal, Pending) {
    const ParserStates::Set next = HasTerminal(rules_.ignored, terminal) ? p.stacks : stacks_->Advance(p.stacks, terminal);
    return next != ParserStates::kNone && next != ParserStates::kUnknown && stacks_->Accepts(next) == 1;
  });
}

bool Completable::IsStuck(const Position& p) {
  return !HasEnd(p.lexer, p.pending, &ends_met_, EachEnd, [&](uint32_t terminal, Pending after) {
    const bool ignored = HasTerminal(rules_.ignored, terminal);
    const ParserStates::Set next = ignored ? p.stacks : stacks_->Advance(p.stacks, terminal);
    if (next == ParserStates::kNone) return false;
    if (!after || next == ParserStates::kUnknown || stacks_->Accepts(next) != 0) return true;
    const Lexer::State begin = positions_.Begin(next);
    if (!begin) return stacks_->Allowed(next) == ParserStates::kUnknown;
    return HasEnd(begin, after, &ends_met_, EachEnd, [](uint32_t, Pending) { return true; });
  });
}

const std::vector<uint32_t>& Completable::OutByLines(uint32_t state, uint32_t before) {
  return by_lines_.Out(state, before, [this](size_t steps) { Spend(steps); });
}

void Completable::FindGoodByLines() {
  const auto out = [this](uint32_t q, uint32_t n) -> const std::vector<uint32_t>& { return OutByLines(q, n); };
  good_by_lines_ = FindGood(rules_.indentation ? kAfterBlock + 1 : kInLine + 1, out);
}

bool Completable::IsGoodByLines(uint32_t terminal, Pending pending) {
  if (terminal >= lexer_->NumTerminals() || !SeparatorEnds(pending)) return false;  // of newlines the stacks decide
  if (good_by_lines_.empty()) FindGoodByLines();
  constexpr uint8_t kNo = 1, kYes = 2;
  terminal_good_by_lines_.resize(lexer_->NumTerminals(), 0);
  uint8_t& known = terminal_good_by_lines_[terminal];
  if (!known) known = IsGoodAfter(terminal, good_by_lines_[kSeparated]) ? kYes : kNo;
  return known == kYes;
}

bool Completable::CanEndByLines(ParserStates::Set stacks, Before before, bool whole) {
  if (stacks_->HasFewLevels(stacks)) return false;
  if (good_by_lines_.empty()) FindGoodByLines();
  if (IsGoodOn(stacks, good_by_lines_[before])) return true;
  if (!whole || stacks == ParserStates::kNone || stacks == ParserStates::kUnknown) return false;
  return by_lines_.CanEnd(stacks_->StacksOf(stacks), stacks_->Stacks(), before, [this](size_t steps) { Spend(steps); });
}

void Completable::KnowClass(Class pending) {
  // That of a counter and that of the same without it are asked for one after another.
  if (always_good_.empty() || (ContextOf(pending) >= always_good_.size() && lexer_->HasCounters())) FindAlwaysGood();
}

bool Completable::IsAlwaysGoodOn(ParserStates::Set stacks, Class pending) {
  KnowClass(pending);
  return ContextOf(pending) < always_good_.size() && IsGoodOn(stacks, always_good_[ContextOf(pending)]);
}

bool Completable::IsGoodOn(ParserStates::Set stacks, const std::vector<uint8_t>& good) const {
  if (stacks == ParserStates::kNone || stacks == ParserStates::kUnknown || stacks_->HasFewLevels(stacks)) return false;
  const StackSets::Set tops = stacks_->StacksOf(stacks);
  bool on_one = stacks_->Stacks().HasBottom(tops);
  stacks_->Stacks().ForEachTop(tops, [&](uint32_t state, StackSets::Set) { on_one = on_one || good[state]; });
  return on_one;
}

bool Completable::IsAlwaysGood(uint32_t terminal, Class pending) {
  KnowClass(pending);
  if (ContextOf(pending) >= always_good_.size()) return false;
  return Recall(&terminal_good_, {terminal, pending}, [&] { return IsGoodAfter(terminal, always_good_[ContextOf(pending)]); });
}

bool Completable::IsGoodAfter(uint32_t terminal, const std::vector<uint8_t>& good) const {
  if (HasTerminal(rules_.ignored, terminal)) return std::find(good.begin(), good.end(), 0) == good.end();
  for (const RuleAutomata::State& s : rules_.automata->states)
    for (const RuleAutomata::Arc& arc : s.arcs)
      if (arc.letter == terminal && !good[arc.state]) return false;
  return true;
}

bool Completable::SearchPositions(const Position& p) {
  std::vector<Position> queue{p}, next;
  std::unordered_map<uint64_t, std::vector<Position>> seen;
  std::vector<ByteSet> classes;
  const auto add = [&](const Position& q) {
    std::vector<Position>& alike = seen[MixHash(PairKey(q.lexer, q.pending)) ^ q.stacks];
    if (std::find(alike.begin(), alike.end(), q) != alike.end()) return;
    alike.push_back(q);
    queue.push_back(q);
  };
  for (size_t i = 0; i < queue.size(); ++i) {
    const Position q = queue[i];
    Spend(64);
    if (positions_.IsFinal(q)) return true;
    if (i && all_compete_ && all_compete_->Ask(q)) return true;
    if (i && !(fewest_compete_ ? fewest_compete_->Ask(q) : CanEndByColumns(q))) continue;
    const Positions::Ready ready = positions_.Prepare(q);
    positions_.Classes(ready, &classes);
    for (const ByteSet& c : classes) {
      next.clear();
      positions_.Move(ready, c.First(), &next);
      for (const Position& to : next) add(to);
    }
  }
  return false;
}

}  // namespace tokamata
