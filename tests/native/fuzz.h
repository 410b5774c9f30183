// What the drivers share: seeded random numbers, mutation of bytes, and a loop over cases that can be repeated.
#pragma once
#include <sanitizer/common_interface_defs.h>

#include <atomic>
#include <chrono>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "automata/csrc/errors.h"

namespace tokamata {

// SplitMix64: the same numbers on every platform.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  // Of 0..n-1; n > 0.
  uint32_t Below(uint64_t n) { return static_cast<uint32_t>(Next() % n); }
  bool OneIn(uint32_t n) { return Below(n) == 0; }
  template <class T>
  const T& Of(const std::vector<T>& items) {
    return items[Below(items.size())];
  }
  const char* Of(std::initializer_list<const char*> items) { return items.begin()[Below(items.size())]; }

 private:
  uint64_t state_;
};

// A few changes of bytes: flips, deletions, repetitions, pieces copied elsewhere, numbers at the edge of their types.
inline std::string Mutated(std::string text, Random* random) {
  for (uint32_t changes = 1 + random->Below(4); changes > 0; --changes) {
    const size_t at = random->Below(text.size() + 1), length = random->Below(1 + random->Below(16));
    switch (random->Below(6)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ 1 << random->Below(8));
        break;
      case 1:
        if (at < text.size()) text[at] = static_cast<char>(random->Next());
        break;
      case 2:
        text.erase(at, length);
        break;
      case 3:
        text.insert(at, text.substr(random->Below(text.size() + 1), length));
        break;
      case 4:
        text.insert(at, length, static_cast<char>(random->OneIn(2) ? random->Next() : random->Below(128)));
        break;
      default: {
        const uint64_t values[] = {0, 1, ~uint64_t{0}, uint64_t{1} << 31, uint64_t{1} << 63, 0x7fffffff, text.size()};
        const uint64_t value = values[random->Below(7)];
        const size_t bytes = 4u << random->Below(2), place = random->OneIn(2) ? at : at / 4 * 4;
        for (size_t i = 0; i < bytes && place + i < text.size(); ++i)
          text[place + i] = static_cast<char>(value >> 8 * i);
      }
    }
  }
  return text;
}

inline std::string Printable(std::string_view text) {
  std::string out = "\"";
  for (const char c : text.substr(0, 2000)) {
    char code[8];
    std::snprintf(code, sizeof(code), "\\x%02x", static_cast<unsigned char>(c));
    if (c == '"' || c == '\\') out += '\\';
    out += c >= ' ' && c <= '~' ? std::string(1, c) : code;
  }
  return out + "\"" + (text.size() > 2000 ? "…" : "");
}

// What is going on, for the report of a failure.
struct CaseInProgress {
  const char* driver = "";
  const char* program = "";
  uint64_t seed = 0, number = 0;
  std::string input;
  std::atomic<uint64_t> refusals{0}, limits{0};  // of all cases so far
};
inline CaseInProgress g_case;

inline void ReportCase() {
  std::fprintf(stderr, "%s: failed in case %" PRIu64 " of seed %" PRIu64 ", with %s\n", g_case.driver, g_case.number,
               g_case.seed, Printable(g_case.input).c_str());
  std::fprintf(stderr, "again: %s 0 %" PRIu64 " %" PRIu64 "\n", g_case.program, g_case.seed, g_case.number);
}

// Says what the case is about before anything can go wrong with it.
inline void Input(std::string text) { g_case.input = std::move(text); }

inline void Require(bool holds, const std::string& law) {
  if (holds) return;
  std::fprintf(stderr, "law broken: %s\n", law.c_str());
  ReportCase();
  std::_Exit(1);
}

// Runs f; refusals and limits are fine, any other exception breaks a law. Whether f came to its end.
template <class F>
bool Tolerate(F f) {
  try {
    f();
    return true;
  } catch (const ConstraintError&) {
    ++g_case.refusals;
  } catch (const BudgetError&) {
    ++g_case.refusals;
  } catch (const LimitError&) {
    ++g_case.limits;
  }
  return false;
}

// Cases 0, 1, 2, … of a seed until the time is over: driver SECONDS SEED, or one of them: driver SECONDS SEED CASE.
// Fails where a case takes more processor time than limits allow it to.
inline int RunCases(const char* driver, int argc, char** argv, const std::function<void(Random*)>& one) {
#if defined(__SANITIZE_THREAD__)
  constexpr double kLongestCase = 150;  // of several threads, each some twenty times as slow as without ThreadSanitizer
#else
  constexpr double kLongestCase = 30;
#endif
  const double seconds = argc > 1 ? std::atof(argv[1]) : 10;
  g_case.driver = driver;
  g_case.program = argv[0];
  g_case.seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const bool single = argc > 3;
  uint64_t number = single ? std::strtoull(argv[3], nullptr, 10) : 0, cases = 0, slowest = 0;
  double longest = 0;
  __sanitizer_set_death_callback(ReportCase);
  std::printf("%s: seed %" PRIu64 ", %g s\n", driver, g_case.seed, seconds);
  std::fflush(stdout);
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  do {
    g_case.number = number;
    g_case.input.clear();
    Random random(g_case.seed * 0x9e3779b97f4a7c15u ^ number * 0xd1342543de82ef95u);
    const std::clock_t before = std::clock();
    try {
      one(&random);
    } catch (const std::exception& e) {
      Require(false, std::string("only refusals and limits are thrown; got: ") + e.what());
    }
    const double took = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    if (took > longest) longest = took, slowest = number;
    Require(took <= kLongestCase, "no case takes long; this one took " + std::to_string(took) + " s");
    ++cases, ++number;
  } while (!single && elapsed() < seconds);
  std::printf("%s: %" PRIu64 " cases, %" PRIu64 " refusals, %" PRIu64 " limits; ", driver, cases,
              g_case.refusals.load(), g_case.limits.load());
  std::printf("the slowest case (%" PRIu64 ") took %.2f s\n", slowest, longest);
  return 0;
}

}  // namespace tokamata
