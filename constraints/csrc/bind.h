// One binding function per topic, each in its own bind_*.cc.
#pragma once
#include <nanobind/nanobind.h>

namespace tokamata {
void BindRegex(nanobind::module_& m);       // bind_regex.cc
void BindJson(nanobind::module_& m);        // bind_json.cc
void BindJsonLeaves(nanobind::module_& m);  // bind_json_leaves.cc
void BindSchemaDocuments(nanobind::module_& m);  // bind_schema_documents.cc
void BindJsonSchema(nanobind::module_& m);  // bind_json_schema.cc
void BindJsonWrite(nanobind::module_& m);   // bind_json_write.cc
void BindGrammar(nanobind::module_& m);     // bind_grammar.cc
void BindSubstrings(nanobind::module_& m);  // bind_substrings.cc
void BindDelimited(nanobind::module_& m);   // bind_delimited.cc
void BindRuleBodies(nanobind::module_& m);  // bind_rule_bodies.cc
}  // namespace tokamata
