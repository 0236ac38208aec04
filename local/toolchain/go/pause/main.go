// Command pause holds a pod's namespaces: it does nothing until it is told to end, and reaps the orphans of
// a pod whose containers share its process namespace.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGCHLD)
	for received := range signals {
		if received != syscall.SIGCHLD {
			return
		}
		// One signal may stand for several dead children.
		for {
			child, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
			if child <= 0 || (err != nil && err != syscall.EINTR) {
				break
			}
		}
	}
}
