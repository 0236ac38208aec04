#!/usr/bin/env bash
# Runs PostgreSQL on the database in a folder, which it makes first when there is none. PostgreSQL refuses to run as
# root: root runs this in mount, PID and IPC namespaces of its own, in which PostgreSQL gets a user of its own and sees
# its folders below /mnt, since it may not enter the homes of other users. Other users run it as they are.
# Usage: postgres.sh PROGRAMS DATA SOCKETS SETTING...
set -euo pipefail
programs=$1 data=$2 sockets=$3
shift 3
# Of the range that systemd takes dynamic users from: no person or package has it.
user=64543

# The lock is held until the last process of PostgreSQL has ended: two on the same data would destroy it.
exec 9>"$data/lock"
flock 9

as_user=()
if [ "$(id -u)" = 0 ]; then
  mount -t tmpfs -o mode=755 postgresql /mnt
  mkdir /mnt/{programs,data,sockets}
  chown "$user:$user" "$data" "$sockets"
  mount --bind "$programs" /mnt/programs
  mount --bind "$data" /mnt/data
  mount --bind "$sockets" /mnt/sockets
  programs=/mnt/programs data=/mnt/data sockets=/mnt/sockets
  # initdb looks its user up by number.
  echo "postgres:x:$user:$user:PostgreSQL:/mnt/data:/bin/false" >/mnt/passwd
  mount --bind /mnt/passwd /etc/passwd
  as_user=(setpriv --reuid "$user" --regid "$user" --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs --)
fi
cd "$data"

if [ ! -d main ]; then
  "${as_user[@]}" rm -rf new
  # Whoever reaches the socket is let in: only this user and root enter its folder.
  "${as_user[@]}" "$programs/bin/initdb" --pgdata="$data/new" --username=temporal --auth=trust --encoding=UTF8 --locale=C \
    --no-instructions
  "${as_user[@]}" mv new main
fi
command=("${as_user[@]}" "$programs/bin/postgres" -D "$data/main" -c "unix_socket_directories=$sockets")
for setting in listen_addresses= timezone=UTC log_timezone=UTC jit=off "$@"; do command+=(-c "$setting"); done
# As the first process of its PID namespace this shell takes everything with it when it is killed. PostgreSQL in its
# place would outlive its parent: whoever changes its user loses the signal of the parent's death (prctl(2)).
[ "$$" = 1 ] || exec "${command[@]}"
"${command[@]}"
