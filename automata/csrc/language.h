// Language: a set of byte strings as an immutable value; what a constraint is underneath.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "automata/csrc/expression_acceptor.h"
#include "automata/csrc/fst.h"

namespace tokamata {

// The named limits that users set; see ExpressionLimits and DelayedAcceptor::max_states.
struct Limits {
  ExpressionLimits expressions;
  uint32_t states = 200'000;
  double seconds = 1;                  // processor time of one call that builds or decodes
  double search_seconds = 60;          // of one question about whole languages
  size_t count_bytes = size_t{1} << 28;  // big numbers of Count and Sample
  size_t cache_bytes = size_t{1} << 26;  // finished masks of a token automaton
};

// Shares its delayed acceptor with everybody who uses the language; safe to use from many threads. Unions, concatenations
// and repetitions are put together when somebody asks for the acceptor, all at once, or in the pool of what is made of
// them: steps on the way have no pool of their own.
class Language {
 public:
  // Builds an expression in a fresh pool.
  // In a pool that begins with a prepared one, if there is one; see Expressions.
  static Language Build(const std::function<Expr(Expressions*)>& build, const Limits& limits = {},
                        const Expressions* prepared = nullptr);

  // What `combine` makes of the operands in one pool, under the widest of their limits; Later: when it is asked for.
  using Combination = std::function<Expr(Expressions*, std::vector<Expr>)>;
  static Language Combine(const std::vector<Language>& parts, const Combination& combine, bool forgets = false);
  static Language CombineLater(std::vector<Language> parts, Combination combine) {
    return CombineLater(std::move(parts), std::move(combine), false);
  }
  static Language Union(const std::vector<Language>& parts);
  static Language Concat(const std::vector<Language>& parts);
  // In these three, objects of JSON Schemas do not remember the keys that the schema does not name; see RuleSource.
  static Language Intersect(const std::vector<Language>& parts);
  // `texts`: all members of `a` are known to be UTF-8. Where it nests and `b` does not, states of the complement from
  // which only other bytes lead on are then empty at once, without a search along the rules.
  static Language Difference(const Language& a, const Language& b, bool texts);
  // All UTF-8 texts that x does not contain.
  static Language Complement(const Language& x);
  static Language Repeat(const Language& x, uint32_t low, uint32_t high);
  // The input labels of an unweighted-language acceptor over bytes (label b for byte b in 1..255, 256 for NUL, 0 for
  // epsilon); weights are ignored. FstError for other labels or a transducer.
  static Language FromFst(const Fst& fst, const Limits& limits = {});
  // The same language under other limits.
  Language WithLimits(const Limits& limits) const;

  const std::shared_ptr<ExpressionAcceptor>& Acceptor() const;
  // The language as an expression of a pool.
  Expr In(Expressions* pool) const;
  // A fresh acceptor of the same language: questions about whole languages reach many states, and leave none behind.
  std::shared_ptr<ExpressionAcceptor> Scratch(bool exact_rows = true) const;
  const Limits& OwnLimits() const { return limits_; }
  bool Accepts(std::string_view text) const;
  // The length of the longest prefix of text that can be extended to a member; -1 when the language is empty.
  int64_t ViablePrefix(std::string_view text) const;
  bool IsEmpty() const { return Acceptor()->Start() == DelayedAcceptor::kDead; }
  // A shortest member of exactly one of the two languages (the least one in byte order among the first found); where
  // one is empty and the other one's objects need several keys that no schema names, maybe not quite the shortest.
  static std::optional<std::string> Counterexample(const Language& a, const Language& b);
  // Up to n distinct random members, equal for equal seeds; fewer when that many tries find no more.
  std::vector<std::string> Examples(size_t n, uint64_t seed) const;
  // The number of members of exactly `length` bytes, as little-endian limbs; see count.h.
  std::vector<uint64_t> Count(size_t length) const;
  // Uniformly random members of low..high bytes; see sample.h.
  std::vector<std::string> Sample(size_t n, size_t low, size_t high, uint64_t seed) const;
  // The same language as a leaf with its minimal automaton; see byte_table.h.
  Language Minimize() const;
  // The reachable part as an acceptor over bytes; LimitError past `most_states`.
  Fst ToFst(size_t most_states) const;
  std::string Describe(size_t limit) const;

 private:
  class Whole;
  static Language CombineLater(std::vector<Language> parts, Combination combine, bool concatenates);
  Language(std::shared_ptr<Whole> whole, const Limits& limits) : whole_(std::move(whole)), limits_(limits) {}

  std::shared_ptr<Whole> whole_;
  Limits limits_;
};

}  // namespace tokamata
