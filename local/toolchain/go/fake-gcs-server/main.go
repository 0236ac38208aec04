// Google Cloud Storage in memory. It checks no credentials: tests put a front before it that does.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/fsouza/fake-gcs-server/fakestorage"
)

func main() {
	port := flag.Uint("port", 4443, "port to listen on, on the loopback address")
	external := flag.String("external-url", "", "where clients reach it: uploads are sent there")
	flag.Parse()
	server, err := fakestorage.NewServerWithOptions(fakestorage.Options{
		Scheme:      "http",
		Host:        "127.0.0.1",
		Port:        uint16(*port),
		ExternalURL: *external,
		PublicHost:  strings.TrimPrefix(*external, "http://"),
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer server.Stop()
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGINT, syscall.SIGTERM)
	<-ended
}
