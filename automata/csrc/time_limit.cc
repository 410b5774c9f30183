#include "automata/csrc/time_limit.h"

#include <ctime>
#include <sstream>
#include <string>

#include "automata/csrc/errors.h"

namespace tokamata {
namespace {

double ThreadSeconds() {
#ifdef CLOCK_THREAD_CPUTIME_ID
  timespec t;
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0) return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
#endif
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

}  // namespace

void TimeLimit::Check() {
  now_.left = kSteps;
  if (!now_.operation) return;
  if (stop_after_ >= 0) {
    now_.over = true;
    throw LimitError(std::string(now_.operation) + ": stopped after " + std::to_string(stop_after_) + " steps");
  }
  const double time = ThreadSeconds();
  if (now_.end < 0) now_.end = time + now_.seconds;
  if (time < now_.end) return;
  now_.over = true;
  std::ostringstream text;
  text << now_.operation << ": the limit " << now_.name << "=" << now_.seconds
       << " was reached (processor time of one call); simplify the constraint or raise it: tokamata.Limits(" << now_.name
       << "=...)";
  throw LimitError(text.str());
}

}  // namespace tokamata
