#!/usr/bin/env bash
# Keeps a write limit on every cgroup below FOLDER. Limits of cgroup v1 hold for one cgroup and not for those below
# it (kernel documentation, blkio-controller: no hierarchical throttling), so a new pod must be given its own.
set -euo pipefail
while [ -d "$FOLDER" ]; do
  while IFS= read -r cgroup; do
    for device in $DEVICES; do
      echo "$device $WRITES_PER_SECOND" 2>/dev/null >"$cgroup/blkio.throttle.write_iops_device" || true
    done
  done < <(find "$FOLDER" -type d 2>/dev/null)
  sleep 0.5
done
