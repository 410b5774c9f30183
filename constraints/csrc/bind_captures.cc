// Python binding of named parts.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <mutex>

#include "automata/csrc/time_limit.h"
#include "constraints/csrc/bind.h"
#include "constraints/csrc/capture_parts.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tokamata {

nb::dict ValuesToPython(const std::optional<std::vector<CaptureValues>>& values) {
  nb::dict out;
  if (!values) return out;
  for (const CaptureValues& v : *values) {
    nb::list texts;
    for (const std::string& t : v.texts) texts.append(nb::bytes(t.data(), t.size()));
    out[v.name.c_str()] = texts;
  }
  return out;
}

void BindCaptures(nb::module_& m) {
  nb::class_<CaptureParts>(m, "CaptureParts", "The named parts of a constraint; immutable.")
      .def_static("atom", [](const Language& language) { return std::make_shared<CaptureParts>(CaptureAtom(language)); },
                  "language"_a)
      .def_static(
          "unknown",
          [](const Language& language, const std::string& why) {
            return std::make_shared<CaptureParts>(CaptureUnknown(language, why));
          },
          "language"_a, "why"_a, "Of a language with named parts that cannot be followed: `values` raises UnsupportedError.")
      .def_static(
          "regex",
          [](const nb::bytes& pattern, const std::string& flags, uint32_t max_depth, const std::vector<std::string>& named,
             const std::vector<const CaptureParts*>& groups) {
            auto node = std::make_shared<CaptureNode>();
            node->kind = CaptureNode::Kind::kRegex;
            node->name.assign(pattern.c_str(), pattern.size());
            node->flags = flags;
            node->max_depth = max_depth;
            node->lookup_name = LookupName;
            node->named = named;
            for (const CaptureParts* g : groups) node->children.push_back(g->Tree());
            return std::make_shared<CaptureParts>(std::move(node));
          },
          "pattern"_a, "flags"_a, "max_depth"_a, "named"_a, "groups"_a,
          "Of a pattern; `groups` are those whose names stand for languages, in order.")
      .def_static(
          "join",
          [](const std::vector<const CaptureParts*>& parts, bool alternatives) {
            std::vector<CaptureTree> trees;
            for (const CaptureParts* p : parts) trees.push_back(p->Tree());
            const auto kind = alternatives ? CaptureNode::Kind::kAlternate : CaptureNode::Kind::kConcat;
            return std::make_shared<CaptureParts>(CaptureJoin(kind, trees));
          },
          "parts"_a, "alternatives"_a)
      .def_static(
          "inside",
          [](const Language& language, const std::vector<const CaptureParts*>& parts) {
            std::vector<CaptureTree> trees;
            for (const CaptureParts* p : parts) trees.push_back(p->Tree());
            return std::make_shared<CaptureParts>(CaptureInside(language, trees));
          },
          "language"_a, "parts"_a)
      .def(
          "repeat",
          [](const CaptureParts& self, uint32_t low, int64_t high) {
            const uint32_t most = high < 0 ? kUnbounded : static_cast<uint32_t>(high);
            return std::make_shared<CaptureParts>(CaptureRepeat(self.Tree(), low, most, false));
          },
          "low"_a, "high"_a)
      .def(
          "named",
          [](const CaptureParts& self, const std::string& name) {
            return std::make_shared<CaptureParts>(name.empty() ? CaptureHide(self.Tree()) : CaptureName(self.Tree(), name));
          },
          "name"_a, "The same with a name; with an empty one, hidden.")
      .def(
          "values",
          [](const CaptureParts& self, const nb::bytes& text, bool whole, bool markers, double seconds) {
            std::optional<std::vector<CaptureValues>> values;
            {
              const std::string_view view(text.c_str(), text.size());
              nb::gil_scoped_release release;
              const TimeLimit time("captures", "search_seconds", seconds);
              CaptureRun run(self.Program());
              run.Read(view);
              if (const auto spans = run.Spans(view, whole)) values = ValuesOf(view, *spans, markers);
            }
            return ValuesToPython(values);
          },
          "text"_a, "whole"_a, "markers"_a, "seconds"_a,
          nb::sig("def values(self, text: bytes, whole: bool, markers: bool, seconds: float) -> dict[str, list[bytes]]"),
          "What the named parts read; with `markers`, without those of special tokens.");
}

}  // namespace tokamata
