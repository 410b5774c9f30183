// Random patterns, JSON texts, schemas and vocabularies.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "automata/csrc/language.h"
#include "constraints/csrc/json_schema_rules.h"
#include "constraints/csrc/lexed_grammar.h"
#include "constraints/csrc/regex.h"
#include "tests/native/fuzz.h"
#include "tokenizer_fst/csrc/vocabulary.h"

namespace tokamata {

// Small limits: a case is to be short.
inline Limits SmallLimits() {
  Limits limits;
  limits.expressions.nodes = 200'000;
  limits.expressions.emptiness = 5'000;
  limits.states = 5'000;
  limits.seconds = 0.3;
  limits.search_seconds = 0.3;
  limits.count_bytes = size_t{1} << 22;
  return limits;
}

inline std::string RandomPattern(Random* r, int depth, bool assertions) {
  const auto sub = [&] { return RandomPattern(r, depth - 1, assertions); };
  if (depth <= 0 || r->OneIn(4))
    return r->Of({"a", "b", "c", "ab", "abc", ".", "[ab]", "[^a]", "[a-z]", "\\d", "\\w", "\\s", "\\S", "[^\"\\\\]",
                  "\"", "é", "日", "[à-ü]", "[^é]",
                  "\\x41", "\\u00e9", "0", "1", " ", "", "\\.", "\\p{L}", "\\W", "\\D", "😀"});
  switch (r->Below(assertions ? 15 : 9)) {
    case 0:
    case 1:
    case 2:
      return sub() + sub();
    case 3:
      return "(?:" + sub() + "|" + sub() + ")";
    case 4:
      return "(" + sub() + ")" + r->Of({"*", "+", "?", "*?", "+?", "??"});
    case 5: {
      const uint32_t low = r->Below(4), high = low + r->Below(r->OneIn(3) ? 300 : 5);
      return "(?:" + sub() + "){" + std::to_string(low) + "," + (r->OneIn(5) ? "" : std::to_string(high)) + "}";
    }
    case 6:
      return "[^\"]{" + std::to_string(r->Below(3)) + "," + std::to_string(3 + r->Below(500)) + "}";
    case 7:
      return sub() + "|" + sub();
    case 8:
      return "(?:" + sub() + ")";
    case 9:
      return std::string("(") + r->Of({"?=", "?!", "?<=", "?<!"}) + sub() + ")" + sub();
    case 10:
      return sub() + r->Of({"\\b", "\\B", "^", "$", "\\A", "\\Z"}) + sub();
    case 11:
      return std::string("(?>") + sub() + ")" + sub();
    case 12:
      return std::string("(?") + r->Of({"i", "s", "m", "x", "a"}) + ":" + sub() + ")";
    case 13:
      return "(?:" + std::string(r->Of({"(a|b)", "(a|bc)?", "(?:(a)|b)"})) + sub() + r->Of({"\\1", "\\1{1,9}", "(?(1)a|b)"}) + ")";
    default:
      return "(?P<n>" + sub() + ")" + r->Of({"", "(?P=n)", "++", "*+"});
  }
}

inline RegexOptions RandomOptions(Random* r) {
  RegexOptions options;
  options.syntax = r->OneIn(2) ? RegexSyntax::kPython : r->OneIn(2) ? RegexSyntax::kEcma : RegexSyntax::kEcmaLenient;
  options.search = r->OneIn(4);
  if (r->OneIn(6)) options.flags = r->Of({"i", "m", "s", "x", "a", "is"});
  options.lookup_name = [](std::string_view) { return uint32_t{'a'}; };
  return options;
}

inline Language RegexLanguage(const std::string& pattern, const RegexOptions& options, const Limits& limits) {
  return Language::Build([&](Expressions* pool) { return CompileRegex(pool, pattern, options); }, limits);
}

inline std::string RandomJsonString(Random* r) {
  std::string text = "\"";
  for (uint32_t n = r->Below(r->OneIn(8) ? 40 : 6); n > 0; --n)
    text += r->Of({"a", "b", "0", " ", "é", "日", "😀", "\\n", "\\\"", "\\\\", "\\/", "\\u0041",
                   "\\ud83d\\ude00", "\\ud800",
                   "~1", "~0", "/", "$", "\x7f"});
  return text + "\"";
}

inline std::string RandomJson(Random* r, int depth) {
  const char* space = r->OneIn(6) ? r->Of({" ", "\n", "\t ", "\r\n"}) : "";
  switch (r->Below(depth > 0 ? 8 : 5)) {
    case 0:
      return r->Of({"null", "true", "false"});
    case 1:
    case 2:
      return r->Of({"0", "-0", "1", "1.0", "1e0", "10", "0.1", "-12.50", "1E+2", "1e-7",
                    "123456789012345678901234567890", "1e400", "2.5", "1e-400", "5e-324", "0.30000000000000004"});
    case 3:
    case 4:
      return RandomJsonString(r);
    case 5: {
      std::string text = "[";
      for (uint32_t n = r->Below(5), i = 0; i < n; ++i) text += (i ? "," : "") + RandomJson(r, depth - 1) + space;
      return text + "]";
    }
    default: {
      std::string text = "{";
      for (uint32_t n = r->Below(r->OneIn(10) ? 30 : 5), i = 0; i < n; ++i) {
        const std::string key = "k" + std::to_string(r->Below(1000));
        text += (i ? "," : "") + std::string(space) + "\"" + key + "\":" + RandomJson(r, depth - 1);
      }
      return text + "}";
    }
  }
}

// A schema below a root with the definitions "a" and "b".
inline std::string RandomSchema(Random* r, int depth) {
  const auto sub = [&] { return RandomSchema(r, depth - 1); };
  const auto number = [&] { return std::to_string(r->Below(r->OneIn(8) ? 1000 : 4)); };
  if (r->OneIn(12)) return r->Of({"true", "false", "{}"});
  std::string text = "{";
  const auto add = [&](const std::string& key, const std::string& value) {
    const std::string quoted = "\"" + key + "\":";
    if (text.find(quoted) == std::string::npos) text += (text.size() > 1 ? "," : "") + quoted + value;
  };
  for (uint32_t n = 1 + r->Below(3); n > 0; --n) {
    switch (r->Below(depth > 0 ? 24 : 11)) {
      case 0:
      case 1:
        add("type", r->Of({"\"string\"", "\"integer\"", "\"number\"", "\"object\"", "\"array\"", "\"boolean\"",
                           "[\"null\",\"string\"]", "[\"object\",\"array\"]"}));
        break;
      case 2:
        add(r->Of({"minLength", "maxLength"}), number());
        break;
      case 3:
        add(r->Of({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}),
            r->Of({"0", "-3", "7.5", "100", "1e3"}));
        break;
      case 4:
        add("multipleOf", r->Of({"1", "2", "0.5", "7"}));
        break;
      case 5:
        add("pattern",
            r->Of({"\"^a*$\"", "\"a\"", "\"^[a-z]{1,8}$\"", "\"b|é\"", "\"\\\\d+\"", "\"^(?!a)\"", "\"\\\\bx\""}));
        break;
      case 6:
        add("enum", "[" + RandomJson(r, 1) + "," + RandomJson(r, 1) + "]");
        break;
      case 7:
        add("const", RandomJson(r, 1));
        break;
      case 8:
        add("format", r->Of({"\"date\"", "\"date-time\"", "\"uuid\"", "\"email\"", "\"ipv4\"", "\"unheard-of\""}));
        break;
      case 9:
        add("$ref", r->Of({"\"#/$defs/a\"", "\"#/$defs/b\"", "\"#\""}));
        break;
      case 10:
        add("required", r->Of({"[\"x\"]", "[\"x\",\"y\"]", "[]"}));
        break;
      case 11:
      case 12:
        add("properties", "{\"x\":" + sub() + ",\"y\":" + sub() + "}");
        break;
      case 13:
        add("additionalProperties", sub());
        break;
      case 14:
        add("patternProperties", "{\"^x\":" + sub() + "}");
        break;
      case 15:
        add("items", sub());
        break;
      case 16:
        add("prefixItems", "[" + sub() + "," + sub() + "]");
        break;
      case 17:
        add("contains", sub());
        break;
      case 18:
        add(r->Of({"minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"}), number());
        break;
      case 19:
        add(r->Of({"anyOf", "oneOf", "allOf"}), "[" + sub() + "," + sub() + "]");
        break;
      case 20:
        add("not", sub());
        break;
      case 21:
        add(r->Of({"if", "then", "else"}), sub());
        break;
      case 22:
        add(r->Of({"unevaluatedProperties", "unevaluatedItems", "propertyNames"}), sub());
        break;
      default:
        add("uniqueItems", "true");
        if (r->OneIn(4)) break;
        add("type", "\"array\"");
        add("items", r->Of({R"({"type":"string"})", R"({"type":"string","maxLength":2})", R"({"type":"string","minLength":1})",
                            R"({"type":"string","pattern":"^[ab]{0,2}$"})", R"({"type":"string","pattern":"a"})"}));
    }
  }
  return text + "}";
}

inline std::string RandomRootSchema(Random* r, int depth) {
  return "{\"allOf\":[" + RandomSchema(r, depth) + "],\"$defs\":{\"a\":" + RandomSchema(r, depth - 1) + ",\"b\":" +
         RandomSchema(r, depth - 1) + "}}";
}

inline JsonSchemaOptions RandomSchemaOptions(Random* r) {
  JsonSchemaOptions options;
  options.whitespace = static_cast<JsonWhitespace>(r->Below(4));
  options.key_order = static_cast<KeyOrder>(r->Below(3));
  options.canonical_strings = r->OneIn(2);
  options.canonical_numbers = r->OneIn(2);
  options.formats = r->OneIn(2);
  options.lenient = r->OneIn(2);
  options.max_cases = r->OneIn(2) ? 200 : 1 + r->Below(8);  // few: alternatives become clauses
  if (r->OneIn(3)) {
    options.notation = SchemaNotation::kYaml;
    options.sequences = r->OneIn(2) ? YamlSequences::kAny : r->OneIn(2) ? YamlSequences::kIndented : YamlSequences::kFlush;
    options.max_depth = r->Below(5);
  }
  return options;
}

inline Language SchemaLanguage(const std::string& schema, const JsonSchemaOptions& options, const Limits& limits) {
  auto documents = std::make_shared<SharedDocuments>(std::make_unique<SchemaDocuments>(schema));
  return JsonSchemaRules::Build(
      documents, options,
      [&](JsonSchemaRules* rules) {
        const SchemaPlace root = documents->Root();
        rules->Check(root);
        const SetId set = rules->SetOf(root);
        const Expr texts = rules->Texts(set);
        if (texts == kEmpty) throw ConstraintError(rules->WhyEmpty(set));
        return texts;
      },
      limits);
}

// A few rules over a few patterns, often left-recursive, cyclic, empty or ambiguous, with and without a lexer.
inline Language GrammarLanguage(Random* r, const Limits& limits) {
  const std::vector<std::string> patterns{"a", "b", "ab", "a+", "[ab]", "abc?", "a*c", "(?:ab)+", "\"[^\"]*\"", "\\(", "\\)", "[a-z]+", "1[0-9]*",
                                          " +", "\\n *", "#[^\\n]*", "b{1,3}", ","};
  Grammar grammar;
  grammar.num_terminals = 1 + r->Below(4);
  grammar.num_rules = 1 + r->Below(4);
  std::vector<std::string> chosen;
  for (uint32_t t = 0; t < grammar.num_terminals; ++t) chosen.push_back(r->Of(patterns));
  const Lexing lexing = r->OneIn(3) ? Lexing::kNone : r->OneIn(4) ? Lexing::kContextual : Lexing::kBasic;
  std::vector<uint32_t> ignored;
  if (lexing != Lexing::kNone && grammar.num_terminals > 1 && r->OneIn(2)) ignored.push_back(grammar.num_terminals - 1);
  std::string input = lexing == Lexing::kNone ? "none" : lexing == Lexing::kBasic ? "basic" : "contextual";
  for (const std::string& p : chosen) input += " /" + p + "/";
  if (!ignored.empty()) input += " ignored";
  for (uint32_t rule = 0; rule < grammar.num_rules; ++rule) {
    grammar.rule_names.push_back("r" + std::to_string(rule));
    for (uint32_t n = 1 + r->Below(4); n > 0; --n) {
      Grammar::Production production{rule, {}};
      input += "; r" + std::to_string(rule) + ":";
      for (uint32_t k = r->Below(4); k > 0; --k) {
        const uint32_t letter = r->Below(grammar.num_terminals + grammar.num_rules);
        production.letters.push_back(letter);
        input += letter < grammar.num_terminals ? " t" + std::to_string(letter)
                                                : " r" + std::to_string(letter - grammar.num_terminals);
      }
      grammar.productions.push_back(std::move(production));
    }
  }
  grammar.terminal_names = chosen;
  Input(input);
  return Language::Build(
      [&](Expressions* pool) {
        auto lexemes = std::make_unique<Expressions>();
        lexemes->limits = limits.expressions;
        std::vector<Expr> roots;
        for (const std::string& p : chosen) roots.push_back(CompileRegex(lexemes.get(), p, RegexOptions()));
        const auto rules = CompileLexed(grammar, std::move(lexemes), std::move(roots), ignored, lexing, nullptr);
        rules->lexer->max_states = limits.states;
        rules->lexer->seconds = limits.seconds;
        auto leaf = std::make_shared<LexedGrammar>(rules);
        const uint32_t state = leaf->Start();
        return state == LexedGrammar::kDead ? kEmpty : pool->Leaf(pool->AddLeaf(leaf), state);
      },
      limits);
}

// Some hundred tokens: single bytes (all or only some), pieces of JSON and of words, cut characters, duplicates,
// special and empty ones. The last token is EOS.
inline std::shared_ptr<const Vocabulary> RandomVocabulary(Random* r) {
  TokenTable table;
  const bool complete = !r->OneIn(4);
  for (int b = 0; b < 256; ++b)
    if (complete || (b < 128 && b >= 32 && !r->OneIn(4))) table.Add(std::string(1, static_cast<char>(b)));
  const std::vector<std::string> pieces{"a", "b", "c", "ab", "abc", "z", "0", "12", " ", "\n", "\"", "{", "}", "[", "]",
                                        ":", ",", "\": ", "\",\"", "x", "y", "true", "é", "日",
                                        "\xe6\x97", "\xa5", "😀", "\xf0\x9f",
                                        "\x98\x80", "\u00a0", "\u2028", "\\", "\\n", "\\u00",
                                        "-", ".", "e", "A", "\xff", ".", "'", "- ", "\n  ", "\nx", ": ", "x: 1\n"};
  for (uint32_t n = 20 + r->Below(r->OneIn(3) ? 2000 : 200); n > 0; --n) {
    if (r->OneIn(40)) {
      table.AddSpecial();
      continue;
    }
    std::string token;
    const bool same = r->OneIn(4);
    std::string piece = r->Of(pieces);
    for (uint32_t k = r->Below(6) + !r->OneIn(30); k > 0; --k) {
      token += piece;
      if (!same) piece = r->Of(pieces);
    }
    table.Add(token);
  }
  table.AddSpecial();
  const int64_t eos = table.Size() - 1;
  return Vocabulary::Make(std::move(table), {eos});
}

// A language of any kind. Throws what refuses it.
inline Language RandomLanguage(Random* r, const Limits& limits) {
  if (r->OneIn(4)) return GrammarLanguage(r, limits);
  if (r->OneIn(3)) {
    const std::string schema = RandomRootSchema(r, 2);
    Input(schema);
    return SchemaLanguage(schema, RandomSchemaOptions(r), limits);
  }
  const std::string pattern = RandomPattern(r, 4, r->OneIn(3));
  Input(pattern);
  Language language = RegexLanguage(pattern, RandomOptions(r), limits);
  if (!r->OneIn(4)) return language;
  const std::string second = RandomPattern(r, 3, false);
  const uint32_t operation = r->Below(5);
  Input(pattern + "  " + "&|-~+"[operation] + "  " + second);
  const Language other = RegexLanguage(second, RegexOptions(), limits);
  switch (operation) {
    case 0:
      return Language::Intersect({language, other});
    case 1:
      return Language::Union({language, other});
    case 2:
      return Language::Difference(language, other, /*texts=*/false);
    case 3:
      return Language::Complement(language);
    default:
      return Language::Concat({language, other});
  }
}

inline bool Has(const std::vector<uint32_t>& row, uint32_t token) { return row[token / 32] >> (token % 32) & 1; }

// The tokens of a state's mask, of which there must be some: the same that the state allows one by one, and no padding.
template <class State>
std::vector<uint32_t> AllowedTokens(State* state, const Vocabulary& vocabulary, const std::vector<uint32_t>& row,
                                    const std::string& place) {
  std::vector<uint32_t> allowed;
  for (uint32_t t = 0; t < vocabulary.Size(); ++t) {
    if (vocabulary.Size() < 700) Require(Has(row, t) == state->Allows(t), "mask = allows" + place);
    if (Has(row, t)) allowed.push_back(t);
  }
  for (uint32_t t = vocabulary.Size(); t < row.size() * 32; ++t) Require(!Has(row, t), "padding is 0" + place);
  Require(!allowed.empty(), "no dead end" + place);
  return allowed;
}

}  // namespace tokamata
