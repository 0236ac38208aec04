#!/bin/sh
# kubectl finds this file by its name, and runs it as `kubectl etcd`: the bundle beside it, with the Node on PATH (docs/operations/kubectl-etcd.md).
self=$0
while [ -h "$self" ]; do
  target=$(readlink "$self")
  case $target in
    /*) self=$target ;;
    *) self=$(dirname "$self")/$target ;;
  esac
done
folder=$(CDPATH='' cd -- "$(dirname -- "$self")" && pwd -P) || exit 1

if [ ! -f "$folder/etcd-plugin.mjs" ]; then
  echo "kubectl-etcd: $folder/etcd-plugin.mjs is missing: copy both files that \`npm run build:plugin\` makes into the same folder" >&2
  exit 1
fi
if ! command -v node >/dev/null 2>&1; then
  echo "kubectl-etcd: Node 24 or later is needed on PATH, and there is no node. The program in the archive of a release needs no Node." >&2
  exit 1
fi
# In the program that runs the bundle, so that Node starts once. An older Node cannot read the bundle.
# shellcheck disable=SC2016
exec node -e '
  var version = process.versions.node;
  if (parseInt(version, 10) < 24) {
    console.error("kubectl-etcd: Node 24 or later is needed on PATH, and " + process.execPath + " is " + version + ". The program in the archive of a release needs no Node.");
    process.exit(1);
  }
  import(require("url").pathToFileURL(process.argv[1]).href);
' -- "$folder/etcd-plugin.mjs" "$@"
