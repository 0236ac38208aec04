// Command etcd is etcd, etcdctl and etcdutl in one static binary, chosen by the name that it is called with:
// the three share most of their code, and an image of one file is a third of the size.
package main

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/etcdctl/v3/ctlv3"
	"go.etcd.io/etcd/etcdutl/v3/etcdutl"
	"go.etcd.io/etcd/pkg/v3/cobrautl"
	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() {
	switch filepath.Base(os.Args[0]) {
	case "etcdctl":
		// The choice between the APIs is gone; left set, ctlv3 would warn about an unknown variable.
		os.Unsetenv("ETCDCTL_API")
		ctlv3.MustStart()
	case "etcdutl":
		if err := utility().Execute(); err != nil {
			cobrautl.ExitWithError(cobrautl.ExitError, err)
		}
	default:
		etcdmain.Main(os.Args)
	}
}

// utility assembles etcdutl's commands: its own root command is in its main package, which cannot be imported.
func utility() *cobra.Command {
	cobra.EnablePrefixMatching = true
	root := &cobra.Command{Use: "etcdutl", Short: "An administrative command line tool for etcd3."}
	flags := root.PersistentFlags()
	flags.StringVarP(&etcdutl.OutputFormat, "write-out", "w", "simple", "the output format (fields, json, protobuf, simple, table)")
	root.AddCommand(
		etcdutl.NewCompletionCommand(),
		etcdutl.NewDefragCommand(),
		etcdutl.NewHashKVCommand(),
		etcdutl.NewMigrateCommand(),
		etcdutl.NewSnapshotCommand(),
		etcdutl.NewVersionCommand(),
	)
	return root
}
