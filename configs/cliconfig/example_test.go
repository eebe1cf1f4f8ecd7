package cliconfig_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/getproviders/hosts"
)

// The host blocks of a file replace service discovery.
func ExampleLoad() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "terraformrc")
	err = os.WriteFile(path, []byte(`
host "registry.example.com" {
  services = { "providers.v1" = "https://127.0.0.1:8443/providers/" }
}
plugin_cache_dir = "/var/cache/terraform"
`), 0o600)
	if err != nil {
		fmt.Println(err)
		return
	}

	config, problems := cliconfig.Load(path)
	fmt.Println(len(problems), "problems")
	discovery := &hosts.Discovery{Forced: config.Hosts}
	fmt.Println(discovery.Forced["registry.example.com"]["providers.v1"])
	for _, u := range config.Unsupported {
		fmt.Printf("line %d: %s\n", u.Line, u.Name)
	}
	// Output:
	// 0 problems
	// https://127.0.0.1:8443/providers/
	// line 5: plugin_cache_dir
}
