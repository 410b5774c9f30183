// Partition: a set in parts that are split further, for algorithms that refine.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "automata/csrc/fst.h"

namespace tokamata {

// Elements 0..n-1 in sets; marked elements of each set can be split off in time proportional to their number.
class Partition {
 public:
  // Sets are the runs of equal classes; classes are dense.
  Partition(const std::vector<StateId>& classes, StateId num_classes)
      : elements_(classes.size()), place_(classes.size()), set_(classes), marked_(num_classes, 0) {
    std::vector<uint32_t> next(static_cast<size_t>(num_classes) + 1, 0);
    for (StateId c : classes) ++next[static_cast<size_t>(c) + 1];
    for (size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
    first_.assign(next.begin(), next.end() - 1);
    end_.assign(next.begin() + 1, next.end());
    for (uint32_t e = 0; e < classes.size(); ++e) {
      place_[e] = next[classes[e]]++;
      elements_[place_[e]] = e;
    }
  }

  size_t NumSets() const { return first_.size(); }
  StateId SetOf(uint32_t e) const { return set_[e]; }
  Span<const uint32_t> Set(size_t set) const { return {elements_.data() + first_[set], end_[set] - first_[set]}; }

  void Mark(uint32_t e) {
    const StateId set = set_[e];
    const uint32_t target = first_[set] + marked_[set];
    if (place_[e] < target) return;
    if (marked_[set]++ == 0) touched_.push_back(set);
    const uint32_t other = elements_[target];
    std::swap(elements_[place_[e]], elements_[target]);
    place_[other] = place_[e];
    place_[e] = target;
  }

  // Parts every set with marked elements; the smaller part becomes the new set. Forgets all marks.
  void Split() {
    for (StateId set : touched_) {
      const uint32_t middle = first_[set] + marked_[set];
      marked_[set] = 0;
      if (middle == end_[set]) continue;
      const StateId added = static_cast<StateId>(first_.size());
      if (middle - first_[set] <= end_[set] - middle) {
        first_.push_back(first_[set]);
        end_.push_back(middle);
        first_[set] = middle;
      } else {
        first_.push_back(middle);
        end_.push_back(end_[set]);
        end_[set] = middle;
      }
      marked_.push_back(0);
      for (uint32_t i = first_[added]; i < end_[added]; ++i) set_[elements_[i]] = added;
    }
    touched_.clear();
  }

 private:
  std::vector<uint32_t> elements_, place_;
  std::vector<StateId> set_;
  std::vector<uint32_t> first_, end_, marked_;
  std::vector<StateId> touched_;
};

}  // namespace tokamata
