#include "automata/csrc/delayed_acceptor.h"

#include <algorithm>
#include <string>

#include "automata/csrc/errors.h"
#include "automata/csrc/places.h"
#include "automata/csrc/time_limit.h"

namespace tokamata {

DelayedAcceptor::~DelayedAcceptor() = default;

DelayedAcceptor::State DelayedAcceptor::AddState(uint32_t source, bool final) {
  const uint32_t q = num_states_.load(std::memory_order_relaxed);
  if (q / kStatesPerRow >= max_states) ThrowFull();
  states_.Ensure(q);
  Record& r = states_[q];
  r.source = source;
  r.final = final;
  num_states_.store(q + 1, std::memory_order_release);
  return q;
}

void DelayedAcceptor::ThrowFull() const {
  throw CapacityError("acceptor: the limit states=" + std::to_string(max_states) +
                      " was reached (delayed states); simplify the constraint or raise it: "
                      "tokamata.Limits(states=...)" + MemoryHint());
}

const StateRow::Data* DelayedAcceptor::Expand(State q) {
  const TimeLimit time("acceptor", "seconds", seconds);
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  return Placed([&] { return PlaceOf(q); }, [&]() -> const StateRow::Data* {
    TimeLimit::Spend(4);
    Record& r = states_[q];
    if (const StateRow::Data* row = r.row.load(std::memory_order_relaxed)) return row;  // somebody else was faster
    if (const StateRow::Data* const* const known = provisional_.Find(q)) return *known;
    if (NumRows() >= max_states) ThrowFull();
    static constexpr State kNowhere[256] = {};
    const StateRow::Data* const row = q == kDead ? rows_.MakeDense(kNowhere) : MakeRow(q, &rows_);  // may need others
    num_rows_.fetch_add(1, std::memory_order_relaxed);
    if (IsProvisional(q))
      provisional_[q] = row;
    else
      r.row.store(row, std::memory_order_release);
    return row;
  });
}

DelayedAcceptor::State DelayedAcceptor::RunSlowly(State q, std::string_view bytes) {
  const TimeLimit time("acceptor", "seconds", seconds);
  while (!bytes.empty() && q) {
    State next = kDead;
    size_t taken = HasRow(q) ? 0 : Placed([&] { return PlaceOf(q); }, [&] { return Step(q, bytes, &next); });
    if (!taken) {
      next = Row(q)[static_cast<uint8_t>(bytes[0])];
      taken = 1;
    }
    q = next;
    bytes.remove_prefix(taken);
  }
  return q;
}

DelayedAcceptor::State DelayedAcceptor::NextSlowly(State q, uint8_t b) {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  const char byte = static_cast<char>(b);
  return IsProvisional(q) ? RunSlowly(q, {&byte, 1}) : Row(q)[b];
}

size_t DelayedAcceptor::MemoryBytes() const {
  const std::lock_guard<ReentrantMutex> lock(mutex_);
  return rows_.Bytes() + NumStates() * sizeof(Record);
}

}  // namespace tokamata
