// CaptureParts: the named parts of a constraint and, once somebody asks for captures, their program.
#pragma once
#include <memory>
#include <mutex>
#include <utility>

#include "constraints/csrc/captures.h"

namespace tokamata {

// Immutable, safe to share between threads.
class CaptureParts {
 public:
  explicit CaptureParts(CaptureTree tree) : tree_(std::move(tree)) {}
  const CaptureTree& Tree() const { return tree_; }
  std::shared_ptr<const CaptureProgram> Program() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!program_) program_ = std::make_shared<const CaptureProgram>(tree_);
    return program_;
  }

 private:
  const CaptureTree tree_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const CaptureProgram> program_;
};

}  // namespace tokamata
