#include "automata/csrc/expression.h"

#include <algorithm>
#include <iterator>


namespace tokamata {
namespace {

uint64_t Mix(uint64_t h) {
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93ull;
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93ull;
  return h ^ h >> 32;
}

uint32_t HashNode(ExprKind kind, uint32_t a, uint32_t b, uint32_t c, const ByteSet* set, const Expr* members, size_t n) {
  uint64_t h = Mix((uint64_t{a} << 32 | b) ^ uint64_t{c} * 0x9E3779B97F4A7C15ull ^ static_cast<uint64_t>(kind) << 59);
  if (set)
    for (uint64_t w : set->words) h = Mix(h ^ w);
  for (size_t i = 0; i < n; ++i) h = Mix(h ^ members[i]);
  return static_cast<uint32_t>(h);
}

bool IsNary(ExprKind kind) { return kind == ExprKind::kUnion || kind == ExprKind::kIntersect; }

}  // namespace

void Expressions::ThrowLimit(const char* name, size_t limit, const char* what, const char* more) {
  const std::string text = std::string("expressions: the limit ") + name + "=" + std::to_string(limit) + " was reached (" +
                           what + "); simplify the constraint or raise it: tokamata.Limits(" + name + "=...)" + more;
  if (std::string_view(name) == "expression_nodes") throw CapacityError(text);
  throw LimitError(text);
}

Expressions::Expressions() {
  Node empty;
  Intern(empty);
  Node epsilon;
  epsilon.kind = ExprKind::kEpsilon;
  epsilon.nullable = true;
  Intern(epsilon);
  any_bytes_ = Star(Bytes(ByteSet::All()));
}

Expressions::Expressions(const Expressions* prepared)
    : members_(prepared->members_),
      table_(prepared->table_),
      automata_(prepared->automata_),
      automaton_index_(prepared->automaton_index_),
      any_bytes_(prepared->any_bytes_),
      any_text_(prepared->any_text_),
      lists_(prepared->lists_),
      path_states_(prepared->path_states_),
      path_graphs_(prepared->path_graphs_),
      ranks_(prepared->ranks_),
      num_series_(prepared->num_series_) {
  nodes_.Share(prepared->nodes_);
  std::copy(std::begin(prepared->bytes_), std::end(prepared->bytes_), std::begin(bytes_));
  std::copy(std::begin(prepared->utf8_full_), std::end(prepared->utf8_full_), std::begin(utf8_full_));
}

bool Expressions::SameNode(const Node& x, const Node& y, const ExprList* members) const {
  if (x.kind != y.kind) return false;
  if (x.kind == ExprKind::kBytes) return x.first == y.first;
  if (IsNary(x.kind))
    return x.b == members->size() && std::equal(members->begin(), members->end(), members_.begin() + x.a);
  return x.a == y.a && x.b == y.b && x.c == y.c;
}

Expr Expressions::Find(ExprKind kind, uint32_t a, uint32_t b, uint32_t c) const {
  const uint32_t found = table_.Find(HashNode(kind, a, b, c, nullptr, nullptr, 0), [&](Expr e) {
    const Node& n = nodes_[e];
    return n.kind == kind && n.a == a && n.b == b && n.c == c;
  });
  return found == GradualTable::kNone ? kEmpty : found;
}

// Finds or adds a node. For unions and intersections `members` are the operands and node.a, node.b are set here.
Expr Expressions::Intern(const Node& node, const ExprList* members) {
  const bool bytes = node.kind == ExprKind::kBytes;
  const uint32_t hash = members ? HashNode(node.kind, 0, 0, 0, nullptr, members->data(), members->size())
                                : HashNode(node.kind, node.a, node.b, node.c, bytes ? &node.first : nullptr, nullptr, 0);
  const uint32_t found = table_.Find(hash, [&](Expr e) { return SameNode(nodes_[e], node, members); });
  if (found != GradualTable::kNone) return found;
  Spend();
  if (nodes_.size() + members_.size() / 8 >= limits.nodes) ThrowLimit("expression_nodes", limits.nodes, "expressions in one pool");
  if (node.depth > limits.depth) ThrowLimit("expression_depth", limits.depth, "nesting of operators");
  nodes_.push_back(node);
  if (members) {
    nodes_.back().a = static_cast<uint32_t>(members_.size());
    nodes_.back().b = static_cast<uint32_t>(members->size());
    members_.insert(members_.end(), members->begin(), members->end());
  }
  nodes_.back().shortest = LeastLength(nodes_.back());
  SetTraits(&nodes_.back());
  nodes_.back().hash = hash;
  table_.Insert(hash, [this](Expr e) { return nodes_[e].hash; });
  return static_cast<Expr>(nodes_.size() - 1);
}

uint32_t Expressions::LeastLength(const Node& n) const {
  constexpr uint64_t kMost = 0xffffffff;
  if (n.nullable) return 0;
  switch (n.kind) {
    case ExprKind::kConcat: return static_cast<uint32_t>(std::min(kMost, uint64_t{nodes_[n.a].shortest} + nodes_[n.b].shortest));
    case ExprKind::kRepeat: return static_cast<uint32_t>(std::min(kMost, uint64_t{nodes_[n.a].shortest} * n.b));
    case ExprKind::kUnion:
    case ExprKind::kIntersect: {
      uint32_t least = nodes_[members_[n.a]].shortest;
      for (uint32_t i = 1; i < n.b; ++i) {
        const uint32_t x = nodes_[members_[n.a + i]].shortest;
        least = n.kind == ExprKind::kUnion ? std::min(least, x) : std::max(least, x);
      }
      return std::max<uint32_t>(least, 1);
    }
    case ExprKind::kTexts: {
      const TextList& texts = *lists_[n.a];
      uint32_t least, most;
      texts.Lengths(texts.At(n.b, n.c), &least, &most);
      return least;
    }
    case ExprKind::kCall: {
      RuleSource& rules = *rules_[n.a].source;
      return rules.IsRegular() ? std::max<uint32_t>(rules.LeastLength(n.b), 1) : 1;
    }
    default: return 1;
  }
}

ByteSet Expressions::BytesOf(Expr root) {
  if (Kind(root) == ExprKind::kBytes) return Set(root);
  if (const ByteSet* const known = bytes_of_.Find(root)) return *known;
  ByteSet bytes;
  std::vector<Expr> work;
  std::unordered_set<Expr> seen;
  const auto add = [&](Expr e) {
    if (Kind(e) == ExprKind::kBytes)
      bytes = bytes | Set(e);
    else
      work.push_back(e);
  };
  add(root);
  while (!work.empty()) {
    const Expr e = work.back();
    work.pop_back();
    if (!seen.insert(e).second) continue;
    if (const ByteSet* const known = bytes_of_.Find(e)) {
      bytes = bytes | *known;
      continue;
    }
    switch (Kind(e)) {
      case ExprKind::kEmpty:
      case ExprKind::kEpsilon: break;
      case ExprKind::kConcat:
        add(Head(e));
        add(Tail(e));
        break;
      case ExprKind::kRepeat: bytes = bytes | BytesOf(Body(e)); break;  // once for all that ends in it
      case ExprKind::kUnion: std::for_each(Members(e), Members(e) + NumMembers(e), add); break;
      case ExprKind::kIntersect: add(Members(e)[0]); break;
      case ExprKind::kTexts: {
        const TextList& texts = List(ListOf(e));
        const TextList::Node node = TextNodeOf(e);
        for (uint32_t i = node.low; i < node.high; ++i)
          for (char c : texts.Rest(i, node.depth)) bytes.Add(static_cast<uint8_t>(c));
        break;
      }
      default: return bytes_of_[root] = ByteSet::All();
    }
  }
  return bytes_of_[root] = bytes;
}

void Expressions::SetTraits(Node* n) const {
  n->push_down = n->counts = n->paths = n->ranked = false;
  switch (n->kind) {
    case ExprKind::kCall: n->push_down = !rules_[n->a].source->IsRegular(); return;
    case ExprKind::kLeaf: n->push_down = true; return;
    case ExprKind::kConcat:
      n->push_down = nodes_[n->a].push_down || nodes_[n->b].push_down;
      n->counts = nodes_[n->a].counts || nodes_[n->b].counts;
      n->paths = nodes_[n->a].paths || nodes_[n->b].paths;
      n->ranked = nodes_[n->b].ranked;
      return;
    case ExprKind::kPaths: n->paths = true; return;
    case ExprKind::kRepeat:
      n->push_down = nodes_[n->a].push_down;
      n->counts = n->b > 1 || (n->c > 1 && n->c != kUnbounded);
      return;
    case ExprKind::kComplement: n->push_down = nodes_[n->a].push_down; return;
    case ExprKind::kUnion:
    case ExprKind::kIntersect:
      for (uint32_t i = n->a; i < n->a + n->b; ++i) {
        const Node& m = nodes_[members_[i]];
        n->push_down = n->push_down || m.push_down;
        n->counts = n->counts || (m.counts && n->kind == ExprKind::kUnion);
        n->paths = n->paths || (m.paths && n->kind == ExprKind::kUnion);
      }
      return;
    default: return;
  }
}

void Expressions::Reserve(size_t more) {
  table_.Reserve(nodes_.size() + std::min(more, limits.nodes), [this](Expr e) { return nodes_[e].hash; });
}

size_t Expressions::MemoryBytes() const {
  size_t bytes = nodes_.capacity() * sizeof(Node) + members_.capacity() * sizeof(uint32_t) + table_.MemoryBytes();
  bytes += steps_of_head_.capacity() * sizeof(uint32_t) + head_steps_.capacity() * sizeof(Term);
  for (const auto& a : automata_) bytes += a->next.size() * sizeof(uint32_t) + a->final.size();
  for (const RuleTable& r : rules_) bytes += r.bodies.capacity() * sizeof(Expr) + r.source->MemoryBytes();
  for (const auto& leaf : leaves_) bytes += leaf->MemoryBytes();
  for (const PathState& state : path_states_) bytes += sizeof state + state.arcs.capacity() * sizeof(PathState::Arc) + state.fewest.capacity() * sizeof(uint32_t);
  for (const auto& texts : lists_) bytes += texts->MemoryBytes();
  return bytes;
}

// Operands always have smaller indices than what is built of them, so one sweep in order of index suffices.
Expr Expressions::Import(const Expressions& other, Expr e) {
  std::vector<Expr> roots{e};
  Import(other, &roots);
  return roots[0];
}

void Expressions::Import(const Expressions& other, std::vector<Expr>* roots) {
  if (&other == this || roots->empty()) return;
  const Expr e = *std::max_element(roots->begin(), roots->end());
  std::vector<uint8_t> needed(e + 1, 0);
  for (Expr root : *roots) needed[root] = 1;
  const auto states_of = [&other](Expr x) {  // of its graph: the first one, and the one after the last
    const size_t graph = other.GraphOf(other.nodes_[x].a);
    return std::pair<size_t, size_t>(other.path_graphs_[graph], other.EndOfGraph(graph));
  };
  const auto operands = [&](Expr x, auto&& visit) {
    const Node& n = other.nodes_[x];
    switch (n.kind) {
      case ExprKind::kConcat: visit(n.a), visit(n.b); break;
      case ExprKind::kRepeat:
      case ExprKind::kComplement: visit(n.a); break;
      case ExprKind::kUnion:
      case ExprKind::kIntersect:
        for (uint32_t i = 0; i < n.b; ++i) visit(other.Members(x)[i]);
        break;
      case ExprKind::kPaths: {
        const auto [first, end] = states_of(x);
        for (size_t s = first; s < end; ++s) {
          visit(other.path_states_[s].last);
          for (const PathState::Arc& arc : other.path_states_[s].arcs) visit(arc.texts);
        }
        break;
      }
      default: break;
    }
  };
  for (Expr x = e + 1; x-- > 0;)
    if (needed[x]) operands(x, [&](Expr y) { needed[y] = 1; });
  std::vector<Expr> copy(e + 1, kEmpty);
  std::vector<std::vector<Expr>> of_leaf(other.leaves_.size());
  for (Expr x = 0; x <= e && !of_leaf.empty(); ++x)
    if (needed[x] && other.nodes_[x].kind == ExprKind::kLeaf) of_leaf[other.nodes_[x].a].push_back(x);
  for (uint32_t i = 0; i < of_leaf.size(); ++i) {
    if (of_leaf[i].empty()) continue;
    const LeafAutomaton& from = *other.leaves_[i];
    uint32_t leaf = 0;
    while (leaf < leaves_.size() && leaves_[leaf]->Origin() != from.Origin()) ++leaf;
    if (leaf == leaves_.size()) AddLeaf(from.Clone());
    std::vector<uint32_t> states;
    for (const Expr x : of_leaf[i]) states.push_back(other.nodes_[x].b);
    leaves_[leaf]->Adopt(from, &states);
    for (size_t k = 0; k < states.size(); ++k) copy[of_leaf[i][k]] = Leaf(leaf, states[k]);
  }
  std::unordered_map<uint32_t, uint32_t> sources;  // of rules: number there, number here
  std::unordered_map<size_t, uint32_t> graphs;     // of turns: first states
  for (Expr x = 0; x <= e; ++x) {
    if (!needed[x]) continue;
    const Node& n = other.nodes_[x];
    std::vector<Expr> parts;
    operands(x, [&](Expr y) { parts.push_back(copy[y]); });
    switch (n.kind) {
      case ExprKind::kEmpty: copy[x] = kEmpty; break;
      case ExprKind::kEpsilon: copy[x] = kEpsilonExpr; break;
      case ExprKind::kBytes: copy[x] = Bytes(n.first); break;
      case ExprKind::kConcat: copy[x] = Concat(parts[0], parts[1]); break;
      case ExprKind::kUnion: copy[x] = Union(std::move(parts)); break;
      case ExprKind::kRepeat: copy[x] = Repeat(parts[0], n.b, n.c); break;
      case ExprKind::kIntersect: copy[x] = Intersect(std::move(parts)); break;
      case ExprKind::kComplement: copy[x] = Complement(parts[0]); break;
      case ExprKind::kAutomaton: copy[x] = Automaton(other.automata_[n.a], n.b); break;
      case ExprKind::kCall: {
        const auto [it, added] = sources.emplace(n.a, 0);
        if (added) it->second = AddRules(other.rules_[n.a].source->Clone(this));
        copy[x] = Call(it->second, n.b, n.nullable, n.first);
        break;
      }
      case ExprKind::kPaths: {
        const auto [first, end] = states_of(x);
        const auto [it, added] = graphs.emplace(first, 0);
        if (added) {
          std::vector<PathState> states(end - first);
          for (size_t s = first; s < end; ++s) {
            const PathState& from = other.path_states_[s];
            states[s - first].last = copy[from.last];
            states[s - first].stays = from.stays;
            for (const PathState::Arc& arc : from.arcs)
              states[s - first].arcs.push_back({copy[arc.texts], arc.target - static_cast<uint32_t>(first)});
          }
          it->second = AddGraph(std::move(states));
        }
        copy[x] = Paths(it->second + n.a - static_cast<uint32_t>(first), n.b, n.c);
        break;
      }
      case ExprKind::kTexts: copy[x] = Texts(AddList(other.lists_[n.a]), other.TextNodeOf(x)); break;
      case ExprKind::kLeaf: break;  // above
    }
  }
  const uint32_t first_series = num_series_;
  num_series_ += other.num_series_;
  for (Expr x = 0; x <= e && other.num_series_; ++x)
    if (const RankOf* const rank = needed[x] && other.nodes_[x].ranked ? other.ranks_.Find(x) : nullptr)
      Rank(copy[x], first_series + rank->series, rank->low, rank->high);
  for (Expr& root : *roots) root = copy[root];
}

}  // namespace tokamata
