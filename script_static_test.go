package main

import (
	"net/http"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tfdeps/tfdeps/getproviders/providertest"
)

// serveMirror serves a directory's files as they are, as any web server may, with
// requests of the kind "other", and has $MIRROR be its URL.
func serveMirror(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: serve DIR")
	}
	server, err := providertest.NewServer(providertest.ServerOptions{
		CA: serversOf(ts).ca, Handler: http.FileServer(http.Dir(ts.MkAbs(args[0]))),
	})
	ts.Check(err)
	ts.Defer(server.Close)
	ts.Setenv("MIRROR", server.BaseURL()+"/")
}

// writeSignerKey has $SIGNER_KEY be a file with the key that the registry signs
// with, and $SIGNER its ID.
func writeSignerKey(ts *testscript.TestScript, registry *providertest.Registry) {
	path := filepath.Join(serversDir(ts), "signer.asc")
	ts.Check(os.WriteFile(path, []byte(registry.Signer().Armored()), 0o600))
	ts.Setenv("SIGNER_KEY", path)
	ts.Setenv("SIGNER", registry.Signer().KeyID())
}
