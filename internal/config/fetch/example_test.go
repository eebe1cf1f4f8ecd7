package fetch_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/internal/config/fetch"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// A scanner reads the files of a module. It needs a directory for them, and no configuration, no
// .terraform and no environment.
func ExampleFetcher() {
	registry, err := providertest.NewRegistry(providertest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer registry.Close()
	archive := registry.AddArchive("net-1.0.0.tar.gz", providertest.TarGz(map[string]string{
		"main.tf":        `module "a" { source = "./modules/a" }`,
		"modules/a/a.tf": ``,
	}))
	dir, err := os.MkdirTemp("", "scan-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	fetcher := &fetch.Fetcher{Client: registry.Client()}
	defer fetcher.Close()
	address := modules.Remote{Package: registry.BaseURL() + archive, Subdir: "modules/a"}
	_, err = fetcher.Fetch(context.Background(), modules.FetchRequest{Package: address.Package}, filepath.Join(dir, "net"))
	if err != nil {
		log.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", filepath.FromSlash(address.Subdir), "*.tf"))
	if err != nil {
		log.Fatal(err)
	}
	for _, file := range files {
		fmt.Println(filepath.Base(file))
	}
	// Output: a.tf
}

// Errors are Faults, which say of which kind they are, and what can be done.
func ExampleFetcher_errors() {
	fetcher := &fetch.Fetcher{Offline: true}
	defer fetcher.Close()
	_, err := fetcher.Fetch(context.Background(), modules.FetchRequest{Package: "https://me:secret@example.com/net.zip?token=secret"}, "net")
	fmt.Println(err)
	// Output: downloading https://example.com/net.zip?token=REDACTED: it is not in the module store, and nothing may be asked for while offline
}
