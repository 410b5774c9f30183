// Arrays that owe many things: elements are told apart by what they settle, and whether all can still be settled is a
// search that tries no state twice.
#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "automata/csrc/errors.h"
#include "automata/csrc/time_limit.h"
#include "constraints/csrc/json_schema_rules.h"

namespace tokamata {
namespace {

uint32_t Less(uint32_t a, uint32_t b) { return a == kUnbounded ? a : a - std::min(a, b); }

template <class F>
void ForEachBit(uint64_t bits, F f) {
  for (; bits; bits &= bits - 1) f(static_cast<uint32_t>(__builtin_ctzll(bits)));
}

// Whether a kind of elements is as good as another one wherever it stands: it settles as much of what is wanted, and takes
// no room that the other one does not take.
struct Worth {
  uint64_t owed, wanted, bounded;  // the last two of contains
  template <class Kind>
  bool AsGood(const Kind& a, const Kind& b) const {
    return !(b.owed & owed & ~a.owed) && !(b.seen & wanted & ~a.seen) && !(a.seen & bounded & ~b.seen);
  }
  template <class Kind>
  int Of(const Kind& k) const {
    return __builtin_popcountll(k.owed & owed) + __builtin_popcountll(k.seen & wanted);
  }
};

// Each once, those that settle most first.
template <class Kind>
void KeepDistinct(std::vector<Kind>* kinds) {
  constexpr Worth kAll{~uint64_t{0}, ~uint64_t{0}, 0};
  std::sort(kinds->begin(), kinds->end(), [&](const Kind& a, const Kind& b) {
    return std::make_tuple(-kAll.Of(a), a.owed, a.seen) < std::make_tuple(-kAll.Of(b), b.owed, b.seen);
  });
  const auto same = [](const Kind& a, const Kind& b) { return a.owed == b.owed && a.seen == b.seen; };
  kinds->erase(std::unique(kinds->begin(), kinds->end(), same), kinds->end());
}

// Without those as good as which there is another one.
template <class Kind>
void KeepBest(const Worth& worth, std::vector<Kind>* kinds) {
  KeepDistinct(kinds);
  std::vector<Kind> best;
  for (int round = 0; round < 2; ++round) {  // what settles less may take less room
    best.clear();
    for (const Kind& k : *kinds) {
      TimeLimit::Spend(static_cast<int64_t>(1 + best.size() / 16));
      if (std::none_of(best.begin(), best.end(), [&](const Kind& b) { return worth.AsGood(b, k); })) best.push_back(k);
    }
    std::reverse(best.begin(), best.end());
    kinds->swap(best);
  }
}

}  // namespace

// What makes an element settle a demand: of owed ones the first, then of contains; nothing where no element does.
std::optional<SignedUse> JsonSchemaRules::SettlingUse(const ArrayPlan& p, uint32_t index, uint32_t demand) {
  if (demand >= p.owed.size()) return SignedUse{p.contains[demand - p.owed.size()].a, true};
  const std::vector<UseId> uses = cases_.AppliedToItem(GroupOf(p.owed[demand]), index);
  if (uses.empty()) return std::nullopt;
  return SignedUse{uses[0], false};  // there is one at most
}

// Whether elements that settle a demand are told from all others, else only from all: that is as good where they are to
// be at least so many. To tell objects from others is to name keys, which come first in the schema's order: there only
// where they would be too many otherwise.
bool JsonSchemaRules::IsToldApart(const ArrayPlan& p, uint32_t demand) {
  constexpr uint32_t kDeepest = 2;  // members of members of elements
  constexpr size_t kManyContains = 12;
  if (demand < p.owed.size()) return true;
  const Demand& d = p.contains[demand - p.owed.size()];
  const bool deeper = options_.key_order != KeyOrder::kSchema || p.contains.size() > kManyContains;
  return d.c != kUnbounded || cases_.NegatesEasily(d.a, deeper ? kDeepest : 0);
}

// The values that an element may have at an index, told apart by what they settle.
std::vector<JsonSchemaRules::ElementKind> JsonSchemaRules::FindKinds(uint32_t plan, uint32_t index) {
  constexpr size_t kMostKinds = 1 << 14;
  const ArrayPlan& p = arrays_[plan];  // stays where it is
  std::vector<ElementKind> kinds;
  const auto add = [&](SetId value, uint32_t choice) {
    if (Inhabited(value)) kinds.push_back({value, 0, 0, choice});
  };
  const bool listed = p.unique || p.repeated;
  if (!listed) add(p.values[index], kUnbounded);
  if (listed && p.values[index] != kNoValue)
    for (uint32_t c = 0; c < p.choices.size(); ++c) add(sets_.And(p.values[index], SignedUse{p.choices[c], true}), c);
  for (uint32_t demand = 0; demand < p.owed.size() + p.contains.size(); ++demand) {
    const std::optional<SignedUse> settling = SettlingUse(p, index, demand);
    if (!settling) continue;
    const bool apart = IsToldApart(p, demand), is_owed = demand < p.owed.size();
    for (size_t k = 0, n = kinds.size(); k < n; ++k) {
      TimeLimit::Spend(4);
      const SetId value = kinds[k].value;
      const SetId yes = sets_.And(value, *settling);
      const bool some = Inhabited(yes);
      bool others = true;
      if (some && kinds[k].choice != kUnbounded) {  // of one value there are no others
        others = false;
        if (!IsKnown(yes, Known::kYes)) kinds[k].value = yes;
      } else if (apart && (some || !IsKnown(yes, Known::kNo))) {  // else it is the same set
        const SetId no = sets_.And(value, SignedUse{settling->use, !settling->positive});
        others = Inhabited(no);
        if (others || !some || !IsKnown(no, Known::kNo)) kinds[k].value = others ? no : some ? yes : SetId{kNoValue};
      }
      if (!some) continue;
      if (others) kinds.push_back({yes, kinds[k].owed, kinds[k].seen, kinds[k].choice});
      ElementKind& settled = others ? kinds.back() : kinds[k];
      (is_owed ? settled.owed : settled.seen) |= OwedBit(is_owed ? demand : demand - p.owed.size());
    }
    const auto none = [](const ElementKind& k) { return k.value == kNoValue; };
    kinds.erase(std::remove_if(kinds.begin(), kinds.end(), none), kinds.end());
    if (kinds.size() > kMostKinds)
      throw LimitError("json_schema: the limit kinds=" + std::to_string(kMostKinds) +
                       " was reached: elements that settle different ones of what contains and negated schemas ask for; "
                       "ask for fewer that one element may settle together, or tell them apart by a key with different "
                       "constants");
  }
  return kinds;
}

// The same, found once where no open question matters; nothing is certain where one does.
JsonSchemaRules::ElementKinds JsonSchemaRules::KindsOf(uint32_t plan, uint32_t index, bool* certain) {
  *certain = true;
  const uint64_t key = PairKey(plan, index);
  if (const auto known = kinds_of_->find(key); known != kinds_of_->end()) return known->second;
  const uint32_t outer_lowest = std::exchange(lowest_, kNoQuestion);
  const bool outer_assumed = std::exchange(assumed_, false);
  ElementKinds kinds;
  kinds.all = std::make_shared<const std::vector<ElementKind>>(FindKinds(plan, index));
  kinds.best = kinds.all;
  const ArrayPlan& p = arrays_[plan];  // stays where it is
  if (!p.unique && !p.repeated) {
    Worth worth{kAllOwed, kAllOwed, 0};
    for (size_t i = 0; i < p.contains.size(); ++i)
      if (p.contains[i].c != kUnbounded) worth.bounded |= OwedBit(i);
    std::vector<ElementKind> best = *kinds.all;
    KeepBest(worth, &best);
    kinds.best = std::make_shared<const std::vector<ElementKind>>(std::move(best));
  }
  *certain = lowest_ == kNoQuestion && !assumed_;
  if (*certain) kinds_of_->emplace(key, kinds);
  lowest_ = std::min(lowest_, outer_lowest);
  assumed_ = assumed_ || outer_assumed;
  return kinds;
}

// Elements that make no difference to what is open are one kind: what it settles of that, and what it does not, as far as
// the latter is told apart and does not follow from the former.
SetId JsonSchemaRules::ValueOfKind(uint32_t plan, uint32_t index, const std::vector<ElementKind>& all, const ElementKind& kind,
                                   Owed open, Owed counted) {
  const ArrayPlan& p = arrays_[plan];  // stays where it is
  constexpr size_t kFewKinds = 200;
  const bool few = all.size() <= kFewKinds;
  std::vector<const ElementKind*> like;  // where they are few, those that are not yet told from it
  for (size_t k = 0; few && k < all.size(); ++k) like.push_back(&all[k]);
  SetId value = p.values[index];
  const auto tell = [&](bool settled) {
    for (uint32_t demand = 0; demand < p.owed.size() + p.contains.size(); ++demand) {
      const bool is_owed = demand < p.owed.size();
      const Owed bit = OwedBit(is_owed ? demand : demand - p.owed.size());
      const auto has = [&](const ElementKind& k) { return ((is_owed ? k.owed : k.seen) & bit) != 0; };
      if (!((is_owed ? open : counted) & bit) || has(kind) != settled || (!settled && !IsToldApart(p, demand))) continue;
      const auto other = [&](const ElementKind* k) { return has(*k) != settled; };
      const auto end = std::remove_if(like.begin(), like.end(), other);
      if (few && end == like.end()) continue;
      like.erase(end, like.end());
      const std::optional<SignedUse> settling = SettlingUse(p, index, demand);
      if (settling) value = sets_.And(value, SignedUse{settling->use, settling->positive == settled});
    }
  };
  tell(true);
  tell(false);
  return value;
}

// The elements that may come next where there are many things to settle; `base`: the state after one that settles none.
void JsonSchemaRules::ElementsApart(const ArrayState& s, const ArrayState& base, std::vector<Element>* out) {
  const ArrayPlan& p = arrays_[s.plan];  // stays where it is
  const std::vector<uint32_t> counts = sets_.lists.Copy(s.counts);
  const auto used = counts.begin() + static_cast<std::ptrdiff_t>(p.contains.size());
  Owed counted = 0;
  for (size_t i = 0; i < p.contains.size(); ++i)
    if (p.contains[i].c != kUnbounded || counts[i] < p.contains[i].b) counted |= OwedBit(i);
  bool certain;
  const std::shared_ptr<const std::vector<ElementKind>> kinds = KindsOf(s.plan, s.index, &certain).all;
  std::set<std::pair<Owed, Owed>> seen;
  for (const ElementKind& kind : *kinds) {
    TimeLimit::Spend(1);
    const bool listed = kind.choice != kUnbounded;
    if (certain && !listed && !seen.insert({kind.owed & s.owed, kind.seen & counted}).second) continue;
    Element e{kind.value, base};
    e.next.owed = s.owed & ~kind.owed;
    std::vector<uint32_t> next = counts;
    bool possible = true;
    ForEachBit(kind.seen & counted, [&](uint32_t i) { possible = possible && next[i]++ < p.contains[i].c; });
    if (listed) {
      const bool again = std::binary_search(used, counts.end(), kind.choice);
      possible = possible && !(again && p.unique);
      if (again) e.next.owed &= ~kRepeatedBit;
      if (!again) next.insert(std::lower_bound(next.begin() + (used - counts.begin()), next.end(), kind.choice), kind.choice);
    }
    if (!possible) continue;
    e.next.counts = next == counts ? s.counts : sets_.lists.Intern(next);
    if (!ArrayInhabited(e.next)) continue;
    if (certain && !listed) e.value = ValueOfKind(s.plan, s.index, *kinds, kind, s.owed & ~kRepeatedBit, counted);
    out->push_back(e);
  }
}

// Whether elements still to come can settle what is owed. Those with a schema of their own are tried one after the
// other; of all others only how many there are of each kind makes a difference.
struct JsonSchemaRules::SettlingElements {
  struct Kind {
    Owed owed, seen;
    uint32_t choice;
    uint32_t times;  // how many such elements there may be
    bool operator==(const Kind& o) const { return owed == o.owed && seen == o.seen && choice == o.choice; }
  };
  struct Left {  // to be settled
    Owed owed;
    bool repeated;
    uint32_t low, high;
    std::vector<uint32_t> need, room;  // by contains: elements that must, and that may follow it
    std::vector<uint32_t> used;        // choices, sorted; then, of kinds, 1 where one occurred
  };
  JsonSchemaRules& rules;
  const ArrayPlan& plan;
  const bool listed;
  Owed bounded = 0;  // contains with room for so many
  std::vector<std::vector<Kind>> kinds;  // by index, from that of the state on
  std::vector<std::vector<Kind>> ahead;  // what may come from an index on, each kind once
  size_t alike = 0;  // from which index on all are alike
  std::vector<uint32_t> tail_words;  // the kinds of elements from there on
  std::set<std::vector<uint32_t>> tried;

  SettlingElements(JsonSchemaRules* owner, const ArrayPlan& p) : rules(*owner), plan(p), listed(p.unique || p.repeated) {}

  bool Any(const ArrayState& s) {
    const std::vector<uint32_t> counts = rules.sets_.lists.Copy(s.counts);
    Left left{s.owed & ~kRepeatedBit, (s.owed & kRepeatedBit) != 0, s.low, s.high, {}, {}, {}};
    Owed counted = 0;
    for (size_t i = 0; i < plan.contains.size(); ++i) {
      const Demand& d = plan.contains[i];
      left.need.push_back(Less(d.b, counts[i]));
      left.room.push_back(Less(d.c, counts[i]));
      if (left.need[i] || d.c != kUnbounded) counted |= OwedBit(i);
      if (d.c != kUnbounded) bounded |= OwedBit(i);
    }
    left.used.assign(counts.begin() + static_cast<std::ptrdiff_t>(plan.contains.size()), counts.end());
    const size_t last = plan.values.size() - 1;
    for (size_t i = s.index; i <= last; ++i) {
      kinds.emplace_back();
      if (left.high != kUnbounded && i - s.index >= left.high) break;
      bool certain;
      const auto best = rules.KindsOf(s.plan, static_cast<uint32_t>(i), &certain).best;
      for (const ElementKind& k : *best) kinds.back().push_back({k.owed & left.owed, k.seen & counted, k.choice, kUnbounded});
      if (!listed) KeepBest(Worth{left.owed, counted, bounded}, &kinds.back());
    }
    while (!kinds.empty() && kinds.back().empty()) {
      kinds.pop_back();
      left.high = std::min(left.high, static_cast<uint32_t>(kinds.size()));
    }
    if (left.low > left.high) return false;
    if (kinds.empty()) return Settled(left);
    ahead = kinds;
    for (size_t i = kinds.size() - 1; i-- > 0;) {
      ahead[i].insert(ahead[i].end(), ahead[i + 1].begin(), ahead[i + 1].end());
      KeepDistinct(&ahead[i]);
    }
    alike = kinds.size() - 1;
    while (alike && kinds[alike - 1] == kinds[alike]) --alike;
    return From(0, left);
  }

  static bool Settled(const Left& left) {
    return !left.owed && !left.repeated && !left.low && std::all_of(left.need.begin(), left.need.end(), [](uint32_t n) { return !n; });
  }

  uint32_t Needed(const Left& left, uint32_t demand) const {
    return demand < 64 ? left.owed >> demand & 1 : left.need[demand - 64];
  }
  static bool Settles(const Kind& k, uint32_t demand) { return (demand < 64 ? k.owed >> demand : k.seen >> (demand - 64)) & 1; }

  // Owed demands, then contains.
  std::vector<uint32_t> Open(const Left& left) const {
    std::vector<uint32_t> open;
    ForEachBit(left.owed, [&](uint32_t i) { open.push_back(i); });
    for (uint32_t i = 0; i < left.need.size(); ++i)
      if (left.need[i]) open.push_back(64 + i);
    return open;
  }

  Worth WorthOf(const Left& left) const {
    Worth worth{left.owed, 0, bounded};
    for (uint32_t i = 0; i < left.need.size(); ++i)
      if (left.need[i]) worth.wanted |= OwedBit(i);
    return worth;
  }

  // How many elements of a kind there may be.
  uint32_t Most(const Left& left, const Kind& k) const {
    uint32_t most = std::min(left.high, k.times);
    ForEachBit(k.seen, [&](uint32_t i) { most = std::min(most, left.room[i]); });
    return most;
  }

  void Take(Left* left, const Kind& k, uint32_t times) const {
    left->owed &= ~k.owed;
    ForEachBit(k.seen, [&](uint32_t i) {
      left->need[i] = Less(left->need[i], times);
      left->room[i] = Less(left->room[i], times);
    });
    left->low = Less(left->low, times);
    left->high = Less(left->high, times);
  }

  std::vector<uint32_t> WordsOf(size_t index, const Left& left, const std::vector<Kind>* tail) const {
    std::vector<uint32_t> words{static_cast<uint32_t>(index), static_cast<uint32_t>(left.owed), static_cast<uint32_t>(left.owed >> 32),
                                left.repeated, left.low, left.high};
    words.insert(words.end(), left.need.begin(), left.need.end());
    words.insert(words.end(), left.room.begin(), left.room.end());
    words.insert(words.end(), left.used.begin(), left.used.end());
    if (tail)
      for (const Kind& k : *tail) words.push_back(k.times);
    return words;
  }

  // Whether too many elements are needed: for demands of which no kind settles two.
  bool TooMany(const Left& left, const std::vector<uint32_t>& open, const std::vector<Kind>& some) const {
    uint64_t least = 0;
    std::vector<uint8_t> taken(some.size(), 0);
    std::vector<std::pair<uint32_t, uint32_t>> order;  // by how many kinds settle it
    for (const uint32_t d : open) {
      uint32_t by = 0;
      for (const Kind& k : some) by += Settles(k, d) && Most(left, k);
      if (!by || Needed(left, d) > left.high) return true;
      order.emplace_back(by, d);
    }
    if (left.high == kUnbounded) return false;
    std::sort(order.begin(), order.end());
    for (const auto& [by, d] : order) {
      TimeLimit::Spend(1);
      bool apart = true;
      for (size_t i = 0; i < some.size() && apart; ++i) apart = !(taken[i] && Settles(some[i], d));
      if (!apart) continue;
      least += Needed(left, d);
      for (size_t i = 0; i < some.size(); ++i) taken[i] = taken[i] || Settles(some[i], d);
    }
    return least > left.high;
  }

  // Places with a schema of their own.
  bool From(size_t index, const Left& left) {
    if (Settled(left)) return true;
    if (left.high == 0) return false;
    if (index >= alike) return Tail(left);
    CheckAhead(index);
    TimeLimit::Spend(4);
    const std::vector<uint32_t> open = Open(left);
    if (TooMany(left, open, ahead[index])) return false;
    for (const uint32_t d : open) {
      uint64_t places = 0;
      for (size_t i = index; i < kinds.size() && places < Needed(left, d); ++i)
        if (std::any_of(kinds[i].begin(), kinds[i].end(), [d](const Kind& k) { return Settles(k, d); }))
          places += i + 1 == kinds.size() ? kUnbounded : 1;
      if (places < Needed(left, d)) return false;
    }
    if (!tried.insert(WordsOf(index, left, nullptr)).second) return false;
    const Worth worth = WorthOf(left);
    std::vector<std::pair<int, const Kind*>> ways;
    for (const Kind& k : kinds[index]) {
      if (!Most(left, k)) continue;
      const auto as_good = [&](const std::pair<int, const Kind*>& w) { return worth.AsGood(*w.second, k); };
      if (!listed && std::any_of(ways.begin(), ways.end(), as_good)) continue;
      ways.emplace_back(-worth.Of(k), &k);
    }
    std::stable_sort(ways.begin(), ways.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [order, kind] : ways) {
      Left next = left;
      Take(&next, *kind, 1);
      if (listed) {
        const auto at = std::lower_bound(next.used.begin(), next.used.end(), kind->choice);
        const bool again = at != next.used.end() && *at == kind->choice;
        if (again && plan.unique) continue;
        if (again) next.repeated = false;
        if (!again) next.used.insert(at, kind->choice);
      }
      if (From(index + 1, next)) return true;
    }
    return false;
  }

  bool Tail(Left left) {
    std::vector<Kind> tail;
    const std::vector<uint32_t> used = std::move(left.used);
    left.used.clear();
    for (const Kind& k : kinds[alike]) {
      const bool again = listed && std::binary_search(used.begin(), used.end(), k.choice);
      if (again && plan.unique) continue;
      const auto same = [&k](const Kind& o) { return o.owed == k.owed && o.seen == k.seen; };
      const auto known = plan.unique ? std::find_if(tail.begin(), tail.end(), same) : tail.end();
      if (known != tail.end()) {
        ++known->times;
        continue;
      }
      tail.push_back(k);
      if (plan.unique) tail.back().times = 1;
      if (plan.repeated) left.used.push_back(again);
    }
    // States of the tail are told from those before by an index of their own, and from those of other kinds by the kinds
    // that are left.
    tail_words.clear();
    for (const Kind& k : tail)
      tail_words.insert(tail_words.end(), {static_cast<uint32_t>(k.owed), static_cast<uint32_t>(k.owed >> 32),
                                           static_cast<uint32_t>(k.seen), static_cast<uint32_t>(k.seen >> 32)});
    return Settle(left, tail, tail);
  }

  void TakeOf(Left* left, std::vector<Kind>* tail, std::vector<Kind>* spare, size_t k, uint32_t times) const {
    Take(left, (*tail)[k], times);
    (*tail)[k].times = Less((*tail)[k].times, times);
    (*spare)[k].times = Less((*spare)[k].times, times);
    if (!plan.repeated) return;
    if (left->used[k] || times > 1) left->repeated = false;
    left->used[k] = 1;
  }

  // Kinds that settle something, of those that are as good as one another the first.
  std::vector<size_t> Useful(const Left& left, const std::vector<Kind>& tail, const Worth& worth) const {
    std::vector<size_t> some;
    const auto as_good = [&](size_t a, size_t b) { return tail[a].times == kUnbounded && worth.AsGood(tail[a], tail[b]); };
    for (size_t k = 0; k < tail.size(); ++k) {
      if (!worth.Of(tail[k]) || !Most(left, tail[k])) continue;
      if (!plan.repeated) {
        if (std::any_of(some.begin(), some.end(), [&](size_t o) { return as_good(o, k); })) continue;
        some.erase(std::remove_if(some.begin(), some.end(), [&](size_t o) { return as_good(k, o); }), some.end());
      }
      some.push_back(k);
    }
    return some;
  }

  // A demand and the kinds that settle it, which are the fewest; none where some demand is beyond all of them.
  std::pair<uint32_t, std::vector<size_t>> Hardest(const Left& left, const std::vector<uint32_t>& open,
                                                   const std::vector<Kind>& tail, const std::vector<size_t>& some) const {
    std::pair<uint32_t, std::vector<size_t>> hardest;
    for (const uint32_t d : open) {
      std::vector<size_t> by;
      uint64_t sum = 0;
      for (const size_t k : some)
        if (Settles(tail[k], d)) {
          by.push_back(k);
          sum += Most(left, tail[k]);
        }
      if (sum < Needed(left, d)) return {};
      if (hardest.second.empty() || by.size() < hardest.second.size()) hardest = {d, std::move(by)};
    }
    return hardest;
  }

  // How many elements of each kind: first what the fewest kinds can settle. `spare`: the kinds without those decisions.
  bool Settle(Left left, std::vector<Kind> tail, std::vector<Kind> spare) {
    for (;;) {
      TimeLimit::Spend(static_cast<int64_t>(4 + tail.size() / 4));
      const std::vector<uint32_t> open = Open(left);
      if (open.empty()) return Fill(left, std::move(spare));
      if (TooMany(left, open, tail)) return false;
      const Worth worth = WorthOf(left);
      auto [demand, kinds_of_it] = Hardest(left, open, tail, Useful(left, tail, worth));
      if (kinds_of_it.empty()) return false;
      if (kinds_of_it.size() > 1) return SettleBySome(left, open, worth, std::move(kinds_of_it), std::move(tail), spare);
      const size_t k = kinds_of_it[0];
      if (Most(left, tail[k]) < Needed(left, demand)) return false;
      TakeOf(&left, &tail, &spare, k, Needed(left, demand));
    }
  }

  // The same, where each of some kinds is to be tried: first as many elements as are of use, then fewer, then none.
  bool SettleBySome(const Left& left, const std::vector<uint32_t>& open, const Worth& worth, std::vector<size_t> some,
                    std::vector<Kind> tail, const std::vector<Kind>& spare) {
    std::vector<uint32_t> words = WordsOf(kinds.size(), left, &tail);
    for (const Kind& k : spare) words.push_back(k.times);
    words.insert(words.end(), tail_words.begin(), tail_words.end());
    if (!tried.insert(std::move(words)).second) return false;
    std::stable_sort(some.begin(), some.end(), [&](size_t a, size_t b) { return worth.Of(tail[a]) > worth.Of(tail[b]); });
    for (const size_t k : some) {
      uint32_t most = 0;  // that settle more than one fewer
      for (const uint32_t d : open)
        if (Settles(tail[k], d)) most = std::max(most, Needed(left, d));
      for (most = std::min(most, Most(left, tail[k])); most; --most) {
        TimeLimit::Spend(4);
        Left next = left;
        std::vector<Kind> rest = tail, others = spare;
        TakeOf(&next, &rest, &others, k, most);
        rest[k].times = 0;
        if (Settle(std::move(next), std::move(rest), std::move(others))) return true;
      }
      tail[k].times = 0;
    }
    return false;
  }

  // Where nothing but the number of elements, and that two are equal, is left to be settled.
  bool Fill(const Left& left, std::vector<Kind> spare) {
    TimeLimit::Spend(4);
    if (left.low > left.high) return false;
    if (left.repeated) {
      for (size_t k = 0; k < spare.size(); ++k) {
        const uint32_t times = left.used[k] ? 1 : 2;
        if (Most(left, spare[k]) < times) continue;
        Left next = left;
        Take(&next, spare[k], times);
        next.repeated = false;
        if (Fill(next, spare)) return true;
      }
      return false;
    }
    uint64_t free = 0;  // those that take no room
    for (Kind& k : spare) {
      if (k.seen & bounded) continue;
      free += Most(left, k);
      k.times = 0;
    }
    if (free >= left.low) return true;
    Left next = left;
    next.low = Less(next.low, static_cast<uint32_t>(free));
    next.high = Less(next.high, static_cast<uint32_t>(free));
    return FillKind(next, spare, 0);
  }

  bool FillKind(const Left& left, const std::vector<Kind>& spare, size_t k) {
    TimeLimit::Spend(4);
    if (left.low == 0) return true;
    uint64_t most = 0;
    for (size_t i = k; i < spare.size(); ++i) most += Most(left, spare[i]);
    if (most < left.low) return false;
    std::vector<uint32_t> words = WordsOf(kinds.size() + 1 + k, left, &spare);
    words.insert(words.end(), tail_words.begin(), tail_words.end());
    if (!tried.insert(std::move(words)).second) return false;
    for (uint32_t times = std::min(Most(left, spare[k]), left.low) + 1; times-- > 0;) {
      Left next = left;
      Take(&next, spare[k], times);
      if (FillKind(next, spare, k + 1)) return true;
    }
    return false;
  }
};

bool JsonSchemaRules::CanSettleElements(const ArrayState& s) {
  return SettlingElements(this, arrays_[s.plan]).Any(s);
}

}  // namespace tokamata
