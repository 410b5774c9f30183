#include "constraints/csrc/balanced_blocks.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "automata/csrc/errors.h"
#include "automata/csrc/time_limit.h"

namespace tokamata {
namespace {

constexpr int kMostBlocks = 4;  // that a rule leaves to others
constexpr size_t kMostProductions = 100'000;

// What indents and dedents do to the number of open blocks.
struct Effect {
  int change = 0, least = 0;  // least: at its lowest, from 0 on
  Effect Then(const Effect& next) const { return {change + next.change, std::min(least, change + next.least)}; }
  friend bool operator<(const Effect& a, const Effect& b) {
    return std::tie(a.change, a.least) < std::tie(b.change, b.least);
  }
  friend bool operator==(const Effect& a, const Effect& b) { return a.change == b.change && a.least == b.least; }
};

class Balance {
 public:
  Balance(Grammar grammar, const Indentation& indentation)
      : grammar_(std::move(grammar)), indentation_(indentation), of_rule_(grammar_.num_rules) {
    const GrammarFacts facts = FactsOf(grammar_);
    for (uint32_t p = 0; p < grammar_.productions.size(); ++p) {
      const std::vector<uint32_t>& letters = grammar_.productions[p].letters;
      const bool productive = std::all_of(letters.begin(), letters.end(), [&](uint32_t x) {
        return grammar_.IsTerminal(x) ? grammar_.terminal_nonempty[x] || grammar_.terminal_nullable[x]
                                      : facts.productive[x - grammar_.num_terminals];
      });
      if (!productive) continue;
      of_rule_[grammar_.productions[p].rule].push_back(p);
      brackets_ = brackets_ && ClosesBrackets(letters);
    }
    has_text_ = facts.productive[grammar_.start];
  }

  Grammar Run() {
    if (!has_text_) return std::move(grammar_);
    Find();
    const std::set<Effect>& start = effects_.at({grammar_.start, false});
    if (!left_out_ && start.size() == 1 && *start.begin() == Effect()) return std::move(grammar_);
    if (!start.count(Effect())) {
      const std::string& name = grammar_.rule_names[grammar_.start];
      throw ConstraintError("grammar: " + PlaceOf(grammar_.start) + "the start rule " + name + " has no text: each " +
                            "derivation of it opens a block that it does not end, ends one that is not open, or has a " +
                            "newline where none is read; write " + Name(indentation_.newline) + " " +
                            Name(indentation_.indent) + " ... " + Name(indentation_.dedent) + " in one alternative");
    }
    return Product();
  }

 private:
  using Entry = std::pair<uint32_t, bool>;  // a rule, and whether brackets are open before it

  const std::string& Name(uint32_t terminal) const { return grammar_.terminal_names[terminal]; }
  std::string PlaceOf(uint32_t rule) const {
    const bool known = rule < grammar_.rule_places.size() && !grammar_.rule_places[rule].empty();
    return known ? grammar_.rule_places[rule] + ": " : "";
  }
  // 1 and -1 for brackets, 0 for all else.
  int BracketOf(uint32_t letter) const {
    const auto has = [letter](const std::vector<uint32_t>& all) {
      return std::find(all.begin(), all.end(), letter) != all.end() ? 1 : 0;
    };
    return has(indentation_.opening) - has(indentation_.closing);
  }
  bool ClosesBrackets(const std::vector<uint32_t>& letters) const {
    int open = 0;
    for (const uint32_t x : letters)
      if ((open += BracketOf(x)) < 0) return false;
    return open == 0;
  }

  // The effects of one letter; none where no text has it there.
  const std::set<Effect>& EffectsOf(uint32_t letter, bool inside) {
    static const std::set<Effect> none, nothing{{0, 0}}, indent{{1, 0}}, dedent{{-1, -1}};
    if (letter == indentation_.indent) return indent;
    if (letter == indentation_.dedent) return dedent;
    if (letter == indentation_.newline && inside) {
      left_out_ = true;
      return none;
    }
    if (grammar_.IsTerminal(letter)) return nothing;
    const Entry entry{letter - grammar_.num_terminals, inside};
    const auto [it, added] = effects_.try_emplace(entry);
    if (added) work_.push_back(entry);
    return it->second;
  }

  void Find() {
    effects_[{grammar_.start, false}];
    work_.push_back({grammar_.start, false});
    std::map<Entry, std::set<Entry>> users;
    std::set<Entry> queued(work_.begin(), work_.end());
    while (!work_.empty()) {
      const Entry entry = work_.back();
      work_.pop_back();
      queued.erase(entry);
      bool more = false;
      for (const uint32_t p : of_rule_[entry.first]) {
        std::set<Effect> all{{0, 0}};
        int open = 0;
        for (const uint32_t x : grammar_.productions[p].letters) {
          const bool inside = brackets_ && (entry.second || open > 0);
          open += BracketOf(x);
          if (!grammar_.IsTerminal(x)) users[{x - grammar_.num_terminals, inside}].insert(entry);
          const std::set<Effect>& next = EffectsOf(x, inside);
          TimeLimit::Spend(static_cast<int64_t>(1 + all.size() * next.size() / 8));
          if (next.size() == 1 && *next.begin() == Effect()) continue;
          std::set<Effect> after;
          for (const Effect& a : all)
            for (const Effect& b : next) after.insert(a.Then(b));
          all.swap(after);
        }
        for (const Effect& e : all) {
          if (std::abs(e.change) > kMostBlocks || e.least < -kMostBlocks) Refuse(entry.first, e.change > 0);
          more = effects_[entry].insert(e).second || more;
        }
      }
      if (more)
        for (const Entry& user : users[entry])
          if (queued.insert(user).second) work_.push_back(user);
    }
  }

  [[noreturn]] void Refuse(uint32_t rule, bool opens) const {
    const std::string blocks = opens ? " can open any number of blocks, or more than " + std::to_string(kMostBlocks) +
                                           ", that it does not end"
                                     : " can end any number of blocks, or more than " + std::to_string(kMostBlocks) +
                                           ", that it does not open";
    throw UnsupportedError("grammar: " + PlaceOf(rule) + "the rule " + grammar_.rule_names[rule] + blocks +
                           ", and which texts end all of them is not known before; write " + Name(indentation_.newline) +
                           " " + Name(indentation_.indent) + " ... " + Name(indentation_.dedent) + " in one alternative");
  }

  // One rule for each entry and effect that the start rule needs.
  Grammar Product() {
    Grammar product = grammar_;
    product.productions.clear();
    product.rule_names.clear();
    product.rule_places.clear();
    std::map<std::pair<Entry, Effect>, uint32_t> numbers;
    std::vector<std::pair<Entry, Effect>> rules;
    const auto number_of = [&](const Entry& entry, const Effect& effect) {
      const auto [it, added] = numbers.emplace(std::make_pair(entry, effect), static_cast<uint32_t>(rules.size()));
      if (added) rules.emplace_back(entry, effect);
      return it->second;
    };
    product.start = number_of({grammar_.start, false}, {});
    for (uint32_t r = 0; r < rules.size(); ++r) {
      const auto [entry, effect] = rules[r];
      product.rule_names.push_back(grammar_.rule_names[entry.first]);
      for (const uint32_t p : of_rule_[entry.first]) {
        const std::vector<uint32_t>& letters = grammar_.productions[p].letters;
        struct Part {
          Effect effect;
          std::vector<uint32_t> letters;
        };
        std::vector<Part> parts{{}};
        int open = 0;
        for (const uint32_t x : letters) {
          const bool inside = brackets_ && (entry.second || open > 0);
          open += BracketOf(x);
          std::vector<Part> longer;
          for (const Part& part : parts)
            for (const Effect& e : EffectsOf(x, inside)) {
              TimeLimit::Spend(static_cast<int64_t>(1 + letters.size()));
              longer.push_back({part.effect.Then(e), part.letters});
              longer.back().letters.push_back(
                  grammar_.IsTerminal(x) ? x : grammar_.num_terminals + number_of({x - grammar_.num_terminals, inside}, e));
            }
          parts.swap(longer);
          if (parts.size() + product.productions.size() > kMostProductions) Refuse(entry.first, effect.change > 0);
        }
        for (Part& part : parts)
          if (part.effect == effect) product.productions.push_back({r, std::move(part.letters)});
      }
    }
    product.num_rules = static_cast<uint32_t>(rules.size());
    return product;
  }

  Grammar grammar_;
  const Indentation& indentation_;
  std::vector<std::vector<uint32_t>> of_rule_;  // productions that end, by rule
  bool brackets_ = true;                        // whether all of these close the brackets that they open
  bool has_text_ = false;
  bool left_out_ = false;
  std::map<Entry, std::set<Effect>> effects_;
  std::vector<Entry> work_;
};

}  // namespace

Grammar BalanceBlocks(Grammar grammar, const Indentation& indentation) {
  return Balance(std::move(grammar), indentation).Run();
}

}  // namespace tokamata
