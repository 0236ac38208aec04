#!/usr/bin/env bash
# Process 1 of a node: it has network, mount, UTS, PID and IPC namespaces of its own, makes itself a root file
# system of which only the operating system and the stack's folders are shared, and keeps containerd, the kubelet
# and kube-proxy running. Killing it ends everything inside: that is how a node is powered off.
set -euo pipefail

# The parent writes a line when the cable is plugged in; if the parent dies before, so does the node.
read -r _ || exit 1
exec </dev/null

build_root() {
  local root=$NODE_DIR/root entry keep
  mkdir -p "$root" "$NODE_DIR/var"
  mount -t tmpfs -o mode=755 node-root "$root"
  mkdir "$root"/{proc,sys,dev,run,tmp,var,old}
  for entry in /usr /etc /bin /sbin /lib /lib32 /lib64 /libx32 /opt; do
    if [ -L "$entry" ]; then
      cp -a "$entry" "$root$entry"
    elif [ -d "$entry" ]; then
      mkdir "$root$entry"
      mount --rbind "$entry" "$root$entry"
    fi
  done
  mount -t proc proc "$root/proc"
  # Bound, not mounted anew: a new sysfs would come without the cgroup v1 mounts.
  mount --rbind /sys "$root/sys"
  mount --rbind /dev "$root/dev"
  mount -t tmpfs -o mode=1777 node-shm "$root/dev/shm"
  # Fresh as after a reboot: containerd would take the state of dead shims for live ones.
  mount -t tmpfs -o mode=755 node-run "$root/run"
  mount -t tmpfs -o mode=1777 node-tmp "$root/tmp"
  mount --bind "$NODE_DIR/var" "$root/var"
  while IFS= read -r keep; do
    mkdir -p "$root$keep"
    mount --rbind "$keep" "$root$keep"
  done <<<"$KEEP_DIRS"
  cd "$root"
  pivot_root . old
  umount -l /old
  rmdir /old
  mount --make-rshared /
}

set_up_kernel() {
  hostname "$NODE_NAME"
  ip -batch "$NODE_DIR/network"
  echo 1 >/proc/sys/net/ipv4/ip_forward
  echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
  mkdir -p /run/lock /var/log /var/lib /var/tmp
}

# Restarts what ends, as an init system would.
supervise() {
  local name=$1 status
  shift
  while :; do
    status=0
    "$@" >>"$LOG_DIR/$name.log" 2>&1 || status=$?
    echo "$name ended with status $status, starting it again" >>"$LOG_DIR/$name.log"
    sleep 1
  done
}

main() {
  build_root
  set_up_kernel
  supervise "containerd-$NODE_INDEX" "$CONTAINERD" --config "$NODE_DIR/containerd.toml" &
  until [ -S /run/containerd/containerd.sock ]; do sleep 0.05; done
  supervise "kubelet-$NODE_INDEX" "$KUBELET" --config "$NODE_DIR/kubelet.yaml" --kubeconfig "$NODE_KUBECONFIG" \
    --hostname-override "$NODE_NAME" --node-ip "$NODE_ADDRESS" --node-labels "$NODE_LABELS" --v=1 &
  supervise "kube-proxy-$NODE_INDEX" "$KUBE_PROXY" --config "$NODE_DIR/kube-proxy.yaml" --v=1 &
  # A loop, because wait ends on signals; children that lost their parent are reaped by bash itself.
  while :; do wait || sleep 1; done
}

main
