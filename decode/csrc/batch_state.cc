#include "decode/csrc/batch_state.h"

#include <cstring>
#include <mutex>
#include <new>

#include "automata/csrc/errors.h"
#include "decode/csrc/rows.h"

namespace tokamata {
namespace {

constexpr size_t kFewRows = 4;   // so few are worth a thread only where there is something to compute
constexpr size_t kFewSteps = 8;  // steps into unknown places; each takes microseconds, and so does waking a thread

// Collects what is thrown.
class RowErrors {
 public:
  // Whether f() returned.
  template <class F>
  bool Try(size_t row, F f) {
    try {
      f();
      return true;
    } catch (const TokenRejected& e) {
      Add(RowError::kRejected, row, e.what());
    } catch (const LimitError& e) {
      Add(RowError::kLimit, row, e.what());
    } catch (const ConstraintError& e) {
      Add(RowError::kConstraint, row, e.what());
    } catch (const std::bad_alloc&) {
      Add(RowError::kMemory, row, "out of memory");
    } catch (const std::exception& e) {
      Add(RowError::kOther, row, e.what());
    }
    return false;
  }
  std::vector<RowError> Take() { return std::move(errors_); }

 private:
  void Add(RowError::Kind kind, size_t row, const char* text) {
    const std::lock_guard<std::mutex> lock(mutex_);
    errors_.push_back({kind, row, text});
  }
  std::mutex mutex_;
  std::vector<RowError> errors_;
};

void AllowEosOnly(const DecodeState& state, uint32_t* row) {
  std::memset(row, 0, size_t{state.Automaton().Words()} * sizeof(uint32_t));
  for (const uint32_t id : state.Automaton().Tokens().EosIds()) SetToken(id, row);
}

// What needs no computation; whether that was all.
bool FillQuickly(const DecodeState* state, uint32_t* row, size_t words) {
  if (!state) {
    std::memset(row, 0xff, words * sizeof(uint32_t));
    return true;
  }
  const size_t own = state->Automaton().Words();
  std::memset(row + own, 0, (words - own) * sizeof(uint32_t));
  if (!state->IsFinished()) return state->CopyMask(row);
  AllowEosOnly(*state, row);
  return true;
}

void Fill(const DecodeState* state, uint32_t* row, RowErrors* errors, size_t i) {
  if (!errors->Try(i, [&] { state->FillMask(row); })) AllowEosOnly(*state, row);
}

bool Takes(const DecodeState* state, int64_t token) { return state && !state->IsFinished() && token >= 0; }

}  // namespace

std::vector<RowError> FillMasks(const std::vector<const DecodeState*>& states, uint32_t* out, size_t words,
                                Workers* workers) {
  RowErrors errors;
  if (states.size() <= kFewRows) {
    size_t rest[kFewRows], count = 0;
    for (size_t i = 0; i < states.size(); ++i)
      if (!FillQuickly(states[i], out + i * words, words)) rest[count++] = i;
    workers->Run(count, [&](size_t k) { Fill(states[rest[k]], out + rest[k] * words, &errors, rest[k]); });
  } else {
    workers->Run(states.size(), [&](size_t i) {
      if (!FillQuickly(states[i], out + i * words, words)) Fill(states[i], out + i * words, &errors, i);
    });
  }
  return errors.Take();
}

std::vector<RowError> AdvanceAll(const std::vector<DecodeState*>& states, const int64_t* tokens, Workers* workers) {
  RowErrors errors;
  std::vector<size_t> rest;
  for (size_t i = 0; i < states.size(); ++i)
    if (Takes(states[i], tokens[i]) && !states[i]->AdvanceQuickly(tokens[i])) rest.push_back(i);
  const auto step = [&](size_t k) { errors.Try(rest[k], [&] { states[rest[k]]->Advance(tokens[rest[k]]); }); };
  if (rest.size() <= kFewSteps) {
    for (size_t k = 0; k < rest.size(); ++k) step(k);
  } else {
    workers->Run(rest.size(), step);
  }
  return errors.Take();
}

}  // namespace tokamata
