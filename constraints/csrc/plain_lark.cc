#include "constraints/csrc/plain_lark.h"

#include <algorithm>
#include <memory>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "automata/csrc/errors.h"
#include "automata/csrc/utf8.h"

namespace tokamata {
namespace {

// The same as in lark_rules.py.
constexpr size_t kMostAlternatives = 100;
constexpr size_t kMostTemplates = 1000;
constexpr uint32_t kMostCopies = 50;

constexpr std::string_view kNewlines[] = {"_NEWLINE", "_NL"}, kIndent = "_INDENT", kDedent = "_DEDENT";

using Form = std::vector<int64_t>;  // s >= 0: rule s; s < 0: terminal ~s
using Forms = std::vector<Form>;

// Each once, in order.
void DropRepeated(Forms* forms) {
  if (forms->size() < 2) return;
  std::set<Form> seen;
  forms->erase(std::remove_if(forms->begin(), forms->end(), [&](const Form& f) { return !seen.insert(f).second; }),
               forms->end());
}

Form Joined(const Form& a, const Form& b) {
  Form both = a;
  both.insert(both.end(), b.begin(), b.end());
  return both;
}

// The names that Lark gives to strings in rules.
std::string_view NameOfSign(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {".", "DOT"},        {",", "COMMA"},      {":", "COLON"},    {";", "SEMICOLON"}, {"+", "PLUS"},
      {"-", "MINUS"},      {"*", "STAR"},       {"/", "SLASH"},    {"\\", "BACKSLASH"}, {"|", "VBAR"},
      {"?", "QMARK"},      {"!", "BANG"},       {"@", "AT"},       {"#", "HASH"},      {"$", "DOLLAR"},
      {"%", "PERCENT"},    {"^", "CIRCUMFLEX"}, {"&", "AMPERSAND"}, {"_", "UNDERSCORE"}, {"<", "LESSTHAN"},
      {">", "MORETHAN"},   {"=", "EQUAL"},      {"\"", "DBLQUOTE"}, {"'", "QUOTE"},     {"`", "BACKQUOTE"},
      {"~", "TILDE"},      {"(", "LPAR"},       {")", "RPAR"},     {"{", "LBRACE"},    {"}", "RBRACE"},
      {"[", "LSQB"},       {"]", "RSQB"},       {"\n", "NEWLINE"}, {"\r\n", "CRLF"},   {"\t", "TAB"},
      {" ", "SPACE"},
  };
  for (const auto& [sign, name] : kNames)
    if (sign == text) return name;
  return {};
}

// A word in upper case, where a name may be made of it; empty otherwise.
std::string NameOfWord(const std::string& text) {
  std::string name;
  for (const char c : text) {
    const bool letter = ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_', digit = c >= '0' && c <= '9';
    if (name.empty() && static_cast<unsigned char>(c) == 0xf4) return {};  // from U+100000 on there are no letters
    if (static_cast<unsigned char>(c) >= 0x80) throw NotPlainLark();
    if (!letter && !(digit && !name.empty())) return {};
    name.push_back(c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c);
  }
  return name;
}

class Reader {
 public:
  Reader(PlainLark* out, const std::string& start, uint32_t holes)
      : out_(*out), holes_(holes), file_(ReadLarkFile(out_.text)), terminals_(file_), start_(start) {
    for (uint32_t i = 0; i < holes; ++i) AppendUtf8(kFirstHole + i, &holes_[i]);
  }

  void Read() {
    DefineNames();
    ReadTerminals();
    for (const uint32_t d : rule_definitions_) CheckNames(file_.definitions[d]);
    for (const uint32_t d : rule_definitions_)
      if (file_.definitions[d].parameters.empty())
        work_.push_back({RuleOf(std::string(file_.definitions[d].name)), d, {}});
    for (size_t w = 0; w < work_.size(); ++w) {  // uses of templates come to its end meanwhile
      current_ = work_[w].rule;
      const Bound bound = work_[w].bound;
      const uint32_t tree = file_.definitions[work_[w].definition].tree;
      Name(tree, bound);
      Forms forms = Alternatives(tree, bound);
      productions_[current_] = std::move(forms);
    }
    KeepUsed();
    Write();
  }

 private:
  using Bound = std::map<std::string_view, int64_t>;

  // ---- names
  void DefineNames() {
    std::set<std::string_view> names;
    const auto define = [&](std::string_view name, uint32_t at) {
      if (!names.insert(name).second) throw NotPlainLark();
      places_.emplace(name, at);
    };
    std::set<std::string_view> imported;
    for (const LarkFile::Import& i : file_.imports) {
      if (!imported.insert(i.name).second) throw NotPlainLark();
      define(i.alias, i.at);
    }
    for (const auto& [name, at] : file_.declared) {
      define(name, at);
      declared_.insert(name);
    }
    for (uint32_t d = 0; d < file_.definitions.size(); ++d) {
      const LarkDefinition& definition = file_.definitions[d];
      define(definition.name, definition.at);
      if (definition.is_terminal) continue;
      rule_definitions_.push_back(d);
      rules_by_name_.emplace(definition.name, d);
    }
    const auto start = rules_by_name_.find(start_);
    if (start == rules_by_name_.end() || !file_.definitions[start->second].parameters.empty()) throw NotPlainLark();
  }

  // That all names in a tree are defined, and templates used with as many arguments as they have parameters.
  void CheckNames(const LarkDefinition& definition) {
    std::set<std::string_view> parameters;
    for (const std::string_view p : definition.parameters)
      if (places_.count(p) || !parameters.insert(p).second) throw NotPlainLark();
    std::vector<uint32_t> work{definition.tree};
    while (!work.empty()) {
      const LarkNode& node = file_.nodes[work.back()];
      work.pop_back();
      work.insert(work.end(), node.children.begin(), node.children.end());
      if (node.kind == LarkNode::kTerminal) {
        if (!patterns_.count(std::string(node.text)) && !declared_.count(node.text)) throw NotPlainLark();
      } else if (node.kind == LarkNode::kName && !parameters.count(node.text)) {
        const auto rule = rules_by_name_.find(node.text);
        if (rule == rules_by_name_.end() || !file_.definitions[rule->second].parameters.empty()) throw NotPlainLark();
      } else if (node.kind == LarkNode::kUse) {
        const auto rule = rules_by_name_.find(node.text);
        if (rule == rules_by_name_.end()) throw NotPlainLark();
        if (file_.definitions[rule->second].parameters.size() != node.children.size()) throw NotPlainLark();
      }
    }
  }

  // ---- terminals
  void ReadTerminals() {
    if (!file_.imports.empty()) Import();
    size_t next = 0;  // of the definitions, which come in the order of the text with what is ignored
    const auto define_until = [&](size_t end) {
      for (; next < end; ++next) {
        const LarkDefinition& d = file_.definitions[next];
        if (d.is_terminal) Define(std::string(d.name), terminals_.Named(d.name), d.priority);
      }
    };
    for (const LarkFile::Ignored& ignored : file_.ignored) {
      define_until(ignored.definitions);
      const std::string_view name = BareTerminal(ignored.tree);
      if (!name.empty()) {
        if (!terminals_.Has(name) && !patterns_.count(std::string(name))) throw NotPlainLark();
        ignored_.push_back(std::string(name));
        continue;
      }
      ignored_.push_back("__IGNORE_" + std::to_string(ignored_.size()));
      Define(ignored_.back(), terminals_.Of(ignored.tree), 0);
    }
    define_until(file_.definitions.size());
  }

  // The name, where a tree is one terminal and nothing else.
  std::string_view BareTerminal(uint32_t tree) const {
    const LarkNode& choice = file_.nodes[tree];
    const LarkNode& only = file_.nodes[choice.children[0]];
    if (choice.children.size() != 1 || only.kind != LarkNode::kSequence || only.children.size() != 1) return {};
    const LarkNode& item = file_.nodes[only.children[0]];
    return item.kind == LarkNode::kTerminal ? item.text : std::string_view();
  }

  // In the order of the imported file.
  void Import() {
    const LarkFile common = ReadLarkFile(out_.common);
    if (!common.imports.empty()) throw NotPlainLark();
    LarkTerminals known(common);
    for (const LarkFile::Import& i : file_.imports)
      if (!known.Has(i.name)) throw NotPlainLark();
    for (const LarkDefinition& d : common.definitions)
      for (const LarkFile::Import& i : file_.imports)
        if (i.name == d.name) {
          terminals_.Import(i.alias, known.Named(d.name));
          Define(std::string(i.alias), known.Named(d.name), d.priority);
        }
  }

  void Define(const std::string& name, const LarkTerminal& terminal, int64_t priority) {
    if (terminal.pattern.value.empty()) throw NotPlainLark();
    const auto [it, added] = patterns_.emplace(name, Known{terminal.pattern, terminal.width.most, priority});
    if (!added) throw NotPlainLark();
    by_pattern_[it->second.pattern.Key()] = name;
  }

  int64_t TerminalOf(const std::string& name) {
    const auto [it, added] = terminal_numbers_.emplace(name, terminal_names_.size());
    if (added) terminal_names_.push_back(name);
    return ~static_cast<int64_t>(it->second);
  }

  // A string or pattern in a rule.
  int64_t Anonymous(const LarkTerminal& terminal) {
    const LarkPattern& p = terminal.pattern;
    const auto known = by_pattern_.find(p.Key());
    if (known != by_pattern_.end()) return TerminalOf(known->second);
    std::string name;
    if (p.is_string) {
      name = NameOfSign(p.value);
      if (name.empty()) name = NameOfWord(p.value);
      if (patterns_.count(name) || declared_.count(name)) name.clear();
    }
    if (name.empty()) name = "__ANON_" + std::to_string(anonymous_++);
    if (!patterns_.count(name)) {
      const auto it = patterns_.emplace(name, Known{p, terminal.width.most, 0}).first;
      by_pattern_[it->second.pattern.Key()] = name;
    }
    return TerminalOf(name);
  }

  // ---- rules
  // Names strings and patterns, then uses of templates, as Lark does: from the innermost groups outwards.
  void Name(uint32_t tree, const Bound& bound) {
    std::vector<std::pair<uint32_t, uint32_t>> nodes, work{{0, tree}};  // with the depth in Lark's trees
    while (!work.empty()) {
      const auto [depth, at] = work.back();
      work.pop_back();
      nodes.emplace_back(depth, at);
      const LarkNode& node = file_.nodes[at];
      for (auto child = node.children.rbegin(); child != node.children.rend(); ++child)
        work.emplace_back(depth + (node.kind == LarkNode::kUse ? 2 : 1), *child);
    }
    std::stable_sort(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    for (const auto& [depth, at] : nodes)
      if (const LarkNode::Kind kind = file_.nodes[at].kind; kind == LarkNode::kLiteral || kind == LarkNode::kRange)
        Anonymous(terminals_.Of(at));
    for (const auto& [depth, at] : nodes)
      if (file_.nodes[at].kind == LarkNode::kUse) Use(file_.nodes[at], bound);
  }
  uint32_t RuleOf(const std::string& name) { return RuleOf(name, name); }
  uint32_t RuleOf(const std::string& name, const std::string& origin) {
    const auto [it, added] = rule_numbers_.emplace(name, static_cast<uint32_t>(rules_.size()));
    if (added) {
      rules_.push_back(name);
      origins_.push_back(origin);
      productions_.emplace_back();
    }
    return it->second;
  }

  Forms Alternatives(uint32_t tree, const Bound& bound) {
    const LarkNode& node = file_.nodes[tree];
    Forms found;
    switch (node.kind) {
      case LarkNode::kSequence: return Sequence(node, bound);
      case LarkNode::kAlias: return Alternatives(node.children[0], bound);
      case LarkNode::kRepeat: return Repeat(Alternatives(node.children[0], bound), node);
      case LarkNode::kChoice:
      case LarkNode::kMaybe:
        for (const uint32_t child : node.children)
          for (Form& form : Alternatives(child, bound)) found.push_back(std::move(form));
        if (node.kind == LarkNode::kMaybe) found.emplace_back();
        DropRepeated(&found);
        return found;
      default: return {{Value(tree, bound)}};
    }
  }

  Forms Sequence(const LarkNode& node, const Bound& bound) {
    Forms found{{}};
    for (const uint32_t child : node.children) {
      const Forms more = Alternatives(child, bound);
      if (more.size() > 1 && found.size() * more.size() > kMostAlternatives) {
        const int64_t part = Made("part", KeyOf("part", more), [&](uint32_t) { return more; });
          for (Form& form : found) form.push_back(part);
        continue;
      }
      Forms product;
      for (const Form& form : found)
        for (const Form& other : more) product.push_back(Joined(form, other));
      found = std::move(product);
    }
    DropRepeated(&found);
    return found;
  }

  int64_t Value(uint32_t tree, const Bound& bound) {
    const LarkNode& node = file_.nodes[tree];
    switch (node.kind) {
      case LarkNode::kName: {
        const auto parameter = bound.find(node.text);
        return parameter != bound.end() ? parameter->second : RuleOf(std::string(node.text));
      }
      case LarkNode::kTerminal: return TerminalOf(std::string(node.text));
      case LarkNode::kUse: return Use(node, bound);
      default: return Anonymous(terminals_.Of(tree));
    }
  }

  int64_t Use(const LarkNode& node, const Bound& bound) {
    const LarkDefinition& definition = file_.definitions[rules_by_name_.at(node.text)];
    std::vector<int64_t> arguments;
    std::string name(node.text);
    for (const uint32_t child : node.children) {
      arguments.push_back(Value(child, bound));
      const int64_t a = arguments.back();
      name += arguments.size() == 1 ? "{" : ",";
      name += a >= 0 ? rules_[static_cast<size_t>(a)] : terminal_names_[static_cast<size_t>(~a)];
    }
    name += "}";
    const auto known = rule_numbers_.find(name);
    if (known != rule_numbers_.end()) return known->second;
    if (++templates_ > kMostTemplates || name.size() > 10'000) throw NotPlainLark();
    Bound inner;
    for (size_t i = 0; i < arguments.size(); ++i) inner[definition.parameters[i]] = arguments[i];
    const uint32_t rule = RuleOf(name, std::string(node.text));
    work_.push_back({rule, rules_by_name_.at(node.text), std::move(inner)});
    return rule;
  }

  using Key = std::pair<std::string_view, Forms>;
  static Key KeyOf(std::string_view kind, const Forms& forms) { return {kind, forms}; }

  // A rule that was not written, made once for equal keys.
  template <class F>
  int64_t Made(std::string_view kind, Key key, F forms) {
    const auto known = made_.find(key);
    if (known != made_.end()) return known->second;
    const std::string name = "__" + rules_[current_] + "_" + std::string(kind) + "_" + std::to_string(made_.size());
    const uint32_t number = RuleOf(name, origins_[current_]);
    made_.emplace(std::move(key), number);
    unwritten_.insert(number);
    productions_[number] = forms(number);
    return number;
  }

  Forms Repeat(Forms forms, const LarkNode& node) {
    if (node.sign == '?') {
      forms.emplace_back();
      DropRepeated(&forms);
      return forms;
    }
    if (node.sign != '~') {
      const std::string_view kind = node.sign == '+' ? "plus" : "star";
      const int64_t loop = Made(kind, KeyOf(kind, forms), [&](uint32_t number) {
        Forms all = forms;
        for (const Form& form : forms) all.push_back(Joined({number}, form));
        DropRepeated(&all);
        return all;
      });
      return node.sign == '+' ? Forms{{loop}} : Forms{{loop}, {}};
    }
    // Few copies are multiplied out; more are left to lark_rules.py.
    size_t count = 0;
    Forms found, power{{}};
    if (node.high >= kMostCopies) throw NotPlainLark();
    for (uint32_t n = 0; n <= node.high; ++n) {
      if (n >= node.low) {
        count += power.size();
        found.insert(found.end(), power.begin(), power.end());
      }
      if (count > kMostAlternatives || power.size() * forms.size() > 100 * kMostAlternatives) throw NotPlainLark();
      if (n == node.high) break;
      Forms next;
      for (const Form& a : power)
        for (const Form& b : forms) next.push_back(Joined(a, b));
      power = std::move(next);
    }
    DropRepeated(&found);
    return found;
  }

  // ---- what is kept
  // Rules that no other rule calls are left out, again and again; their terminals do not compete.
  void KeepUsed() {
    const uint32_t start = RuleOf(start_);
    std::vector<uint8_t> kept(rules_.size());
    for (uint32_t r = 0; r < rules_.size(); ++r) kept[r] = !productions_[r].empty() || r == start;
    for (;;) {
      std::vector<uint8_t> called(rules_.size(), 0);
      called[start] = 1;
      for (uint32_t r = 0; r < rules_.size(); ++r)
        if (kept[r])
          for (const Form& form : productions_[r])
            for (const int64_t s : form)
              if (s >= 0 && s != int64_t{r}) called[static_cast<size_t>(s)] = 1;
      bool all = true;
      for (uint32_t r = 0; r < rules_.size(); ++r)
        if (kept[r] && !called[r]) {
          kept[r] = 0;
          all = false;
        }
      if (all) break;
    }
    for (uint32_t r = 0; r < rules_.size(); ++r) {
      if (!kept[r]) continue;
      kept_.push_back(r);
      for (const Form& form : productions_[r])
        for (const int64_t s : form)
          if (s < 0) used_.insert(terminal_names_[static_cast<size_t>(~s)]);
    }
  }

  // ---- places
  PlainLark::Place PlaceOf(uint32_t at) {
    if (lines_.empty()) {  // columns are looked up: a grammar may be one line
      lines_.push_back(0);
      columns_.reserve(out_.text.size() + 1);
      uint32_t column = 1;
      for (uint32_t i = 0; i < out_.text.size(); ++i) {
        columns_.push_back(column);
        if (!IsContinuationByte(static_cast<uint8_t>(out_.text[i]))) ++column;
        if (out_.text[i] != '\n') continue;
        lines_.push_back(i + 1);
        column = 1;
      }
      columns_.push_back(column);
    }
    const size_t line = static_cast<size_t>(std::upper_bound(lines_.begin(), lines_.end(), at) - lines_.begin());
    return {static_cast<uint32_t>(line), columns_[at]};
  }

  std::optional<PlainLark::Place> PlaceOf(std::string_view name) {
    const auto known = places_.find(name);
    return known == places_.end() ? std::nullopt : std::optional(PlaceOf(known->second));
  }

  // The first place where a string or pattern stands.
  std::optional<PlainLark::Place> FirstPlace(const std::string& raw) {
    const std::vector<LarkToken>& tokens = file_.tokens;
    const auto text = [&](const LarkToken& token) { return out_.text.substr(token.begin, token.end - token.begin); };
    for (size_t i = literals_.empty() ? 0 : tokens.size(); i < tokens.size(); ++i) {
      if (tokens[i].kind != LarkKind::kString && tokens[i].kind != LarkKind::kRegexp) continue;
      const LarkToken& first = tokens[i];
      const bool range = i + 2 < tokens.size() && tokens[i + 1].kind == LarkKind::kRange && first.kind == LarkKind::kString;
      if (range) i += 2;
      literals_.emplace(range ? text(first) + ".." + text(tokens[i]) : text(first), first.begin);
    }
    const auto known = literals_.find(raw);
    return known == literals_.end() ? std::nullopt : std::optional(PlaceOf(known->second));
  }

  // ---- the result
  void Write() {
    const bool declared = declared_.count(kIndent) && declared_.count(kDedent);
    std::string newline;
    for (const std::string_view name : kNewlines)
      if (declared && newline.empty() && patterns_.count(std::string(name))) newline = name;
    const bool indented = declared && (!newline.empty() || used_.count(std::string(kIndent)));
    std::vector<std::string> names;
    for (const auto& [name, known] : patterns_)
      if (used_.count(name) || IsIgnored(name) || name == newline) names.push_back(name);
    std::map<std::string, size_t> lengths;
    std::map<std::string, uint32_t> holes;
    for (const std::string& name : names) {
      const LarkPattern& pattern = patterns_.at(name).pattern;
      lengths[name] = CountCharacters(pattern.value);
      for (uint32_t i = 0; i < holes_.size(); ++i) {
        if (pattern.value.find(holes_[i]) == std::string::npos) continue;
        if (pattern.value != holes_[i] || !pattern.is_string || pattern.flag) throw NotPlainLark();
        holes.emplace(name, i);
        lengths[name] = 0;
      }
    }
    std::sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
      const Known &x = patterns_.at(a), &y = patterns_.at(b);
      if (x.priority != y.priority) return x.priority > y.priority;
      const bool hole = holes.count(a), other = holes.count(b);
      const bool is_string = x.pattern.is_string && !hole, is_other = y.pattern.is_string && !other;
      if (is_string != is_other) return is_string;
      const uint64_t width = hole ? 0 : x.width, width_of_other = other ? 0 : y.width;
      if (width != width_of_other) return width > width_of_other;
      return lengths[a] != lengths[b] ? lengths[a] > lengths[b] : a < b;
    });
    std::map<std::string, int64_t> number;
    for (const std::string& name : names) {
      const Known& known = patterns_.at(name);
      number.emplace(name, static_cast<int64_t>(out_.terminals.size()));
      if (holes.count(name)) out_.holes.emplace_back(static_cast<uint32_t>(out_.terminals.size()), holes.at(name));
      std::optional<PlainLark::Place> place = PlaceOf(std::string_view(name));
      if (!place) place = FirstPlace(known.pattern.raw);
      const bool unnamed = name.compare(0, 6, "__ANON") == 0 || name.compare(0, 8, "__IGNORE") == 0;
      const std::string& shown = unnamed && !known.pattern.raw.empty() ? known.pattern.raw : name;
      out_.terminals.push_back({shown, known.pattern, known.priority, IsIgnored(name), place});
    }
    if (indented) Indent(newline, &number);
    for (const std::string& name : used_)
      if (!number.count(name)) throw NotPlainLark();
    std::set<std::string_view> uses(file_.uses.begin(), file_.uses.end());
    for (const LarkDefinition& d : file_.definitions) {
      const std::string name(d.name);  // a rule may have it by its text: "(" where LPAR is that
      if (d.is_terminal && !uses.count(d.name) && !used_.count(name) && !IsIgnored(name) && name != newline)
        out_.unused.emplace_back(name, PlaceOf(d.at));
    }
    WriteRules(number);
  }

  void Indent(const std::string& newline_name, std::map<std::string, int64_t>* number) {
    const auto find = [&](std::string_view name, std::vector<uint32_t>* to) {
      const auto known = number->find(std::string(name));
      if (known != number->end()) to->push_back(static_cast<uint32_t>(known->second));
    };
    Indentation indentation;
    std::vector<uint32_t> newline;
    find(newline_name, &newline);
    if (newline.empty()) throw NotPlainLark();
    indentation.newline = newline[0];
    for (const std::string_view name : {"LPAR", "LSQB", "LBRACE"}) find(name, &indentation.opening);
    for (const std::string_view name : {"RPAR", "RSQB", "RBRACE"}) find(name, &indentation.closing);
    for (const std::string_view name : {kIndent, kDedent}) {
      (name == kIndent ? indentation.indent : indentation.dedent) = static_cast<uint32_t>(out_.terminals.size());
      number->emplace(std::string(name), static_cast<int64_t>(out_.terminals.size()));
      PlainLark::Terminal terminal;
      terminal.name = name;
      terminal.place = PlaceOf(name);
      out_.terminals.push_back(std::move(terminal));
    }
    out_.indentation = std::move(indentation);
  }

  void WriteRules(const std::map<std::string, int64_t>& number) {
    std::vector<int64_t> rule_of(rules_.size(), -1), terminal_of;
    for (size_t i = 0; i < kept_.size(); ++i) rule_of[kept_[i]] = static_cast<int64_t>(i);
    for (const std::string& name : terminal_names_) {
      const auto known = number.find(name);
      terminal_of.push_back(known == number.end() ? 0 : ~known->second);
    }
    std::set<std::string> heads;
    for (const uint32_t r : kept_) {
      const std::string& name = unwritten_.count(r) ? origins_[r] : rules_[r];
      out_.rules.push_back({name, PlaceOf(std::string_view(origins_[r])), origins_[r] == rules_[r]});
      heads.insert(rules_[r].substr(0, rules_[r].find('{')));
      for (const Form& form : productions_[r]) {
        Form symbols;
        for (const int64_t s : form)
          symbols.push_back(s >= 0 ? rule_of[static_cast<size_t>(s)] : terminal_of[static_cast<size_t>(~s)]);
        out_.productions.emplace_back(static_cast<uint32_t>(rule_of[r]), std::move(symbols));
      }
    }
    for (const uint32_t d : rule_definitions_) {
      const LarkDefinition& definition = file_.definitions[d];
      if (!heads.count(std::string(definition.name)))
        out_.rules.push_back({std::string(definition.name), PlaceOf(definition.at), true});
    }
    out_.start = static_cast<uint32_t>(rule_of[RuleOf(start_)]);
  }

  bool IsIgnored(const std::string& name) const {
    return std::find(ignored_.begin(), ignored_.end(), name) != ignored_.end();
  }

  struct Known {
    LarkPattern pattern;
    uint64_t width;
    int64_t priority;
  };
  struct Work {
    uint32_t rule, definition;
    Bound bound;
  };
  PlainLark& out_;
  std::vector<std::string> holes_;
  LarkFile file_;
  LarkTerminals terminals_;
  const std::string start_;
  std::map<std::string_view, uint32_t> places_;  // of all names that are defined, imported or declared
  std::set<std::string_view> declared_;
  std::vector<uint32_t> rule_definitions_;
  std::map<std::string_view, uint32_t> rules_by_name_;
  std::vector<std::string> ignored_;
  std::map<std::string, Known> patterns_;
  std::map<std::tuple<bool, std::string, char>, std::string> by_pattern_;
  size_t anonymous_ = 0, templates_ = 0;
  std::vector<std::string> terminal_names_;  // that rules use
  std::map<std::string, size_t> terminal_numbers_;
  std::vector<std::string> rules_, origins_;
  std::unordered_set<uint32_t> unwritten_;  // made for repetitions and parts; told as the rules that have them
  std::vector<Forms> productions_;
  std::map<std::string, uint32_t> rule_numbers_;
  std::map<Key, uint32_t> made_;
  std::vector<Work> work_;
  uint32_t current_ = 0;
  std::vector<uint32_t> kept_;
  std::set<std::string> used_;
  std::vector<uint32_t> lines_;
  std::vector<uint32_t> columns_;  // of each byte
  std::unordered_map<std::string, uint32_t> literals_;  // where each literal and range stands first
};

}  // namespace

std::unique_ptr<const PlainLark> ReadPlainLark(std::string text, const std::string& start, std::string common,
                                               uint32_t holes) {
  auto out = std::make_unique<PlainLark>();
  out->text = std::move(text);
  out->common = std::move(common);
  try {
    Reader(out.get(), start, holes).Read();
  } catch (const NotPlainLark&) {
    return nullptr;
  } catch (const ConstraintError&) {  // a pattern that is wrong, or not regular
    return nullptr;
  } catch (const LimitError&) {
    return nullptr;
  }
  return out;
}

}  // namespace tokamata
