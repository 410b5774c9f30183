#include "automata/csrc/byte_table.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_set>

#include "automata/csrc/byte_set.h"
#include "automata/csrc/delayed_acceptor.h"
#include "automata/csrc/errors.h"
#include "automata/csrc/fst.h"
#include "automata/csrc/minimize.h"
#include "automata/csrc/time_limit.h"

namespace tokamata {
namespace {

void CheckBytes(const Fst& fst) {
  for (StateId s = 0; s < fst.NumStates(); ++s)
    for (const Arc& a : fst.Arcs(s)) {
      if (a.ilabel != a.olabel)
        throw FstError("from_fst: expected an acceptor, got a transducer (state " + std::to_string(s) + " has the arc " +
                       std::to_string(a.ilabel) + ":" + std::to_string(a.olabel) + "); project it to one side first");
      if (a.ilabel < 0 || a.ilabel > 256)
        throw FstError("from_fst: expected byte labels 0 (epsilon), 1..255 and 256 (NUL), got label " +
                       std::to_string(a.ilabel) + " at state " + std::to_string(s) + "; relabel the acceptor over bytes");
    }
}

[[noreturn]] void TooManyStates(uint32_t limit) {
  throw LimitError("from_fst: the limit states=" + std::to_string(limit) +
                   " was reached while determinizing; pass a smaller acceptor or raise it: tokamata.Limits(states=...)");
}

bool IsDeterministic(const Fst& fst) {
  for (StateId s = 0; s < fst.NumStates(); ++s) {
    ByteSet seen;
    for (const Arc& a : fst.Arcs(s)) {
      const uint8_t byte = static_cast<uint8_t>(a.ilabel);  // NUL is 256
      if (a.ilabel == kEpsilon || seen.Has(byte)) return false;
      seen.Add(byte);
    }
  }
  return true;
}

// State s of the machine becomes state s + 1.
uint32_t CopyStates(const Fst& fst, uint32_t limit, ByteTable* table) {
  if (static_cast<uint64_t>(fst.NumStates()) >= limit) TooManyStates(limit);
  table->next.resize((static_cast<size_t>(fst.NumStates()) + 1) * 256, 0);
  for (StateId s = 0; s < fst.NumStates(); ++s) {
    table->final.push_back(fst.IsFinal(s));
    uint32_t* row = table->next.data() + (static_cast<size_t>(s) + 1) * 256;
    for (const Arc& a : fst.Arcs(s))
      if (a.weight != fst.Zero()) row[static_cast<uint8_t>(a.ilabel)] = static_cast<uint32_t>(a.nextstate) + 1;
  }
  return static_cast<uint32_t>(fst.Start()) + 1;
}

// Sets of states become states (subset construction).
uint32_t DeterminizeStates(const Fst& fst, uint32_t limit, ByteTable* table) {
  std::map<std::vector<StateId>, uint32_t> known;
  std::vector<std::vector<StateId>> sets{{}};
  const auto intern = [&](std::vector<StateId> set) -> uint32_t {
    std::vector<StateId> stack = set;  // epsilon closure
    std::unordered_set<StateId> in(set.begin(), set.end());
    while (!stack.empty()) {
      const StateId s = stack.back();
      stack.pop_back();
      for (const Arc& a : fst.Arcs(s))
        if (a.ilabel == kEpsilon && a.weight != fst.Zero() && in.insert(a.nextstate).second) {
          stack.push_back(a.nextstate);
          set.push_back(a.nextstate);
        }
    }
    std::sort(set.begin(), set.end());
    set.erase(std::unique(set.begin(), set.end()), set.end());
    const auto [it, added] = known.emplace(set, static_cast<uint32_t>(sets.size()));
    if (added) {
      if (sets.size() >= limit) TooManyStates(limit);
      table->final.push_back(std::any_of(set.begin(), set.end(), [&](StateId s) { return fst.IsFinal(s); }));
      sets.push_back(std::move(set));
      table->next.resize(table->next.size() + 256, 0);
    }
    return it->second;
  };
  const uint32_t start = intern({fst.Start()});
  for (uint32_t q = 1; q < sets.size(); ++q) {
    std::map<uint8_t, std::vector<StateId>> by_byte;
    for (StateId s : sets[q])
      for (const Arc& a : fst.Arcs(s))
        if (a.ilabel != kEpsilon && a.weight != fst.Zero()) by_byte[static_cast<uint8_t>(a.ilabel)].push_back(a.nextstate);
    for (auto& [byte, set] : by_byte) {
      const uint32_t target = intern(std::move(set));
      table->next[size_t{q} * 256 + byte] = target;
    }
  }
  return start;
}

// Sends every arc into a state that cannot reach a final one to the dead state; returns the start if it is alive.
uint32_t Trim(uint32_t start, ByteTable* table) {
  const uint32_t count = static_cast<uint32_t>(table->final.size());
  std::vector<std::vector<uint32_t>> before(count);
  for (uint32_t q = 1; q < count; ++q)
    for (size_t b = 0; b < 256; ++b)
      if (const uint32_t t = table->next[size_t{q} * 256 + b])
        if (before[t].empty() || before[t].back() != q) before[t].push_back(q);
  std::vector<uint8_t> alive(table->final);
  std::vector<uint32_t> stack;
  for (uint32_t q = 1; q < count; ++q)
    if (alive[q]) stack.push_back(q);
  while (!stack.empty()) {
    const uint32_t q = stack.back();
    stack.pop_back();
    for (uint32_t p : before[q])
      if (!alive[p]) {
        alive[p] = 1;
        stack.push_back(p);
      }
  }
  for (uint32_t& t : table->next)
    if (!alive[t]) t = 0;
  return alive[start] ? start : 0;
}

}  // namespace

uint32_t TableOfFst(const Fst& fst, uint32_t most_states, ByteTable* table) {
  CheckBytes(fst);
  table->next.assign(256, 0);
  table->final.assign(1, 0);
  if (fst.Start() == kNoState) return 0;
  const uint32_t start = IsDeterministic(fst) ? CopyStates(fst, most_states, table) : DeterminizeStates(fst, most_states, table);
  return Trim(start, table);
}

namespace {

// Bytes that no state of an acceptor tells apart, numbered by their least member.
struct ByteClasses {
  uint8_t of[256] = {};
  std::vector<ByteSet> sets{ByteSet::All()};

  void Refine(const StateRow& row) {
    bool again = false;
    for (const ByteSet& set : sets) {
      const DelayedAcceptor::State first = row[set.First()];
      set.ForEach([&](uint8_t b) { again = again || row[b] != first; });
      if (again) break;
    }
    if (!again) return;
    std::map<std::pair<uint8_t, DelayedAcceptor::State>, size_t> known;
    std::vector<ByteSet> refined;
    for (int b = 0; b < 256; ++b) {
      const auto [it, added] = known.emplace(std::make_pair(of[b], row[b]), refined.size());
      if (added) refined.emplace_back();
      refined[it->second].Add(static_cast<uint8_t>(b));
    }
    sets.swap(refined);
    for (size_t c = 0; c < sets.size(); ++c) sets[c].ForEach([&](uint8_t b) { of[b] = static_cast<uint8_t>(c); });
  }
};

}  // namespace

uint32_t MinimalTable(DelayedAcceptor* acceptor, ByteTable* table) {
  table->next.assign(256, 0);
  table->final.assign(1, 0);
  if (!acceptor->Start()) return 0;
  std::vector<DelayedAcceptor::State> states{acceptor->Start()};
  std::vector<StateId> index;  // by acceptor state: its place in `states`, or kNoState
  ByteClasses classes;
  for (size_t i = 0; i < states.size(); ++i) {
    TimeLimit::Spend(8);
    const StateRow row = acceptor->Row(states[i]);
    classes.Refine(row);
    if (index.size() < acceptor->NumStates()) index.resize(std::max<size_t>(acceptor->NumStates(), 2 * index.size()), kNoState);
    if (i == 0) index[states[0]] = 0;
    acceptor->Live(states[i]).ForEach([&](uint8_t b) {
      if (index[row[b]] != kNoState) return;
      index[row[b]] = static_cast<StateId>(states.size());
      states.push_back(row[b]);
    });
  }
  Fst fst(SemiringKind::kTropical);  // over classes: label c + 1
  fst.AddStates(states.size());
  fst.SetStart(0);
  for (size_t i = 0; i < states.size(); ++i) {
    TimeLimit::Spend(8);
    const StateId s = static_cast<StateId>(i);
    if (acceptor->IsFinal(states[i])) fst.SetFinal(s, fst.One());
    const StateRow row = acceptor->Row(states[i]);
    for (size_t c = 0; c < classes.sets.size(); ++c)
      if (const DelayedAcceptor::State q = row[classes.sets[c].First()]) {
        const Label label = static_cast<Label>(c + 1);
        fst.AddArc(s, {label, label, fst.One(), index[q]});
      }
  }
  Minimize(&fst);
  // Numbered by breadth-first search in the order of bytes, so that equal languages have equal tables.
  std::vector<StateId> order{fst.Start()};
  std::vector<uint32_t> number(static_cast<size_t>(fst.NumStates()), 0);
  number[static_cast<size_t>(fst.Start())] = 1;
  table->next.resize((static_cast<size_t>(fst.NumStates()) + 1) * 256, 0);
  for (size_t i = 0; i < order.size(); ++i) {
    table->final.push_back(fst.IsFinal(order[i]));
    uint32_t* row = table->next.data() + (i + 1) * 256;
    for (const Arc& a : fst.Arcs(order[i])) {
      uint32_t& target = number[static_cast<size_t>(a.nextstate)];
      if (!target) {
        order.push_back(a.nextstate);
        target = static_cast<uint32_t>(order.size());
      }
      classes.sets[static_cast<size_t>(a.ilabel) - 1].ForEach([&](uint8_t b) { row[b] = target; });
    }
  }
  return 1;
}

}  // namespace tokamata
