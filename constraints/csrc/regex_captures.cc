// The parts of a pattern with named groups.
#include <algorithm>
#include <map>
#include <utility>

#include "automata/csrc/utf8.h"
#include "constraints/csrc/captures.h"
#include "constraints/csrc/regex.h"
#include "constraints/csrc/regex_context.h"

namespace tokamata {
namespace {

using Kind = CaptureNode::Kind;

// Where matches of a part that begin at one place end, in the order in which a backtracking matcher tries them.
enum class Ends : uint8_t { kOne, kLongest, kShortest };

// A part of the pattern: a language whose ends are tried in a simple order, or a tree.
struct Part {
  Expr language = kEmpty;
  Ends ends = Ends::kOne;
  CaptureTree tree;  // null: a language
};

class Parts {
 public:
  explicit Parts(const CaptureNode& regex) : regex_(regex), pool_(std::make_unique<Expressions>()) {
    options_.flags = regex.flags;
    options_.depth = regex.max_depth;
    options_.lookup_name = regex.lookup_name;
    options_.named = regex.named;
    options_.languages.assign(regex.children.size(), kEmpty);  // they are read as trees
  }

  CaptureTree Build() {
    tree_ = ParseRegex(regex_.name, options_);
    SpellWords(&tree_);
    RegexLowering lowering(pool_.get(), &tree_, options_, nullptr);
    lowering_ = &lowering;
    const auto atomic = [](const RegexNode& n) { return n.kind == RegexKind::kAtomic || n.kind == RegexKind::kPossessive; };
    const auto first_atomic = std::find_if(tree_.nodes.begin(), tree_.nodes.end(), atomic);
    const auto atomic_node = static_cast<uint32_t>(first_atomic - tree_.nodes.begin());
    const bool has_atomic = first_atomic != tree_.nodes.end();  // before further nodes are made
    const bool asserts = lowering.RemoveAnchors();
    std::shared_ptr<CaptureNode> whole;
    std::unique_ptr<RegexContext> context;
    if (asserts) {
      if (has_atomic)
        lowering.Unsupported(atomic_node, "captures of a pattern with possessive or atomic parts",
                             "name parts of a pattern without them, or use tokamata.capture around it");
      if (!regex_.children.empty())
        lowering.Unsupported(tree_.root, "captures of a pattern with lookaround, in which groups stand for languages",
                             "put the two into patterns of their own and join them with +");
      context = std::make_unique<RegexContext>(&lowering);
      context_ = context.get();
      whole = std::make_shared<CaptureNode>();
      whole->kind = Kind::kInside;
      atoms_.emplace_back(whole, context->Lower(tree_.root));
    }
    const CaptureTree made = TreeOf(Read(tree_.root));
    for (auto& [node, language] : atoms_)
      if (pool_->IsEmpty(language)) language = kEmpty;
    const Expr any = pool_->AnyBytes();
    const auto acceptor = std::make_shared<ExpressionAcceptor>(std::move(pool_), kEpsilonExpr);
    for (const auto& [node, language] : atoms_) {
      node->acceptor = acceptor;
      node->start = acceptor->StateAt(language);
      if (node->kind == Kind::kAfter) node->any = acceptor->StateAt(any);
    }
    if (!whole) return made;
    whole->children = {made};
    whole->depth = made->depth + 1;
    return whole;
  }

 private:
  CaptureTree TreeOf(const Part& part) {
    if (part.tree) return part.tree;
    auto node = std::make_shared<CaptureNode>();
    node->order = part.ends == Ends::kShortest ? EndOrder::kShortest : EndOrder::kLongest;
    atoms_.emplace_back(node, part.language);
    return node;
  }

  // Recursion follows the nesting of groups, which the parser limits.
  Part Read(uint32_t node) {
    const RegexNode n = tree_.nodes[node];
    Part part;
    switch (n.kind) {
      case RegexKind::kConcat: return ReadConcat(n);
      case RegexKind::kAlternate: return ReadAlternate(n);
      case RegexKind::kRepeat: return ReadRepeat(n);
      case RegexKind::kGroup: {
        part = Read(n.first);
        if (!n.high) return part;
        std::string name;
        for (uint32_t i = 0; i < n.high; ++i) AppendUtf8(tree_.text[n.low + i], &name);
        return {kEmpty, Ends::kOne, CaptureName(TreeOf(part), name)};
      }
      case RegexKind::kLanguage: return {kEmpty, Ends::kOne, regex_.children.at(n.first)};
      case RegexKind::kLookahead:
      case RegexKind::kLookbehind: CheckNoNames(n.first); [[fallthrough]];
      case RegexKind::kStart:
      case RegexKind::kEnd:
      case RegexKind::kLastLine:
      case RegexKind::kLineStart:
      case RegexKind::kLineEnd: return {kEmpty, Ends::kOne, Test(node, context_->IsPrefixAssertion(node), n.negated)};
      case RegexKind::kBoundary: {  // exactly one of the two sides is a word character
        std::vector<CaptureTree> ways;
        for (const bool word : {true, false})
          ways.push_back(CaptureJoin(Kind::kConcat, {Test(node, true, !word), Test(node, false, word != n.negated)}));
        return {kEmpty, Ends::kOne, CaptureJoin(Kind::kAlternate, ways)};
      }
      default: return {lowering_->Plain(node), Ends::kOne, nullptr};
    }
  }

  // Whether the text before, or after, a place is in the language of an assertion, or is not.
  CaptureTree Test(uint32_t node, bool before, bool negated) {
    const auto in = [&](Kind kind, Expr language) {
      auto test = std::make_shared<CaptureNode>();
      test->kind = kind;
      atoms_.emplace_back(test, language);
      return test;
    };
    const auto unless = [&](Expr language) { return negated ? pool_->Complement(language) : language; };
    if (before) return in(Kind::kBefore, unless(context_->PrefixLanguage(node)));
    const RegexContext::Vector languages = context_->SuffixLanguages(node);
    const auto alike = [&](Expr e) { return e == languages[0]; };
    if (std::all_of(languages.begin(), languages.end(), alike)) return in(Kind::kAfter, unless(languages[0]));
    // A lookahead that looks back: what it asks for depends on what led here.
    const RegexContext::Vector texts = context_->TextsInto(node);
    std::map<Expr, std::vector<Expr>> leading;  // to where a language is asked for
    for (size_t q = 0; q < languages.size(); ++q) leading[languages[q]].push_back(texts[q]);
    std::vector<CaptureTree> ways;
    for (const auto& [language, from] : leading)
      ways.push_back(CaptureJoin(Kind::kConcat, {in(Kind::kBefore, pool_->Union(from)), in(Kind::kAfter, unless(language))}));
    return CaptureJoin(Kind::kAlternate, ways);
  }

  void CheckNoNames(uint32_t root) const {
    std::vector<uint32_t> open{root};
    while (!open.empty()) {
      const uint32_t node = open.back();
      open.pop_back();
      const RegexNode& n = tree_.nodes[node];
      const bool several = n.kind == RegexKind::kConcat || n.kind == RegexKind::kAlternate;
      const bool single = n.kind == RegexKind::kRepeat || n.kind == RegexKind::kGroup ||
                          n.kind == RegexKind::kLookahead || n.kind == RegexKind::kLookbehind;
      if (n.kind == RegexKind::kGroup && n.high)
        lowering_->Unsupported(node, "captures of a named group inside a lookaround",
                               "name what stands beside the lookaround, or leave the name out");
      if (single) open.push_back(n.first);
      for (uint32_t c = several ? n.first : 0; c; c = tree_.nodes[c].next) open.push_back(c);
    }
  }

  // A language behind parts with one end each is tried in its own order.
  Part ReadConcat(const RegexNode& n) {
    std::vector<Part> parts;
    for (uint32_t c = n.first; c; c = tree_.nodes[c].next) {
      Part part = Read(c);
      if (!parts.empty() && !parts.back().tree && !part.tree && parts.back().ends == Ends::kOne)
        parts.back() = {pool_->Concat(parts.back().language, part.language), part.ends, nullptr};
      else
        parts.push_back(std::move(part));
    }
    if (parts.size() == 1) return parts[0];
    std::vector<CaptureTree> trees;
    for (const Part& part : parts) trees.push_back(TreeOf(part));
    return {kEmpty, Ends::kOne, CaptureJoin(Kind::kConcat, trees)};
  }

  Part ReadAlternate(const RegexNode& n) {
    std::vector<Part> parts;
    for (uint32_t c = n.first; c; c = tree_.nodes[c].next) parts.push_back(Read(c));
    // One of them at most can match: the order among them does not matter.
    bool simple = true, disjoint = true;
    Ends ends = Ends::kOne;
    ByteSet first;
    std::vector<Expr> languages;
    for (const Part& part : parts) {
      if (!(simple = simple && !part.tree)) break;
      languages.push_back(part.language);
      disjoint = disjoint && !pool_->Nullable(part.language) && !first.Intersects(pool_->First(part.language));
      first = first | pool_->First(part.language);
      simple = part.ends == Ends::kOne || ends == Ends::kOne || ends == part.ends;
      if (part.ends != Ends::kOne) ends = part.ends;
    }
    if (simple) {
      const Expr all = pool_->Union(std::move(languages));
      if (disjoint || (ends == Ends::kOne && IsPrefixFree(all))) return {all, ends, nullptr};
    }
    std::vector<CaptureTree> trees;
    for (const Part& part : parts) trees.push_back(TreeOf(part));
    return {kEmpty, Ends::kOne, CaptureJoin(Kind::kAlternate, trees)};
  }

  // Turns that have one end each: more of them end later.
  Part ReadRepeat(const RegexNode& n) {
    const Part body = Read(n.first);
    const bool one = !body.tree && body.ends == Ends::kOne && !pool_->Nullable(body.language);
    if (!one) return {kEmpty, Ends::kOne, CaptureRepeat(TreeOf(body), n.low, n.high, n.negated)};
    const Ends ends = n.low == n.high ? Ends::kOne : n.negated ? Ends::kShortest : Ends::kLongest;
    return {pool_->Repeat(body.language, n.low, n.high), ends, nullptr};
  }

  bool IsPrefixFree(Expr x) {
    if (pool_->Nullable(x)) return x == kEpsilonExpr;
    const Expr longer = pool_->Concat(x, pool_->Repeat(pool_->Bytes(ByteSet::All()), 1, kUnbounded));
    return pool_->IsEmpty(pool_->Intersect(x, longer));
  }

  const CaptureNode& regex_;
  std::unique_ptr<Expressions> pool_;
  RegexOptions options_;
  RegexTree tree_;
  RegexLowering* lowering_ = nullptr;
  RegexContext* context_ = nullptr;  // where assertions are left
  std::vector<std::pair<std::shared_ptr<CaptureNode>, Expr>> atoms_;
};

}  // namespace

CaptureTree CaptureTreeOfRegex(const CaptureNode& regex) { return Parts(regex).Build(); }

}  // namespace tokamata
