// Late: something that few need, made when it is first asked for.
#pragma once

namespace tokamata {

// Members of objects that are made and dropped often: a map costs its owner 56 bytes and what sets and clears them,
// whether anything is ever entered or not, and what is not in a cache takes longer than all else.
template <class T>
class Late {
 public:
  Late() = default;
  Late(const Late&) = delete;
  Late& operator=(const Late&) = delete;
  ~Late() {
    if (made_) Drop(made_);
  }

  T& operator*() {
    if (!made_) made_ = new T();
    return *made_;
  }
  T* operator->() { return &**this; }
  const T* IfMade() const { return made_; }

 private:
  [[gnu::noinline]] static void Drop(T* made) { delete made; }  // not a part of its owner's destructor

  T* made_ = nullptr;
};

}  // namespace tokamata
