// An S3 server over a folder: VersityGW with its POSIX backend alone, without the cloud backends of its own command.
// The root account comes from ROOT_ACCESS_KEY and ROOT_SECRET_KEY; more accounts from the folder of accounts.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:7070", "address to listen on")
	data := flag.String("data", "", "folder of the buckets")
	accounts := flag.String("accounts", "", "folder of the accounts; with it an unknown key is refused as S3 refuses it")
	domain := flag.String("virtual-domain", "", "domain whose subdomains are buckets")
	flag.Parse()
	if err := serve(*listen, *data, *accounts, *domain); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(listen, data, accounts, domain string) error {
	attributes := meta.XattrMeta{}
	if err := attributes.Test(data); err != nil {
		return fmt.Errorf("the folder %s is on a filesystem without extended attributes: %w", data, err)
	}
	backend, err := posix.New(data, attributes, posix.PosixOpts{NewDirPerm: 0o755})
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	return embedgw.RunVersityGW(ctx, backend, &embedgw.Config{
		RootUserAccess:    os.Getenv("ROOT_ACCESS_KEY"),
		RootUserSecret:    os.Getenv("ROOT_SECRET_KEY"),
		Region:            "us-east-1",
		Ports:             []string{listen},
		MaxConnections:    1000,
		MaxRequests:       1000,
		MultipartMaxParts: 10000,
		IAMDir:            accounts,
		IAMCacheDisable:   true,
		KeepAlive:         true,
		Quiet:             true,
		VirtualDomain:     domain,
	})
}
