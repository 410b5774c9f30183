// push: moves weights along paths toward the start or the final states; the weight of every path stays.
#pragma once
#include "automata/csrc/fst.h"
#include "automata/csrc/preconditions.h"

namespace tokamata {

struct PushOptions {
  bool to_final = false;             // toward the final states instead of the start
  bool remove_total_weight = false;  // afterwards the weights of all paths add up to one
  float delta = kShortestDelta;
  int64_t max_visits = kDefaultMaxVisits;
  const char* operation = "push";  // named in errors
};

// Mohri, "Weighted automata algorithms" (2009). Toward the start, the total weight goes onto the start's arcs and final
// weight; where an arc enters the start, a copy of the start becomes the new start. Returns the total weight.
float Push(Fst* fst, const PushOptions& options = {});

// Multiplies the weight of every path, as above.
void ScaleAtStart(Fst* fst, float weight);
void ScaleAtFinals(Fst* fst, float weight);
bool IsStartEntered(const Fst& fst);
// Arcs of weight zero lie on no accepted path.
void DropZeroArcs(Fst* fst);

}  // namespace tokamata
