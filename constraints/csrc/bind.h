// One binding function per topic, each in its own bind_*.cc.
#pragma once
#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "constraints/csrc/captures.h"

namespace tokamata {
// The character of a Unicode name, asked of Python's unicodedata; not a character: the names of sequences.
uint32_t LookupName(std::string_view name);

// Text that may have lone surrogates, as texts of JSON may.
nanobind::str SurrogateText(std::string_view text);
std::string SurrogateBytes(const nanobind::str& text);

void BindRegex(nanobind::module_& m);       // bind_regex.cc
void BindJson(nanobind::module_& m);        // bind_json.cc
void BindJsonLeaves(nanobind::module_& m);  // bind_json_leaves.cc
void BindSchemaDocuments(nanobind::module_& m);  // bind_schema_documents.cc
void BindJsonSchema(nanobind::module_& m);  // bind_json_schema.cc
void BindJsonWrite(nanobind::module_& m);   // bind_json_write.cc
void BindGrammar(nanobind::module_& m);     // bind_grammar.cc
// What named parts have read, as a dict.
nanobind::dict ValuesToPython(const std::optional<std::vector<CaptureValues>>& values);
void BindCaptures(nanobind::module_& m);    // bind_captures.cc
void BindSubstrings(nanobind::module_& m);  // bind_substrings.cc
void BindDelimited(nanobind::module_& m);   // bind_delimited.cc
void BindFreeText(nanobind::module_& m);    // bind_free_text.cc
void BindRuleBodies(nanobind::module_& m);  // bind_rule_bodies.cc
void BindNotation(nanobind::module_& m);  // bind_notation.cc
}  // namespace tokamata
