// Python bindings of automata/csrc: errors, and one function per operation.
#include "automata/csrc/bind.h"

#include <nanobind/nanobind.h>

#include <cstring>

#include "automata/csrc/errors.h"
#include "automata/csrc/time_limit.h"

namespace nb = nanobind;

namespace tokamata {
namespace {

// A text may quote bytes of a source that are not UTF-8: they are shown as \xff.
void SetError(const char* name, const char* text) {
  nb::object type = nb::module_::import_("tokamata.automata.errors").attr(name);
  nb::object shown = nb::steal(
      PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(std::strlen(text)), "backslashreplace"));
  if (shown.is_valid()) PyErr_SetObject(type.ptr(), shown.ptr());
}

// Most derived first: each C++ error becomes the class of the same name in tokamata.automata.errors.
void BindErrors() {
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const UnsupportedError& e) {
      SetError("UnsupportedError", e.what());
    } catch (const FstError& e) {
      SetError("FstError", e.what());
    } catch (const VocabularyError& e) {
      SetError("VocabularyError", e.what());
    } catch (const ConstraintError& e) {
      SetError("ConstraintError", e.what());
    } catch (const LimitError& e) {
      SetError("LimitError", e.what());
    } catch (const TokenRejected& e) {
      SetError("TokenRejected", e.what());
    } catch (const BudgetError& e) {
      SetError("BudgetError", e.what());
    }
  });
}

}  // namespace

void BindAutomata(nb::module_& m) {
  BindErrors();
  m.def("stop_after", &TimeLimit::StopAfter, nb::arg("steps"),
        "For tests: each further call of this thread that has a time limit ends in a LimitError after so many steps; not if "
        "negative.");
  BindSymbolTable(m);
  BindFst(m);
  BindFstIo(m);
  BindOperations(m);
  BindAlgorithms(m);
  BindPdt(m);
  BindExpressions(m);
}

}  // namespace tokamata
