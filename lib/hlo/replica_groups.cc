#include "hlo/replica_groups.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace pgle {
namespace {

constexpr size_t kMaxRank = 32;

// The number of elements; 0 where it is above kMaxGroupIds or `dims` is no shape.
int64_t ElementsOf(const std::vector<int64_t>& dims) {
  constexpr auto kMax = static_cast<int64_t>(kMaxGroupIds);
  if (dims.empty() || dims.size() > kMaxRank) return 0;
  int64_t elements = 1;
  for (int64_t dim : dims) {
    if (dim < 1 || dim > kMax) return 0;
    elements *= dim;
    if (elements > kMax) return 0;
  }
  return elements;
}

bool IsPermutation(std::vector<int64_t> perm) {
  std::sort(perm.begin(), perm.end());
  for (size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

}  // namespace

ReplicaGroups Limited(ReplicaGroups groups) {
  size_t ids = 0;
  for (const auto& group : groups) ids += group.size();
  if (ids > kMaxGroupIds) groups.clear();
  return groups;
}

ReplicaGroups IotaGroups(int64_t count, int64_t size, const std::vector<int64_t>& dims,
                         const std::vector<int64_t>& perm) {
  const int64_t elements = ElementsOf(dims);
  if (elements == 0 || count < 1 || size < 1 || count > elements || size > elements ||
      count * size != elements) {
    return {};
  }
  std::vector<int64_t> order = perm;
  if (order.empty()) {
    order.resize(dims.size());
    std::iota(order.begin(), order.end(), 0);
  }
  if (order.size() != dims.size() || !IsPermutation(order)) return {};
  std::vector<int64_t> stride(dims.size(), 1);
  for (size_t i = dims.size() - 1; i > 0; --i) stride[i - 1] = stride[i] * dims[i];

  ReplicaGroups groups(static_cast<size_t>(count));
  std::vector<int64_t> at(dims.size(), 0);  // by axis of the transposed array
  int64_t id = 0;
  for (auto& group : groups) {
    for (int64_t i = 0; i < size; ++i) {
      group.push_back(id);
      for (size_t axis = order.size(); axis-- > 0;) {
        const auto source = static_cast<size_t>(order[axis]);
        id += stride[source];
        if (++at[axis] < dims[source]) break;
        id -= stride[source] * dims[source];
        at[axis] = 0;
      }
    }
  }
  return groups;
}

ReplicaGroups MeshGroups(const std::vector<int64_t>& axis_sizes,
                         const std::vector<int64_t>& grouped) {
  const int64_t elements = ElementsOf(axis_sizes);
  if (elements == 0 || grouped.size() > axis_sizes.size()) return {};
  std::vector<int64_t> perm;
  for (int64_t axis = 0; axis < static_cast<int64_t>(axis_sizes.size()); ++axis) {
    if (std::find(grouped.begin(), grouped.end(), axis) == grouped.end()) perm.push_back(axis);
  }
  int64_t size = 1;
  for (int64_t axis : grouped) {
    if (axis < 0 || axis >= static_cast<int64_t>(axis_sizes.size())) return {};
    size *= axis_sizes[static_cast<size_t>(axis)];
    if (size > elements) return {};
    perm.push_back(axis);
  }
  return IotaGroups(elements / size, size, axis_sizes, perm);
}

}  // namespace pgle
