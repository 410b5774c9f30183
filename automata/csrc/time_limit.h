// TimeLimit: how much processor time one native call may use.
#pragma once
#include <cstdint>

namespace tokamata {

// What a thread's outermost TimeLimit knows.
struct TimeLimitState {
  int64_t left = 0;  // steps until the clock is read
  const char* operation = nullptr;
  const char* name = nullptr;
  double seconds = 0;
  double end = -1;  // on the thread's clock; negative until it was read first
  bool over = false;
};

// While it exists, long work of this thread that calls Spend ends in a LimitError after so many seconds of the thread's
// processor time. Inside another TimeLimit it has no effect: the outermost call decides. Costs a few nanoseconds; the
// clock is read once in kSteps steps, so calls of fewer steps (of about 50 ns each) never read it.
class TimeLimit {
 public:
  // `name` is the option of tokamata.Limits that holds the seconds; both texts must outlive the object.
  TimeLimit(const char* operation, const char* name, double seconds) {
    outermost_ = !now_.operation;
    if (outermost_) now_ = TimeLimitState{stop_after_ < 0 ? kSteps : stop_after_, operation, name, seconds, -1, false};
  }
  ~TimeLimit() {
    if (outermost_) now_ = TimeLimitState();
  }
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

  // Counts steps of work; throws LimitError when the time is over.
  static void Spend(int64_t steps = 1) {
    if ((now_.left -= steps) < 0) Check();
  }
  // Whether the time is over and an error said so: whoever gets along without an answer that took too long has none left
  // for others, each of which would take kSteps to say the same.
  static bool IsOver() { return now_.over; }
  // For tests of what an interrupted call leaves behind: each further call of this thread ends in a LimitError after so
  // many steps; not if negative.
  static void StopAfter(int64_t steps) { stop_after_ = steps; }

 private:
  static constexpr int64_t kSteps = 4096;
  static void Check();

  bool outermost_;
  static inline thread_local TimeLimitState now_;
  static inline thread_local int64_t stop_after_ = -1;
};

}  // namespace tokamata
