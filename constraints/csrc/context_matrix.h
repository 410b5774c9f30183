// Matrices of languages over contexts, which are what assertions tell apart at a place of a text: cell (i, j) has the
// texts that lead from context i to context j. A turn of a repetition with assertions inside is one, and so are its
// turns together: sums of powers.
#pragma once
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "automata/csrc/expression.h"

namespace tokamata {

struct ContextMatrix {
  size_t size = 0;
  std::vector<Expr> cells;

  explicit ContextMatrix(size_t n = 0) : size(n), cells(n * n, kEmpty) {}
  static ContextMatrix Identity(size_t n);
  Expr& At(size_t i, size_t j) { return cells[i * size + j]; }
  Expr At(size_t i, size_t j) const { return cells[i * size + j]; }
};

// Contexts in classes, and the texts that lead from one class to another.
struct MergedContexts {
  std::vector<uint32_t> class_of;
  std::vector<uint32_t> group;  // of each class
  ContextMatrix between;
};

class ContextMatrices {
 public:
  // `check` is called in work that may grow, and may throw.
  ContextMatrices(Expressions* pool, std::function<void()> check) : pool_(*pool), check_(std::move(check)) {}

  ContextMatrix Product(const ContextMatrix& a, const ContextMatrix& b);
  // Any number of turns: Kleene's elimination.
  ContextMatrix Star(ContextMatrix m);
  // From `low` to `high` turns, without a copy for each. False where contexts lead to each other, or a loop to another
  // one, as turns of the two would be counted together.
  bool Counted(const ContextMatrix& m, uint32_t low, uint32_t high, ContextMatrix* out);
  // Takes the empty text out, which leads from a context to itself only; says from which.
  std::vector<bool> TakeEmpty(ContextMatrix* m);
  // Contexts of one group into which the same texts lead from everywhere are a class; from it lead the texts that do
  // from any of them. Exact for who starts in all contexts of a group, and for who comes there with a text.
  MergedContexts Merge(const ContextMatrix& m, const std::vector<uint32_t>& group);
  // The same of classes, until there are no fewer: for who starts in all contexts of a group.
  MergedContexts MergeAll(const ContextMatrix& m, const std::vector<uint32_t>& group);

 private:
  struct Way;
  struct Counting;
  bool Follow(const Way& way, Counting* counting);
  Expr NotEmpty(Expr e);

  Expressions& pool_;
  std::function<void()> check_;
};

}  // namespace tokamata
