#include "constraints/csrc/letter_automaton.h"

#include <algorithm>
#include <numeric>

#include "automata/csrc/id_table.h"
#include "automata/csrc/partition.h"
#include "automata/csrc/time_limit.h"

namespace tokamata {
namespace {

constexpr uint32_t kNone = 0xffffffff;

class Reducer {
 public:
  Reducer(const LetterNet& net, size_t most_states) : net_(net), most_states_(most_states) { SortArcs(); }

  bool Run(LetterAutomaton* out) {
    const bool small = Determinize(out);
    if (!small) RemoveEpsilons(out);
    DropEmptyText(out);
    Trim(out);
    if (small) Minimize(out);
    return small;
  }

 private:
  using States = std::vector<uint32_t>;  // of the net, sorted

  // Arcs by state: epsilons, then the others by letter.
  void SortArcs() {
    const size_t n = net_.final.size();
    first_.assign(n + 1, 0);
    for (const LetterNet::Arc& arc : net_.arcs) ++first_[arc.from + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    arcs_.resize(net_.arcs.size());
    States next(first_.begin(), first_.end() - 1);
    for (const LetterNet::Arc& arc : net_.arcs) arcs_[next[arc.from]++] = {arc.letter + 1, arc.to};  // epsilon: 0
    for (size_t s = 0; s < n; ++s) {
      const auto begin = arcs_.begin() + first_[s], end = arcs_.begin() + first_[s + 1];
      if (!std::is_sorted(begin, end)) std::sort(begin, end);
    }
    seen_.assign(n, 0);
  }

  // The states that states reach by epsilons, but for those from which epsilons are all there is.
  void Close(States* states) {
    ++time_;
    States work;
    for (const uint32_t s : *states) {
      if (seen_[s] == time_) continue;
      seen_[s] = time_;
      work.push_back(s);
    }
    states->clear();
    while (!work.empty()) {
      const uint32_t s = work.back();
      work.pop_back();
      uint32_t i = first_[s];
      for (; i < first_[s + 1] && arcs_[i].letter == 0; ++i)
        if (seen_[arcs_[i].state] != time_) {
          seen_[arcs_[i].state] = time_;
          work.push_back(arcs_[i].state);
        }
      if (i < first_[s + 1] || net_.final[s]) states->push_back(s);
    }
    std::sort(states->begin(), states->end());
  }

  uint32_t Intern(const States& states) {
    uint64_t hash = states.size();
    for (const uint32_t s : states) hash = MixHash(hash ^ s) + 0x9e3779b97f4a7c15ull;
    const StateId known = table_.Find(hash, [&](StateId id) {
      const Span<const uint32_t> members = Members(static_cast<uint32_t>(id));
      return std::equal(members.begin(), members.end(), states.begin(), states.end());
    });
    if (known != kNoState) return static_cast<uint32_t>(known);
    const uint32_t id = static_cast<uint32_t>(ends_.size() - 1);
    members_.insert(members_.end(), states.begin(), states.end());
    ends_.push_back(members_.size());
    table_.Insert(hash, static_cast<StateId>(id));
    return id;
  }
  Span<const uint32_t> Members(uint32_t id) const { return {members_.data() + ends_[id], ends_[id + 1] - ends_[id]}; }

  // Subset construction.
  bool Determinize(LetterAutomaton* out) {
    States single(net_.final.size(), kNone);  // the subset that a state leads to alone
    States states{net_.start};
    Close(&states);
    Intern(states);
    std::vector<LetterArc> arcs;
    for (uint32_t id = 0; id + 1 < ends_.size(); ++id) {
      if (ends_.size() > most_states_ + 1) return false;
      uint8_t final = 0;
      arcs.clear();
      for (const uint32_t s : Members(id)) {
        final |= net_.final[s];
        for (uint32_t i = first_[s]; i < first_[s + 1]; ++i)
          if (arcs_[i].letter) arcs.push_back(arcs_[i]);
      }
      TimeLimit::Spend(static_cast<int64_t>(1 + arcs.size() / 8));
      if (!std::is_sorted(arcs.begin(), arcs.end())) std::sort(arcs.begin(), arcs.end());
      for (size_t i = 0, end; i < arcs.size(); i = end) {
        for (end = i + 1; end < arcs.size() && arcs[end].letter == arcs[i].letter;) ++end;
        const bool one = arcs[end - 1].state == arcs[i].state;
        uint32_t target = one ? single[arcs[i].state] : kNone;
        if (target == kNone) {
          states.clear();
          for (size_t j = i; j < end; ++j) states.push_back(arcs[j].state);
          Close(&states);
          target = Intern(states);
          if (one) single[arcs[i].state] = target;
        }
        out->arcs.push_back({arcs[i].letter - 1, target});
      }
      out->final.push_back(final);
      out->first.push_back(static_cast<uint32_t>(out->arcs.size()));
    }
    return true;
  }

  // The same states with the arcs of all they reach by epsilons.
  void RemoveEpsilons(LetterAutomaton* out) {
    *out = LetterAutomaton();
    States number(net_.final.size(), kNone), order{net_.start}, states;
    number[net_.start] = 0;
    for (size_t at = 0; at < order.size(); ++at) {
      states.assign(1, order[at]);
      Close(&states);
      std::vector<LetterArc> arcs;
      uint8_t final = 0;
      for (const uint32_t s : states) {
        final |= net_.final[s];
        for (uint32_t i = first_[s]; i < first_[s + 1]; ++i)
          if (arcs_[i].letter) arcs.push_back({arcs_[i].letter - 1, arcs_[i].state});
      }
      TimeLimit::Spend(static_cast<int64_t>(1 + arcs.size() / 8));
      for (LetterArc& arc : arcs) {
        if (number[arc.state] == kNone) {
          number[arc.state] = static_cast<uint32_t>(order.size());
          order.push_back(arc.state);
        }
        arc.state = number[arc.state];
      }
      std::sort(arcs.begin(), arcs.end());
      arcs.erase(std::unique(arcs.begin(), arcs.end()), arcs.end());
      out->arcs.insert(out->arcs.end(), arcs.begin(), arcs.end());
      out->final.push_back(final);
      out->first.push_back(static_cast<uint32_t>(out->arcs.size()));
    }
  }

  static void DropEmptyText(LetterAutomaton* fa) {
    if (!fa->final[0]) return;
    const bool entered = std::any_of(fa->arcs.begin(), fa->arcs.end(), [](const LetterArc& arc) { return arc.state == 0; });
    if (!entered) {
      fa->final[0] = 0;
      return;
    }
    // The start moves to a new state in its place; its old one becomes the last.
    const uint32_t old = fa->NumStates();
    for (LetterArc& arc : fa->arcs)
      if (arc.state == 0) arc.state = old;
    const std::vector<LetterArc> arcs(fa->arcs.begin(), fa->arcs.begin() + fa->first[1]);
    fa->arcs.insert(fa->arcs.end(), arcs.begin(), arcs.end());
    fa->first.push_back(static_cast<uint32_t>(fa->arcs.size()));
    fa->final.push_back(1);
    fa->final[0] = 0;
    for (uint32_t s = 0; s <= old; ++s) std::sort(fa->arcs.begin() + fa->first[s], fa->arcs.begin() + fa->first[s + 1]);
  }

  // Incoming arcs by state, as numbers.
  static void Incoming(const LetterAutomaton& fa, States* first, States* incoming) {
    first->assign(fa.NumStates() + 1, 0);
    for (const LetterArc& arc : fa.arcs) ++(*first)[arc.state + 1];
    std::partial_sum(first->begin(), first->end(), first->begin());
    States next(first->begin(), first->end() - 1);
    incoming->resize(fa.arcs.size());
    for (uint32_t i = 0; i < fa.arcs.size(); ++i) (*incoming)[next[fa.arcs[i].state]++] = i;
  }

  static States Tails(const LetterAutomaton& fa) {
    States tails;
    tails.reserve(fa.arcs.size());
    for (uint32_t s = 0; s < fa.NumStates(); ++s) tails.insert(tails.end(), fa.first[s + 1] - fa.first[s], s);
    return tails;
  }

  // Drops states that reach no end.
  static void Trim(LetterAutomaton* fa) {
    States first, incoming, work;
    Incoming(*fa, &first, &incoming);
    const States tails = Tails(*fa);
    std::vector<uint8_t> useful(fa->NumStates(), 0);
    for (uint32_t s = 0; s < fa->NumStates(); ++s)
      if (fa->final[s]) {
        useful[s] = 1;
        work.push_back(s);
      }
    while (!work.empty()) {
      const uint32_t s = work.back();
      work.pop_back();
      for (uint32_t i = first[s]; i < first[s + 1]; ++i) {
        const uint32_t from = tails[incoming[i]];
        if (useful[from]) continue;
        useful[from] = 1;
        work.push_back(from);
      }
    }
    useful[0] = 1;
    if (std::find(useful.begin(), useful.end(), 0) == useful.end()) return;
    Renumber(fa, useful, [](uint32_t s) { return s; });
  }

  // Keeps the states that are marked, breadth-first from the start, with arcs to target(state) where that is marked.
  template <class F>
  static void Renumber(LetterAutomaton* fa, const std::vector<uint8_t>& kept, F target) {
    LetterAutomaton out;
    States number(fa->NumStates(), kNone), order{0};
    number[0] = 0;
    out.arcs.reserve(fa->arcs.size());
    for (size_t at = 0; at < order.size(); ++at) {
      const size_t begin = out.arcs.size();
      for (const LetterArc& arc : fa->Arcs(order[at])) {
        const uint32_t to = target(arc.state);
        if (!kept[to]) continue;
        if (number[to] == kNone) {
          number[to] = static_cast<uint32_t>(order.size());
          order.push_back(to);
        }
        out.arcs.push_back({arc.letter, number[to]});
      }
      std::sort(out.arcs.begin() + static_cast<std::ptrdiff_t>(begin), out.arcs.end());
      out.final.push_back(fa->final[order[at]]);
      out.first.push_back(static_cast<uint32_t>(out.arcs.size()));
    }
    *fa = std::move(out);
  }

  static void Minimize(LetterAutomaton* fa) {
    const uint32_t n = fa->NumStates();
    // Arcs in classes by letter.
    std::vector<StateId> arc_class(fa->arcs.size()), class_of, state_class(fa->final.begin(), fa->final.end());
    StateId classes = 0;
    for (size_t i = 0; i < fa->arcs.size(); ++i) {
      const uint32_t letter = fa->arcs[i].letter;
      if (letter >= class_of.size()) class_of.resize(letter + 1, kNoState);
      if (class_of[letter] == kNoState) class_of[letter] = classes++;
      arc_class[i] = class_of[letter];
    }
    const bool mixed = std::find(fa->final.begin(), fa->final.end(), 0) != fa->final.end();
    if (!mixed) std::fill(state_class.begin(), state_class.end(), 0);
    States first, incoming;
    Incoming(*fa, &first, &incoming);
    const States tails = Tails(*fa);
    Partition states(state_class, mixed ? 2 : 1), arcs(arc_class, classes);
    size_t block = 1;  // arcs need not be split by the first block: the others tell the same
    for (size_t cord = 0; cord < arcs.NumSets(); ++cord) {
      for (const uint32_t i : arcs.Set(cord)) states.Mark(tails[i]);
      states.Split();
      for (; block < states.NumSets(); ++block) {
        for (const uint32_t s : states.Set(block))
          for (uint32_t k = first[s]; k < first[s + 1]; ++k) arcs.Mark(incoming[k]);
        arcs.Split();
      }
    }
    // Each block's representative; of the start's, the start.
    States representative(states.NumSets(), kNone);
    for (uint32_t s = 0; s < n; ++s) {
      uint32_t& r = representative[static_cast<size_t>(states.SetOf(s))];
      if (r == kNone) r = s;
    }
    Renumber(fa, std::vector<uint8_t>(n, 1),
             [&](uint32_t s) { return representative[static_cast<size_t>(states.SetOf(s))]; });
  }

  const LetterNet& net_;
  const size_t most_states_;
  States first_;
  std::vector<LetterArc> arcs_;  // letters plus one; epsilon is 0
  std::vector<uint32_t> seen_;
  uint32_t time_ = 0;
  IdTable table_;
  States members_;
  std::vector<size_t> ends_{0};
};

}  // namespace

bool Reduce(const LetterNet& net, size_t most_states, LetterAutomaton* out) {
  LetterAutomaton made;
  const bool small = Reducer(net, most_states).Run(&made);
  *out = std::move(made);
  return small;
}

}  // namespace tokamata
