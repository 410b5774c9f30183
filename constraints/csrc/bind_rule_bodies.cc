// Python binding of rules with given bodies.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "automata/csrc/language.h"
#include "constraints/csrc/bind.h"
#include "constraints/csrc/rule_bodies.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {
namespace {

using Node = std::tuple<std::string, std::vector<uint32_t>, uint32_t, int64_t>;

RuleBodies::Kind KindOf(const std::string& name) {
  if (name == "leaf") return RuleBodies::Kind::kLeaf;
  if (name == "concat") return RuleBodies::Kind::kConcat;
  if (name == "union") return RuleBodies::Kind::kUnion;
  if (name == "repeat") return RuleBodies::Kind::kRepeat;
  if (name == "call") return RuleBodies::Kind::kCall;
  throw ConstraintError("rules: expected a node leaf, concat, union, repeat or call, got " + name);
}

Language RulesLanguage(const std::vector<const Language*>& leaves, const std::vector<Node>& nodes,
                       std::vector<uint32_t> bodies, std::vector<std::string> names, const Limits* given) {
  const Limits limits = given ? *given : Limits();
  auto rules = std::make_shared<RuleBodies>();
  bool calls = false;
  for (const auto& [kind, operands, low, high] : nodes) {
    RuleBodies::Node node{KindOf(kind), operands, low, high < 0 ? kUnbounded : static_cast<uint32_t>(high), low};
    calls = calls || node.kind == RuleBodies::Kind::kCall;
    rules->nodes.push_back(std::move(node));
  }
  rules->bodies = std::move(bodies);
  rules->names = std::move(names);
  if (!calls) {
    std::vector<Language> parts;
    for (const Language* leaf : leaves) parts.push_back(*leaf);
    const Language made = Language::Combine(parts, [&](Expressions* pool, std::vector<Expr> roots) {
      rules->leaf_texts = std::move(roots);
      return FirstBody(pool, *rules);
    });
    return given ? made.WithLimits(limits) : made;
  }
  rules->leaves.limits = limits.expressions;
  for (const Language* leaf : leaves) {
    const Expr text = leaf->In(&rules->leaves);
    if (rules->leaves.IsPushDown(text)) throw UnsupportedError("rules: expected regular constraints as parts of rules");
    rules->leaf_texts.push_back(text);
  }
  for (Expr& e : rules->leaf_texts)
    if (rules->leaves.IsEmpty(e)) e = kEmpty;
  CheckRuleBodies(rules.get());
  return Language::Build([&](Expressions* pool) { return CallFirstRule(pool, rules); }, limits);
}

}  // namespace

void BindRuleBodies(nb::module_& m) {
  m.def("rules", &RulesLanguage, "leaves"_a, "nodes"_a, "bodies"_a, "names"_a, "limits"_a = nb::none(),
        nb::call_guard<nb::gil_scoped_release>(),
        "The language of the first of several rules. Nodes (kind, operands, low, high): a \"leaf\" (low: which), "
        "\"concat\" and \"union\" of operands, \"repeat\" from low to high (-1: unbounded), a \"call\" (low: the rule).");
}

}  // namespace tokamata
