package cliconfig_test

import (
	"context"
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

	user := cliconfig.User{Environ: []string{"HOME=/home/user", "TF_CLI_CONFIG_FILE=" + path}, HomeDir: "/home/user"}
	at := cliconfig.Find(user, getproviders.Terraform("1.15.9"))
	config, problems := cliconfig.Read(context.Background(), at, user.Getenv, getproviders.Terraform("1.15.9"))
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

// From a CLI configuration to the source of providers that an installer needs. A program passes
// what it has from os.Environ and os.UserHomeDir.
func ExampleConfig_Source() {
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
`), 0o600)
	if err != nil {
		fmt.Println(err)
		return
	}

	terraform := getproviders.Terraform("1.15.9")
	user := cliconfig.User{Environ: []string{"TF_CLI_CONFIG_FILE=" + path, "TF_TOKEN_mirror_example_com=..."}}
	at := cliconfig.Find(user, terraform)
	config, problems := cliconfig.Read(context.Background(), at, user.Getenv, terraform)
	if len(problems) > 0 {
		fmt.Println(problems[0].Detail)
		return
	}
	network, _ := config.Network(cliconfig.NetworkOptions{User: user}) // network.Archives is for the installer
	source, err := config.Source(context.Background(), cliconfig.SourceOptions{Product: terraform, Network: network, User: user})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, address := range []string{"hashicorp/aws", "example.com/acme/widget"} {
		p, err := terraform.ParseProvider(address)
		fmt.Println(source.Describe(p).Name, err)
	}
	// Output:
	// provider mirror at https://mirror.example.com/providers/ <nil>
	// registry example.com <nil>
}
