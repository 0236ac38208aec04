// Command etcd is the etcd server alone: etcdctl and etcdutl of this version are not on the Go module proxy.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
