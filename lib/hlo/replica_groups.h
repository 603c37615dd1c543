// Replica groups of collectives, written out. Private to lib/hlo.
// XLA: hlo/ir/replica_group.cc, flattened_replica_groups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pgle {

using ReplicaGroups = std::vector<std::vector<int64_t>>;

// Groups with more ids than this together are not written out: a module holds thousands of
// collectives, and no trace holds so many devices.
inline constexpr size_t kMaxGroupIds = 1024;

// `groups`, or none where they hold more ids than kMaxGroupIds.
ReplicaGroups Limited(ReplicaGroups groups);

// The ids 0..n-1 as an array of shape `dims`, transposed by `perm` (empty: not at all), cut row by
// row into `count` groups of `size`. Empty where the numbers do not fit each other, or above
// kMaxGroupIds.
ReplicaGroups IotaGroups(int64_t count, int64_t size, const std::vector<int64_t>& dims,
                         const std::vector<int64_t>& perm);

// Groups that span the axes `grouped` of a mesh whose ids are row-major over `axis_sizes`. Empty
// where an axis does not exist or comes twice, or above kMaxGroupIds.
ReplicaGroups MeshGroups(const std::vector<int64_t>& axis_sizes,
                         const std::vector<int64_t>& grouped);

}  // namespace pgle
