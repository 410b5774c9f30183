// RegularOperand: the other side of an intersection with what pushes, moved byte by byte.
#pragma once
#include <array>
#include <memory>
#include <unordered_map>
#include <vector>

#include "automata/csrc/expression.h"

namespace tokamata {

// Derivatives of a regular expression, by byte; kEmpty where nothing can follow.
// What is kept between questions is shared, so that what it was asked about can be recalled as long as it lasts.
class RegularOperand : public std::enable_shared_from_this<RegularOperand> {
 public:
  explicit RegularOperand(Expressions* pool) : pool_(pool) {}
  using Row = std::array<Expr, 256>;
  const Row& RowOf(Expr r) {
    std::unique_ptr<Row>& row = rows_[r];
    if (!row) {
      auto fresh = std::make_unique<Row>();
      fresh->fill(kEmpty);
      pool_->Step(r, &steps_);
      for (const Expressions::Term& t : steps_) t.bytes.ForEach([&](uint8_t b) { (*fresh)[b] = t.target; });
      row = std::move(fresh);
    }
    return *row;
  }
  bool IsFinal(Expr r) const { return pool_->Nullable(r); }
  size_t NumRows() const { return rows_.size(); }

 private:
  Expressions* pool_;
  std::unordered_map<Expr, std::unique_ptr<Row>> rows_;
  std::vector<Expressions::Term> steps_;
};

}  // namespace tokamata
