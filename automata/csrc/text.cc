#include "automata/csrc/text.h"

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "automata/csrc/check.h"
#include "automata/csrc/errors.h"

namespace tokamata {
namespace {

[[noreturn]] void Refuse(size_t line, const std::string& what) {
  throw FstError("Fst.from_text: line " + std::to_string(line) + ": " + what);
}

std::string Quote(std::string_view text) { return "\"" + std::string(text.substr(0, 80)) + "\""; }

// A number of at most 2^31 - 1, else -1.
int64_t ParseId(std::string_view text) {
  if (text.empty() || text.size() > 10) return -1;
  int64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return -1;
    value = value * 10 + (c - '0');
  }
  return value <= std::numeric_limits<int32_t>::max() ? value : -1;
}

class Parser {
 public:
  Parser(std::string_view text, const TextOptions& options)
      : text_(text), options_(options), fst_(options.semiring), columns_(options.acceptor ? 3 : 4) {
    fst_.SetInputSymbols(options.isymbols);
    fst_.SetOutputSymbols(options.acceptor && !options.osymbols ? options.isymbols : options.osymbols);
  }

  Fst Parse() {
    while (!text_.empty()) {
      const size_t end = text_.find('\n');
      std::string_view line = text_.substr(0, end);
      text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 1);
      ++line_;
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      Split(line);
      if (fields_.empty()) continue;
      if (fields_.size() <= 2) {
        fst_.SetFinal(State(fields_[0]), fields_.size() == 2 ? Weight(fields_[1]) : fst_.One());
      } else if (fields_.size() == columns_ || fields_.size() == columns_ + 1) {
        const StateId from = State(fields_[0]), to = State(fields_[1]);
        const Label in = LabelOf(fields_[2], fst_.InputSymbols().get(), "input");
        const Label out = options_.acceptor ? in : LabelOf(fields_[3], fst_.OutputSymbols().get(), "output");
        fst_.AddArc(from, {in, out, fields_.size() > columns_ ? Weight(fields_[columns_]) : fst_.One(), to});
      } else {
        Refuse(line_, "expected " + std::string(options_.acceptor ? "source target label [weight]"
                                                                  : "source target ilabel olabel [weight]") +
                          " or state [weight], got " + std::to_string(fields_.size()) + " fields" +
                          (!options_.acceptor && fields_.size() == 3 ? "; for one label column pass acceptor=True"
                                                                     : ""));
      }
    }
    return std::move(fst_);
  }

 private:
  void Split(std::string_view line) {
    fields_.clear();
    size_t i = 0;
    while (i < line.size()) {
      if (line[i] == ' ' || line[i] == '\t') {
        ++i;
        continue;
      }
      size_t end = line.find_first_of(" \t", i);
      if (end == std::string_view::npos) end = line.size();
      fields_.push_back(line.substr(i, end - i));
      i = end;
    }
  }

  StateId State(std::string_view field) {
    const int64_t name = ParseId(field);
    if (name < 0) Refuse(line_, "expected a state (0..2147483647), got " + Quote(field));
    const auto [it, is_new] = states_.try_emplace(name, fst_.NumStates());
    if (is_new) {
      CheckRoom(fst_, 1, "Fst.from_text");
      fst_.AddState();
      if (fst_.Start() == kNoState) fst_.SetStart(it->second);
    }
    return it->second;
  }

  Label LabelOf(std::string_view field, const SymbolTable* table, const char* side) {
    if (table == nullptr) {
      const int64_t label = ParseId(field);
      if (label < 0)
        Refuse(line_, "expected a label (0..2147483647), got " + Quote(field) +
                          "; pass the table of names as " + side + "_symbols");
      return static_cast<Label>(label);
    }
    const int64_t key = table->Find(std::string(field));
    if (key < 0) Refuse(line_, "the " + std::string(side) + " symbol table has no symbol " + Quote(field));
    if (key > std::numeric_limits<Label>::max())
      Refuse(line_, "the key of symbol " + Quote(field) + " is above 2147483647");
    return static_cast<Label>(key);
  }

  float Weight(std::string_view field) {
    const std::string text(field);
    char* end = nullptr;
    const float w = std::strtof(text.c_str(), &end);
    const bool boolean = options_.semiring == SemiringKind::kBoolean;
    if (end != text.c_str() + text.size() || !IsMember(SemiringKind::kTropical, w) ||
        (boolean && w != 0.0f && w != kInfinity))
      Refuse(line_, "expected a weight of the " + std::string(SemiringName(options_.semiring)) + " semiring (" +
                        (boolean ? "0 for one or Infinity for zero" : "a number or Infinity") + "), got " +
                        Quote(field));
    return boolean ? (w == 0.0f ? 1.0f : 0.0f) : w;
  }

  std::string_view text_;
  const TextOptions& options_;
  Fst fst_;
  const size_t columns_;
  size_t line_ = 0;
  std::vector<std::string_view> fields_;
  std::unordered_map<int64_t, StateId> states_;
};

void PutLabel(std::string* out, Label label, const SymbolTable* table, const char* side) {
  if (table == nullptr) {
    out->append(std::to_string(label));
    return;
  }
  const std::string* name = table->Find(static_cast<int64_t>(label));
  if (name == nullptr)
    throw FstError("Fst.to_text: label " + std::to_string(label) + " has no name in the " + side +
                   " symbol table; add it, or pass numeric=True");
  if (name->empty() || name->find_first_of(" \t\r\n") != std::string::npos)
    throw FstError("Fst.to_text: the name of label " + std::to_string(label) + " in the " + side +
                   " symbol table is empty or has blanks, which the format cannot hold; pass numeric=True");
  out->append(*name);
}

}  // namespace

Fst FromText(std::string_view text, const TextOptions& options) { return Parser(text, options).Parse(); }

std::string ToText(const Fst& fst, const TextOptions& options) {
  std::string out;
  const auto put_weight = [&](float w) {
    if (w == fst.One() && !options.show_weight_one) return;
    char text[40];
    if (w == fst.Zero())
      std::snprintf(text, sizeof text, "\tInfinity");
    else
      std::snprintf(text, sizeof text, "\t%.9g", static_cast<double>(fst.Semiring() == SemiringKind::kBoolean ? 0 : w));
    out += text;
  };
  const auto put_state = [&](StateId s) {
    for (const Arc& a : fst.Arcs(s)) {
      out += std::to_string(s) + "\t" + std::to_string(a.nextstate) + "\t";
      PutLabel(&out, a.ilabel, options.isymbols.get(), "input");
      if (options.acceptor) {
        if (a.ilabel != a.olabel)
          throw FstError("Fst.to_text: acceptor=True expects equal labels, got " + std::to_string(a.ilabel) + ":" +
                         std::to_string(a.olabel) + " at state " + std::to_string(s) + "; project first");
      } else {
        out += '\t';
        PutLabel(&out, a.olabel, options.osymbols.get(), "output");
      }
      put_weight(a.weight);
      out += '\n';
    }
    if (fst.IsFinal(s) || fst.Arcs(s).empty()) {  // a dead end is listed too, with weight zero
      out += std::to_string(s);
      put_weight(fst.Final(s));
      out += '\n';
    }
  };
  if (fst.Start() == kNoState) return out;
  put_state(fst.Start());
  for (StateId s = 0; s < fst.NumStates(); ++s)
    if (s != fst.Start()) put_state(s);
  return out;
}

}  // namespace tokamata
