#include "constraints/csrc/captures.h"

#include <algorithm>

#include "automata/csrc/errors.h"
#include "automata/csrc/id_table.h"
#include "automata/csrc/time_limit.h"

namespace tokamata {
namespace {

using Kind = CaptureNode::Kind;
using Code = CaptureProgram::Instruction;

CaptureTree Checked(CaptureNode node) {
  for (const CaptureTree& child : node.children) node.depth = std::max(node.depth, child->depth + 1);
  if (node.depth > kMostCaptureDepth)
    throw LimitError("capture: the limit of " + std::to_string(kMostCaptureDepth) +
                     " parts inside each other was reached; build the constraint of fewer nested parts");
  return std::make_shared<const CaptureNode>(std::move(node));
}

}  // namespace

CaptureTree CaptureAtom(const Language& language) {
  CaptureNode node;
  node.language = language;
  return Checked(std::move(node));
}

CaptureTree CaptureJoin(Kind kind, const std::vector<CaptureTree>& children) {
  CaptureNode node;
  node.kind = kind;
  for (const CaptureTree& child : children) {
    if (child->kind == kind)
      node.children.insert(node.children.end(), child->children.begin(), child->children.end());
    else
      node.children.push_back(child);
  }
  return Checked(std::move(node));
}

CaptureTree CaptureRepeat(const CaptureTree& child, uint32_t low, uint32_t high, bool lazy) {
  CaptureNode node;
  node.kind = Kind::kRepeat;
  node.low = low;
  node.high = high;
  node.lazy = lazy;
  node.children = {child};
  return Checked(std::move(node));
}

CaptureTree CaptureName(const CaptureTree& child, const std::string& name) {
  CaptureNode node;
  node.kind = Kind::kName;
  node.name = name;
  node.children = {child};
  return Checked(std::move(node));
}

CaptureTree CaptureHide(const CaptureTree& child) {
  CaptureNode node;
  node.kind = Kind::kHide;
  node.children = {child};
  return Checked(std::move(node));
}

CaptureTree CaptureInside(const Language& language, const std::vector<CaptureTree>& children) {
  CaptureNode node;
  node.kind = Kind::kInside;
  node.language = language;
  node.children = children;
  return Checked(std::move(node));
}

CaptureTree CaptureUnknown(const Language& language, const std::string& why) {
  CaptureNode node;
  node.kind = Kind::kUnknown;
  node.name = why;
  node.language = language;
  return Checked(std::move(node));
}

// ---------------------------------------------------------------------------------------------- programs

CaptureProgram::CaptureProgram(const CaptureTree& tree) {
  Code match;
  match.kind = Code::kMatch;
  start_ = Compile(*tree, Add(std::move(match)));
}

uint32_t CaptureProgram::Add(Instruction instruction) {
  TimeLimit::Spend();
  if (code_.size() >= kMostInstructions)
    throw LimitError("captures: the limit of " + std::to_string(kMostInstructions) +
                     " steps was reached; use smaller bounds on repetitions around named parts");
  code_.push_back(std::move(instruction));
  return static_cast<uint32_t>(code_.size() - 1);
}

uint32_t CaptureProgram::Marked(Mark mark, const CaptureNode& child, uint32_t next) {
  const uint32_t index = static_cast<uint32_t>(marks_.size());
  marks_.push_back(std::move(mark));
  Code end;
  end.kind = Code::kEnd;
  end.index = index;
  end.next = next;
  Code begin;
  begin.kind = Code::kBegin;
  begin.index = index;
  begin.next = Compile(child, Add(std::move(end)));
  return Add(std::move(begin));
}

// From the back: where the node goes on is known. Recursion is limited by kMostCaptureDepth, and in patterns by their depth.
uint32_t CaptureProgram::Compile(const CaptureNode& node, uint32_t next) {
  switch (node.kind) {
    case Kind::kAtom: {
      Code atom;
      atom.kind = Code::kAtom;
      atom.order = node.order;
      atom.index = static_cast<uint32_t>(atoms_.size());
      atom.next = next;
      if (node.acceptor)
        atoms_.push_back({node.acceptor, node.start});
      else
        atoms_.push_back({node.language->Acceptor(), node.language->Acceptor()->Start()});
      return Add(std::move(atom));
    }
    case Kind::kConcat:
      for (size_t i = node.children.size(); i-- > 0;) next = Compile(*node.children[i], next);
      return next;
    case Kind::kAlternate: {
      Code split;
      split.kind = Code::kSplit;
      for (const CaptureTree& child : node.children) split.others.push_back(Compile(*child, next));
      return Add(std::move(split));
    }
    case Kind::kRepeat: return CompileRepeat(node, next);
    case Kind::kName: return Marked({Mark::kName, node.name, {}}, *node.children[0], next);
    case Kind::kHide: return Marked({Mark::kHidden, "", {}}, *node.children[0], next);
    case Kind::kInside: {
      has_inside_ = true;
      Mark mark{Mark::kInside, "", {}};
      for (const CaptureTree& child : node.children) mark.inside.push_back(std::make_shared<CaptureProgram>(child));
      return Marked(std::move(mark), *CaptureAtom(*node.language), next);
    }
    case Kind::kUnknown: throw UnsupportedError(node.name);
    default: return Compile(*CaptureTreeOfRegex(node), next);
  }
}

// As backtracking matchers do it: after the least number of times, another turn is tried unless the last one that was
// tried of its own accord began at the same place.
uint32_t CaptureProgram::CompileRepeat(const CaptureNode& node, uint32_t next) {
  const CaptureNode& body = *node.children[0];
  const uint32_t number = loops_++;
  uint32_t current = next;
  const auto loop = [&](uint32_t more) {
    Code code;
    code.kind = Code::kLoop;
    code.index = number;
    code.next = next;
    code.others = node.lazy ? std::vector<uint32_t>{next, more} : std::vector<uint32_t>{more, next};
    return code;
  };
  if (node.high == kUnbounded) {
    current = Add(loop(next));
    const uint32_t more = Compile(body, current);
    code_[current] = loop(more);
  } else {
    for (uint32_t i = node.low; i < node.high; ++i) current = Add(loop(Compile(body, current)));
  }
  if (current != next) {
    Code enter;
    enter.kind = Code::kEnter;
    enter.index = number;
    enter.next = current;
    current = Add(std::move(enter));
  }
  for (uint32_t i = 0; i < node.low; ++i) current = Compile(body, current);
  return current;
}

// ---------------------------------------------------------------------------------------------- runs

CaptureRun::CaptureRun(std::shared_ptr<const CaptureProgram> program) : program_(std::move(program)) {
  Follow(program_->Start(), kNothing, 0, &now_);
}

// A place inside an atom, and what follows where the atom may end there.
void CaptureRun::Wait(uint32_t pc, DelayedAcceptor::State state, uint32_t event, size_t position, Threads* out) {
  const Code& code = program_->At(pc);
  if (!state) return;
  ExpressionAcceptor* acceptor = program_->AtomAt(code.index).acceptor.get();
  const bool final = acceptor->IsFinal(state);
  if (final && code.order == EndOrder::kShortest) Follow(code.next, event, position, out);
  if (acceptor->Live(state).Any() && out->seen.insert(PairKey(pc, state)).second) out->list.push_back({pc, event, state});
  if (final && code.order == EndOrder::kLongest) Follow(code.next, event, position, out);
}

// All atoms that are reached without a byte, the preferred ones first. The loops of a way are those that have begun a
// turn of their own accord since the last byte.
void CaptureRun::Follow(uint32_t start, uint32_t start_event, size_t position, Threads* out) {
  struct Way {
    uint32_t pc, event;
    DelayedAcceptor::State state;  // of an atom that was entered already
    std::vector<uint32_t> loops;
  };
  std::vector<Way> open{{start, start_event, DelayedAcceptor::kDead, {}}};
  while (!open.empty()) {
    Way way = std::move(open.back());
    open.pop_back();
    TimeLimit::Spend();
    const Code& code = program_->At(way.pc);
    if (way.state) {
      if (out->seen.insert(PairKey(way.pc, way.state)).second) out->list.push_back({way.pc, way.event, way.state});
      continue;
    }
    if (code.kind != Code::kMatch && !passed_.emplace(way.pc, way.loops).second) continue;
    switch (code.kind) {
      case Code::kMatch:
        if (out->seen.insert(PairKey(way.pc, 0)).second) out->list.push_back({way.pc, way.event, DelayedAcceptor::kDead});
        break;
      case Code::kAtom: {
        const auto& atom = program_->AtomAt(code.index);
        if (!atom.start) break;
        const bool final = atom.acceptor->IsFinal(atom.start);
        const Way after{code.next, way.event, DelayedAcceptor::kDead, way.loops};
        const Way stay{way.pc, way.event, atom.start, {}};
        if (final && code.order == EndOrder::kLongest) open.push_back(after);
        if (atom.acceptor->Live(atom.start).Any()) open.push_back(stay);
        if (final && code.order == EndOrder::kShortest) open.push_back(after);
        break;
      }
      case Code::kSplit:
        for (size_t i = code.others.size(); i-- > 0;)
          open.push_back({code.others[i], way.event, DelayedAcceptor::kDead, way.loops});
        break;
      case Code::kEnter:
        way.loops.erase(std::remove(way.loops.begin(), way.loops.end(), code.index), way.loops.end());
        way.pc = code.next;
        open.push_back(std::move(way));
        break;
      case Code::kLoop: {
        const auto at = std::lower_bound(way.loops.begin(), way.loops.end(), code.index);
        if (at != way.loops.end() && *at == code.index) {
          way.loops.erase(at);  // outside of a loop nobody asks
          way.pc = code.next;
          open.push_back(std::move(way));
          break;
        }
        std::vector<uint32_t> begun = way.loops;
        begun.insert(begun.begin() + (at - way.loops.begin()), code.index);
        for (size_t i = 2; i-- > 0;) {
          const bool leaves = code.others[i] == code.next;
          open.push_back({code.others[i], way.event, DelayedAcceptor::kDead, leaves ? way.loops : begun});
        }
        break;
      }
      default:
        events_.push_back({code.kind == Code::kEnd ? Event::kEnd : Event::kBegin, way.event, code.index, position, 0});
        way.event = static_cast<uint32_t>(events_.size() - 1);
        way.pc = code.next;
        open.push_back(std::move(way));
    }
  }
}

void CaptureRun::Step(uint8_t byte, size_t position) {
  next_.list.clear();
  next_.seen.clear();
  passed_.clear();
  for (const Thread& t : now_.list) {
    TimeLimit::Spend();
    const Code& code = program_->At(t.pc);
    if (code.kind != Code::kAtom) continue;
    Wait(t.pc, program_->AtomAt(code.index).acceptor->Next(t.state, byte), t.event, position, &next_);
  }
  std::swap(now_, next_);
}

void CaptureRun::Read(std::string_view bytes) {
  for (const char b : bytes) Step(static_cast<uint8_t>(b), ++position_);
}

// Way by way, as a matcher would that tries the readings of each token in turn.
void CaptureRun::ReadToken(const std::vector<Reading>& readings, size_t bytes) {
  const std::vector<Thread> before = std::move(now_.list);
  const size_t from = position_;
  const uint32_t first_marker = static_cast<uint32_t>(markers_.size());
  for (const Reading& reading : readings) markers_.emplace_back(reading.is_text ? "" : reading.bytes);
  Threads all;
  for (const Thread& thread : before) {
    for (size_t r = 0; r < readings.size(); ++r) {
      const Reading& reading = readings[r];
      now_.list.assign(1, thread);
      if (!reading.is_text && program_->HasInside()) {
        events_.push_back({Event::kMarker, thread.event, first_marker + static_cast<uint32_t>(r), from, bytes});
        now_.list[0].event = static_cast<uint32_t>(events_.size() - 1);
      }
      for (size_t k = 0; k < reading.bytes.size(); ++k)
        Step(static_cast<uint8_t>(reading.bytes[k]), reading.is_text ? from + k + 1 : from + bytes);
      for (const Thread& t : now_.list)
        if (all.seen.insert(PairKey(t.pc, t.state)).second) all.list.push_back(t);
    }
  }
  now_ = std::move(all);
  position_ = from + bytes;
}

std::optional<std::vector<CaptureSpan>> CaptureRun::Spans(std::string_view text, bool whole) const {
  const auto chosen = std::find_if(now_.list.begin(), now_.list.end(), [&](const Thread& t) {
    return !whole || program_->At(t.pc).kind == Code::kMatch;
  });
  if (chosen == now_.list.end()) return std::nullopt;
  std::vector<uint32_t> path;
  for (uint32_t e = chosen->event; e != kNothing; e = events_[e].before) path.push_back(e);
  std::reverse(path.begin(), path.end());
  std::vector<Span> found;
  for (size_t i = 0; i < path.size(); ++i) {
    const Event& event = events_[path[i]];
    if (event.kind == Event::kMarker) continue;
    if (event.kind == Event::kBegin) {
      found.push_back({event.index, {program_->MarkAt(event.index).name, event.position, position_, false}, i + 1, path.size()});
      continue;
    }
    size_t k = found.size();
    while (k-- > 0 && (found[k].mark != event.index || found[k].span.closed)) {
    }
    found[k].span.end = event.position;
    found[k].span.closed = true;
    found[k].last = i;
  }
  std::vector<CaptureSpan> spans;
  for (const Span& part : found) {
    const CaptureProgram::Mark& mark = program_->MarkAt(part.mark);
    if (mark.kind != CaptureProgram::Mark::kInside) {
      if (part.span.closed || part.span.begin < position_) spans.push_back(part.span);
      continue;
    }
    for (const auto& inside : mark.inside) ReadInside(path, part, text, inside, &spans);
  }
  return spans;
}

// Every token is read as it was along the path, so that operands agree about it.
void CaptureRun::ReadInside(const std::vector<uint32_t>& path, const Span& part, std::string_view text,
                            const std::shared_ptr<const CaptureProgram>& inside, std::vector<CaptureSpan>* spans) const {
  CaptureRun run(inside);
  const size_t begin = part.span.begin;
  size_t at = begin;
  for (size_t i = part.first; i < part.last; ++i) {
    const Event& event = events_[path[i]];
    if (event.kind != Event::kMarker) continue;
    run.Read(text.substr(at, event.position - at));
    run.ReadToken({{markers_[event.index], false}}, event.bytes);
    at = event.position + event.bytes;
  }
  run.Read(text.substr(at, part.span.end - at));
  const auto inner = run.Spans(text.substr(begin, part.span.end - begin), part.span.closed);
  if (!inner) return;
  for (CaptureSpan span : *inner) {
    span.begin += begin;
    span.end += begin;
    spans->push_back(std::move(span));
  }
}

std::vector<CaptureValues> ValuesOf(std::string_view text, const std::vector<CaptureSpan>& spans, bool markers) {
  constexpr char kMarker = static_cast<char>(0xff);  // before and after the name of a special token
  std::vector<std::pair<size_t, size_t>> left_out;  // in order
  for (const CaptureSpan& s : spans)
    if (s.name.empty() && s.begin < s.end) left_out.emplace_back(s.begin, s.end);
  for (size_t at = 0; markers && (at = text.find(kMarker, at)) != std::string_view::npos;) {
    const size_t end = std::min(text.find(kMarker, at + 1), text.size() - 1) + 1;
    left_out.emplace_back(at, end);
    at = end;
  }
  std::sort(left_out.begin(), left_out.end());
  std::vector<CaptureValues> out;
  for (const CaptureSpan& s : spans) {
    if (s.name.empty()) continue;
    auto value = std::find_if(out.begin(), out.end(), [&](const CaptureValues& v) { return v.name == s.name; });
    if (value == out.end()) value = out.insert(out.end(), CaptureValues{s.name, {}});
    std::string piece;
    size_t at = s.begin;
    auto skip = std::lower_bound(left_out.begin(), left_out.end(), std::pair<size_t, size_t>(s.begin, 0));
    for (; skip != left_out.end() && skip->first < s.end; ++skip) {
      if (skip->first > at) piece.append(text.substr(at, skip->first - at));
      at = std::max(at, skip->second);
    }
    if (at < s.end) piece.append(text.substr(at, s.end - at));
    value->texts.push_back(std::move(piece));
  }
  return out;
}

}  // namespace tokamata
