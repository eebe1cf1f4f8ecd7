package configs_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing/fstest"

	"github.com/tfdeps/tfdeps/configs"
	"github.com/tfdeps/tfdeps/getproviders"
)

// What a directory requires, with the file and line of each requirement.
func ExampleRead() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	err = os.WriteFile(filepath.Join(dir, "main.tf"), []byte(`
terraform {
  required_providers {
    aws = { source = "hashicorp/aws", version = "~> 6.0" }
  }
}
resource "acme_widget" "a" {
  provider = acme
}
`), 0o600)
	if err != nil {
		fmt.Println(err)
		return
	}
	found, problems := configs.Read(context.Background(), dir, configs.Options{Product: getproviders.Terraform("1.15.9")})
	if problems.HasErrors() {
		fmt.Println(problems)
		return
	}
	for _, p := range found.Requirements.Providers() {
		for _, r := range found.Requirements[p] {
			fmt.Printf("%s %q line %d\n", p, r.Constraints, r.Pos.Line)
		}
	}
	// Output:
	// registry.terraform.io/hashicorp/acme "" line 7
	// registry.terraform.io/hashicorp/aws "~> 6.0" line 4
}

// An editor asks what a directory requires, with a buffer that isn't saved yet. Its file system
// returns buffers instead of files; here everything is in memory.
func ExampleRead_unsaved() {
	buffers := fstest.MapFS{
		"live/main.tf":        {Data: []byte("module \"net\" {\n  source = \"../modules/net\"\n}\n")},
		"modules/net/main.tf": {Data: []byte("resource \"acme_network\" \"main\" {}\n")},
	}
	found, problems := configs.Read(context.Background(), "live", configs.Options{FS: buffers})
	if problems.HasErrors() {
		fmt.Println(problems)
		return
	}
	for _, p := range found.Requirements.Providers() {
		at := found.Requirements[p][0].Pos
		fmt.Printf("%s %s %s:%d\n", p, at.Module, filepath.ToSlash(at.File), at.Line)
	}
	// Output:
	// registry.terraform.io/hashicorp/acme module.net modules/net/main.tf:1
}
