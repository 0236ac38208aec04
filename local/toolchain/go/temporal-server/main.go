// Command temporal-server is Temporal's server with its UI, and temporal-sql-tool, which sets up and upgrades its
// database, in one static binary, chosen by the name that it is called with: they share most of their code.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	uiserver "github.com/temporalio/ui-server/v2/server"
	uiconfig "github.com/temporalio/ui-server/v2/server/config"
	"github.com/temporalio/ui-server/v2/server/server_options"
	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/headers"
	"go.temporal.io/server/common/log"
	_ "go.temporal.io/server/common/persistence/sql/sqlplugin/postgresql" // the databases postgres12 and postgres12_pgx
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/temporal"
	"go.temporal.io/server/tools/sql"
)

func main() {
	run := serve
	if filepath.Base(os.Args[0]) == "temporal-sql-tool" {
		run = func() error { return sql.RunTool(os.Args) }
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve runs every service of Temporal in this process, and the UI where it is asked for, until SIGTERM.
func serve() error {
	file := flag.String("config-file", "", "configuration of the server")
	ui := flag.Int("ui-port", 0, "port of the UI; none without it")
	frontend := flag.String("frontend", "127.0.0.1:7233", "address of the frontend, as the UI reaches it")
	version := flag.Bool("version", false, "print the version")
	flag.Parse()
	if *version {
		fmt.Println(headers.ServerVersion)
		return nil
	}
	server, err := newServer(*file)
	if err != nil {
		return err
	}
	if *ui != 0 {
		go startUI(*ui, *frontend)
	}
	return server.Start()
}

func newServer(file string) (temporal.Server, error) {
	settings, err := config.Load(config.WithConfigFile(file))
	if err != nil {
		return nil, err
	}
	authorizer, err := authorization.GetAuthorizerFromConfig(&settings.Global.Authorization)
	if err != nil {
		return nil, err
	}
	logger := log.NewZapLogger(log.BuildZapLogger(settings.Log))
	claims, err := authorization.GetClaimMapperFromConfig(&settings.Global.Authorization, logger)
	if err != nil {
		return nil, err
	}
	return temporal.NewServer(
		temporal.ForServices(services(settings)),
		temporal.WithConfig(settings),
		temporal.WithLogger(logger),
		temporal.InterruptOn(temporal.InterruptCh()),
		temporal.WithAuthorizer(authorizer),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper { return claims }),
	)
}

// services are the four of every server, and the frontend without authorization for the other three where it is configured.
func services(settings *config.Config) []string {
	all := append([]string{}, temporal.DefaultServices...)
	internal := string(primitives.InternalFrontendService)
	if _, ok := settings.Services[internal]; ok {
		all = append(all, internal)
	}
	return all
}

// startUI serves the UI. It ends the process when it cannot, since whoever asked for a UI waits for it.
func startUI(port int, frontend string) {
	settings := &uiconfig.Config{
		TemporalGRPCAddress: frontend,
		Host:                "0.0.0.0",
		Port:                port,
		EnableUI:            true,
		DefaultNamespace:    "default",
		DisableNewsFetch:    true,
		HideLogs:            true,
		CORS:                uiconfig.CORS{CookieInsecure: true},
	}
	if err := uiserver.NewServer(server_options.WithConfigProvider(settings)).Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
