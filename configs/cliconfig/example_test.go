package cliconfig_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/getproviders"
)

// A mirror for some providers, and their registries for the others.
func ExampleRead() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "terraformrc")
	err = os.WriteFile(path, []byte(`
provider_installation {
  network_mirror {
    url     = "https://mirror.example.com/providers/"
    include = ["hashicorp/*"]
  }
  direct {
    exclude = ["hashicorp/*"]
  }
}
plugin_cache_dir = "$HOME/cache"
credentials "mirror.example.com" {
  token = "..."
}
`), 0o600)
	if err != nil {
		fmt.Println(err)
		return
	}

	env := func(name string) string {
		return map[string]string{"HOME": "/home/user", "TF_CLI_CONFIG_FILE": path}[name]
	}
	at := cliconfig.Find(env, "/home/user", "", "linux", getproviders.Terraform("1.15.9"))
	config, problems := cliconfig.Read(at, env, getproviders.Terraform("1.15.9"))
	fmt.Println(len(problems), "problems")
	for _, m := range config.Installation {
		fmt.Println(m.Kind, m.Location, m.Include, m.Exclude)
	}
	fmt.Println(config.PluginCacheDir)
	fmt.Println(config.Tokens)
	// Output:
	// 0 problems
	// network_mirror https://mirror.example.com/providers/ [registry.terraform.io/hashicorp/*] []
	// direct  [] [registry.terraform.io/hashicorp/*]
	// /home/user/cache
	// secrets (not shown)
}
