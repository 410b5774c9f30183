#include "constraints/csrc/contextual_summaries.h"

#include <algorithm>

#include "automata/csrc/insert_new.h"
#include "automata/csrc/recall.h"
#include "automata/csrc/time_limit.h"

namespace tokamata {

void ContextualSummaries::Spend(size_t steps) {
  TimeLimit::Spend(static_cast<int64_t>(steps));
  spent_ += steps;
}

// Of stacks with nothing below.
SummaryGraph::Node ContextualSummaries::NodeOf(const Root& root) {
  const uint32_t none = stacks_.InternAllowed(Lexer::Terminals(rules_.all.size(), 0));
  return graph_.NodeOf(PlaceOf(root.first, none), ContextOf(root.second, none));
}

uint32_t ContextualSummaries::UnionOf(uint32_t a, uint32_t b) {
  if (a == b) return a;
  return Recall(&unions_, PairKey(std::min(a, b), std::max(a, b)), [&] {
    Lexer::Terminals all = stacks_.Terminals(a);
    const Lexer::Terminals& more = stacks_.Terminals(b);
    for (size_t i = 0; i < all.size(); ++i) all[i] |= more[i];
    return stacks_.InternAllowed(std::move(all));
  });
}

// The terminals that a frame takes above a rest that takes `below`.
uint32_t ContextualSummaries::Allowed(Set frame, uint32_t below) {
  const uint32_t above = stacks_.Allowed(frame);
  return stacks_.Accepts(frame) == 1 ? UnionOf(above, below) : above;
}

bool ContextualSummaries::OneStack(Set frame, uint32_t* top, Set* below) const {
  size_t count = stacks_.HasBottom(frame) ? 2 : 0;
  stacks_.ForEachTop(frame, [&](uint32_t state, Set rest) {
    ++count;
    *top = state;
    *below = rest;
  });
  return count == 1;
}

// What may be beside after any number of ignored lexemes.
const std::vector<ContextualSummaries::Beside>& ContextualSummaries::AfterIgnored(uint32_t competing, Beside beside) {
  Lexemes(competing, beside);
  return after_ignored_.at(PairKey(competing, beside));
}

// The next lexemes of the rules, ignored ones before them read over.
const std::vector<ContextualSummaries::Lexeme>& ContextualSummaries::Lexemes(uint32_t competing, Beside beside) {
  const auto known = lexemes_.find(PairKey(competing, beside));
  if (known != lexemes_.end()) return known->second;
  Lexer::Terminals all = stacks_.Terminals(competing);
  for (size_t i = 0; i < all.size(); ++i) all[i] |= rules_.ignored[i];
  const Lexer::State begin = lexer_->Begin(all, all);
  std::vector<Lexeme> found;
  std::vector<Beside> before{beside};
  for (size_t i = 0; begin && i < before.size(); ++i)
    ForEachEnd(begin, before[i], [&](uint32_t terminal, Beside after) {
      if (HasTerminal(rules_.ignored, terminal)) {
        InsertNew(&before, after);
      } else if (std::none_of(found.begin(), found.end(), [&](const Lexeme& l) {
                   return l.terminal == terminal && l.beside == after;
                 })) {
        found.push_back({terminal, after});
      }
    });
  after_ignored_[PairKey(competing, beside)] = std::move(before);
  return lexemes_[PairKey(competing, beside)] = std::move(found);
}

void ContextualSummaries::Expand(SummaryGraph::Node node) {
  constexpr size_t kCost = 64;
  Spend(kCost);
  const auto [frame, below] = places_[graph_.Place(node)];
  const auto [beside, others] = contexts_[graph_.From(node)];
  uint32_t top = 0;
  Set rest = StackSets::kNone;
  if (OneStack(frame, &top, &rest) && rest != stacks_.Bottom()) {
    const Place callee = PlaceOf(stacks_.Frame(top), Allowed(rest, below));
    if (!whole_.count(callee)) {
      graph_.AddFollow(graph_.NodeOf(callee, graph_.From(node)), PlaceOf(rest, below), node);
      return;
    }
  }
  const uint32_t above = stacks_.Allowed(frame);
  const bool left = stacks_.Accepts(frame) == 1;
  uint32_t competing = UnionOf(above, others);
  if (left) {
    graph_.AddOut(node, ContextOf(beside, competing));
    competing = UnionOf(competing, below);
  }
  const uint32_t none = stacks_.InternAllowed(Lexer::Terminals(rules_.all.size(), 0));
  const std::vector<Lexeme> lexemes = Lexemes(competing, beside);
  for (const Lexeme& lexeme : lexemes) {
    const uint32_t t = lexeme.terminal;
    if (!HasTerminal(stacks_.Terminals(above), t) || HasTerminal(stacks_.Terminals(others), t)) continue;
    if (left && HasTerminal(stacks_.Terminals(below), t)) {
      conflicts_.push_back(node);
      continue;
    }
    const Place next = PlaceOf(stacks_.Advance(frame, t), below);
    graph_.AddCopy(graph_.NodeOf(next, ContextOf(lexeme.beside, none)), node);
  }
}

// Until some root can be left, or, if all ways are wanted, to the end. False where the limit was reached.
bool ContextualSummaries::Solve(const std::vector<Root>& roots, bool all) {
  for (;;) {
    std::vector<SummaryGraph::Node> nodes;
    for (const Root& root : roots) nodes.push_back(NodeOf(root));
    const auto found = [&] {
      return !all &&
             std::any_of(nodes.begin(), nodes.end(), [&](SummaryGraph::Node n) { return !graph_.Out(n).empty(); });
    };
    const bool solved = graph_.Solve(
        [&](SummaryGraph::Node node) {
          if (found() || spent_ > rules_.most_searched) return false;
          Expand(node);
          return true;
        },
        [this](size_t steps) { Spend(steps); });
    if (!solved) return found();
    // Frames in which something was left out are not split off any more.
    bool again = false;
    for (const SummaryGraph::Node node : graph_.WithReaders(conflicts_))
      if (graph_.IsFollowed(node)) again = whole_.insert(graph_.Place(node)).second || again;
    if (!again) return true;
    graph_ = SummaryGraph();
    conflicts_.clear();
  }
}

void ContextualSummaries::Roots(const Position& p, Beside start, std::vector<Root>* roots) {
  if (p.lexer == Position::kBoundary) return roots->push_back({p.stacks, start});
  ForEachEnd(p.lexer, start, [&](uint32_t terminal, Beside after) {
    const Set next = HasTerminal(rules_.ignored, terminal) ? p.stacks : stacks_.Advance(p.stacks, terminal);
    if (next != StackSets::kNone) InsertNew(roots, {next, after});
  });
}

bool ContextualSummaries::CanEnd(const Position& p, bool* can) {
  std::vector<Root> roots;
  spent_ = 0;
  Roots(p, ends_.Number(p.pending, kEmpty), &roots);
  if (!Solve(roots, false)) {  // maybe because of what was left over from earlier questions
    graph_ = SummaryGraph();
    conflicts_.clear();
    spent_ = 0;
    if (!Solve(roots, false)) return false;
  }
  *can = std::any_of(roots.begin(), roots.end(), [&](const Root& root) { return !graph_.Out(NodeOf(root)).empty(); });
  return true;
}

bool ContextualSummaries::Ends(const Position& p, Expr from, std::vector<Expr>* out) {
  std::vector<Root> roots;
  Roots(p, ends_.Number(p.pending, from), &roots);
  if (!Solve(roots, true)) return false;
  for (const Root& root : roots) {
    const std::vector<Context> left = graph_.Out(NodeOf(root));
    for (const Context context : left) {
      const auto [beside, others] = contexts_[context];
      const std::vector<Beside> last = AfterIgnored(others, beside);
      for (const Beside n : last) InsertNew(out, ends_.RegularOf(n));
    }
  }
  return true;
}

}  // namespace tokamata
