// Captures: which parts of a text the named parts of a constraint read.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "automata/csrc/language.h"

namespace tokamata {

// In which order the ends of a part are tried.
enum class EndOrder : uint8_t { kLongest, kShortest };

// The parts of a constraint, immutable and shared.
struct CaptureNode {
  enum class Kind : uint8_t {
    kAtom,       // a language without named parts
    kConcat,
    kAlternate,  // earlier children are preferred
    kRepeat,     // the child low..high times, as often as possible, or with `lazy` as seldom
    kName,       // the child has a name
    kHide,       // what the child reads is left out of names around it
    kInside,     // a language, and children that read the same text each for itself
    kRegex,      // a pattern with named groups; children: of those whose names stand for languages
    kBefore,     // nothing is read: the text before, from the beginning of the pattern, is in a language
    kAfter,      // nothing is read: the text after, up to the end of the pattern, is in a language
    kUnknown,    // a language with named parts that cannot be followed; the name says why
  };
  Kind kind = Kind::kAtom;
  bool lazy = false;
  uint32_t low = 0, high = 0;
  uint32_t depth = 1;  // of nodes below each other
  EndOrder order = EndOrder::kLongest;
  std::string name;  // kRegex: the pattern
  std::vector<std::shared_ptr<const CaptureNode>> children;
  std::optional<Language> language;  // kAtom, kInside, kUnknown
  // kAtom, kInside, kBefore and kAfter in an acceptor of somebody else:
  DelayedAcceptor::State start = DelayedAcceptor::kDead;
  DelayedAcceptor::State any = DelayedAcceptor::kDead;  // kAfter: where any text is in the language
  std::shared_ptr<ExpressionAcceptor> acceptor;
  std::string flags;  // kRegex, this and what follows; see RegexOptions
  uint32_t max_depth = 0;
  std::function<uint32_t(std::string_view)> lookup_name;
  std::vector<std::string> named;
};
using CaptureTree = std::shared_ptr<const CaptureNode>;

CaptureTree CaptureAtom(const Language& language);
// LimitError past kMostCaptureDepth and kMostCaptureParts. Children of the same kind are taken in.
CaptureTree CaptureJoin(CaptureNode::Kind kind, const std::vector<CaptureTree>& children);
CaptureTree CaptureRepeat(const CaptureTree& child, uint32_t low, uint32_t high, bool lazy);
CaptureTree CaptureName(const CaptureTree& child, const std::string& name);
CaptureTree CaptureHide(const CaptureTree& child);
CaptureTree CaptureInside(const Language& language, const std::vector<CaptureTree>& children);
// Whoever asks for captures gets an UnsupportedError with this text.
CaptureTree CaptureUnknown(const Language& language, const std::string& why);
constexpr uint32_t kMostCaptureDepth = 1000, kMostCaptureParts = 1'000'000;
// The tree of a pattern with named groups (kRegex), of atoms and the other kinds: which path a backtracking matcher
// finds first is which one is preferred here. Where assertions are left, a kInside whose only child has them.
// UnsupportedError for what cannot be followed.
CaptureTree CaptureTreeOfRegex(const CaptureNode& regex);

// A tree as instructions. Immutable; compiled once.
class CaptureProgram {
 public:
  explicit CaptureProgram(const CaptureTree& tree);

  struct Mark {
    enum Kind : uint8_t { kName, kHidden, kInside } kind;
    std::string name;
    std::vector<std::shared_ptr<const CaptureProgram>> inside;
  };
  struct Instruction {
    enum Kind : uint8_t { kAtom, kSplit, kLoop, kEnter, kBegin, kEnd, kBefore, kAfter, kMatch } kind;
    EndOrder order = EndOrder::kLongest;  // kAtom
    uint32_t index = 0;                   // of an atom, a loop, a mark or a test
    uint32_t next = 0;
    std::vector<uint32_t> others;         // kSplit: all ways, the preferred ones first; kLoop: likewise, and the end
  };
  struct Atom {
    std::shared_ptr<ExpressionAcceptor> acceptor;
    DelayedAcceptor::State start;
  };
  struct Test : Atom {
    DelayedAcceptor::State any;
  };
  const Instruction& At(uint32_t pc) const { return code_[pc]; }
  const Atom& AtomAt(uint32_t i) const { return atoms_[i]; }
  const Mark& MarkAt(uint32_t i) const { return marks_[i]; }
  const std::vector<Atom>& TestsBefore() const { return before_; }
  const std::vector<Test>& TestsAfter() const { return after_; }
  bool HasTests() const { return !before_.empty() || !after_.empty(); }
  uint32_t Start() const { return start_; }
  uint32_t Size() const { return static_cast<uint32_t>(code_.size()); }
  // Whether parts read what others read, so that readings of tokens have to be kept.
  bool HasInside() const { return has_inside_; }

 private:
  static constexpr size_t kMostInstructions = 100'000;
  uint32_t Add(Instruction instruction);
  uint32_t Compile(const CaptureNode& node, uint32_t next);
  uint32_t CompileRepeat(const CaptureNode& node, uint32_t next);
  uint32_t Marked(Mark mark, const CaptureNode& child, uint32_t next);

  std::vector<Instruction> code_;
  std::vector<Atom> atoms_;
  std::vector<Mark> marks_;
  std::vector<Atom> before_;
  std::vector<Test> after_;
  uint32_t loops_ = 0, start_ = 0;
  bool has_inside_ = false;
};

// What a mark has read.
struct CaptureSpan {
  std::string name;  // empty: hidden
  size_t begin = 0, end = 0;
  bool closed = false;
};

// What a name has read, piece by piece.
struct CaptureValues {
  std::string name;
  std::vector<std::string> texts;
};
// By name, in the order in which names occur first; without what is hidden and, with `markers`, special tokens.
std::vector<CaptureValues> ValuesOf(std::string_view text, const std::vector<CaptureSpan>& spans, bool markers);

// Reads a text beside a program: all ways through it that are left, the preferred one first (Pike's machine).
// O(instructions) for each byte. Source: Cox, "Regular Expression Matching: the Virtual Machine Approach" (2009).
class CaptureRun {
 public:
  // One way to read a token: its text, or the marker of a class that it belongs to.
  struct Reading {
    std::string_view bytes;
    bool is_text = true;
  };
  explicit CaptureRun(std::shared_ptr<const CaptureProgram> program);

  void Read(std::string_view bytes);
  // Reads one token with so many bytes of text in each of several ways, the preferred ones first.
  void ReadToken(const std::vector<Reading>& readings, size_t bytes);
  size_t Position() const { return position_; }
  // The spans along the preferred way, in the order in which they begin; with `whole`, along the preferred one of those
  // that end here. Nothing where there is no such way.
  std::optional<std::vector<CaptureSpan>> Spans(std::string_view text, bool whole) const;

 private:
  static constexpr uint32_t kNothing = 0xffffffff;
  struct Event {
    enum Kind : uint8_t { kBegin, kEnd, kMarker } kind;
    uint32_t before, index;  // of a mark; kMarker: of the marker that a token from here on was read as
    size_t position, bytes;
  };
  struct Span {
    uint32_t mark;
    CaptureSpan span;
    size_t first, last;  // of the path's events
  };
  using State = DelayedAcceptor::State;
  // What is demanded of the text to come, by test: a state from which it must be accepted. Sorted, without repetition.
  using Demands = std::vector<std::pair<uint32_t, State>>;
  struct Thread {
    uint32_t pc, event;
    State state;
    uint32_t demands;  // by number
  };
  struct Threads {
    std::vector<Thread> list;
    std::unordered_set<uint64_t> seen;  // pairs of pc and state, without demands
    std::set<std::tuple<uint32_t, State, uint32_t>> demanding;
    void Add(const Thread& t);
    void Clear();
  };
  void Step(uint8_t byte, size_t position);
  void Wait(const Thread& at, size_t position, Threads* out);
  void Follow(uint32_t pc, uint32_t event, uint32_t demands, size_t position, Threads* out);
  uint32_t NumberOf(Demands demands);
  uint32_t WithDemand(uint32_t demands, uint32_t test);      // kNothing: it cannot be met
  uint32_t DemandsAfter(uint32_t demands, uint8_t byte);     // likewise
  bool Met(uint32_t demands) const;
  // Whether some text leads on to a match. A search over places, of which LimitError allows kMostPlaces.
  bool GoesOn(const Thread& thread) const;
  static constexpr size_t kMostPlaces = 20'000;
  // Has an operand read what a part read along a path, for its own names.
  void ReadInside(const std::vector<uint32_t>& path, const Span& part, std::string_view text,
                  const std::shared_ptr<const CaptureProgram>& inside, std::vector<CaptureSpan>* spans) const;

  std::shared_ptr<const CaptureProgram> program_;
  Threads now_, next_;
  // By Follow, since the last byte.
  std::set<std::tuple<uint32_t, uint32_t, std::vector<uint32_t>>> passed_;
  std::vector<State> before_;  // of the tests of what comes before
  std::vector<Demands> demands_{{}};
  std::map<Demands, uint32_t> demand_numbers_{{{}, 0}};
  std::vector<Event> events_;
  std::vector<std::string> markers_;
  size_t position_ = 0;
};

}  // namespace tokamata
