package main

import (
	"testing"

	"github.com/tfdeps/tfdeps/getproviders/providertest"
)

// started makes a server that runs until the test is over.
func started[Server interface{ Close() }, Options any](tb testing.TB, make func(Options) (Server, error), opts Options) Server {
	tb.Helper()
	server, err := make(opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(server.Close)
	return server
}

// newCA makes an authority that several servers can have in common.
func newCA(tb testing.TB) *providertest.CA {
	tb.Helper()
	ca, err := providertest.NewCA()
	if err != nil {
		tb.Fatal(err)
	}
	return ca
}

// redirected is what both programs' environment needs for hosts to lead to a
// registry.
func redirected(tb testing.TB, registry *providertest.Registry, hosts ...string) []string {
	tb.Helper()
	env, err := registry.Env(tb.TempDir(), hosts...)
	if err != nil {
		tb.Fatal(err)
	}
	return env
}
