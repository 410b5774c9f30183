#include "automata/csrc/state_row.h"

#include <algorithm>
#include <cstring>

namespace tokamata {
namespace {

bool Same(const RowClasses& classes, const std::vector<StateRows::Step>& steps) {
  if (classes.num_sets != steps.size()) return false;
  for (size_t i = 0; i < steps.size(); ++i)
    if (classes.sets[i] != steps[i].bytes) return false;
  return true;
}

}  // namespace

const RowClasses* StateRows::ClassesOf(const std::vector<Step>& steps) {
  uint64_t hash = steps.size();
  for (const Step& s : steps)
    for (const uint64_t word : s.bytes.words) hash = (hash ^ word ^ hash >> 32) * 0x9E3779B97F4A7C15ull;
  hash &= ~uint64_t{0} >> 1;  // not the key that is none
  while (const RowClasses* const* const known = index_.Find(hash)) {
    if (Same(**known, steps)) return *known;
    ++hash;
  }
  auto* const made = static_cast<RowClasses*>(arena_.Allocate(sizeof(RowClasses)));
  auto* const sets = static_cast<ByteSet*>(arena_.Allocate(std::max<size_t>(steps.size(), 1) * sizeof(ByteSet)));
  made->live = ByteSet();
  made->sets = sets;
  made->num_sets = static_cast<uint32_t>(steps.size());
  std::memset(made->of, 0, sizeof made->of);
  for (size_t i = 0; i < steps.size(); ++i) {
    sets[i] = steps[i].bytes;
    made->live = made->live | sets[i];
  }
  const size_t dead = made->live != ByteSet::All();  // which comes first
  for (size_t i = 0; i < steps.size(); ++i)
    sets[i].ForEachRun([=](int first, int last) {
      std::memset(made->of + first, static_cast<int>(i + dead), static_cast<size_t>(last - first + 1));
    });
  return index_[hash] = made;
}

const StateRow::Data* StateRows::Make(const std::vector<Step>& steps) {
  constexpr size_t kMostSets = 16;  // from which sets take more memory than targets
  if (steps.size() > kMostSets) {
    State row[256] = {};
    for (const Step& s : steps)
      s.bytes.ForEachRun([&](int first, int last) { std::fill(row + first, row + last + 1, s.target); });
    return MakeDense(row);
  }
  const RowClasses* const classes = ClassesOf(steps);
  const size_t dead = classes->live != ByteSet::All();
  auto* const data =
      static_cast<StateRow::Data*>(arena_.Allocate(sizeof(StateRow::Data) + (steps.size() + dead) * sizeof(State)));
  auto* const targets = reinterpret_cast<State*>(data + 1);
  if (dead) targets[0] = 0;
  for (size_t i = 0; i < steps.size(); ++i) targets[i + dead] = steps[i].target;
  data->classes = classes;
  data->targets = targets;
  return data;
}

const StateRow::Data* StateRows::MakeDense(const State* from) {
  auto* const data = static_cast<StateRow::Data*>(arena_.Allocate(sizeof(StateRow::Data)));
  auto* const classes = static_cast<RowClasses*>(arena_.Allocate(sizeof(RowClasses)));
  classes->live = ByteSet();
  classes->sets = nullptr;
  classes->num_sets = 0;
  for (int b = 0; b < 256; ++b) {
    classes->of[b] = static_cast<uint8_t>(b);
    if (from[b]) classes->live.Add(static_cast<uint8_t>(b));
  }
  data->classes = classes;
  data->targets = arena_.Copy(from, 256);
  return data;
}

}  // namespace tokamata
